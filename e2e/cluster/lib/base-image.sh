# shellcheck shell=bash
# The image on which the project's own are built where no registry can be reached.

: "${cache:?}"
readonly base_image_name=localhost/debian:trixie

base_image() {
  need_root
  need_packages
  local lock=$cache/base-image.lock
  mkdir -p "$cache"
  (
    flock 9
    if buildah inspect --type image "$base_image_name" >/dev/null 2>&1; then
      say "$base_image_name is there already"
    else
      make_base_image
    fi
  ) 9>"$lock"
}

make_base_image() {
  need_root
  need_packages
  local folder container
  say "making $base_image_name from Debian's packages"
  folder=$(mktemp --directory)
  # shellcheck disable=SC2064 # the folder of this call
  trap "rm -rf '$folder'" EXIT
  mmdebstrap --quiet --variant=minbase --include=ca-certificates trixie "$folder/root.tar" >&2
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$folder/root.tar" / >/dev/null
  buildah config --cmd /bin/bash \
    --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  buildah commit --quiet --rm "$container" "$base_image_name" >/dev/null
  say "made $base_image_name"
}
