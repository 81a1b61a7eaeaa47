#!/bin/sh
# fuzz.sh [TIME [RESULTS]]: runs every Go fuzz test for the time given (default 30s), fails at the first that finds
# something, and writes what they have done to RESULTS. The input that did it is then a file below testdata/fuzz of the
# package. Go may call the end of the time a failure, which has no input then (golang/go#75804).
set -u
time=${1:-30s} results=${2:-}
output=$(mktemp) table=$(mktemp) || exit 1
trap 'rm -f "$output" "$table"' EXIT
found=0
# Neither paths nor names of tests have blanks here.
# shellcheck disable=SC2013
for file in $(grep -rlE --include='*_test.go' '^func Fuzz' cmd internal tools test | sort); do
  package=./$(dirname -- "$file")
  for name in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
    echo "$package $name, $time"
    go test -buildvcs=false -run='^$' -fuzz="^$name\$" -fuzztime="$time" -fuzzminimizetime=1x "$package" >"$output" 2>&1
    status=$?
    cat "$output"
    if [ "$status" -ne 0 ]; then
      grep -qx ' *context deadline exceeded' "$output" || exit 1
      ! grep -q 'Failing input written' "$output" || exit 1
    fi
    # "fuzz: elapsed: 9s, execs: 2075 (184/sec), new interesting: 4 (total: 51)"
    inputs=$(sed -n 's/.* execs: \([0-9]*\) .*/\1/p' "$output" | tail -n 1)
    echo "| ${package#./} | $name | ${inputs:-0} |" >>"$table"
    found=$((found + 1))
  done
done
echo "$found fuzz tests found nothing"
[ "$found" -gt 0 ] || exit 1
[ -n "$results" ] || exit 0
{
  echo "# Fuzzing the readers"
  echo
  echo "Made by \`make fuzz\` (tools/fuzz.sh): what reads files, texts and answers of others is given damaged ones, found by"
  echo "coverage; $time each, and beside them all that ever did harm. None may end mallow, or hang, or take memory without end."
  echo "$(date +%F), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, Linux $(uname -r | cut -d . -f 1-2),"
  echo "commit $(git -c safe.directory='*' log -1 --format=%h 2>/dev/null)."
  echo
  echo "| package | fuzz test | inputs |"
  echo "|---|---|---|"
  cat "$table"
} >"$results"
