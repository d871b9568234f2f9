# shellcheck shell=bash
# Programs that the cluster does not need, each a Go module of its own: whoever asks for one first has it built.

: "${here:?}"

# extra NAME prints the path of the program.
extra() {
  local folder
  case $1 in
    kwok) folder=$(kept kwok build_kwok "$here/extras/kwok") ;;
    kube-score) folder=$(kept kube-score build_kube_score "$here/extras/kube-score") ;;
    *) fail "there is no program '$1' (kwok, kube-score)" ;;
  esac
  echo "$folder/$1"
}

build_kwok() { compile_extra kwok "$1" sigs.k8s.io/kwok/cmd/kwok; }

build_kube_score() { compile_extra kube-score "$1" github.com/zegl/kube-score/cmd/kube-score; }

# compile_extra NAME FOLDER PACKAGE. Without the version of Kubernetes, which these modules do not have.
compile_extra() (
  say "building $1"
  cd "$here/extras/$1" || return
  CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off \
    go build -v -mod=readonly -trimpath -buildvcs=false -ldflags "-s -w" -o "$2/" "$3" 2>&1 | report
)
