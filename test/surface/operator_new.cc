// Every form of operator new and delete, and how they fail.
#include <malloc.h>

#include <cstdint>
#include <initializer_list>
#include <new>

#include "check.h"

namespace {

struct alignas(256) Wide {
  char bytes[512];
};

size_t Hidden(size_t value) {
  HIDE(value);
  return value;
}

constexpr size_t kNoMemory[] = {SIZE_MAX, SIZE_MAX - 4095, size_t{PTRDIFF_MAX} + 1, size_t{1} << 62};
constexpr std::align_val_t kAlignment{256};

bool IsAligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 256 == 0; }

void TestForms() {
  ::operator delete(::operator new(100));
  ::operator delete[](::operator new[](100));
  ::operator delete(::operator new(100, std::nothrow), std::nothrow);
  ::operator delete[](::operator new[](100, std::nothrow), std::nothrow);
  ::operator delete (::operator new(100), size_t{100});
  ::operator delete[](::operator new[](100), size_t{100});
  void* p = ::operator new(100, kAlignment);
  CHECK(IsAligned(p));
  ::operator delete(p, kAlignment);
  p = ::operator new[](100, kAlignment);
  CHECK(IsAligned(p));
  ::operator delete[](p, kAlignment);
  p = ::operator new(100, kAlignment, std::nothrow);
  CHECK(IsAligned(p));
  ::operator delete(p, kAlignment, std::nothrow);
  p = ::operator new[](100, kAlignment, std::nothrow);
  CHECK(IsAligned(p));
  ::operator delete[](p, kAlignment, std::nothrow);
  ::operator delete (::operator new(100, kAlignment), size_t{100}, kAlignment);
  ::operator delete[](::operator new[](100, kAlignment), size_t{100}, kAlignment);
  ::operator delete(nullptr);
  ::operator delete[](nullptr, size_t{8}, kAlignment);
  void* a = ::operator new(Hidden(0));
  void* b = ::operator new(Hidden(0));
  CHECK(a != nullptr && b != nullptr && a != b);
  ::operator delete(a);
  ::operator delete(b);
  delete new Wide;
  delete[] new Wide[7];
  free(::operator new(100));
}

template <typename New>
bool Throws(New allocate) {
  try {
    allocate();
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

void TestNoMemory() {
  for (const size_t size : kNoMemory) {
    const size_t bytes = Hidden(size);
    CHECK(Throws([=] { return ::operator new(bytes); }));
    CHECK(Throws([=] { return ::operator new[](bytes); }));
    CHECK(::operator new(bytes, std::nothrow) == nullptr);
    CHECK(::operator new[](bytes, std::nothrow) == nullptr);
    // The aligned forms of libstdc++ 12 round such a size up, to 0.
    if (!HasMallow() && bytes > SIZE_MAX - 256) continue;
    CHECK(Throws([=] { return ::operator new(bytes, kAlignment); }));
    CHECK(Throws([=] { return ::operator new[](bytes, kAlignment); }));
    CHECK(::operator new(bytes, kAlignment, std::nothrow) == nullptr);
    CHECK(::operator new[](bytes, kAlignment, std::nothrow) == nullptr);
  }
}

// Undefined by the C++ standard; libstdc++ throws, without asking the handler.
void TestBadAlignment() {
  std::set_new_handler([] { CHECK(false); });
  for (const size_t number :
       {size_t{3}, size_t{24}, size_t{96}, size_t{6000}, size_t{3} << 20, SIZE_MAX / 2, SIZE_MAX}) {
    const std::align_val_t alignment{Hidden(number)};
    CHECK(Throws([=] { return ::operator new(100, alignment); }));
    CHECK(Throws([=] { return ::operator new[](100, alignment); }));
    CHECK(::operator new(100, alignment, std::nothrow) == nullptr);
    CHECK(::operator new[](100, alignment, std::nothrow) == nullptr);
  }
  std::set_new_handler(nullptr);
}

// A handler that frees some memory each time it is asked, and gives up in the end.
int asked = 0;
void GiveUpAtThird() {
  if (++asked == 3) std::set_new_handler(nullptr);
}
struct OwnFailure {};
void ThrowOwn() {
  ++asked;
  throw OwnFailure();
}
void ThrowBadAlloc() {
  ++asked;
  throw std::bad_alloc();
}

template <typename New>
void AskedThreeTimes(New allocate, bool throws) {
  asked = 0;
  std::set_new_handler(GiveUpAtThird);
  CHECK(Throws(allocate) == throws);
  CHECK(asked == 3 && std::get_new_handler() == nullptr);
}

void TestNewHandler() {
  const size_t bytes = Hidden(SIZE_MAX / 2);
  AskedThreeTimes([=] { return ::operator new(bytes); }, true);
  AskedThreeTimes([=] { return ::operator new[](bytes, kAlignment); }, true);
  AskedThreeTimes([=] { return ::operator new(bytes, std::nothrow); }, false);
  AskedThreeTimes([=] { return ::operator new[](bytes, kAlignment, std::nothrow); }, false);

  asked = 0;
  std::set_new_handler(ThrowOwn);
  bool own = false;
  try {
    ::operator new(bytes);
  } catch (const OwnFailure&) {
    own = true;
  }
  CHECK(own && asked == 1);

  std::set_new_handler(ThrowBadAlloc);
  CHECK(::operator new(bytes, std::nothrow) == nullptr);
  CHECK(::operator new[](bytes, kAlignment, std::nothrow) == nullptr);
  CHECK(asked == 3);
  std::set_new_handler(nullptr);
}

}  // namespace

int main() {
  TestForms();
  TestNoMemory();
  TestBadAlignment();
  TestNewHandler();
  return 0;
}
