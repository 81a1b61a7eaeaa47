// In libmallow.so: operators new and delete of a program that replaces only some of them.
//
// By the C++ standard the forms for arrays, without exceptions and with a size call the plain ones. Where the program has
// replaced these, its delete may be given a block by any form of new, and knows how its own makes one. To ask at every call
// would cost the hit path: so once, before the program's code runs, those of our forms that have to call a replaced one are made
// a jump to a function that does. Where the system forbids to change code they stay as they are.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "api/own.h"
#include "api/redirect.h"
#include "base/config.h"

asm(".weak __gxx_personality_v0\n\t.weak __cxa_begin_catch\n\t.weak __cxa_end_catch\n\t.weak _Unwind_Resume");

// Where this library begins and ends, by the linker.
extern "C" {
MALLOW_INTERNAL extern const char __ehdr_start[];
MALLOW_INTERNAL extern const char _end[];
}

namespace mallow::api {
namespace {

using Alignment = std::align_val_t;
using Nothrow = const std::nothrow_t&;

using New = void*(size_t);
using NewAligned = void*(size_t, Alignment);
using Delete = void(void*);
using DeleteAligned = void(void*, Alignment);

// The forms that others call, and what the process uses under their names.
enum Base {
  kNew,
  kNewArray,
  kNewAligned,
  kNewArrayAligned,
  kDelete,
  kDeleteArray,
  kDeleteAligned,
  kDeleteArrayAligned,
  kBases
};
struct Used {
  New *plain, *array;
  NewAligned *aligned, *array_aligned;
  Delete *release, *release_array;
  DeleteAligned *release_aligned, *release_array_aligned;
};
static_assert(sizeof(Used) == kBases * sizeof(New*));
const Used used = {::operator new, ::operator new[], ::operator new, ::operator new[], ::operator delete,
                   ::operator delete[], ::operator delete, ::operator delete[] };

// As if it could change: else the compiler calls by name, for which the linker makes code that every process maps.
MALLOW_ALWAYS_INLINE const Used& InUse() {
  const Used* table = &used;
  asm("" : "+r"(table));
  return *table;
}

// Their further arguments nobody needs.
void* ArrayByPlain(size_t bytes) { return InUse().plain(bytes); }
void* ArrayByAligned(size_t bytes, Alignment alignment) { return InUse().aligned(bytes, alignment); }
void ReleaseByPlain(void* p) { InUse().release(p); }
void ReleaseByArray(void* p) { InUse().release_array(p); }
void ReleaseByAligned(void* p, Alignment alignment) { InUse().release_aligned(p, alignment); }
void ReleaseByArrayAligned(void* p, Alignment alignment) { InUse().release_array_aligned(p, alignment); }
void ReleaseSizedByAligned(void* p, size_t, Alignment alignment) { InUse().release_aligned(p, alignment); }
void ReleaseSizedByArrayAligned(void* p, size_t, Alignment alignment) {
  InUse().release_array_aligned(p, alignment);
}

template <typename Function, typename... Arguments>
MALLOW_ALWAYS_INLINE void* OrNull(Function* allocate, Arguments... arguments) {
  try {
    return allocate(arguments...);
  } catch (...) {
    return nullptr;
  }
}
void* PlainOrNull(size_t bytes, Nothrow) { return OrNull(InUse().plain, bytes); }
void* ArrayOrNull(size_t bytes, Nothrow) { return OrNull(InUse().array, bytes); }
void* AlignedOrNull(size_t bytes, Alignment alignment, Nothrow) {
  return OrNull(InUse().aligned, bytes, alignment);
}
void* ArrayAlignedOrNull(size_t bytes, Alignment alignment, Nothrow) {
  return OrNull(InUse().array_aligned, bytes, alignment);
}

bool IsReplaced(int base) {
  uintptr_t code;
  memcpy(&code, reinterpret_cast<const char*>(&InUse()) + static_cast<size_t>(base) * sizeof(code),
         sizeof(code));
  const auto begin = reinterpret_cast<uintptr_t>(__ehdr_start);
  return code - begin >= reinterpret_cast<uintptr_t>(_end) - begin;
}

template <typename Function>
void Redirect(char* from, Function* to) {
  const Redirection redirection = To(from, to);
  api::Redirect(&redirection, 1);
}

MALLOW_COLD void Forward() {
  if (IsReplaced(kNew)) {
    Redirect(own::NewArray, ArrayByPlain);
    Redirect(own::NewNothrow, PlainOrNull);
  }
  if (IsReplaced(kNew) || IsReplaced(kNewArray)) Redirect(own::NewArrayNothrow, ArrayOrNull);
  if (IsReplaced(kNewAligned)) {
    Redirect(own::NewArrayAligned, ArrayByAligned);
    Redirect(own::NewAlignedNothrow, AlignedOrNull);
  }
  if (IsReplaced(kNewAligned) || IsReplaced(kNewArrayAligned)) {
    Redirect(own::NewArrayAlignedNothrow, ArrayAlignedOrNull);
  }
  if (IsReplaced(kDelete)) {
    Redirect(own::DeleteArray, ReleaseByPlain);
    Redirect(own::DeleteSized, ReleaseByPlain);
    Redirect(own::DeleteNothrow, ReleaseByPlain);
  }
  if (IsReplaced(kDelete) || IsReplaced(kDeleteArray)) {
    Redirect(own::DeleteArraySized, ReleaseByArray);
    Redirect(own::DeleteArrayNothrow, ReleaseByArray);
  }
  if (IsReplaced(kDeleteAligned)) {
    Redirect(own::DeleteArrayAligned, ReleaseByAligned);
    Redirect(own::DeleteSizedAligned, ReleaseSizedByAligned);
    Redirect(own::DeleteAlignedNothrow, ReleaseByAligned);
  }
  if (IsReplaced(kDeleteAligned) || IsReplaced(kDeleteArrayAligned)) {
    Redirect(own::DeleteArraySizedAligned, ReleaseSizedByArrayAligned);
    Redirect(own::DeleteArrayAlignedNothrow, ReleaseByArrayAligned);
  }
}

}  // namespace

MALLOW_COLD bool ForwardToReplaced() {
  for (int base = 0; base < kBases; ++base) {
    if (!IsReplaced(base)) continue;
    Forward();
    return true;
  }
  return false;
}

}  // namespace mallow::api
