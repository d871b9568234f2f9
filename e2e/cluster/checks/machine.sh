# shellcheck shell=bash
# What a cluster could leave on the machine, in a form that can be compared.

# machine prints everything outside of the cluster that it touches. Containers
# of buildah come and go with builds that run at the same time.
machine() {
  echo "# processes of the node"
  # Processes end while they are looked at, which is no failure.
  { grep --files-with-matches sandglass-cluster /proc/[0-9]*/cgroup 2>/dev/null || true; }
  { grep --files-with-matches --text --extended-regexp '/var/lib/sandglass-cluster|/sandglass/cluster/(node|programs)-' \
    /proc/[0-9]*/cmdline 2>/dev/null || true; }
  echo "# mounts"
  awk '{print $5}' /proc/self/mountinfo | grep --invert-match /var/lib/containers | sort
  echo "# devices"
  ip -oneline link show | awk '{print $2}' | sort
  echo "# routes"
  ip route show | sort
  echo "# firewall rules"
  iptables-save | grep --extended-regexp '^-|^:[^ ]+ -' || true
  echo "# forwarding"
  cat /proc/sys/net/ipv4/conf/*/forwarding
  echo "# cgroups"
  find /sys/fs/cgroup -maxdepth 3 -type d -name '*sandglass*'
  cat /sys/fs/cgroup/*/cgroup.subtree_control 2>/dev/null || true
  echo "# places to mount on"
  find /var/lib/cni /var/lib/kubelet -maxdepth 0 2>/dev/null || true
}

# down_leaves SNAPSHOT ends the cluster and compares.
down_leaves() {
  cluster down
  cluster verify-down
  # The machine's own first process may take a moment to collect the node's.
  within 5 same_machine "$1"
}

same_machine() {
  diff <(echo "$1") <(machine)
}
