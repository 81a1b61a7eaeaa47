#!/bin/sh
# run.sh FOLDER RESULTS: runs each fuzzer in FOLDER for FUZZ_SECONDS (default 30) from a new seed on (or FUZZ_SEED) and
# writes what they have done to RESULTS. Status 1 when one of them found something.
set -u
folder=$1 results=$2
seconds=${FUZZ_SECONDS:-30} seed=${FUZZ_SEED:-$(date +%s)}
here=$(dirname "$(realpath "$0")")
table=$(mktemp) || exit 1
trap 'rm -f "$table"' EXIT
found=0

# row NAME PROGRAM: one line of the table; what a fuzzer that fails says goes to stderr.
row() {
  if ! line=$("$2" "$seed" "$seconds"); then
    found=$((found + 1))
    line=failed
  fi
  echo "$line" | awk -v name="$1" '
    /^failed/ { printf "| %s | failed | |\n", name }
    / inputs from seed / { printf "| %s | %s | %s |\n", name, $1, $(NF - 1) }' | tee -a "$table"
}

for program in "$folder"/*_fuzz; do
  name=$(basename "$program")
  row "$name" "$program"
  [ "$name" != heap_fuzz ] || MALLOW_FUZZ_RECORDS=1 row "heap_fuzz with side records" "$program"
done
[ -s "$table" ] || { echo "run.sh: there is no fuzzer in $folder" >&2; exit 1; }

{
  echo "# Fuzzing the containers of the heap"
  echo
  echo "Made by \`make fuzz\` (test/fuzz/run.sh): random programs against each container and a simple model of it, with"
  echo "the checks of the debug build on and a system that refuses memory now and then; $seconds s each from seed $seed on."
  echo "$(date +%F), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, Linux $(uname -r | cut -d . -f 1-2),"
  echo "commit $(git -c safe.directory='*' -C "$here" log -1 --format=%h 2>/dev/null)."
  echo
  echo "| fuzzer | inputs | operations |"
  echo "|---|---|---|"
  cat "$table"
} >"$results"
[ "$found" -eq 0 ] || { echo "$found fuzzers found something" >&2; exit 1; }
