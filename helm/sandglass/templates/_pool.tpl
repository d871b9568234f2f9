{{- /* The SandboxPool `default` of one tenant; takes {root, namespace, labels}.
       Helm looks up every kind before it writes anything, so that one release cannot bring a kind and an object of it. Where
       the API server does not know the kind yet, the pool is therefore a hook, which Helm sends after everything else. The next
       upgrade finds the kind, and the pool as an object of the release like any other, which it takes over by the annotations
       meta.helm.sh/…. Helm forgets what a hook made: until then another hook deletes the pool with the release. */ -}}
{{- define "sandglass.pool" -}}
{{- $pool := .root.Values.sandbox.pool -}}
{{- $kind := "sandglass.dev/v1alpha1/SandboxPool" -}}
{{- if gt ($pool.replicas | int) ($pool.maxReplicas | int) -}}
{{- fail (printf "sandbox.pool.replicas: %v is more than sandbox.pool.maxReplicas, %v; lower the one or raise the other" $pool.replicas $pool.maxReplicas) -}}
{{- end -}}
{{- $isKnown := .root.Capabilities.APIVersions.Has $kind -}}
{{- if $pool.replicas }}
{{- $hook := dict "helm.sh/hook" "post-install,post-upgrade,post-rollback" "helm.sh/hook-delete-policy" "before-hook-creation" }}
---
{{ include "sandglass.poolObject" (merge (dict "hook" (ternary dict $hook $isKnown) "replicas" $pool.replicas) .) }}
{{- if not $isKnown }}
---
{{ include "sandglass.poolObject" (merge (dict "hook" (include "sandglass.poolRemoval" "pre-delete" | fromYaml) "replicas" 0) .) }}
{{- end }}
{{- else if $isKnown }}
{{- /* A pool of the first form, which is wanted no more. */}}
{{- with lookup "sandglass.dev/v1alpha1" "SandboxPool" .namespace "default" }}
{{- if and (eq (dig "metadata" "annotations" "meta.helm.sh/release-name" "" .) $.root.Release.Name) (eq (dig "metadata" "annotations" "meta.helm.sh/release-namespace" "" .) $.root.Release.Namespace) }}
---
{{ include "sandglass.poolObject" (merge (dict "hook" (include "sandglass.poolRemoval" "post-upgrade" | fromYaml) "replicas" 0) $) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* A hook that has the pool deleted: Helm deletes what is there, makes an empty one, and deletes that. */ -}}
{{- define "sandglass.poolRemoval" -}}
helm.sh/hook: {{ . }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded,hook-failed
{{- end -}}

{{- /* Takes {root, namespace, labels, hook, replicas}. */ -}}
{{- define "sandglass.poolObject" -}}
apiVersion: sandglass.dev/v1alpha1
kind: SandboxPool
metadata:
  name: default
  namespace: {{ .namespace | quote }}
  labels:
    {{- .labels | nindent 4 }}
  {{- with .hook }}
  annotations:
    {{- toYaml . | nindent 4 }}
    meta.helm.sh/release-name: {{ $.root.Release.Name | quote }}
    meta.helm.sh/release-namespace: {{ $.root.Release.Namespace | quote }}
  {{- end }}
spec:
  replicas: {{ .replicas }}
  languages: {{ .root.Values.sandbox.pool.languages | toJson }}
{{- end -}}
