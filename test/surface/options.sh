#!/bin/sh
# options.sh LIBRARY: what libmallow.so says to bad options, and that it goes on.
set -u
library=$1 status=0
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# expect OPTIONS SENTENCES: /bin/echo runs, and exactly these sentences are on descriptor 2.
expect() {
  out=$(MALLOW_OPTIONS=$1 LD_PRELOAD=$library /bin/echo runs 2>"$folder/said") || { echo "'$1': status $?"; status=1; }
  [ "$out" = runs ] || { echo "'$1': printed '$out'"; status=1; }
  [ "$(cat "$folder/said")" = "$2" ] || { echo "'$1': said '$(cat "$folder/said")', not '$2'"; status=1; }
}
m='mallow: MALLOW_OPTIONS:'
expect '' ''
expect ':' ''
expect 'colour=blue' "$m unknown option \"colour\" is ignored"
expect 'record' "$m no '=' in \"record\", which is ignored"
expect 'record=' "$m bad value in \"record=\", which is ignored"
expect 'record=%4' "$m bad value in \"record=%4\", which is ignored"
expect 'record=%zz' "$m bad value in \"record=%zz\", which is ignored"
expect 'record=%00' "$m bad value in \"record=%00\", which is ignored"
expect 'a=1:b=2' "$m unknown option \"a\" is ignored
$m unknown option \"b\" is ignored"
expect 'release_interval=0:release_keep=64M:release_at_once=1G' ''
expect 'release_interval=1s' "$m bad value in \"release_interval=1s\", which is ignored"
expect 'release_interval=86400001' "$m bad value in \"release_interval=86400001\", which is ignored"
for bad in '' M 1T 1MB -1 0x10 ' 1' 18446744073709551616 18014398509481984K 16777216T; do
  expect "release_keep=$bad" "$m bad value in \"release_keep=$bad\", which is ignored"
done
expect 'release_keep=18014398509481983K:release_at_once=18446744073709551615' ''
long=$(printf '%016384d' 0)
expect "release_keep=1M:a=$long" "$m it has 16 KiB or more, and is ignored"
# A folder whose name needs the encoding; relative to the folder of the program.
name='a:b%c d'
mkdir "$folder/$name"
cd "$folder" || exit 1
expect 'record=a%3Ab%25c d' ''
ls "$name"/image-* >/dev/null || { echo "no image file in '$name'"; status=1; }
exit $status
