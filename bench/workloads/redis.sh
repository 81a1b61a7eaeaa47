#!/bin/sh
# A redis server on the allocator under test, and the redis-benchmark of the same package, which is not: what counts is
# the server, whose CPU time and peak resident size are printed as metrics.
#
#   redis.sh REQUESTS FOLDER
#
# MALLOC_LIBRARY is preloaded into the server, with the settings NAME=VALUE of MALLOC_SETTINGS. FOLDER holds its socket.
# Debian's redis-server is linked with a malloc of its own (libjemalloc.so.2); a preloaded one comes before it.
set -eu
requests=$1
folder=$(mktemp -d "$2/redis.XXXXXX")
socket=$folder/socket
server=

finish() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || :
    wait "$server" || :
  fi
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

fail() {
  echo "redis.sh: $*" >&2
  cat "$folder/log" >&2 || :
  exit 1
}

client() {
  redis-cli -s "$socket" "$@"
}

# The requests of each kind, and how. With fewer than its clients have on their way at once redis-benchmark never ends.
drive() {
  count=$1
  shift
  [ "$count" -ge 1000 ] || count=1000
  timeout 100 redis-benchmark -s "$socket" -q -n "$count" "$@" >/dev/null || fail "redis-benchmark failed"
}

# Without a library the program would run on its own malloc, so glibc's is given as one.
preload=${MALLOC_LIBRARY:-libc.so.6}
# The settings are words.
# shellcheck disable=SC2086
env ${MALLOC_SETTINGS-} LD_PRELOAD="$preload" redis-server --port 0 --unixsocket "$socket" --dir "$folder" --save '' \
  --appendonly no --hz 10 --logfile "$folder/log" &
server=$!
tries=0
until [ "$(client ping 2>/dev/null)" = PONG ]; do
  tries=$((tries + 1))
  [ "$tries" -lt 200 ] || fail "the server does not answer"
  sleep 0.05
done

# Whose malloc it is must be beyond doubt.
if [ -n "${MALLOC_LIBRARY-}" ]; then
  grep -qF "$(basename "$(readlink -f "$MALLOC_LIBRARY")")" "/proc/$server/maps" || fail "$MALLOC_LIBRARY is not in the server"
fi

start=$(date +%s.%N)
drive "$requests" -c 20 -P 32 -r 20000 -d 100 -t set,get,incr,lpush,rpop,sadd,hset,spop,zadd
drive "$((requests / 10))" -c 20 -P 16 -r 2000 -d 3000 -t set,get
drive "$((requests / 100))" -c 10 -r 20000 -d 100 -t lrange_100
end=$(date +%s.%N)
[ "$(client dbsize)" -gt 0 ] || fail "the server holds nothing after the benchmark"

awk -v start="$start" -v end="$end" '
  FILENAME ~ /schedstat$/ { nanoseconds += $1 }
  /^VmHWM:/ { printf "metric rss_kb %d\n", $2 }
  END {
    printf "metric cpu_seconds %.6f\n", nanoseconds / 1e9
    printf "metric wall_seconds %.6f\n", end - start
  }' "/proc/$server/status" "/proc/$server"/task/*/schedstat
client shutdown nosave >/dev/null 2>&1 || fail "the server does not shut down"
wait "$server" || fail "the server ended with an error"
server=
