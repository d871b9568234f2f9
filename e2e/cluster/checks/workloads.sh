# shellcheck shell=bash
# Images, volumes, runtime classes, limits.

: "${scratch:?}" "${space:?}" "${image:?}"

workload_checks() {
  check "load brings an image" load_image
  check "load of what is there is a look" load_again
  check "load takes several images and shares layers" load_several
  kubectl create namespace "$space" >/dev/null
  check "a pod runs the loaded image" start_pods
  check "exec and logs reach a pod" exec_and_logs
  check "a claim without a class gets a volume a group may write to" claim_binds
  check "a deleted claim takes its folder along" claim_goes
  check "the extra RuntimeClass runs a pod, an unknown handler does not" runtime_class
  check "a fork bomb ends in its own pod" pid_limit
  check "tokens of service accounts are accepted" token_accepted
}

load_image() {
  cluster load "$image" | grep 'loaded in'
}

load_again() {
  local start=$SECONDS
  cluster load "$image" | grep 'is there already'
  ((SECONDS - start < 2))
}

load_several() {
  local name container
  for name in one two; do
    container=$(buildah from --pull-never "$image")
    buildah config --label "cluster-test=$name$RANDOM" "$container"
    buildah commit --quiet --rm "$container" "localhost/cluster-test:$name"
  done
  cluster load localhost/cluster-test:one localhost/cluster-test:two | tee "$scratch/loaded"
  [[ $(grep --count 'loaded in' "$scratch/loaded") == 2 ]]
  # The name moves with the image, as after a build.
  buildah tag localhost/cluster-test:two localhost/cluster-test:one
  cluster load localhost/cluster-test:one | grep 'loaded in'
  buildah rmi localhost/cluster-test:one localhost/cluster-test:two
}

start_pods() {
  # shellcheck disable=SC2016 # variables of Perl
  local server='use IO::Socket::INET; $s = IO::Socket::INET->new(LocalPort => 8000, Listen => 9, ReuseAddr => 1) or die; while ($c = $s->accept) { print $c $c->peerhost; close $c }'
  command="perl, -e, '$server'" pod server
  pod client
  ready server
  ready client
  kubectl expose --namespace "$space" pod server --type NodePort --port 80 --target-port 8000
}

exec_and_logs() {
  [[ $(inside client echo hello) == hello ]]
  command='bash, -c, "echo from the log; sleep infinity"' pod talker
  ready talker
  kubectl logs --namespace "$space" talker | grep 'from the log'
}

claim_binds() {
  kubectl apply --namespace "$space" --filename - <<'END'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 10Mi}}
END
  mounts='{name: data, mountPath: /data}' pod keeper "" "securityContext: {runAsUser: 1000, runAsGroup: 1000, fsGroup: 2000}
volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"
  ready keeper
  [[ $(kubectl get pvc --namespace "$space" data --output 'jsonpath={.status.phase}') == Bound ]]
  inside keeper bash -c 'echo kept > /data/file && stat --format "%u %g" /data/file /data' | tee "$scratch/owners"
  grep '^1000 ' "$scratch/owners"
  grep ' 2000$' "$scratch/owners"
}

claim_goes() {
  local folder
  folder=$(kubectl get pv --output 'jsonpath={.items[0].spec.local.path}')
  grep kept "$folder/file"
  kubectl delete --namespace "$space" pod/keeper pvc/data --timeout 30s
  within 20 test ! -e "$folder"
}

runtime_class() {
  pod other "" "runtimeClassName: runc-alt"
  ready other
  kubectl apply --filename - <<'END'
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: cluster-test-missing}
handler: missing
END
  pod nowhere "" "runtimeClassName: cluster-test-missing"
  within 20 has_event nowhere 'no runtime for "missing"'
  kubectl delete --namespace "$space" pod nowhere --now
  kubectl delete runtimeclass cluster-test-missing
}

has_event() {
  kubectl get events --namespace "$space" --field-selector "involvedObject.name=$1" | grep "$2"
}

pid_limit() {
  local count
  pod bomber
  ready bomber
  # Each child waits, so that all of them count at the same time.
  # shellcheck disable=SC2016 # variables of Perl
  count=$(inside bomber perl -e '$| = 1; while (defined($p = fork)) { if (!$p) { sleep 60; exit } $n++; last if $n > 3000 } print $n; kill 9, -$$') || true
  echo "$count processes"
  ((count > 900 && count < 1024))
  kubectl delete --namespace "$space" pod bomber --now
  inside client true
}

token_accepted() {
  local token
  token=$(kubectl create token --namespace "$space" default)
  kubectl --token "$token" auth whoami --kubeconfig <(grep --invert-match 'client-' "$KUBECONFIG") \
    --output 'jsonpath={.status.userInfo.username}' | grep "system:serviceaccount:$space:default"
  refuse kubectl --token "x$token" auth whoami --kubeconfig <(grep --invert-match 'client-' "$KUBECONFIG")
}
