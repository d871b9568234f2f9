{{- /* The most that each field of a Sandbox may be, as JSON, without those that have no limit. A limit below the
       CRD's default would refuse every Sandbox that leaves the field out. */ -}}
{{- define "sandglass.mostOf" -}}
{{- $crd := .Files.Get "files/crd.yaml" | fromYaml -}}
{{- $fields := (index $crd.spec.versions 0).schema.openAPIV3Schema.properties.spec.properties -}}
{{- $limits := dict -}}
{{- range $field, $value := dict "memory" "maxMemory" "cpus" "maxCpus" "disk" "maxDisk" "workspace.size" "maxWorkspaceSize" -}}
{{- with get $.Values.sandbox $value -}}
{{- $default := dig $field "default" "0" $fields -}}
{{- if lt (include "sandglass.amount" . | float64) (include "sandglass.amount" $default | float64) -}}
{{- fail (printf "sandbox.%s: %s is less than %s, the %s of a Sandbox that names none, so that each of them would be refused; set %s or more" $value . $default $field $default) -}}
{{- end -}}
{{- $_ := set $limits $field . -}}
{{- end -}}
{{- end -}}
{{- $limits | toJson -}}
{{- end -}}

{{- /* A quantity as a plain number. */ -}}
{{- define "sandglass.amount" -}}
{{- $units := dict "" 1.0 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 -}}
{{- mulf (regexFind "^[0-9.]+" .) (get $units (regexFind "[A-Za-z]*$" .)) -}}
{{- end -}}

{{- /* Patterns of a list as regular expressions, as the operator's AllowList: a JSON array. */ -}}
{{- define "sandglass.patterns" -}}
{{- $patterns := list -}}
{{- range . -}}
{{- $patterns = append $patterns (regexQuoteMeta . | replace "\\*\\*" ".*" | replace "\\*" "[^/]*" | printf "^%s$") -}}
{{- end -}}
{{- $patterns | toJson -}}
{{- end -}}

{{- /* What the pods of a Sandbox, and the seats of a SandboxPool, are like: the variables `shape` and `shapeBefore`, in which an
       absent part is empty. Takes the path of that part, as {part}. */ -}}
{{- define "sandglass.shapeVariables" -}}
- name: shape
  expression: 'dyn(object).?{{ .part | replace "." ".?" }}.orValue({})'
- name: shapeBefore
  expression: 'oldObject == null ? dyn({}) : dyn(dyn(oldObject).?{{ .part | replace "." ".?" }}.orValue({}))'
- name: image
  expression: 'string(variables.shape.?image.orValue(""))'
{{- end -}}

{{- /* What an installation allows of image, RuntimeClass and sizes, as rules of a policy with these variables. Values from before
       a rule stay valid until the field is changed. Takes {root, part, fields}; fields are those of sandglass.mostOf that are
       there. */ -}}
{{- define "sandglass.shapeRules" -}}
{{- $image := include "sandglass.sandboxImage" .root -}}
{{- $patterns := include "sandglass.patterns" .root.Values.sandbox.allowedImages | fromJsonArray -}}
{{- $classes := include "sandglass.patterns" .root.Values.sandbox.allowedRuntimeClasses | fromJsonArray -}}
- expression: >-
    variables.shapeBefore.?image.orValue("") == variables.image
    || variables.image in {{ list "" "microsandbox/python" "microsandbox/node" $image | toJson }}
    {{- if $patterns }}
    || {{ $patterns | toJson }}.exists(pattern, variables.image.matches(pattern))
    {{- end }}
  messageExpression: >-
    "{{ .part }}.image: " + variables.image + " is not on this installation's list of allowed images; leave the field out to use "
    + {{ $image | toJson }}
- expression: >-
    !has(variables.shape.runtimeClassName)
    || variables.shapeBefore.?runtimeClassName.orValue("") == variables.shape.runtimeClassName
    {{- if .root.Values.sandbox.runtimeClassName }}
    || variables.shape.runtimeClassName == {{ .root.Values.sandbox.runtimeClassName | toJson }}
    {{- else if $classes }}
    || {{ $classes | toJson }}.exists(pattern, variables.shape.runtimeClassName.matches(pattern))
    {{- end }}
  messageExpression: >-
    "{{ .part }}.runtimeClassName: " + variables.shape.runtimeClassName
    {{- if .root.Values.sandbox.runtimeClassName }}
    + " is not allowed, this installation runs every sandbox with {{ .root.Values.sandbox.runtimeClassName }}; leave the field out"
    {{- else }}
    + " is not on this installation's list of allowed RuntimeClasses (sandbox.allowedRuntimeClasses of the chart);"
    + " leave the field out to use the cluster's default"
    {{- end }}
{{- $part := .part }}
{{- $limits := include "sandglass.mostOf" .root | fromJson }}
{{- range $field := .fields }}
{{- with get $limits $field }}
{{- $given := splitList "." $field | first }}
- expression: >-
    !has(variables.shape.{{ $given }})
    || (has(variables.shapeBefore.{{ $given }}) && string(variables.shapeBefore.{{ $field }}) == string(variables.shape.{{ $field }}))
    || quantity(string(variables.shape.{{ $field }})).compareTo(quantity({{ . | toJson }})) <= 0
  messageExpression: >-
    "{{ $part }}.{{ $field }}: " + string(variables.shape.{{ $field }}) + " is more than this installation's limit of {{ . }}"
{{- end }}
{{- end }}
{{- end -}}

{{- /* A UUID in small letters as a regular expression, without anchors. */ -}}
{{- define "sandglass.uuid" -}}
[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
{{- end -}}

{{- /* The operator's account, as the API server knows it. */ -}}
{{- define "sandglass.operatorUser" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "sandglass.fullname" . }}-operator
{{- end -}}
