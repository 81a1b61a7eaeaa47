// A program that replaces only some forms of operator new and delete: by the C++ standard the others call these. Its blocks
// have a header, so that whatever goes past its forms is found out.
#include <cstdint>
#include <new>

#include "check.h"

namespace {

constexpr size_t kHeader = 64;
constexpr uint64_t kMark = 0x6d61726b6d61726b;

int news, deletes;
bool out_of_memory;

void* Mark(void* p) {
  if (p == nullptr || out_of_memory) throw std::bad_alloc();
  ++news;
  *static_cast<uint64_t*>(p) = kMark;
  return static_cast<char*>(p) + kHeader;
}

void Unmark(void* p) {
  if (p == nullptr) return;
  ++deletes;
  char* const start = static_cast<char*>(p) - kHeader;
  CHECK(*reinterpret_cast<uint64_t*>(start) == kMark);
  free(start);
}

}  // namespace

// Those that the others call, or what these call for arrays: a form of its own for each build of this file.
#if defined(REPLACE_ARRAYS)
void* operator new[](size_t bytes) { return Mark(malloc(bytes + kHeader)); }
void operator delete[](void* p) noexcept { Unmark(p); }
#else
void* operator new(size_t bytes) { return Mark(malloc(bytes + kHeader)); }
void operator delete(void* p) noexcept { Unmark(p); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  CHECK(static_cast<size_t>(alignment) == kHeader);
  return Mark(aligned_alloc(kHeader, (bytes + 2 * kHeader - 1) / kHeader * kHeader));
}
void operator delete(void* p, std::align_val_t) noexcept { Unmark(p); }
#endif

namespace {

constexpr std::align_val_t kAlignment{kHeader};

// Each form of delete is given what the form of new has made that goes with it.
template <typename New, typename Delete>
void Try(bool replaced, New allocate, Delete release) {
  for (int round = 0; round < 100; ++round) {
    const int news_before = news, deletes_before = deletes;
    void* p = allocate();
    HIDE(p);
    CHECK(p != nullptr);
    release(p);
    release(nullptr);
    CHECK(news == news_before + replaced && deletes == deletes_before + replaced);
  }
}

#if defined(REPLACE_ARRAYS)
constexpr bool kSingle = false, kAligned = false;
#else
constexpr bool kSingle = true, kAligned = true;
#endif

void TryAll() {
  const size_t bytes = 100;
  Try(
      kSingle, [] { return ::operator new(bytes); }, [](void* p) { ::operator delete(p); });
  Try(
      kSingle, [] { return ::operator new(bytes); }, [](void* p) { ::operator delete(p, bytes); });
  Try(
      kSingle, [] { return ::operator new(bytes, std::nothrow); },
      [](void* p) { ::operator delete(p, std::nothrow); });
  Try(
      true, [] { return ::operator new[](bytes); }, [](void* p) { ::operator delete[](p); });
  Try(
      true, [] { return ::operator new[](bytes); }, [](void* p) { ::operator delete[](p, bytes); });
  Try(
      true, [] { return ::operator new[](bytes, std::nothrow); },
      [](void* p) { ::operator delete[](p, std::nothrow); });
  Try(
      kAligned, [] { return ::operator new(bytes, kAlignment); },
      [](void* p) { ::operator delete(p, kAlignment); });
  Try(
      kAligned, [] { return ::operator new(bytes, kAlignment, std::nothrow); },
      [](void* p) { ::operator delete(p, bytes, kAlignment); });
  Try(
      kAligned, [] { return ::operator new[](bytes, kAlignment); },
      [](void* p) { ::operator delete[](p, kAlignment); });
  Try(
      kAligned, [] { return ::operator new[](bytes, kAlignment, std::nothrow); },
      [](void* p) { ::operator delete[](p, bytes, kAlignment); });
  Try(
      kAligned, [] { return ::operator new[](bytes, kAlignment); },
      [](void* p) { ::operator delete[](p, kAlignment, std::nothrow); });
}

}  // namespace

int main() {
  TryAll();
  out_of_memory = true;
  void* arrays = ::operator new[](100, std::nothrow);
  CHECK(arrays == nullptr);
  if (!kSingle) return 0;
  CHECK(::operator new(100, std::nothrow) == nullptr);
  CHECK(::operator new[](100, kAlignment, std::nothrow) == nullptr);
  try {
    arrays = ::operator new[](100);
    CHECK(false);
  } catch (const std::bad_alloc&) {
  }
  return 0;
}
