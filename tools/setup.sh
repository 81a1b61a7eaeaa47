#!/bin/sh
# Makes sure that what mallow needs is on this machine: `setup.sh build` for the compilers,
# `setup.sh test` for the packages of the test suite as well, `setup.sh oracle` for what make test-oracle runs beside
# them, `setup.sh bench` for the peers that the benchmarks compare with. Silent and quick when nothing is
# missing; as root it installs what is missing with apt-get, otherwise it names the command.
# What it cannot bring about it names, and exits 1.
set -u
here=$(dirname -- "$0")
want=${1:-build}

fail() {
  printf 'mallow: %s\n' "$*" >&2
  exit 1
}

# Names of the packages of one kind, from the list beside this script.
packages() {
  sed -n "s/^$1 *\([^ ]*\).*/\1/p" "$here/packages.txt"
}

missing_tools() {
  for tool in $(packages build); do
    command -v "$tool" >/dev/null 2>&1 || printf '%s ' "$tool"
  done
}

missing_packages() {
  command -v dpkg-query >/dev/null 2>&1 || return 0
  for package in $(packages "$1"); do
    # The status is literal: dpkg-query expands it.
    # shellcheck disable=SC2016
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
  done
}

# The first call may run on stale or empty package lists: refresh them and try once more.
apt_install() {
  DEBIAN_FRONTEND=noninteractive
  export DEBIAN_FRONTEND
  apt_get install "$@" || { apt_get update && apt_get install "$@"; }
}

apt_get() {
  verb=$1
  shift
  if [ "$verb" = install ]; then set -- --no-install-recommends "$@"; fi
  apt-get -qq -y -o DPkg::Lock::Timeout=600 "$verb" "$@" </dev/null >&2
}

install_missing() {
  [ $# -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null 2>&1; then
    fail "missing: $*. Install these with your package manager (the names are Debian's)."
  elif [ "$(id -u)" -ne 0 ]; then
    fail "missing: $*. Run as root: apt-get install $*"
  fi
  printf 'mallow: installing %s\n' "$*" >&2
  apt_install "$@" || fail "could not install: $*. Try as root: apt-get update && apt-get install $*"
}

# Debian's own Go is too old, so Go is never installed here: it comes from go.dev.
check_go() {
  command -v go >/dev/null 2>&1 ||
    fail "missing: go, 1.26 or newer. Get it from https://go.dev/dl and put its bin folder into PATH."
  version=$(go env GOVERSION 2>/dev/null | sed 's/^go//; s/[^0-9.].*//')
  major=${version%%.*}
  rest=${version#*.}
  minor=${rest%%.*}
  if [ "${major:-0}" -lt 1 ] || { [ "$major" -eq 1 ] && [ "${minor:-0}" -lt 26 ]; }; then
    fail "go is ${version:-unknown}, but mallow needs 1.26 or newer. Get it from https://go.dev/dl and put its bin folder first into PATH."
  fi
}

# Lists of words are meant to split here.
# shellcheck disable=SC2046
install_missing $(missing_tools)
check_go
# shellcheck disable=SC2046
[ "$want" = build ] || install_missing $(missing_packages "$want")
# Another system than Debian 12 may not have these. What needs them says so.
# shellcheck disable=SC2046
if [ "$want" = test ] && [ "$(id -u)" -eq 0 ]; then (install_missing $(missing_packages tidy)) || :; fi
