# shellcheck shell=bash
# Builds the node's programs and keeps them outside of the tree, in folders
# named by what they were built from. A folder appears whole or not at all.

: "${here:?}"
cache=$(realpath --canonicalize-missing "${SANDGLASS_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/sandglass}/cluster")
readonly cache
readonly kube_names=(
  etcd kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubelet
  local-volumes network-policies kubectl
)

# node_program prints the path of the program in node/.
node_program() {
  local folder
  folder=$(kept node build_node "$here/node")
  echo "$folder/node"
}

# programs_folder prints the folder with everything the node runs.
programs_folder() {
  # The second folder holds how a program becomes an image.
  kept programs build_programs "$here/programs" "$here/node/internal/images"
}

# kept NAME BUILD SOURCES... prints the folder that BUILD makes of the sources,
# making it where it is not there.
kept() {
  local name=$1 build=$2 folder key
  key=$(key "${@:3}")
  folder=$cache/$name-$key
  if ! whole "$folder"; then
    mkdir -p "$cache"
    # The lock ends with the last process that holds it, so a killed build
    # lets the next one in as soon as its compiler has stopped.
    (
      flock --nonblock 9 || { say "another build of $name is under way; waiting for it" && flock 9; }
      whole "$folder" || make_folder "$name" "$build" "$folder"
    ) 9>"$cache/$name.lock" >&2
  fi
  touch "$folder"
  echo "$folder"
}

make_folder() {
  local name=$1 build=$2 folder=$3 half
  # Under the lock, what is half done was left by a build that was killed.
  rm -rf "$cache/half-$name".* "$folder"
  half=$(mktemp --directory "$cache/half-$name.XXXXXX")
  chmod 755 "$half"
  "$build" "$half"
  sizes "$half" >"$half/sizes"
  sync --file-system "$half"
  mv "$half" "$folder"
  forget_old "$name" "$folder"
}

# whole tells whether a folder holds what was put there, to the byte count.
whole() {
  [[ -f $1/sizes ]] && diff --brief <(sizes "$1") "$1/sizes" >/dev/null
}

sizes() {
  (cd "$1" && find . -type f ! -name sizes -printf '%p %s\n' -o -type l -printf '%p %l\n' | sort)
}

# forget_old removes what no one has asked for in a week.
forget_old() {
  find "$cache" -maxdepth 1 -type d -name "$1-*" ! -path "$2" -mtime +7 -exec rm -rf {} +
}

# key is a digest of sources, compiler and the way of building.
key() {
  local folder
  {
    GOTOOLCHAIN=local go version
    cat "$here/lib/build.sh"
    for folder in "$@"; do
      cd "$folder" || return
      find . -type f ! -name '*_test.go' -print0 | sort --zero-terminated | xargs --null sha256sum
    done
  } | sha256sum | cut --characters=1-16
}

build_node() {
  say "building the node program"
  compile "$here/node" "$1" .
}

build_programs() {
  local out=$1 name node
  node=$(node_program)
  say "building Kubernetes, CoreDNS and helm; about five minutes on two cores the first time"
  compile "$here/programs" "$out" ./kube ./coredns ./pause helm.sh/helm/v4/cmd/helm
  for name in "${kube_names[@]}"; do
    ln --symbolic kube "$out/$name"
  done
  mkdir "$out/tools"
  ln --symbolic ../kube "$out/tools/kubectl"
  ln --symbolic ../helm "$out/tools/helm"
  "$node" pack localhost/coredns:cluster "$out/coredns" "$out/coredns.tar"
  "$node" pack localhost/pause:cluster "$out/pause" "$out/pause.tar"
  "$out/tools/kubectl" version --client >/dev/null && "$out/tools/helm" version >/dev/null
  say "built everything"
}

# compile MODULE FOLDER PACKAGE... builds static programs. Versions are linked
# in, since clients look at the API server's.
compile() (
  local module=$1 out=$2
  shift 2
  cd "$module" || return
  local kubernetes helm
  kubernetes=$(version_of k8s.io/kubernetes)
  helm=$(version_of helm.sh/helm/v4)
  local link="-s -w -X k8s.io/component-base/version.gitVersion=$kubernetes"
  link+=" -X k8s.io/component-base/version.gitMajor=1"
  link+=" -X k8s.io/component-base/version.gitMinor=$(cut --delimiter=. --fields=2 <<<"$kubernetes")"
  link+=" -X helm.sh/helm/v4/internal/version.version=$helm"
  CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off \
    go build -v -mod=readonly -trimpath -buildvcs=false -ldflags "$link" -o "$out/" "$@" 2>&1 | report
)

version_of() {
  sed --quiet --expression "s#^\s*$1 \(v[^ ]*\).*#\1#p" go.mod | head -n 1
}

# report turns the compiler's stream of names into a line every ten seconds
# and passes on everything else it says.
report() {
  local line compiled=0 loaded=0 next=$((SECONDS + 10))
  while IFS= read -r line; do
    case $line in
      'go: downloading '*) loaded=$((loaded + 1)) ;;
      *' '* | '#'*) printf '%s\n' "$line" >&2 ;;
      *) compiled=$((compiled + 1)) ;;
    esac
    if ((SECONDS >= next)); then
      say "$loaded modules downloaded, $compiled packages compiled, now at ${line##* }"
      next=$((SECONDS + 10))
    fi
  done
  say "$loaded modules downloaded, $compiled packages compiled"
}
