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
