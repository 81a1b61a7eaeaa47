#!/bin/sh
# Real programs under every malloc that is installed, by mallow compare: for each a page with what it says, and a plot that
# holds every run. It needs the machine for itself; `make` comes first.
#
#   bench/compare.sh FOLDER [PROGRAM...]        threads redis sqlite3 python3; COMPARE_LIMIT of each, 75s
set -eu
root=$(dirname "$(dirname "$(realpath "$0")")")
folder=$1
shift
[ $# -gt 0 ] || set -- threads redis sqlite3 python3
mkdir -p "$folder"
folder=$(realpath "$folder")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
limit=${COMPARE_LIMIT:-75s}

system=$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)
memory=$(awk '/MemTotal/ {printf "%.0f", $2 / 1048576}' /proc/meminfo)

# measure NAME WORDS COMMAND...: WORDS say what it is; flags of mallow compare come first in COMMAND.
measure() {
  name=$1 words=$2
  shift 2
  "$root/build/mallow" compare --limit "$limit" --plot "$name.svg" "$@" | sed '/^wrote /d' >said
  {
    echo "# $words"
    echo
    echo "- machine: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, $memory GiB, Linux $(uname -r | cut -d . -f 1-2), $system"
    echo "- date: $(date -u +%F)"
    echo "- commit: $(git -C "$root" rev-parse --short=12 HEAD)"
    echo "- command: \`bench/compare.sh bench/results/compare $name\`"
    echo "- load when it ended: $(cut -d ' ' -f 1-3 /proc/loadavg)$(busy)"
    echo
    echo '```console'
    cat said
    echo '```'
    echo
    echo "![every run as a dot]($name.svg)"
  } >"$name.md"
  mv "$name.md" "$name.svg" "$folder"
}

# busy says how far figures of a busy machine hold.
busy() {
  awk -v cores="$(nproc)" '$1 > cores { print ". The machine did much else meanwhile: CPU times and verdicts of them hold, wall times and throughput do not" }' /proc/loadavg
}

# Ten threads, each with pairs of malloc(1024) and free: the loop of many a comparison of allocators.
threads() {
  g++ -O2 -g -std=c++20 -fno-builtin -pthread -o ten_threads "$root/bench/workloads/ten_threads.cc"
  measure threads 'Ten threads, each with 500,000 pairs of malloc(1024) and free' --work '5000000 pairs' -- ./ten_threads 10 500000 plain
}

redis() {
  cat >server.sh <<'EOF'
#!/bin/sh
set -eu
socket=$PWD/socket
rm -f "$socket"
redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no --hz 10 --logfile "$PWD/log" &
until [ "$(redis-cli -s "$socket" ping 2>/dev/null)" = PONG ]; do sleep 0.02; done
redis-benchmark -s "$socket" -q -n 5000 -r 10000 -d 200 -P 16 -t set,get,lpush,lrange_100 >/dev/null
redis-cli -s "$socket" shutdown nosave
wait
EOF
  measure redis 'redis-server and redis-benchmark' --work '20000 requests' -- sh ./server.sh
}

sqlite3() {
  awk 'BEGIN {
    srand(7)
    print "PRAGMA cache_size=-200000; PRAGMA temp_store=2;"
    print "CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, name TEXT, v REAL);\nCREATE INDEX ti ON t(k);\nBEGIN;"
    for (i = 0; i < 20000; i++) printf "INSERT INTO t VALUES(%d,%d,'\''name%x'\'',%f);\n", i, rand() * 5000, rand() * 2^31, rand()
    print "COMMIT;"
    for (i = 0; i < 2000; i++) printf "SELECT count(*),sum(v) FROM t WHERE k=%d;\n", rand() * 5000
  }' >load.sql
  measure sqlite3 'sqlite3, 20,000 rows inserted with an index, 2,000 queries' -- /usr/bin/sqlite3 :memory: '.read load.sql'
}

# Without python's own small-object allocator every object is malloc's.
python3() {
  export PYTHONMALLOC=malloc PYTHONHASHSEED=0
  measure python3 'python3 with PYTHONMALLOC=malloc, 30,000 small objects in dictionaries' -- /usr/bin/python3 -c \
    'd = {}
for i in range(30000): d.setdefault(i % 977, []).append({"n": i, "s": str(i) * 3})
print(sum(len(x["s"]) for l in d.values() for x in l))'
}

for program; do "$program"; done
