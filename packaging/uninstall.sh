#!/bin/sh
# uninstall.sh BUILD PREFIX: removes from below $DESTDIR$PREFIX what installing BUILD there puts there: both components,
# and the folders that are mallow's own.
set -eu
build=$1 prefix=$2
[ -f "$build/cmake_install.cmake" ] || {
  echo "mallow: nothing is built in $build, and the build knows what is to be removed: run make first" >&2
  exit 1
}
# As the installation took it: from the folder that make runs in, which is left below.
case ${DESTDIR:-/} in
  /*) root=${DESTDIR:-} ;;
  *) root=$PWD/$DESTDIR ;;
esac
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
for component in mallow tcmalloc; do
  DESTDIR=$stage cmake --install "$build" --prefix "$prefix" --component "$component" >"$stage/log" || {
    cat "$stage/log" >&2
    exit 1
  }
done
rm "$stage/log"
cd "$stage"
find . ! -type d | while IFS= read -r file; do rm -f "$root/$file"; done
# Folders of others hold other files; those of mallow are empty now.
find . -depth -type d -path "./*" \( -name mallow -o -name gperftools -o -name google \) | while IFS= read -r folder; do
  rmdir "$root/$folder" 2>/dev/null || true
done
