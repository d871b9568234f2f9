# shellcheck shell=bash
# What the machine has to offer, and how to get it.

readonly go_wanted=1.26

# Each package with a program of it, by which its presence is told.
declare -rA packages=(
  [containerd]=containerd
  [runc]=runc
  [containernetworking-plugins]=/usr/lib/cni/ptp
  [conntrack]=conntrack
  [ipset]=ipset
  [iptables]=iptables
  [iproute2]=ip
  [buildah]=buildah
  [mmdebstrap]=mmdebstrap
)

need_root() {
  ((EUID == 0)) || fail "namespaces, mounts and devices need root: run it as root, for instance with sudo -E"
}

need_go() {
  local have
  have=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null) ||
    fail "Go $go_wanted or newer is needed: unpack it from https://go.dev/dl into /usr/local and put /usr/local/go/bin on the PATH"
  have=${have#go}
  [[ $(printf '%s\n' "$go_wanted" "$have" | sort --version-sort | head -n 1) == "$go_wanted" ]] ||
    fail "Go $go_wanted or newer is needed, but $(command -v go) is $have: get a newer one from https://go.dev/dl"
}

need_packages() {
  local package missing=()
  for package in "${!packages[@]}"; do
    command -v "${packages[$package]}" >/dev/null || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null ||
    fail "these programs are missing and this is not Debian, so install them yourself: ${missing[*]}"
  say "installing ${missing[*]}"
  install_packages "${missing[@]}" || {
    # The lists may be empty or name versions that are gone.
    apt-get update >&2
    install_packages "${missing[@]}" || fail "apt-get could not install ${missing[*]}"
  }
}

install_packages() {
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@" >&2
}
