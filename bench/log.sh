#!/bin/sh
# What an ordered log costs: bytes and lines printed of whole runs, and instructions, counted by valgrind's callgrind, of
# shorter ones. Prints a table. Instructions do not depend on what else the machine does; `make` comes first.
#
#   bench/log.sh >bench/results/log.md
set -eu
root=$(dirname "$(dirname "$(realpath "$0")")")
mallow=$root/build/mallow library=$root/build/libmallow.so workloads=$root/bench/workloads
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

g++ -O2 -g -std=c++20 -fno-builtin -pthread -o paths "$workloads/paths.cc"
g++ -std=c++17 -E -o tmpl.ii "$workloads/tmpl.cc"
cc1plus=$(g++ -print-prog-name=cc1plus)
sql() {
  awk -v scale="$1" 'BEGIN {
    srand(7)
    print "PRAGMA cache_size=-200000; PRAGMA temp_store=2;"
    print "CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, name TEXT, v REAL);\nCREATE INDEX ti ON t(k);\nBEGIN;"
    for (i = 0; i < 220000 / scale; i++) printf "INSERT INTO t VALUES(%d,%d,'\''name%x'\'',%f);\n", i, rand() * 5000, rand() * 2^31, rand()
    print "COMMIT;"
    for (i = 0; i < 20000 / scale; i++) printf "SELECT count(*),sum(v) FROM t WHERE k=%d;\n", rand() * 5000
  }'
}
sql 1 >whole.sql
sql 20 >part.sql
export PYTHONMALLOC=malloc PYTHONHASHSEED=0

# instructions OPTIONS INPUT COMMAND...
instructions() {
  options=$1 input=$2
  shift 2
  rm -rf counted && mkdir counted
  MALLOW_OPTIONS=record=$work/counted$options LD_PRELOAD=$library \
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" <"$input" 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
}

# row NAME INPUT PART_OF_INPUT PART_OF_COMMAND -- COMMAND...
row() {
  name=$1 input=$2 part=$3 short=$4
  shift 5
  rm -rf run.mallow
  "$mallow" record --log -o run.mallow -- "$@" <"$input" >/dev/null 2>&1
  events=$("$mallow" log run.mallow | wc -l)
  bytes=$(du -cB1 run.mallow/log-* | sed -n '$s/\t.*//p')
  counted='|'
  if [ -n "$short" ]; then
    # Words of the command are meant to be split.
    # shellcheck disable=SC2086
    without=$(instructions '' "$part" $short)
    # shellcheck disable=SC2086
    with=$(instructions :log=1G "$part" $short)
    # A program that did not run to its end has counts, too.
    test "$with" -gt "$without"
    rm -rf run.mallow
    # shellcheck disable=SC2086
    "$mallow" record --log -o run.mallow -- $short <"$part" >/dev/null 2>&1
    fewer=$("$mallow" log run.mallow | wc -l)
    counted="$(((with - without) / fewer)) | $(awk "BEGIN { printf \"%.2f\", $with / $without }")"
  fi
  echo "| $name | $events | $(awk "BEGIN { printf \"%.1f\", $bytes / 1e6 }") | $(awk "BEGIN { printf \"%.2f\", $bytes / $events }") | $counted |"
}

cat <<END
# What an ordered log costs

- machine: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, Linux $(uname -r)
- date: $(date +%F)
- commit: $(git -C "$root" rev-parse --short=12 HEAD)
- command: \`make && bench/log.sh\`
- instructions: of a shorter run, recorded with a log, against recorded without one; of the whole program

| workload | events | log MB | bytes an event | instructions an event | instructions to those without |
|---|---|---|---|---|---|
END
row sqlite3 whole.sql part.sql "sqlite3 :memory:" -- sqlite3 :memory:
row python3 /dev/null /dev/null "/usr/bin/python3 $workloads/documents.py 1" -- /usr/bin/python3 "$workloads/documents.py"
row cc1plus /dev/null /dev/null "" -- "$cc1plus" -fpreprocessed tmpl.ii -quiet -o /dev/null
row "50 call paths, 1 thread" /dev/null /dev/null "./paths 100000 1" -- ./paths 2000000 1
row "50 call paths, 4 threads" /dev/null /dev/null "" -- ./paths 2000000 4
