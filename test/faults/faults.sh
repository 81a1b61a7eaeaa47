#!/bin/sh
# faults.sh LIBMALLOW FAULTS sample|full [RESULTS]: real programs on libmallow, and recorded by it, while the system
# refuses libmallow's own calls for memory one by one (see faults.c). Prints a table; with RESULTS also writes it there.
# `sample` takes two programs, each ninth call. Status 1 when libmallow crashed, hung, or gave wrong output.
set -u
library=$(realpath "$1") faults=$(realpath "$2") extent=$3 results=${4:-}
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

make_inputs() {
  seq 1 200000 | awk '{ print ($1 * 7919) % 1000003, "line", $1 }' >lines
  {
    echo "create table t(a integer primary key, b text); begin;"
    seq 1 20000 | awk '{ print "insert into t values(" $1 ", \"" ($1 * 7919) % 1000003 "\");" }'
    echo "commit; create index i on t(b); update t set b = b || \"x\" where a % 3 = 0; vacuum;"
    echo "select count(*), sum(length(b)), max(b) from t; pragma integrity_check;"
  } >statements.sql
  seq 1 40000 >numbers
  seq 1 300 | awk '{ print "template <int n> struct S" $1 " { int a[n + " $1 "]; int f() { return a[n] * " $1 "; } }; int g" $1 "() { S" $1 "<" $1 "> s{}; return s.f(); }" }' >source.cc
  git init -q repository 2>/dev/null && cp lines repository/ &&
    git -C repository -c user.name=n -c user.email=e add lines &&
    git -C repository -c user.name=n -c user.email=e commit -q -m first || exit 1
}

worse=0
# program NAME INPUT COMMAND...: a row of the table for each way to run it.
program() {
  name=$1 input=$2
  shift 2
  for way in libmallow recorded; do
    options='' && [ $way = libmallow ] || { rm -rf recording && mkdir recording && options=record=$work/recording; }
    row=$("$faults" "$library" "$options" "$work" "$input" 600 "$@") || worse=$((worse + 1))
    echo "| $name | $way | ${row:-cannot be run} |" | tee -a table
  done
}

make_inputs
{
  echo "| program | run | its calls | runs | went on | gave up itself | broke in its own code | our fault |"
  echo "|---|---|---|---|---|---|---|---|"
} | tee table
if [ "$extent" = sample ]; then export EVERY=9; fi
program sqlite3 statements.sql sqlite3 :memory:
program python3 /dev/null env PYTHONMALLOC=malloc /usr/bin/python3 -c 'print(sum(len(repr([i] * (i % 50))) for i in range(20000)))'
if [ "$extent" = full ]; then
  program "git log" /dev/null git -C repository log -p
  program "git repack" /dev/null git -C repository repack -adfq
  program sort lines sort -S 20M -k1n lines
  program "sort --parallel" lines sort -S 20M --parallel=4 -k2 lines
  program xz numbers xz -0 -c -T1
  program "xz -T2" numbers xz -0 -c -T2 --block-size=64KiB
  program g++ /dev/null g++ -O1 -S -o - source.cc
  program perl lines perl -ne '$h{$1 % 1000} .= $_ if /(\d+)$/; END { print length join "", map { $h{$_} } sort keys %h }'
  program bash /dev/null bash -e -o pipefail -c 'n=$(seq 20); for i in $n; do x=$(echo $i | sed s/1/2/); echo $x; done'
fi

if [ -n "$results" ]; then
  {
    echo "# The k-th system call for memory fails"
    echo
    echo "Made by \`make test-faults\` (test/faults/faults.sh). $(date +%F), $(sed -n 's|^model name[^:]*: ||p' /proc/cpuinfo | head -n 1), $(nproc) cores, Linux $(uname -r | cut -d . -f 1-2),"
    echo "$(getconf GNU_LIBC_VERSION), commit $(git -C "$here" log -1 --format=%h 2>/dev/null)."
    echo
    echo "Each program runs again and again while the kernel refuses (ENOMEM) libmallow's own mmap, munmap, mremap, madvise"
    echo "and mprotect: the first, the second, and so on until a run makes no more; then the first and the 999 behind it,"
    echo "the second and the 999 behind it, and so on. *Went on*: same end and same output as without. *Gave up itself*: its own"
    echo "message, exit status or abort, as on any malloc without memory. *Broke in its own code*: it took a null pointer for"
    echo "a block. *Our fault*: a crash or an abort in libmallow, a hang, or other output without an error."
    echo
    cat table
  } >"$results"
fi
[ $worse -eq 0 ]
