// operators: operator new and delete in all their forms, for every size, and how they fail.
#include <initializer_list>
#include <new>

#include "cases.h"

namespace {

// Hides a size from the compiler, which knows what cannot be.
size_t Hidden(size_t value) {
  HIDE(value);
  return value;
}

constexpr size_t kDefaultAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

void CheckBlock(void* p, size_t bytes, size_t alignment) {
  CHECK(p != nullptr && IsAligned(p, alignment) && malloc_usable_size(p) >= bytes);
  memset(p, 0x42, bytes);
}

void EverySize() {
  ForEachSize(
      4 << 20,
      [](size_t bytes, void*) {
        void* p = operator new(bytes);
        void* q = operator new[](bytes, std::nothrow);
        CheckBlock(p, bytes, bytes < kDefaultAlignment ? 1 : kDefaultAlignment);
        CheckBlock(q, bytes, bytes < kDefaultAlignment ? 1 : kDefaultAlignment);
        CHECK(p != q);
        operator delete(p, bytes);
        operator delete[](q, std::nothrow);
      },
      nullptr);
}

void EveryAlignment() {
  for (size_t alignment = 1; alignment <= 4 << 20; alignment *= 2) {
    const std::align_val_t align{alignment};
    for (size_t bytes = 0; bytes <= 1 << 20; bytes = bytes < 200 ? bytes + 1 : bytes * 5 / 3) {
      void* p = operator new(bytes, align);
      void* q = operator new[](bytes, align, std::nothrow);
      CheckBlock(p, bytes, alignment);
      CheckBlock(q, bytes, alignment);
      CHECK(p != q);
      operator delete(p, bytes, align);
      operator delete[](q, align);
    }
  }
}

void NothingIsUnique() {
  void* blocks[1000];
  for (void*& block : blocks) CHECK((block = operator new(Hidden(0))) != nullptr);
  for (int i = 1; i < 1000; ++i) CHECK(blocks[i] != blocks[i - 1] && blocks[i] != blocks[0]);
  for (void* block : blocks) operator delete(block);
}

void NullIsDeleted() {
  void* nothing = nullptr;
  HIDE(nothing);
  operator delete(nothing);
  operator delete[](nothing);
  operator delete (nothing, size_t{5});
  operator delete (nothing, std::align_val_t{64});
  operator delete(nothing, std::nothrow);
}

template <typename Exception, typename New>
bool Throws(New allocate) {
  try {
    void* p = allocate();
    HIDE(p);
  } catch (const Exception&) {
    return true;
  }
  return false;
}

void TooLargeThrows() {
  for (const size_t size : {size_t{1} << 60, size_t{PTRDIFF_MAX} + 1, SIZE_MAX - 65536, SIZE_MAX}) {
    const size_t bytes = Hidden(size);
    CHECK(Throws<std::bad_alloc>([=] { return operator new(bytes); }));
    CHECK(Throws<std::bad_alloc>([=] { return operator new[](bytes); }));
  }
  CHECK(
      Throws<std::bad_alloc>([] { return operator new (Hidden(size_t{1} << 60), std::align_val_t{4096}); }));
  CHECK(Throws<std::bad_array_new_length>([] { return new int[Hidden(SIZE_MAX / 2)]; }));
}

void TooLargeIsNullForNothrow() {
  for (const size_t size : {size_t{1} << 60, size_t{PTRDIFF_MAX} + 1, SIZE_MAX - 65536, SIZE_MAX}) {
    CHECK(operator new(Hidden(size), std::nothrow) == nullptr);
    CHECK(operator new[](Hidden(size), std::nothrow) == nullptr);
  }
  CHECK(operator new (Hidden(size_t{1} << 60), std::align_val_t{4096}, std::nothrow) == nullptr);
}

int asked = 0;
char* reserve = nullptr;

// Gives the reserve back, and then up.
void GiveReserve() {
  ++asked;
  if (reserve == nullptr) {
    std::set_new_handler(nullptr);
    return;
  }
  free(reserve);
  reserve = nullptr;
}

void TheNewHandlerIsAsked() {
  reserve = static_cast<char*>(malloc(1 << 20));
  std::set_new_handler(GiveReserve);
  CHECK(Throws<std::bad_alloc>([] { return operator new(Hidden(size_t{1} << 60)); }));
  CHECK(asked == 2 && reserve == nullptr && std::get_new_handler() == nullptr);
}

struct OwnFailure {};

void TheNewHandlerThrows() {
  std::set_new_handler([] { throw OwnFailure(); });
  CHECK(Throws<OwnFailure>([] { return operator new(Hidden(size_t{1} << 60)); }));
  std::set_new_handler([] { throw std::bad_alloc(); });
  CHECK(operator new(Hidden(size_t{1} << 60), std::nothrow) == nullptr);
}

// C23's, where the malloc has them.
extern "C" MALLOW_MAYBE void free_sized(void* p, size_t bytes);
extern "C" MALLOW_MAYBE void free_aligned_sized(void* p, size_t alignment, size_t bytes);

void SizedFrees() {
  void (*sized)(void*, size_t) = free_sized;
  HIDE(sized);
  if (sized == nullptr) return;
  ForEachSize(
      4 << 20, [](size_t bytes, void*) { free_sized(malloc(bytes), bytes); }, nullptr);
  ForEachSize(
      1 << 20, [](size_t bytes, void*) { free_sized(calloc(1, bytes), bytes); }, nullptr);
  ForEachSize(
      1 << 20, [](size_t bytes, void*) { free_sized(realloc(nullptr, bytes), bytes); }, nullptr);
  for (size_t alignment = 8; alignment <= 1 << 20; alignment *= 2) {
    for (size_t bytes = alignment; bytes <= 1 << 21; bytes += bytes)
      free_aligned_sized(aligned_alloc(alignment, bytes), alignment, bytes);
  }
  free_sized(nullptr, 0);
  free_aligned_sized(nullptr, 64, 0);
}

}  // namespace

int main() {
  static const Case cases[] = {
      {"operator new of every size", EverySize},
      {"operator new of every alignment", EveryAlignment},
      {"operator new of nothing is unique", NothingIsUnique},
      {"operator delete of null", NullIsDeleted},
      {"operator new too large throws", TooLargeThrows},
      {"operator new too large is null with nothrow", TooLargeIsNullForNothrow},
      {"the new handler is asked", TheNewHandlerIsAsked},
      {"the new handler throws", TheNewHandlerThrows},
      {"free_sized and free_aligned_sized, where they are", SizedFrees},
  };
  return RUN_CASES(cases);
}
