#!/bin/bash
# How long mallow takes to report: two recordings of the C++ compiler, of a whole input and of one with two thirds of the
# stacks, as text, JSON and HTML, and compared with each other; and a recording that is next to nothing. Names come from
# the cache. Rounds of all rows in turn, so that a slow moment of the machine falls on all alike; prints a table.
#
#   bench/report.sh >bench/results/report.md         (ROUNDS=21)
set -eu
root=$(dirname "$(dirname "$(realpath "$0")")")
mallow=$root/build/mallow
rounds=${ROUNDS:-21}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# number FILE OFFSET BYTES
number() { od -An -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '; }

# items RECORDING KIND: how many items the section of a kind has, which the recording must have.
items() {
  local file entry end
  file=$(echo "$1"/image-*)
  end=$((1024 + 64 * $(number "$file" 28 4)))
  for ((entry = 1024; entry < end; entry += 64)); do
    if [ "$(number "$file" "$entry" 4)" = "$2" ]; then
      number "$file" $((entry + 24)) 8
      return
    fi
  done
  echo "bench/report.sh: $file has no section of kind $2" >&2
  return 1
}

record() { "$mallow" record -o "$1" -- "${@:2}" >/dev/null 2>&1; }
compiler=$(g++ -print-prog-name=cc1plus)
# compile RECORDING SED_SCRIPT
compile() {
  sed "$2" "$root/bench/workloads/tmpl.cc" >tmpl.cc
  g++ -std=c++17 -E -o tmpl.ii tmpl.cc
  record "$1" "$compiler" -fpreprocessed tmpl.ii -quiet -O1 -std=c++17 -o /dev/null
}
compile whole.mallow ''
compile part.mallow 's/Nest<6>/Nest<3>/; /<regex>/d; /std::regex pattern/d; s/ << std::regex_match("abcd", pattern)//'
record tiny.mallow true

declare -a names commands
row() {
  names+=("$1")
  commands+=("$2")
}
for recording in whole part; do
  steps=$(items $recording.mallow 13)
  stacks=$(items $recording.mallow 2)
  size="cc1plus, $steps steps, $stacks stacks"
  row "$size: text" "report $recording.mallow"
  row "$size: JSON" "report --json $recording.mallow"
  row "$size: HTML" "report --html page.html $recording.mallow"
done
row "both cc1plus: diff" "diff whole.mallow part.mallow"
row "true, $(items tiny.mallow 13) steps, $(items tiny.mallow 2) stacks: text" "report tiny.mallow"

# once ROW: appends wall, user and system seconds, and peak KiB. bash has the milliseconds, time has the memory.
once() {
  local TIMEFORMAT='%R %U %S'
  # Words of the command are meant to be split.
  # shellcheck disable=SC2086
  { time /usr/bin/time -f %M -o peak "$mallow" ${commands[$1]} >/dev/null 2>&1; } 2>seconds
  echo "$(cat seconds) $(cat peak)" >>"row$1"
}
load=$(cut -d ' ' -f 1 /proc/loadavg)
# The first round fills the cache of names.
for i in "${!names[@]}"; do
  once "$i"
  rm "row$i"
done
for _ in $(seq "$rounds"); do
  for i in "${!names[@]}"; do
    once "$i"
  done
done

# of ROW wall|cpu|peak: least and median of all rounds, ms and MB.
of() {
  awk '{ wall = 1000 * $1; cpu = 1000 * ($2 + $3); peak = $4 * 1.024 / 1000; printf "%.0f\n", '"$2"' }' "row$1" |
    sort -n | awk '{ all[NR] = $1 } END { print all[1] " (" all[int((NR + 1) / 2)] ")" }'
}

cat <<END
# How long a report takes

- machine: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, Linux $(uname -r)
- date: $(date +%F)
- commit: $(git -C "$root" rev-parse --short=12 HEAD)
- command: \`make && bench/report.sh >bench/results/report.md\`
- load: $load before the first round
- the least of $rounds rounds, and in brackets their median

| report | wall ms | CPU ms | peak MB |
|---|---|---|---|
END
for i in "${!names[@]}"; do
  echo "| ${names[$i]} | $(of "$i" wall) | $(of "$i" cpu) | $(of "$i" peak) |"
done
