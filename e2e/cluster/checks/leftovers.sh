# shellcheck shell=bash
# Whatever an earlier cluster or a killed command left, up gets past it.

: "${here:?}" "${scratch:?}"
readonly state=/var/lib/sandglass-cluster

leftover_checks() {
  check "up after the node was killed" after_killed_node
  check "up after up was killed at each of its steps" after_killed_up
  check "up after the state folder was removed from under the cluster" after_removed_state
  check "a reused process number is not taken for the node" reused_number
  check "up over devices, rules, cgroups and mounts of yesterday" over_yesterday
  check "up refuses a network that is in use" network_in_use
  check "a damaged cache is built again" damaged_cache
  check "a cluster of another build is replaced" other_build
}

# works tells whether up ends with a cluster that status calls whole. Not in the same instant: a pod of a node that has
# just come back may be taken for not ready once more, and is ready again with the node's next word.
works() {
  cluster up
  within 5 cluster status
}

after_killed_node() {
  kill -KILL "$(jq_pid)"
  within 10 refuse cluster status
  works
}

# jq_pid reads the node's process number from the record.
jq_pid() {
  sed --regexp-extended 's/.*"pid":([0-9]+).*/\1/' "$state/init.json"
}

after_killed_up() {
  local moment
  for moment in "test -d $state/config" "test -f $state/init.json" \
    "ip link show sandglass0" "test -f $state/pids/etcd" "test -f $state/pids/kubelet"; do
    echo "killed as soon as: $moment"
    cluster down
    setsid "$here/cluster" up >/dev/null 2>&1 &
    local up=$!
    # shellcheck disable=SC2086 # a command with its arguments
    within 20 soon $moment
    kill -KILL -- "-$up"
    wait "$up" || true
    works
  done
}

# soon looks often, to hit the moment.
soon() {
  for _ in {1..200}; do
    "$@" >/dev/null 2>&1 && return
  done
  return 1
}

after_removed_state() {
  local strays
  strays=$(jq_pid)
  # The cluster goes on writing, so something may come back meanwhile.
  rm -rf "$state" || true
  refuse cluster status
  works
  [[ ! -e /proc/$strays ]] || refuse grep --quiet sandglass "/proc/$strays/cmdline"
}

reused_number() {
  local innocent
  cluster down
  sleep infinity &
  innocent=$!
  printf '{"pid":%d,"start":1,"build":"x"}' "$innocent" >"$state/init.json"
  cluster down
  kill -0 "$innocent"
  printf '{"pid":%d,"st' "$innocent" >"$state/init.json"
  works
  kill -0 "$innocent"
  kill "$innocent"
}

over_yesterday() {
  cluster down
  mkdir -p "$state/kubelet/pods/volume" /sys/fs/cgroup/pids/sandglass-cluster/kubepods/pod1
  mount -t tmpfs tmpfs "$state/kubelet/pods/volume"
  touch "$state/kubelet/pods/volume/file"
  ip link add sandglass0 type veth peer name sandglass1
  iptables -t nat -I POSTROUTING -s 10.200.0.0/24 -m comment --comment sandglass-cluster -j MASQUERADE
  refuse cluster verify-down
  works
  refuse grep --quiet " $state/" /proc/self/mountinfo
  [[ $(iptables-save -t nat | grep --count sandglass-cluster) == 1 ]]
}

network_in_use() {
  cluster down
  ip route add unreachable 10.244.7.0/24
  refuse cluster up >"$scratch/refused"
  ip route del unreachable 10.244.7.0/24
  cat "$scratch/refused"
  grep --quiet 10.244.7.0/24 "$scratch/refused"
  cluster verify-down
  works
}

damaged_cache() {
  local program folder
  export SANDGLASS_CACHE=$scratch/cache
  cluster status
  program=$(echo "$SANDGLASS_CACHE"/cluster/node-*/node)
  folder=$(dirname "$program")
  truncate --size 1000 "$program"
  mkdir "$SANDGLASS_CACHE/cluster/half-node.killed"
  cluster status
  (($(stat --format %s "$program") > 1000000))
  [[ ! -e $SANDGLASS_CACHE/cluster/half-node.killed ]]
  rm "$folder/sizes"
  cluster status
  [[ -s $folder/sizes ]]
}

other_build() {
  local first
  first=$(node_process)
  sed --in-place 's/"build":"[^"]*"/"build":"of yesterday"/' "$state/init.json"
  cluster up | grep 'of another build'
  [[ $(node_process) != "$first" ]]
  cluster status
}
