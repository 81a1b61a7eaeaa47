// The tc_ functions that C++ has.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include HEADER

#define CHECK(condition)                                  \
  do {                                                    \
    if (!(condition)) {                                   \
      std::printf("line %d: %s\n", __LINE__, #condition); \
      std::exit(1);                                       \
    }                                                     \
  } while (false)

namespace {

constexpr std::align_val_t kAlignment{512};

bool IsAligned(const void* p) { return p != nullptr && reinterpret_cast<uintptr_t>(p) % 512 == 0; }

size_t NoMemory() {
  static volatile size_t bytes = SIZE_MAX / 4;
  return bytes;
}

void TestForms() {
  tc_delete(tc_new(10));
  tc_delete_sized(tc_new(10), 10);
  tc_delete_nothrow(tc_new_nothrow(10, std::nothrow), std::nothrow);
  tc_deletearray(tc_newarray(10));
  tc_deletearray_sized(tc_newarray(10), 10);
  tc_deletearray_nothrow(tc_newarray_nothrow(10, std::nothrow), std::nothrow);
  void* p = tc_new_aligned(10, kAlignment);
  CHECK(IsAligned(p));
  tc_delete_aligned(p, kAlignment);
  p = tc_new_aligned_nothrow(10, kAlignment, std::nothrow);
  CHECK(IsAligned(p));
  tc_delete_aligned_nothrow(p, kAlignment, std::nothrow);
  p = tc_newarray_aligned(10, kAlignment);
  CHECK(IsAligned(p));
  tc_deletearray_aligned(p, kAlignment);
  p = tc_newarray_aligned_nothrow(10, kAlignment, std::nothrow);
  CHECK(IsAligned(p));
  tc_deletearray_aligned_nothrow(p, kAlignment, std::nothrow);
  tc_delete_sized_aligned(tc_new_aligned(10, kAlignment), 10, kAlignment);
  tc_deletearray_sized_aligned(tc_newarray_aligned(10, kAlignment), 10, kAlignment);
  // Across the families.
  delete static_cast<int*>(tc_malloc(sizeof(int)));
  tc_free(new int);
  std::free(tc_new(10));
}

template <typename New>
bool Throws(New allocate) {
  try {
    tc_free(allocate());
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

void TestNoMemory() {
  CHECK(Throws([] { return tc_new(NoMemory()); }));
  CHECK(Throws([] { return tc_newarray(NoMemory()); }));
  CHECK(Throws([] { return tc_new_aligned(NoMemory(), kAlignment); }));
  CHECK(Throws([] { return tc_newarray_aligned(NoMemory(), kAlignment); }));
  CHECK(tc_new_nothrow(NoMemory(), std::nothrow) == nullptr);
  CHECK(tc_newarray_nothrow(NoMemory(), std::nothrow) == nullptr);
  CHECK(tc_new_aligned_nothrow(NoMemory(), kAlignment, std::nothrow) == nullptr);
  CHECK(tc_newarray_aligned_nothrow(NoMemory(), kAlignment, std::nothrow) == nullptr);
}

int asked = 0;
void AskThreeTimes() {
  if (++asked == 3) std::set_new_handler(nullptr);
}
void Throw() { throw std::bad_alloc(); }

// Fails, and returns how often the handler was asked.
template <typename Serve>
int Asked(Serve fails) {
  asked = 0;
  std::set_new_handler(AskThreeTimes);
  errno = 0;
  CHECK(fails());
  CHECK(errno == ENOMEM);
  std::set_new_handler(nullptr);
  return asked;
}

void TestNewMode() {
  const auto fails = [] { return tc_malloc(NoMemory()) == nullptr; };
  CHECK(tc_query_new_mode() == 0 && Asked(fails) == 0);
  CHECK(tc_set_new_mode(1) == 0 && tc_query_new_mode() == 1 && tc_set_new_mode(1) == 1);
  CHECK(Asked(fails) == 3);
  CHECK(Asked([] { return tc_malloc_skip_new_handler(NoMemory()) == nullptr; }) == 0);
  CHECK(Asked([] { return tc_calloc(NoMemory(), 1) == nullptr; }) == 3);
  CHECK(Asked([] { return tc_realloc(nullptr, NoMemory()) == nullptr; }) == 3);
  CHECK(Asked([] { return tc_memalign(64, NoMemory()) == nullptr; }) == 3);
  CHECK(Asked([] { return tc_valloc(NoMemory()) == nullptr; }) == 3);
  CHECK(Asked([] { return tc_pvalloc(NoMemory()) == nullptr; }) == 3);
  CHECK(Asked([] {
          void* p;
          return tc_posix_memalign(&p, 64, NoMemory()) == ENOMEM;
        }) == 3);
  // A handler that throws ends the asking: these functions do not throw.
  std::set_new_handler(Throw);
  errno = 0;
  CHECK(tc_malloc(NoMemory()) == nullptr && errno == ENOMEM);
  std::set_new_handler(nullptr);
  CHECK(tc_realloc(tc_malloc(1), 0) == nullptr);
  CHECK(tc_set_new_mode(0) == 1 && Asked(fails) == 0);
}

}  // namespace

int main() {
  TestForms();
  TestNoMemory();
  TestNewMode();
  std::puts("mallow");
  return 0;
}
