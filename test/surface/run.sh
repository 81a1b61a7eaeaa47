#!/bin/sh
# run.sh MALLOC LIBRARY PROGRAM [ARGUMENT...]: runs a program of this suite on one malloc.
#
#   glibc     nothing preloaded: shows that the test itself is right
#   mallow    LIBRARY preloaded
#   recorded  LIBRARY preloaded, recording; an image file must be there afterwards
#   sampled   recorded, with CPU samples as often as the kernel's clock allows
#   linked    nothing preloaded, the program brings libmallow with it
set -u
malloc=$1 library=$2
shift 2
case $malloc in
  glibc) EXPECT_MALLOC=glibc exec "$@" ;;
  mallow) EXPECT_MALLOC=mallow LD_PRELOAD=$library exec "$@" ;;
  linked) EXPECT_MALLOC=mallow exec "$@" ;;
  recorded) samples= ;;
  sampled) samples=:cpu=10000 ;;
  *) echo "run.sh: unknown malloc $malloc" >&2; exit 1 ;;
esac
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
EXPECT_MALLOC=recorded MALLOW_OPTIONS=record=$folder$samples LD_PRELOAD=$library "$@"
status=$?
set -- "$folder"/image-*
if [ ! -s "$1" ]; then
  echo "run.sh: no image file was recorded" >&2
  exit 1
fi
exit $status
