#!/bin/sh
# What it takes to name addresses: 20,000 of a C++ program with 30 MB of debug information, stored in several ways, the
# first time and from the cache, and whether llvm-symbolizer and libdw say the same. CPU time, the least of three runs.
#
#   bench/symbols.sh >bench/results/symbols.md
set -eu
root=$(dirname "$(dirname "$(realpath "$0")")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
CGO_ENABLED=0 go test -buildvcs=false -c -o "$work/measure" ./internal/symbolize
cd "$work"

# program NAME FLAGS: seven units, linked. Their code is the same whatever the debug information looks like.
program() {
  objects=
  for n in 1 2 3 4 5 6 7; do
    main=
    [ "$n" -ne 1 ] || main=-DMAIN
    # shellcheck disable=SC2086
    g++ -std=c++20 -O2 -g $2 $main "-DUNIT=unit$n" "-DNUMBER=${n}0" -c -o "$1-$n.o" "$root/bench/workloads/symbols.cc"
    objects="$objects $1-$n.o"
  done
  # shellcheck disable=SC2086
  g++ -o "$1" $objects
}

# row WHAT PROGRAM
row() {
  for _ in 1 2 3; do
    MALLOW_BIG_PROGRAM=$work/$2 ./measure -test.run '^TestBigProgram$'
  done >out
  least() { sed -n "s/^$1: .* frames: \([0-9]*\) ms CPU.*/\1/p" out | sort -n | head -1; }
  peak=$(sed -n 's/^first: .* peak \([0-9]*\) MB.*/\1/p' out | sort -n | head -1)
  frames=$(sed -n 's/^first: .* \([0-9]*\) frames.*/\1/p' out | head -1)
  size=$(wc -c <"$2")
  echo "| $1 | $((size / 1000000)) MB | $frames | $(least first) ms | $(least 'from the cache') ms | $peak MB |"
}

cat <<END
# Naming addresses

20,000 random addresses of the code of a C++ program (g++ $(g++ -dumpfullversion) -O2 -g, seven units of templates,
bench/workloads/symbols.cc). CPU time (user and system) of the process for all of them, the least of three runs, and its
peak memory. $(nproc) processors, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(date +%Y-%m-%d), commit $(git -C "$root" rev-parse --short=8 HEAD); bench/symbols.sh.

| debug information | file | frames | first time | from the cache | peak memory |
|---|---|---|---|---|---|
END
program plain -gdwarf-5
row 'in the file, DWARF 5' plain
cp plain one && dwz one
row 'dwz' one
cp plain shared && cp plain other && dwz -m common.debug shared other && rm other
row 'dwz -m: a shared file' shared
cp plain packed && objcopy --compress-debug-sections=zstd packed
row 'compressed, zstd' packed
cp plain stripped && strip stripped
row 'none: unwind entries alone' stripped
program types -fdebug-types-section
row 'with type units' types
program split '-gdwarf-4 -gsplit-dwarf'
row 'DWARF 4, split: .dwo files' split
cp split package && dwp -e split -o package.dwp
row 'DWARF 4, split: a .dwp package' package

cat <<END

What other tools say of the same program, and how long they take:

| tool | addresses | differences in depth, lines, names | CPU time |
|---|---|---|---|
END
MALLOW_BIG_ORACLES=1 MALLOW_BIG_PROGRAM=$work/plain ./measure -test.run '^TestBigProgram$' >out
sed -n 's/^\([a-z0-9-]*\): of \([0-9]*\) addresses differ \([0-9]*\) in depth, \([0-9]*\) in lines, \([0-9]*\) in names; \(.*\) ms$/| \1 | \2 | \3, \4, \5 | \6 ms |/p' out
