#!/bin/sh
# Fetches the newest crates that carry peers and builds each from the sources in its crate into
# build/peers/NAME.so, its version in NAME.version, with its authors' own build where the crate has
# it. What is there already is kept: `rm -r build/peers` begins anew. Those that cannot be had are named
# in one line, with the reason, and the others are built. With an argument: into that folder.
#
# A program run with LD_PRELOAD=NAME.so has that peer's malloc.
set -u
here=$(cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "${1:-$here/../../build/peers}" || exit 1
out=$(cd -- "${1:-$here/../../build/peers}" && pwd)
jobs=${JOBS:-$(nproc)}
unset MAKEFLAGS MFLAGS MAKELEVEL # of a make that runs this: none of the peers' affair

# The crate's own folder: everything a crate needs is fetched with it, but only its sources are used.
source_of() {
  printf '%s' "$out/fetch/$1/vendor/$1"
}

fetch() {
  [ ! -d "$(source_of "$1")" ] || return 0
  rm -rf "$out/fetch/$1"
  mkdir -p "$out/fetch/$1" && : >"$out/fetch/$1/lib.rs"
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n[dependencies]\n%s = "*"\n' \
    "$1" >"$out/fetch/$1/Cargo.toml"
  (cd "$out/fetch/$1" && cargo vendor --quiet arriving && mv arriving vendor)
}

crate_version() {
  sed -n 's/^version = "\(.*\)"/\1/p' "$(source_of "$1")/Cargo.toml" | head -n 1
}

# The version that a mimalloc's header bears as one number: major, two digits minor, two digits patch.
mimalloc_version() {
  sed -n 's/^#define MI_MALLOC_VERSION *\([0-9]\)\([0-9][0-9]\)\([0-9][0-9]\).*/\1 \2 \3/p' "$1/include/mimalloc.h" |
    awk '{ printf "%d.%d.%d", $1, $2, $3 }'
}

with_cmake() {
  name=$1
  source=$2
  target=$3
  shift 3
  cmake -S "$source" -B "$out/$name.build" -DCMAKE_BUILD_TYPE=Release "$@" &&
    cmake --build "$out/$name.build" -j"$jobs" --target "$target" &&
    cp -L "$out/$name.build/lib$target.so" "$out/$name.so"
}

mimalloc() {
  with_cmake "$1" "$2" mimalloc -DMI_OVERRIDE=ON -DMI_BUILD_STATIC=OFF -DMI_BUILD_OBJECT=OFF -DMI_BUILD_TESTS=OFF &&
    printf '%s' "$(mimalloc_version "$2")" >"$out/$1.version"
}

# shellcheck disable=SC2317 # these are called by name
build_mimalloc3() { mimalloc mimalloc3 "$1/c_src/mimalloc3"; }

# shellcheck disable=SC2317
build_mimalloc2() { mimalloc mimalloc2 "$1/c_src/mimalloc"; }

# This crate lacks a part of mimalloc's own build; these are the flags that it uses.
# shellcheck disable=SC2317
build_mimalloc_sys() {
  "${CC:-cc}" -O3 -DNDEBUG -fPIC -shared -fvisibility=hidden -ftls-model=initial-exec -fno-builtin-malloc -w \
    -DMI_SHARED_LIB -DMI_SHARED_LIB_EXPORT -DMI_MALLOC_OVERRIDE -DMI_BUILD_RELEASE \
    -I"$1/c_src/mimalloc/v3/include" "$1/c_src/mimalloc/v3/src/static.c" -pthread -o "$out/mimalloc-sys.so" &&
    printf '%s' "$(mimalloc_version "$1/c_src/mimalloc/v3")" >"$out/mimalloc-sys.version"
}

# shellcheck disable=SC2317
build_snmalloc() {
  with_cmake snmalloc "$1/upstream" snmallocshim -DSNMALLOC_BUILD_TESTING=OFF &&
    crate_version snmalloc-sys >"$out/snmalloc.version"
}

# Its build works in the folder of the sources only.
# shellcheck disable=SC2317
build_jemalloc() {
  rm -rf "$out/jemalloc.build" && cp -R "$1/jemalloc" "$out/jemalloc.build" && cp "$1/configure/configure" "$out/jemalloc.build/" &&
    version=$(crate_version tikv-jemalloc-sys | sed 's/.*+//') &&
    (cd "$out/jemalloc.build" && ./configure --disable-doc --with-version="$version" && make -j"$jobs" build_lib_shared) &&
    cp -L "$out/jemalloc.build/lib/libjemalloc.so.2" "$out/jemalloc.so" && printf '%s' "${version%%-*}" >"$out/jemalloc.version"
}

# shellcheck disable=SC2317
build_google_tcmalloc() {
  with_cmake google-tcmalloc "$here/google-tcmalloc" google_tcmalloc -DCRATE="$1" &&
    printf 'of crate %s' "$(crate_version libtcmalloc-sys)" >"$out/google-tcmalloc.version"
}

# Builds the peer of this name with this function from this crate, unless it is there.
peer() {
  [ ! -f "$out/$1.so" ] || return 0
  if ! fetch "$3" >"$out/$1.log" 2>&1; then
    unfetched="$unfetched $1"
  elif ! "$2" "$(source_of "$3")" >>"$out/$1.log" 2>&1; then
    rm -f "$out/$1.so"
    unbuilt="$unbuilt $1"
  else
    rm -rf "$out/$1.build"
  fi
}

unfetched=
unbuilt=
peer mimalloc3 build_mimalloc3 libmimalloc-sys2
peer mimalloc2 build_mimalloc2 libmimalloc-sys2
peer mimalloc-sys build_mimalloc_sys libmimalloc-sys
peer snmalloc build_snmalloc snmalloc-sys
peer jemalloc build_jemalloc tikv-jemalloc-sys
peer google-tcmalloc build_google_tcmalloc libtcmalloc-sys

if [ -n "$unfetched" ]; then
  echo "mallow: going on without the peers$unfetched: cargo ($(cargo --version 2>/dev/null || echo missing)) could not fetch them; it must be 1.85 or newer, as from https://rustup.rs, and needs a network; what it said is in $out/NAME.log" >&2
fi
if [ -n "$unbuilt" ]; then
  echo "mallow: going on without the peers$unbuilt: their sources did not build, see $out/NAME.log" >&2
fi
