#!/bin/sh
# peers.sh LIBMALLOW RESULTS PROGRAM...: runs the programs of this suite on glibc's malloc, on libmallow (preloaded, and
# recording), and on the peers that are installed, and writes a table of what each fails. MALLOCS in the environment
# names more libraries, separated by blanks. Status 1 when glibc or libmallow fails a case.
set -u
library=$(realpath "$1") results=$2
shift 2
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# run NAME PRELOADED OPTIONS PROGRAM...: the lines of all programs to $work/NAME.
run() {
  name=$1 preload=$2 options=$3
  shift 3
  for program in "$@"; do
    LD_PRELOAD=$preload MALLOW_OPTIONS=$options timeout -k 5 1000 "$program" 2>/dev/null
  done | sed 's/: \([^:]*\)$/\t\1/' >"$work/$name"
}

mkdir "$work/recording"
run glibc '' '' "$@"
run libmallow "$library" '' "$@"
run recorded "$library" "record=$work/recording" "$@"
columns="glibc libmallow recorded"
peers=$(for soname in libjemalloc.so.2 libmimalloc.so.2 libtcmalloc_minimal.so.4; do
  ldconfig -p | awk -v name=$soname '$1 == name && /x86-64/ { print $NF; exit }'
done)
for peer in $peers ${MALLOCS:-}; do
  run "$(basename "$peer")" "$peer" '' "$@"
  columns="$columns $(basename "$peer")"
done

{
  echo "# The conformance suite on every malloc"
  echo
  echo "Made by \`make test-conformance\` (test/conformance/peers.sh). $(date +%F), $(sed -n 's|^model name[^:]*: ||p' /proc/cpuinfo | head -n 1), $(nproc) cores, Linux $(uname -r | cut -d . -f 1-2),"
  echo "$(getconf GNU_LIBC_VERSION), commit $(git -C "$here" log -1 --format=%h 2>/dev/null). \`recorded\` is libmallow, recording every call."
  echo
  echo "| case | $(echo "$columns" | sed 's/ / | /g') |"
  echo "|---|$(echo "$columns" | sed 's/[^ ]\{1,\} */---|/g')"
  cut -f1 "$work/glibc" | while read -r name; do
    row="| $name |"
    for column in $columns; do
      row="$row $(awk -F'\t' -v name="$name" '$1 == name { print $2; found = 1; exit } END { if (!found) print "not reached" }' "$work/$column") |"
    done
    echo "$row"
  done
  row="| passed of $(wc -l <"$work/glibc") |"
  for column in $columns; do
    row="$row $(grep -c '	pass$' "$work/$column") |"
  done
  echo "$row"
} | tee "$results"
! grep -v '	pass$' "$work/glibc" "$work/libmallow" "$work/recorded"
