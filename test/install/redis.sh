#!/bin/sh
# redis.sh BUILD WORK_FOLDER RESULTS: builds the redis of Debian's source package as it comes, with USE_TCMALLOC=yes and
# with USE_TCMALLOC_MINIMAL=yes, against mallow installed under tcmalloc's names, runs its own test suite on both, and
# writes to RESULTS how that ended. Status 1 when a test of redis fails.
set -u
here=$(dirname "$(realpath "$0")")
build=$(realpath "$1") work=$2 results=$(realpath -m "$3")
mkdir -p "$work" && work=$(realpath "$work") && cd "$work" || exit 1
log=$work/log
: >"$log"
commit=$(git -c safe.directory='*' -C "$here" rev-parse --short HEAD 2>/dev/null)

fail() {
  echo "redis.sh: $*; the log is $log" >&2
  tail -n 20 "$log" >&2
  exit 1
}

# apt_get WORDS: with the sources of this machine, asked for source packages, and with lists and caches of its own.
apt_get() {
  apt-get -qq -o Dir::Etc::sourcelist="$work/apt/one-line.list" -o Dir::Etc::sourceparts="$work/apt/parts" \
    -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User=root "$@" >>"$log" 2>&1
}

fetch() {
  if ! ls redis_*.orig.tar.* >/dev/null 2>&1; then
    mkdir -p apt/parts apt/lists/partial apt/cache/archives/partial
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >apt/one-line.list
    for file in /etc/apt/sources.list.d/*.sources; do
      [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"apt/parts/$(basename "$file")"
    done
    apt_get update || fail "apt-get update"
    apt_get source --download-only redis || fail "cannot fetch Debian's source package of redis"
  fi
  set -- redis_*.orig.tar.*
  version=$(echo "$1" | sed 's/^redis_\(.*\)\.orig\.tar\..*/\1/')
  archive=$work/$1
}

# make_redis NAME SETTING: the program in the folder NAME.
make_redis() {
  rm -rf "${work:?}/$1"
  mkdir "$1" && tar xf "$archive" -C "$1" --strip-components=1 || fail "cannot unpack $archive"
  make -C "$1" -j"$(nproc)" "$2" CFLAGS="-I$work/prefix/include" LDFLAGS="-L$work/prefix/lib -Wl,-rpath,$work/prefix/lib" >>"$log" 2>&1 ||
    fail "redis $version does not build with $2"
}

# served_by NAME LIBRARY: the program says tcmalloc, and that is LIBRARY of our tree.
served_by() {
  "$1/src/redis-server" --version | grep -o 'malloc=[^ ]*' | grep -q '^malloc=tcmalloc-' || fail "$1 was not built for tcmalloc"
  ldd "$1/src/redis-server" | grep -q "$2 => $work/prefix/lib/$2 " || fail "$1 does not load $2 of mallow"
}

# suite NAME [ARGUMENT...]: the test suite of redis; sets status, passed, failed and seconds.
suite() {
  folder=$1
  shift
  start=$(date +%s)
  (cd "$folder" && ./runtest --clients "$(nproc)" "$@") >"$folder.log" 2>&1
  status=$?
  seconds=$(($(date +%s) - start))
  sed -i 's/\x1b\[[0-9;]*m//g' "$folder.log"
  passed=$(grep -c '^\[ok\]' "$folder.log")
  failed=$(grep -cE '^\[(err|exception|timeout)\]' "$folder.log")
  { [ "$status" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]; } || bad=1
}

row() { echo "| \`$1\` | \`$2\` | $3 | $passed | $failed | $seconds s |"; }

command -v tclsh >/dev/null || fail "no tclsh, which the tests of redis need: install the package tcl"
fetch
rm -rf prefix
for component in mallow tcmalloc; do
  cmake --install "$build" --prefix "$work/prefix" --component "$component" >>"$log" 2>&1 || fail "cannot install $build"
done

bad=0
make_redis tcmalloc USE_TCMALLOC=yes
served_by tcmalloc libtcmalloc.so.4
suite tcmalloc
rows=$(row USE_TCMALLOC=yes libtcmalloc.so.4 "\`./runtest\`: all of it")
make_redis tcmalloc_minimal USE_TCMALLOC_MINIMAL=yes
served_by tcmalloc_minimal libtcmalloc_minimal.so.4
set --
for unit in type/string type/list type/hash type/zset lazyfree memefficiency maxmemory scripting; do set -- "$@" --single "unit/$unit"; done
suite tcmalloc_minimal "$@"
rows="$rows
$(row USE_TCMALLOC_MINIMAL=yes libtcmalloc_minimal.so.4 "\`./runtest --single\` of $(($# / 2)) units")"

{
  echo "# redis on mallow under tcmalloc's names"
  echo
  echo "Made by \`make test-redis\` (test/install/redis.sh): redis $version of Debian's source package, unchanged, built with its own"
  echo "switch for tcmalloc against what \`make install install-tcmalloc\` installs, and its own test suite run on that."
  echo "$(date +%F), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, Linux $(uname -r | cut -d . -f 1-2), commit $commit."
  echo
  echo "| built with | loads | tests | passed | failed | took |"
  echo "|---|---|---|---|---|---|"
  echo "$rows"
  if [ "$bad" -ne 0 ]; then
    echo
    echo "What failed:"
    echo
    grep -hE '^\[(err|exception|timeout)\]' tcmalloc.log tcmalloc_minimal.log | sed 's/^/    /'
  fi
} >"$results"
cat "$results"
exit "$bad"
