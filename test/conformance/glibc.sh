#!/bin/sh
# glibc.sh LIBMALLOW ARCHIVE WORK_FOLDER [RESULTS]: runs glibc 2.36's own malloc tests on glibc, on libmallow
# (preloaded, preloaded and recording, and linked from the archive), and on the peers that are installed, and prints a
# table; with RESULTS also writes it there.
#
# The tests are taken from Debian's package glibc-source, unchanged, built against the installed libc. Status 1 when
# libmallow fails a test that glibc passes and that is not listed below with a reason; no root needed.
set -u
library=$(realpath "$1") archive=$(realpath "$2") work=$3 results=${4:-}
here=$(dirname "$(realpath "$0")")
version=2.36
mkdir -p "$work" && work=$(realpath "$work") && cd "$work" || exit 1

# Tests that say nothing about a malloc that replaces glibc's, with the reason.
excluded() {
  case $1 in
    tst-interpose-static-*) echo "static, with a malloc of its own: nothing can be preloaded" ;;
    tst-interpose-aux* | tst-interpose-skeleton) echo "no test: a part of tst-interpose-nothread and tst-interpose-thread" ;;
    tst-safe-linking) echo "writes into the lists of glibc's caches, and expects glibc to notice" ;;
    tst-malloc-backtrace) echo "writes over the header that glibc keeps before each block, and expects glibc to notice" ;;
    tst-mallocstate) echo "tests malloc_get_state and malloc_set_state, of which glibc keeps a stub in libc_malloc_debug.so" ;;
    tst-mtrace) echo "tests mtrace, which is in libc_malloc_debug.so" ;;
    tst-compathooks-*) echo "tests __malloc_hook and its like, which are in libc_malloc_debug.so" ;;
    tst-malloc-usable | tst-malloc-usable-tunables)
      echo "expects that malloc_usable_size gives the size that was asked for, to the byte, as libc_malloc_debug.so does; glibc itself fails it without" ;;
    *) return 1 ;;
  esac
}

# What libmallow is known to fail, with the reason: known TEST COLUMN.
known() {
  case $1:$2 in
    tst-malloc-thread-fail:recorded)
      echo "lowers its address space to 200 MiB after the start; a recording has reserved more by then (1.3 GiB, hardly any of it memory), so the test's own pthread_create finds no room for a stack" ;;
    tst-mxfast:*)
      echo "turns off the fast bins of glibc's malloc by a tunable and looks whether mallinfo's smblks, their blocks, is 0; here it counts what waits in thread caches, which the tunable does not know" ;;
    tst-dynarray-fail:*)
      echo "leaves 2 MiB of address space before the first malloc, of which libmallow's page map takes 1.25; what it fills and frees waits in the thread's cache for blocks of that size, and a longer one finds no room" ;;
    *) return 1 ;;
  esac
}

# The settings of glibc's Makefile for a test; the checking malloc is only for glibc's own.
environment() {
  case $1:$2 in
    tst-malloc-check:glibc) echo "MALLOC_CHECK_=3 LD_PRELOAD=libc_malloc_debug.so.0" ;;
    tst-malloc-check:*) echo "MALLOC_CHECK_=3" ;;
    tst-mxfast:*) echo "GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0" ;;
  esac
}

fetch() {
  [ -d "glibc-$version" ] && return
  sources=/usr/src/glibc/glibc-$version.tar.xz
  if [ ! -f "$sources" ]; then
    apt-get download glibc-source && dpkg-deb -x glibc-source_$version-*.deb package || {
      echo "glibc.sh: cannot fetch Debian's package glibc-source: run apt-get update, or install it" >&2
      exit 1
    }
    sources=package/usr/src/glibc/glibc-$version.tar.xz
  fi
  tar xf "$sources" "glibc-$version/malloc" "glibc-$version/support" "glibc-$version/include" "glibc-$version/sysdeps" "glibc-$version/test-skeleton.c"
}

compile() { gcc -std=gnu11 -O2 -w -fno-builtin -D_GNU_SOURCE -include "$here/glibc_shim.h" -I include -I "$source/support" "$@"; }

# The support library, as far as it can be built outside glibc: what a test does not use need not be there.
build_support() {
  mkdir -p include support
  ln -sfn "$source/support" include/support
  ln -sfn "$source/malloc" include/malloc
  for header in alloc_buffer array_length libc-diag intprops libc-pointer-arith scratch_buffer; do
    cp "$source/include/$header.h" include/
  done
  cp "$source/sysdeps/x86_64/stackinfo.h" "$source/sysdeps/generic/malloc-size.h" "$source/sysdeps/generic/malloc-alignment.h" include/
  : >include/config.h
  : >include/libc-config.h
  # Where glibc's build would lie: no test of malloc looks there.
  for name in $(grep -oE '^#ifdef [A-Z_]+_PATH' "$source/support/support_paths.c" | cut -d' ' -f2); do
    echo "#define $name \"$work\""
  done >include/build_paths.h
  for file in "$source"/support/*.c "$source"/malloc/scratch_buffer_*.c; do
    name=$(basename "$file" .c)
    case $name in README* | tst-* | test-* | *-container | links-dso* | *time64) continue ;; esac
    compile -include include/build_paths.h -c "$file" -o "support/$name.o" 2>/dev/null
  done
  ar rc libsupport.a support/*.o
}

# Sources beside the test's own.
parts() {
  case $1 in
    tst-interpose-nothread | tst-interpose-thread) echo "$source/malloc/tst-interpose-aux-${1##*-}.c" ;;
    tst-alloc_buffer) echo "$source"/malloc/alloc_buffer_*.c ;;
    tst-dynarray*) echo "$source"/malloc/dynarray_*.c ;;
  esac
}

# build_test NAME FILE: as NAME, and as NAME.archive with libmallow in it. A program with a malloc of its own has no
# use for another.
build_test() {
  # shellcheck disable=SC2046
  compile -c -I "$source/malloc" "$2" -o "tests/$1.o" 2>"tests/$1.err" &&
    compile -I "$source/malloc" "tests/$1.o" $(parts "$1") libsupport.a -lpthread -ldl -o "tests/$1" 2>>"tests/$1.err" || return
  case $1 in tst-interpose-*) ;; *)
    # shellcheck disable=SC2046
    compile -I "$source/malloc" "tests/$1.o" $(parts "$1") libsupport.a "$archive" -lpthread -ldl -o "tests/$1.archive" 2>>"tests/$1.err" || return ;;
  esac
  rm "tests/$1.o" "tests/$1.err"
}

build_tests() {
  mkdir -p tests
  for file in "$source"/malloc/tst-*.c "$source"/malloc/mallocbug.c; do
    name=$(basename "$file" .c)
    excluded "$name" >/dev/null || build_test "$name" "$file"
  done
}

# peer NAME: its library, if it is installed.
peer() { ldconfig -p | awk -v name="$1" '$1 == name && /x86-64/ { print $NF; exit }'; }

# run_one TEST MALLOC: prints pass or the reason why not.
run_one() {
  folder=$(mktemp -d) || exit 1
  preload='' options='' program=tests/$1 patience=400
  case $2 in
    glibc) ;;
    mallow) preload=$library ;;
    recorded) preload=$library options=record=$folder ;;
    archive) program=tests/$1.archive ;;
    *) preload=$2 patience=100 ;;
  esac
  if [ ! -x "$program" ]; then
    case $1 in tst-interpose-*) echo "-" ;; *) echo "does not build" ;; esac
    return
  fi
  log=log/$1.$(basename "$2")
  # shellcheck disable=SC2046
  setsid timeout -k 5 $patience env TIMEOUTFACTOR=3 "LD_PRELOAD=$preload" "MALLOW_OPTIONS=$options" \
    $(environment "$1" "$2") "$program" </dev/null >"$log" 2>&1 &
  wait $!
  status=$?
  # A test that dies may leave children that wait for it, in groups of their own: all are of the session it leads.
  pkill -9 -s $!
  # Some say the same a million times.
  truncate -s '<100K' "$log"
  rm -rf "$folder"
  case $status in
    0) echo pass ;;
    77) echo unsupported ;;
    124 | 137) echo hangs ;;
    *) if grep -qE 'Timed out|seems to be stuck' "$log"; then echo hangs; else echo "fails ($status)"; fi ;;
  esac
}

fetch
source=$work/glibc-$version
[ -f libsupport.a ] || build_support
[ -n "$(ls tests 2>/dev/null)" ] || build_tests
[ -x tests/tst-malloc ] || { echo "glibc.sh: no test could be built; see $work/tests/*.err" >&2; exit 1; }
mkdir -p log

columns="glibc mallow recorded archive"
names="glibc | libmallow | libmallow recorded | libmallow.a"
for soname in libjemalloc.so.2 libmimalloc.so.2 libtcmalloc_minimal.so.4; do
  found=$(peer $soname)
  [ -z "$found" ] || { columns="$columns $found"; names="$names | $soname"; }
done

table=$work/table
worse=0 count=0
rm -f log/*.result
printf '| test | %s |\n|---|%s\n' "$names" "$(echo "$columns" | sed 's/[^ ]\{1,\} */---|/g')" >"$table"
for test in tests/tst-* tests/mallocbug; do
  test=$(basename "$test")
  case $test in *.err | *.o | *.archive) continue ;; esac
  row="| $test |"
  count=$((count + 1))
  for column in $columns; do
    result=$(run_one "$test" "$column")
    echo "$result" >"log/$test.$(basename "$column").result"
    case $column in
      glibc) reference=$result ;;
      mallow | recorded | archive)
        if [ "$reference" = pass ] && [ "$result" != pass ] && [ "$result" != "-" ]; then
          if known "$test" "$column" >/dev/null; then result="$result, known"; else worse=$((worse + 1)); fi
        fi ;;
    esac
    row="$row $result |"
  done
  echo "$row" | tee -a "$table"
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
    echo "Made by \`make test-glibc\` (test/conformance/glibc.sh), which takes the tests from Debian's package glibc-source"
    echo "and runs each on glibc and with the library preloaded. $(date +%F), $(sed -n 's|^model name[^:]*: ||p' /proc/cpuinfo | head -n 1), $(nproc) cores, Linux $(uname -r | cut -d . -f 1-2),"
    echo "$(getconf GNU_LIBC_VERSION), commit $(git -C "$here" log -1 --format=%h 2>/dev/null)."
    echo
    cat "$table"
    echo
    echo "\`-\`: the program brings a malloc of its own, which leaves nothing to link with."
    echo
    echo "Known:"
    echo
    for file in tests/tst-*; do
      for column in mallow recorded archive; do
        reason=$(known "$(basename "$file")" $column) && echo "- $(basename "$file"), $column: $reason"
      done
    done
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
