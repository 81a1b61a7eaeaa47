#!/bin/sh
# machine_code.sh LIBRARY (optimised build): the hit paths call nothing and reach the slow functions by a jump, and what
# captures the caller's registers has changed none of them before; what the recorder tries first leaves the rest to it by a
# jump.
set -u
objdump -d --no-show-raw-insn "$1" | awk '
  function fail(text) { print text; bad = 1 }
  # The label of a function, or of its part that the compiler split off.
  /^[0-9a-f]+ <.*>:$/ {
    name = $2
    gsub(/[<>:]/, "", name)
    hit = name ~ /^(malloc|__libc_malloc|free|__libc_free|cfree|free_sized|free_aligned_sized|_Zn[wa]m(RKSt9nothrow_t)?|_Zd[la]Pv.*|tc_(malloc(_skip_new_handler)?|c?free(_sized)?|new(array)?(_nothrow)?|delete.*))$/
    aligned = name ~ /^(_Zn[wa]mSt11align_val_t|tc_new(array)?_aligned|(__libc_|(__)?posix_)?memalign$|aligned_alloc$)/
    slow = name ~ /^_ZN6mallow3api(4|8|10|11|7|14)?.*Slow(Malloc|Calloc|Realloc|Free|New|Aligned)/ && name !~ /cold/
    recorded = (name ~ /^_ZN6mallow3api.*Recorded/ || name ~ /^(strdup|strndup|wcsdup|reallocarray|__libc_reallocarray)$/) && name !~ /cold/
    tries = name ~ /^_ZN6mallow6record.*(HitAllocate|HitReallocate|HitRelease)/ && name !~ /cold/
    if (tries) tried++
    if (hit || aligned) entries++
    if (recorded) { captures++; stores = 0 }
    next
  }
  NF < 2 { next }
  {
    instruction = $2
    line = $0
    # To functions of ours: libc is called where memory must be cleared.
    if ((hit || aligned) && instruction ~ /^call/) fail(name " calls: " line)
    if ((hit || aligned) && instruction ~ /^j/ && line ~ /Slow/) jumps[name] = 1
    if (slow && instruction ~ /^j/ && line ~ /Recorded|record[0-9]+Hit/) to_recorded[name] = 1
    if (tries && instruction ~ /^call/ && line ~ /\*/) fail(name " calls what it should jump to: " line)
    if (tries && instruction ~ /^jmp/ && line ~ /\*/) jumps_on[name] = 1
    if (recorded && stores < 5) {
      if (line ~ /mov +%(rbx|r12|r13|r14|r15),-?(0x[0-9a-f]+)?\(%r[bs]p\)/) stores++
      else if (instruction !~ /^(push|cmp|test)/ && line ~ /,%(rbx|ebx|r1[2-5]d?)$/) fail(name " writes a register before the capture: " line)
      else if (instruction ~ /^call/) fail(name " calls before the capture: " line)
    }
  }
  END {
    n = 0
    for (name in jumps_on) n++
    if (tried < 6 || n != tried) fail(n " of " tried " functions of the recorder jump on")
    if (entries < 52) fail("only " entries " entry points found")
    if (captures < 20) fail("only " captures " captures found")
    n = 0
    for (name in jumps) n++
    if (n != entries) fail("only " n " of " entries " entry points jump to a slow function")
    n = 0
    for (name in to_recorded) n++
    if (n < 15) fail("only " n " slow functions jump to the recorded ones")
    exit bad
  }'
