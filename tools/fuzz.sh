#!/bin/sh
# Runs every Go fuzz test for the time given (default 30s) and fails at the first that finds something;
# the input that did it is then a file below testdata/fuzz of the package.
set -u
time=${1:-30s}
found=0
# Neither paths nor names of tests have blanks here.
# shellcheck disable=SC2013
for file in $(grep -rlE --include='*_test.go' '^func Fuzz' cmd internal tools test); do
  package=./$(dirname -- "$file")
  for name in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
    echo "$package $name, $time"
    go test -buildvcs=false -run='^$' -fuzz="^$name\$" -fuzztime="$time" -fuzzminimizetime=1x "$package" || exit 1
    found=$((found + 1))
  done
done
echo "$found fuzz tests found nothing"
[ "$found" -gt 0 ]
