#!/bin/sh
# surface.sh LIBRARY: every function of the malloc surface that this system's libc exports is exported by LIBRARY, which loads
# also where no memory may be writable and executable.
set -u
library=$1
libc=$(ldd "$library" | awk '$1 == "libc.so.6" { print $3 }')
names() { nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u; }
exported=$(names "$library")
is_exported() { case "
$exported
" in *"
$1
"*) ;; *) return 1 ;; esac; }
of_libc=$(names "$libc")
missing=$(echo "$of_libc" | grep -E '^(__libc_|__posix_|__)?(malloc|calloc|realloc|reallocarray|free|cfree|memalign|posix_memalign|aligned_alloc|valloc|pvalloc|mallopt|mallinfo2?|free_sized|free_aligned_sized|strdup|strndup|wcsdup|malloc_[a-z_]+|mall[a-z0-9_]*|[a-z]*memalign[a-z_]*)$' |
  while read -r name; do
    case $name in
      # Variables of the hooks that glibc 2.34 removed, kept for old programs; nothing reads them.
      __malloc_hook | __free_hook | __realloc_hook | __memalign_hook | __malloc_initialize_hook | __after_morecore_hook) ;;
      # C23: what an address is divisible by; in glibc since 2.43.
      memalignment) ;;
      # A variable of mtrace (mcheck.h).
      mallwatch) ;;
      # libc's own names of its strdup, which calls the public malloc.
      __strdup | __strndup) ;;
      *) echo "$name" ;;
    esac
  done | while read -r name; do
    is_exported "$name" || echo "$name"
  done)
[ -n "$(echo "$of_libc" | grep -x malloc_info)" ] || { echo "no malloc_info in $libc: the look-up is wrong" >&2; exit 1; }
[ -z "$missing" ] || { echo "not exported:" $missing >&2; exit 1; }

# What malloc.h and stdlib.h declare, whether this libc has it or not, and all operator new and delete forms.
status=0
for name in malloc free calloc realloc reallocarray memalign aligned_alloc posix_memalign valloc pvalloc malloc_usable_size \
  malloc_trim malloc_stats malloc_info mallopt mallinfo mallinfo2 cfree free_sized free_aligned_sized strdup strndup wcsdup \
  _Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZnwmSt11align_val_t _ZnamSt11align_val_t \
  _ZnwmSt11align_val_tRKSt9nothrow_t _ZnamSt11align_val_tRKSt9nothrow_t _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm \
  _ZdlPvRKSt9nothrow_t _ZdaPvRKSt9nothrow_t _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t \
  _ZdaPvmSt11align_val_t _ZdlPvSt11align_val_tRKSt9nothrow_t _ZdaPvSt11align_val_tRKSt9nothrow_t; do
  is_exported "$name" || { echo "not exported: $name" >&2; status=1; }
done
# And nothing else.
extra=$(echo "$exported" | grep -vE '^(_Z(nw|na|dl|da)|mallow_|tc_|MallocExtension_|__libc_|__posix_memalign$|(malloc|free|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign|valloc|pvalloc|malloc_usable_size|malloc_trim|malloc_stats|malloc_info|mallopt|mallinfo|mallinfo2|cfree|free_sized|free_aligned_sized|strdup|strndup|wcsdup|dlopen|vfork|__register_atfork)$)')
[ -z "$extra" ] || { echo "exported without need:" $extra >&2; status=1; }
! readelf -lW "$library" | grep -q 'LOAD.* RWE ' || { echo "a segment is writable and executable" >&2; status=1; }
exit $status
