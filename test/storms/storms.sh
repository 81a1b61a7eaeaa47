#!/bin/sh
# storms.sh LIBMALLOW FOLDER [RESULTS]: the storms in full, on glibc's malloc where it can stand them, on libmallow, and
# recorded. FOLDER holds the programs. Prints a table; with RESULTS also writes it there. Status 1 when one failed.
set -u
library=$(realpath "$1") programs=$(realpath "$2") results=${3:-}
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# once MALLOC COMMAND...: one run, its last line as the result.
once() {
  case $1 in
    glibc) preload='' options='' ;;
    libmallow) preload=$library options='' ;;
    recorded) preload=$library options=record=$work/recording ;;
  esac
  shift
  rm -rf "$work/recording" && mkdir "$work/recording"
  env "LD_PRELOAD=$preload" "MALLOW_OPTIONS=$options" timeout -k 5 1800 "$@" >"$work/said" 2>&1
}

# storm ROUNDS MALLOC COMMAND...: a row.
storm() {
  rounds=$1 malloc=$2 status=0
  shift 2
  name="$(basename "$1") $(echo "$*" | cut -s -d' ' -f2-)"
  start=$(date +%s)
  round=0
  while [ $status -eq 0 ] && [ $round -lt "$rounds" ]; do
    once "$malloc" "$@"
    status=$?
    round=$((round + 1))
  done
  said=$(tail -n 1 "$work/said")
  if [ $status -eq 0 ]; then result=pass; else result="fails ($status)" failed=1; fi
  echo "| $name, $rounds times | $malloc | $result | $(($(date +%s) - start)) s | $said |" | tee -a "$work/table"
}

{
  echo "| storm | malloc | result | time | memory |"
  echo "|---|---|---|---|---|"
} | tee "$work/table"
for malloc in glibc libmallow; do storm 1 $malloc "$programs/fork_storm" 10000 8; done
storm 1 libmallow "$programs/fork_storm" 10000 8 signals
# A recording of each child stays: so many at a time as the disk holds.
storm 20 recorded "$programs/fork_storm" 500 8
storm 20 recorded "$programs/fork_storm" 500 8 signals
for malloc in glibc libmallow recorded; do storm 1 $malloc "$programs/handover" 3000000; done
for malloc in glibc libmallow recorded; do storm 1 $malloc "$programs/thread_storm" 1000 20000; done

if [ -n "$results" ]; then
  {
    echo "# The storms in full"
    echo
    echo "Made by \`make test-storms\` (test/storms/storms.sh). $(date +%F), $(sed -n 's|^model name[^:]*: ||p' /proc/cpuinfo | head -n 1), $(nproc) cores, Linux $(uname -r | cut -d . -f 1-2),"
    echo "$(getconf GNU_LIBC_VERSION), commit $(git -C "$here" log -1 --format=%h 2>/dev/null). The time says how long it took, not how fast it is."
    echo
    cat "$work/table"
  } >"$results"
fi
exit $failed
