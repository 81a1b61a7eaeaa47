#!/bin/sh
# run.sh LIBMALLOW WORK_FOLDER [RESULTS]: runs glibc 2.36's own malloc tests on glibc, on libmallow (preloaded,
# and recorded), and on the peers that are installed, and prints a table; with RESULTS also writes it there.
#
# The tests are taken from Debian's package glibc-source, unchanged, built against the installed libc. Status 1 when
# libmallow fails a test that glibc passes; no root needed.
set -u
library=$(realpath "$1") work=$2 results=${3:-}
here=$(dirname "$(realpath "$0")")
version=2.36
mkdir -p "$work" && work=$(realpath "$work") && cd "$work" || exit 1

# Tests that say nothing about a malloc that replaces glibc's, with the reason.
excluded() {
  case $1 in
    tst-interpose-*) echo "brings a malloc of its own" ;;
    tst-dynarray* | tst-alloc_buffer | tst-scratch_buffer | tst-safe-linking) echo "tests internals of libc, not malloc" ;;
    tst-compathooks-* | tst-mallocstate | tst-mtrace) echo "tests libc_malloc_debug.so" ;;
    tst-malloc-backtrace) echo "overwrites the header that glibc has before each block" ;;
    tst-malloc-usable | tst-malloc-usable-tunables | tst-malloc-check | tst-mxfast)
      echo "runs with a setting of glibc's malloc (MALLOC_CHECK_, tunables)" ;;
    *) return 1 ;;
  esac
}

fetch() {
  [ -d "glibc-$version" ] && return
  archive=/usr/src/glibc/glibc-$version.tar.xz
  if [ ! -f "$archive" ]; then
    apt-get download glibc-source && dpkg-deb -x glibc-source_$version-*.deb package || {
      echo "run.sh: cannot fetch Debian's package glibc-source: run apt-get update, or install it" >&2
      exit 1
    }
    archive=package/usr/src/glibc/glibc-$version.tar.xz
  fi
  tar xf "$archive" "glibc-$version/malloc" "glibc-$version/support" "glibc-$version/include" "glibc-$version/sysdeps" "glibc-$version/test-skeleton.c"
}

compile() { gcc -std=gnu11 -O2 -w -fno-builtin -D_GNU_SOURCE -include "$here/shim.h" -I include -I "$source/support" "$@"; }

# The support library, as far as it can be built outside glibc: what a test does not use need not be there.
build_support() {
  mkdir -p include support
  ln -sfn "$source/support" include/support
  ln -sfn "$source/malloc" include/malloc
  for header in array_length libc-diag intprops libc-pointer-arith scratch_buffer; do
    cp "$source/include/$header.h" include/
  done
  cp "$source/sysdeps/x86_64/stackinfo.h" "$source/sysdeps/generic/malloc-size.h" "$source/sysdeps/generic/malloc-alignment.h" include/
  : >include/config.h
  : >include/libc-config.h
  # Where glibc's build would lie: no test of malloc looks there.
  for name in $(grep -oE '^#ifdef [A-Z_]+_PATH' "$source/support/support_paths.c" | cut -d' ' -f2); do
    echo "#define $name \"$work\""
  done >include/paths.h
  for file in "$source"/support/*.c "$source"/malloc/scratch_buffer_*.c; do
    name=$(basename "$file" .c)
    case $name in README* | tst-* | test-* | *-container | links-dso* | *time64) continue ;; esac
    compile -include include/paths.h -c "$file" -o "support/$name.o" 2>/dev/null
  done
  ar rc libsupport.a support/*.o
}

build_tests() {
  mkdir -p tests
  for file in "$source"/malloc/tst-*.c; do
    name=$(basename "$file" .c)
    excluded "$name" >/dev/null && continue
    compile -I "$source/malloc" "$file" libsupport.a -lpthread -ldl -o "tests/$name" 2>"tests/$name.err" && rm "tests/$name.err"
  done
}

# peer NAME: its library, if it is installed.
peer() { ldconfig -p | awk -v name="$1" '$1 == name && /x86-64/ { print $NF; exit }'; }

# run_one TEST MALLOC: prints pass or the reason why not.
run_one() {
  folder=$(mktemp -d) || exit 1
  preload='' options=''
  case $2 in
    glibc) ;;
    mallow) preload=$library ;;
    recorded) preload=$library options=record=$folder ;;
    *) preload=$2 ;;
  esac
  LD_PRELOAD=$preload MALLOW_OPTIONS=$options TIMEOUTFACTOR=3 timeout -k 5 400 "tests/$1" </dev/null \
    >"log/$1.$(basename "$2")" 2>&1 &
  wait $!
  status=$?
  # timeout leads a process group: a test that dies may leave children that wait for it.
  kill -9 -- -$! 2>/dev/null
  rm -rf "$folder"
  case $status in
    0) echo pass ;;
    77) echo unsupported ;;
    124 | 137) echo hangs ;;
    *) echo "fails ($status)" ;;
  esac
}

fetch
source=$work/glibc-$version
[ -f libsupport.a ] || build_support
[ -n "$(ls tests 2>/dev/null)" ] || build_tests
[ -n "$(find tests -name 'tst-*' ! -name '*.err')" ] || { echo "run.sh: no test could be built; see $work/tests/*.err" >&2; exit 1; }
mkdir -p log

columns="glibc mallow recorded"
names="glibc | libmallow | libmallow recorded"
for soname in libjemalloc.so.2 libmimalloc.so.2 libtcmalloc_minimal.so.4; do
  found=$(peer $soname)
  [ -z "$found" ] || { columns="$columns $found"; names="$names | $soname"; }
done

table=$work/table
worse=0 count=0
printf '| test | %s |\n|---|%s\n' "$names" "$(echo "$columns" | sed 's/[^ ]\{1,\} */---|/g')" >"$table"
for test in tests/tst-*; do
  test=$(basename "$test")
  case $test in *.err) continue ;; esac
  row="| $test |"
  ours=
  count=$((count + 1))
  for column in $columns; do
    result=$(run_one "$test" "$column")
    row="$row $result |"
    echo "$result" >"log/$test.$(basename "$column").result"
    case $column in
      glibc) reference=$result ;;
      mallow | recorded) [ "$result" = pass ] || ours=$result ;;
    esac
  done
  echo "$row" | tee -a "$table"
  [ "$reference" != pass ] || [ -z "$ours" ] || worse=$((worse + 1))
done
row="| passed of $count |"
for column in $columns; do
  row="$row $(cat log/*."$(basename "$column").result" | grep -cx pass) |"
done
echo "$row" | tee -a "$table"

if [ -n "$results" ]; then
  {
    echo "# glibc $version's malloc tests"
    echo
    echo "Made by \`make test-glibc\` (test/conformance/run.sh), which takes the tests from Debian's package glibc-source"
    echo "and runs each on glibc and with the library preloaded. $(date +%F), $(nproc) cores, Linux $(uname -r),"
    echo "$(getconf GNU_LIBC_VERSION), commit $(git -C "$here" log -1 --format=%h 2>/dev/null)."
    echo
    cat "$table"
    echo
    echo "Left out:"
    echo
    for file in "$source"/malloc/tst-*.c; do
      name=$(basename "$file" .c)
      reason=$(excluded "$name") && echo "- $name: $reason"
    done
    for file in tests/*.err; do
      [ -e "$file" ] && echo "- $(basename "$file" .err): does not build outside glibc"
    done
  } >"$results"
fi
[ "$worse" -eq 0 ] || { echo "libmallow fails $worse tests that glibc passes; see $work/log" >&2; exit 1; }
