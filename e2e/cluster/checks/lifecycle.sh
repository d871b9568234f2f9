# shellcheck shell=bash
# Starting, starting again, starting twice.

: "${scratch:?}"

lifecycle_checks() {
  check "status fails when nothing runs" refuse cluster status
  check "kubeconfig fails when nothing runs" refuse cluster kubeconfig
  check "up gives a usable cluster within 15 s" usable_within 15
  check "status of a running cluster" cluster status
  check "up on a running cluster keeps it and takes no 3 s" keeps_running
  check "up twice at the same time gives one cluster" two_at_once
  check "a killed API server is started again and no pod with it" restarts_api_server
  check "restart of what is no service is refused" refuse cluster restart no-such-service
}

usable_within() {
  local start=$SECONDS
  cluster up
  ((SECONDS - start <= $1))
  use_cluster
  kubectl get nodes | grep --word-regexp Ready
}

node_process() {
  cluster exec -- cat /proc/1/stat | cut --delimiter=' ' --fields=22
}

keeps_running() {
  local first start=$SECONDS
  first=$(node_process)
  cluster up
  ((SECONDS - start < 3))
  [[ $(node_process) == "$first" ]]
}

two_at_once() {
  cluster down
  cluster up >"$scratch/one" &
  local one=$!
  cluster up >"$scratch/two" &
  local two=$!
  wait "$one"
  wait "$two"
  cat "$scratch/one" "$scratch/two"
  # One waits for the other, and only one of them starts a node.
  grep --quiet 'another start or stop is under way' "$scratch/one" "$scratch/two"
  [[ $(cat "$scratch/one" "$scratch/two" | grep --count 'node started') == 1 ]]
  cluster status
}

restarts_api_server() {
  use_cluster
  local pods='jsonpath={.items[*].status.containerStatuses[*].containerID}' before
  before=$(kubectl get pods --all-namespaces --output "$pods")
  [[ $before ]]
  cluster restart kube-apiserver
  [[ $(kubectl get pods --all-namespaces --output "$pods") == "$before" ]]
}
