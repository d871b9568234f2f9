# shellcheck shell=bash
# What all checks use: running one, waiting for something, pods to look from.

: "${here:?}"
readonly image=localhost/debian:trixie
readonly space=cluster-test
scratch=$(mktemp --directory)
trap 'rm -rf "$scratch"' EXIT
passed=0 failures=()

cluster() {
  "$here/cluster" "$@" 2>&1
}

# use_cluster points kubectl at the cluster that runs.
use_cluster() {
  KUBECONFIG=$("$here/cluster" kubeconfig)
  PATH=$("$here/cluster" tools):$PATH
  export KUBECONFIG PATH
}

# check WHAT COMMAND... runs a check in a shell of its own, where the first
# thing that fails fails the check. It must not be part of a condition: there,
# the shell goes on after a failure.
check() {
  local what=$1 start=$SECONDS status
  shift
  set +e
  (set -e && "$@") >"$scratch/output" 2>&1
  status=$?
  set -e
  if ((status == 0)); then
    passed=$((passed + 1))
    printf 'ok    %s (%d s)\n' "$what" $((SECONDS - start))
  else
    failures+=("$what")
    printf 'FAIL  %s (%d s)\n' "$what" $((SECONDS - start))
    sed 's/^/      /' "$scratch/output"
  fi
}

summary() {
  printf '%d checks passed, %d failed, in %d s\n' "$passed" "${#failures[@]}" "$SECONDS"
  ((${#failures[@]} == 0))
}

# within SECONDS COMMAND... repeats the command until it succeeds. A function
# given here has to join its steps by &&, as it is run as a condition.
within() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || { echo "did not come true: $*" && return 1; }
    sleep 0.1
  done
}

# refuse COMMAND... succeeds when the command fails.
refuse() {
  if "$@"; then
    echo "should have failed: $*"
    return 1
  fi
}

# pod NAME [LABELS] [SPEC] makes a pod that waits. SPEC is further YAML of its spec.
pod() {
  local name=$1 labels=${2-} spec=${3-}
  kubectl apply --namespace "$space" --filename - <<END
apiVersion: v1
kind: Pod
metadata:
  name: $name
  labels: {app: $name, $labels}
spec:
  terminationGracePeriodSeconds: 0
  ${spec//$'\n'/$'\n'  }
  containers:
  - name: main
    image: $image
    imagePullPolicy: Never
    command: [${command:-sleep, infinity}]
    volumeMounts: [${mounts-}]
END
}

ready() {
  kubectl wait --namespace "$space" --for condition=Ready --timeout 30s "pod/$1"
}

# inside POD COMMAND... runs a command in a pod.
inside() {
  local pod=$1
  shift
  kubectl exec --namespace "$space" "$pod" -- "$@"
}

# connects POD HOST PORT tells whether the pod gets a connection.
connects() {
  inside "$1" timeout 2 bash -c "exec 3<>/dev/tcp/$2/$3"
}

address() {
  kubectl get pod --namespace "$space" "$1" --output 'jsonpath={.status.podIP}'
}
