#!/bin/sh
# debian.sh [COMMAND...]: makes a Debian 12 (or SUITE: trixie, sid) with g++, CMake, Go and git alone, clones the last commit
# into /root there, which only root may enter, and runs COMMAND in the clone; without one both commands of the README. As
# root, with debootstrap. It takes some 5 GB of TMPDIR, and removes them.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

fail() {
  printf 'debian.sh: %s\n' "$*" >&2
  exit 1
}

[ "$(id -u)" -eq 0 ] || fail "only root can make a system: run it as root"
for tool in debootstrap unshare go git; do
  command -v "$tool" >/dev/null 2>&1 || fail "$tool is missing"
done
[ $# -gt 0 ] || set -- sh -c './mallow ls / && make test'

home=/root
suite=${SUITE:-bookworm}
system=$(mktemp -d)
trap 'rm -rf --one-file-system "$system"' EXIT
chmod 755 "$system" # its root folder, which other users have to enter
debootstrap --variant=minbase --include=ca-certificates,g++,cmake,git "$suite" "$system" >"$system/debootstrap.out" ||
  fail "no Debian ($suite): $(tail -n 1 "$system/debootstrap.out")"
# Whom this system asks and trusts.
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
  if [ -e "$file" ]; then cp -L "$file" "$system$file"; fi
done
mkdir "$system/usr/local/go"
git clone -q "$here" "$system$home/mallow"

# What is mounted goes with the namespace.
# shellcheck disable=SC2016
unshare --mount --propagation private sh -c '
  system=$1 home=$2 go=$3
  shift 3
  mount -t proc proc "$system/proc" && mount --rbind /sys "$system/sys" && mount --rbind /dev "$system/dev" &&
    mount --bind -o ro "$go" "$system/usr/local/go" || exit 1
  exec chroot "$system" /usr/bin/env -i HOME="$home" CI=true PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    sh -c "cd \"\$HOME/mallow\" && exec \"\$@\"" sh "$@"
' sh "$system" "$home" "$(go env GOROOT)" "$@"
