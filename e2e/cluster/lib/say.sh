# shellcheck shell=bash
# Words for whoever watches. All of it goes to the error output: the standard
# output belongs to what a caller may want to read, such as a path.

say() {
  printf '[%5d s] %s\n' "$SECONDS" "$*" >&2
}

fail() {
  printf 'cluster: %s\n' "$*" >&2
  exit 1
}
