#!/bin/sh
# dependencies.sh LIBRARY LIST: libmallow.so needs libc alone, calls only what LIST names, and takes at most
# 80 bytes of static thread-local storage.
set -u
library=$1 list=$2 status=0
fail() { echo "$*" >&2; status=1; }
needed=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vxE 'libc\.so\.6|ld-linux-x86-64\.so\.2')
[ -z "$needed" ] || fail "needs" $needed
readelf -dW "$library" | grep -q 'NODELETE' || fail "not marked nodelete"
readelf -dW "$library" | grep -q 'STATIC_TLS' || fail "not initial-exec"
readelf -dW "$library" | grep -qx '.*(SONAME).*\[libmallow.so\]' || fail "the soname is not libmallow.so"
tls=$(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }')
[ $((${tls:-0})) -le 80 ] || fail "thread-local storage of $tls bytes"
undefined=$(nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $2); print $1, $2 }' | LC_ALL=C sort -u)
listed=$(grep -v '^#' "$list" | LC_ALL=C sort -u)
new=$(printf '%s\n%s\n%s\n' "$undefined" "$listed" "$listed" | LC_ALL=C sort | uniq -u)
[ -z "$new" ] || fail "undefined symbols that $list does not name:" $new
exit $status
