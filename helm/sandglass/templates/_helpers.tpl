{{- define "sandglass.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* What selects pods: must never change in an upgrade. Takes {root, component}. */ -}}
{{- define "sandglass.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- /* Takes {root, component}. */ -}}
{{- define "sandglass.labels" -}}
{{ include "sandglass.selector" . }}
app.kubernetes.io/part-of: sandglass
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | quote }}
{{- end -}}

{{- /* Takes {root, image, value}; prints registry/repository:tag. Of a name without a registry a node asks a public one, where
       anybody may have taken it. */ -}}
{{- define "sandglass.image" -}}
{{- $registry := .image.registry | default .root.Values.global.imageRegistry -}}
{{- if $registry }}{{ $registry }}/{{ else if not (regexMatch "^(localhost|[^/]*[.:][^/]*)/" .image.repository) -}}
{{- fail (printf "%s: no registry is known for %s, and nodes would ask a public one that is not ours: take the values that `images/build --push REGISTRY` writes, or set global.imageRegistry" .value .image.repository) -}}
{{ end -}}
{{- .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion -}}
{{- end -}}

{{- define "sandglass.sandboxImage" -}}
{{- $own := dict "registry" "" "repository" "sandglass/kernel" "tag" "" -}}
{{- with .Values.sandbox.image -}}
{{- . -}}
{{- else -}}
{{- include "sandglass.image" (dict "root" . "image" $own "value" "sandbox.image") -}}
{{- end -}}
{{- end -}}

{{- /* Takes a list of Secret names. */ -}}
{{- define "sandglass.imagePullSecrets" -}}
{{- with . -}}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end -}}
{{- end -}}

{{- define "sandglass.linkSecret" -}}
{{- .Values.secrets.existingLinkSecret | default (printf "%s-link" (include "sandglass.fullname" .)) -}}
{{- end -}}

{{- define "sandglass.apiKeySecret" -}}
{{- .Values.secrets.existingApiKeySecret | default (printf "%s-api-keys" (include "sandglass.fullname" .)) -}}
{{- end -}}

{{- define "sandglass.egressSecret" -}}
{{- .Values.secrets.existingEgressSecret | default (printf "%s-egress" (include "sandglass.fullname" .)) -}}
{{- end -}}

{{- /* Of the egress proxy's Deployment, Service and account. */ -}}
{{- define "sandglass.egressProxyName" -}}
{{- printf "%s-egress-proxy" (include "sandglass.fullname" .) -}}
{{- end -}}

{{- /* Which of the installation's secrets the job has to make: text if any. */ -}}
{{- define "sandglass.secretsToMake" -}}
{{- with .Values.secrets -}}
{{- if not (and .existingLinkSecret .existingApiKeySecret (or .existingEgressSecret (not $.Values.egressProxy.enabled))) -}}yes{{- end -}}
{{- end -}}
{{- end -}}

{{- define "sandglass.firstApiKeySecret" -}}
{{- printf "%s-first-api-key" (include "sandglass.fullname" .) -}}
{{- end -}}

{{- /* The Kubernetes namespaces of all tenants, as a JSON list. Two tenants in one would have each other's rights, and
       in the release's own a tenant's sandboxes would sit beside the link secret. One there must be: rights, policies and
       `helm test` are written for those that are named. */ -}}
{{- define "sandglass.tenantNamespaces" -}}
{{- if not .Values.tenants -}}
{{- fail "tenants: at least one must be named, also with tenantsByLabel; leave tenants.default, or name another" -}}
{{- end -}}
{{- $namespaces := list -}}
{{- range $name, $tenant := .Values.tenants -}}
{{- if eq $tenant.namespace $.Release.Namespace -}}
{{- fail (printf "tenants.%s.namespace: %s is the release's own namespace; a tenant needs one of its own" $name $tenant.namespace) -}}
{{- else if has $tenant.namespace $namespaces -}}
{{- fail (printf "tenants.%s.namespace: %s belongs to another tenant already" $name $tenant.namespace) -}}
{{- end -}}
{{- $namespaces = append $namespaces $tenant.namespace -}}
{{- end -}}
{{- $namespaces | toJson -}}
{{- end -}}

{{- /* Takes the values of `sandbox`; prints {cpu, memory}. Accepts text, because `helm --set` passes 0.1 as text. */ -}}
{{- define "sandglass.requestRatios" -}}
{{- $parts := .requestRatios | default dict -}}
{{- $given := dict "requestRatio" .requestRatio "requestRatios.cpu" $parts.cpu "requestRatios.memory" $parts.memory -}}
{{- range $name, $ratio := $given -}}
{{- if and (kindIs "string" $ratio) (not (regexMatch "^(1([.]0+)?|0?[.]0*[1-9][0-9]*)?$" $ratio)) -}}
{{- fail (printf "sandbox.%s must be a number above 0 and at most 1, for instance 0.1, not %q" $name $ratio) -}}
{{- end -}}
{{- end -}}
{{- if and .requestRatio $parts.cpu $parts.memory -}}
{{- fail "sandbox.requestRatio has no effect if sandbox.requestRatios sets both cpu and memory: leave one of the three empty" -}}
{{- end -}}
{{- $cpu := $parts.cpu | default .requestRatio | default 0.05 -}}
{{- $memory := $parts.memory | default .requestRatio | default 0.25 -}}
{{- dict "cpu" (toString $cpu) "memory" (toString $memory) | toJson -}}
{{- end -}}

{{- /* Takes {weight}. Kept when it fails, so that the job's log can be read; cleared before the next try. */ -}}
{{- define "sandglass.secretsHook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-output-log-policy: hook-failed
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{- /* As annotations and labels of pods that have to end: a mesh's sidecar would go on without them. */ -}}
{{- define "sandglass.noSidecar" -}}
linkerd.io/inject: disabled
sidecar.istio.io/inject: "false"
{{- end -}}

{{- define "sandglass.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "sandglass.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- /* Where a pod may run; takes the values of a component. */ -}}
{{- define "sandglass.scheduling" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Ingress to the port of health and metrics, as a NetworkPolicy rule; the kubelet's probes need none. */ -}}
{{- define "sandglass.ingressToManagement" -}}
- ports:
    - protocol: TCP
      port: 8081
  from:
    - podSelector: {}
    {{- with .Values.networkPolicy.monitoring }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{- /* Egress to the API server, and to DNS, as NetworkPolicy rules. */ -}}
{{- define "sandglass.egressToCluster" -}}
- ports:
    {{- range .Values.networkPolicy.apiServer.ports }}
    - protocol: TCP
      port: {{ . }}
    {{- end }}
  {{- with .Values.networkPolicy.apiServer.cidrs }}
  to:
    {{- range . }}
    - ipBlock:
        cidr: {{ . | quote }}
    {{- end }}
  {{- end }}
{{- with .Values.networkPolicy.dns }}
- ports:
    {{- range $.Values.networkPolicy.dnsPorts }}
    - protocol: UDP
      port: {{ . }}
    - protocol: TCP
      port: {{ . }}
    {{- end }}
  to:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end -}}

{{- /* Binds a service account to the Role of the same name; takes {name, namespace, labels, accountNamespace}. */ -}}
{{- define "sandglass.roleBinding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .name }}
  namespace: {{ .namespace | quote }}
  labels:
    {{- .labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .name }}
    namespace: {{ .accountNamespace | quote }}
{{- end -}}

{{- /* The same in the whole cluster, where names carry the release's namespace; takes {name, labels, accountNamespace}. */ -}}
{{- define "sandglass.clusterRoleBinding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ printf "%s-%s" .accountNamespace .name }}
  labels:
    {{- .labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ printf "%s-%s" .accountNamespace .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .name }}
    namespace: {{ .accountNamespace | quote }}
{{- end -}}

{{- /* Only the one key, so that whatever else an existing Secret holds stays out of the pod. */ -}}
{{- define "sandglass.linkVolume" -}}
- name: link
  secret:
    secretName: {{ include "sandglass.linkSecret" . | quote }}
    defaultMode: 0440
    items:
      - key: linkSecret
        path: linkSecret
{{- end -}}

{{- /* The secret of which credentials for the egress proxy are made; empty without the proxy. */ -}}
{{- define "sandglass.egressVolume" -}}
{{- if .Values.egressProxy.enabled -}}
- name: egress
  secret:
    secretName: {{ include "sandglass.egressSecret" . | quote }}
    defaultMode: 0440
    items:
      - key: egressSecret
        path: egressSecret
{{- end -}}
{{- end -}}

{{- /* Takes {weight}. */ -}}
{{- define "sandglass.testHook" -}}
helm.sh/hook: test
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{- /* The pod of a test, up to the end of its container, whose env the caller adds; takes {root, script}. */ -}}
{{- define "sandglass.testPod" -}}
enableServiceLinks: false
restartPolicy: Never
activeDeadlineSeconds: 300
{{- with include "sandglass.imagePullSecrets" .root.Values.global.imagePullSecrets }}
{{ . }}
{{- end }}
securityContext:
  {{- include "sandglass.podSecurityContext" .root | nindent 2 }}
volumes:
  - name: scripts
    configMap:
      name: {{ include "sandglass.fullname" .root }}-tests
containers:
  - name: test
    image: {{ include "sandglass.sandboxImage" .root | quote }}
    imagePullPolicy: IfNotPresent
    command: [python3, -I, {{ printf "/tests/%s" .script | quote }}]
    resources:
      requests:
        cpu: 50m
        memory: 64Mi
      limits:
        memory: 128Mi
    securityContext:
      {{- include "sandglass.securityContext" .root | nindent 6 }}
    volumeMounts:
      - name: scripts
        mountPath: /tests
        readOnly: true
{{- end -}}

{{- /* Whether to write admission policies: text if so. What the API server knows is not asked: `helm template` would not hear
       of the kind, and leave the wall out without a word. A server without it refuses the chart, which is told. */ -}}
{{- define "sandglass.policies" -}}
{{- if .Values.policies.enabled -}}yes{{- end -}}
{{- end -}}

{{- /* Which MCP servers agents may register in pods of their own: none without the policies that bound what the gateway writes. */ -}}
{{- define "sandglass.agentServers" -}}
{{- if include "sandglass.policies" . -}}{{- .Values.mcp.agentServers -}}{{- else -}}none{{- end -}}
{{- end -}}

{{- /* Selects the namespaces of all tenants. */ -}}
{{- define "sandglass.inTenants" -}}
matchExpressions:
  - key: kubernetes.io/metadata.name
    operator: In
    values:
      {{- include "sandglass.tenantNamespaces" . | fromJsonArray | toYaml | nindent 6 }}
{{- end -}}

{{- /* Puts a ValidatingAdmissionPolicy of the same name into force where the tenants are; takes {root, name, labels}. */ -}}
{{- define "sandglass.policyBinding" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .name }}
  labels:
    {{- .labels | nindent 4 }}
spec:
  policyName: {{ .name }}
  validationActions: [Deny, Audit]
  matchResources:
    namespaceSelector:
      {{- include "sandglass.inTenants" .root | nindent 6 }}
{{- if .root.Values.tenantsByLabel }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .name }}-by-label
  labels:
    {{- .labels | nindent 4 }}
spec:
  policyName: {{ .name }}
  validationActions: [Deny, Audit]
  matchResources:
    namespaceSelector:
      matchExpressions:
        - key: sandglass.dev/tenant
          operator: Exists
        # The others have the label too, and the API server would evaluate the policy twice.
        - key: kubernetes.io/metadata.name
          operator: NotIn
          values:
            {{- include "sandglass.tenantNamespaces" .root | fromJsonArray | toYaml | nindent 12 }}
{{- end }}
{{- end -}}

{{- /* What has numbers at its management port, as a JSON list. */ -}}
{{- define "sandglass.measured" -}}
{{- $measured := list (dict "name" "operator" "component" "operator" "path" "/metrics")
    (dict "name" "gateway" "component" "mcp-gateway" "path" "/actuator/prometheus") -}}
{{- if .Values.egressProxy.enabled -}}
{{- $measured = append $measured (dict "name" "egress-proxy" "component" "egress-proxy" "path" "/metrics") -}}
{{- end -}}
{{- $measured | toJson -}}
{{- end -}}

{{- /* Ports of the egress proxy's pods for sandboxes, behind those of the Service, as NetworkPolicy ports. */ -}}
{{- define "sandglass.proxyPorts" -}}
- protocol: TCP
  port: 3128
{{- if .Values.egressProxy.splitDns }}
- protocol: UDP
  port: 5353
- protocol: TCP
  port: 5353
- protocol: TCP
  port: 8080
- protocol: TCP
  port: 8443
{{- end }}
{{- end -}}

{{- /* The pods of all sandboxes, as NetworkPolicy peers. */ -}}
{{- define "sandglass.sandboxPeers" -}}
- namespaceSelector:
    {{- include "sandglass.inTenants" . | nindent 4 }}
  podSelector:
    matchLabels:
      app.kubernetes.io/component: sandbox
{{- if .Values.tenantsByLabel }}
- namespaceSelector:
    matchExpressions:
      - key: sandglass.dev/tenant
        operator: Exists
  podSelector:
    matchLabels:
      app.kubernetes.io/component: sandbox
{{- end }}
{{- end -}}

{{- /* How pods spread; takes {root, component, values}. A constraint without a selector would count no pod at all. */ -}}
{{- define "sandglass.spread" -}}
{{- $component := dict "root" .root "component" .component -}}
{{- $selector := dict "matchLabels" (include "sandglass.selector" $component | fromYaml) -}}
{{- $nodes := dict "topologyKey" "kubernetes.io/hostname" "maxSkew" 1 "whenUnsatisfiable" "ScheduleAnyway" "matchLabelKeys" (list "pod-template-hash") -}}
topologySpreadConstraints:
  {{- range .values.topologySpreadConstraints | default (list $nodes) }}
  - {{ merge (dict) . (dict "labelSelector" $selector) | toYaml | nindent 4 | trim }}
  {{- end }}
{{- end -}}

{{- /* Further certificate authorities: the volume, its mount, and the variable that names the file to the gateway. */ -}}
{{- define "sandglass.trustedCaVolume" -}}
{{- if or .Values.trustedCA.pem .Values.trustedCA.configMap -}}
- name: trusted-ca
  configMap:
    name: {{ .Values.trustedCA.configMap | default (printf "%s-trusted-ca" (include "sandglass.fullname" .)) | quote }}
    items:
      - key: ca.crt
        path: ca.crt
{{- end }}
{{- end -}}

{{- /* What clients call the gateway; empty if the values do not say. */ -}}
{{- define "sandglass.publicUrl" -}}
{{- if .Values.gateway.publicUrl -}}
{{- .Values.gateway.publicUrl -}}
{{- else if .Values.gateway.ingress.enabled -}}
{{- printf "%s://%s" (ternary "https" "http" (ne .Values.gateway.ingress.tlsSecretName "")) .Values.gateway.ingress.host -}}
{{- end -}}
{{- end -}}
