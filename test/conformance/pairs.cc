// pairs: blocks given back by another family's function. Undefined in C and C++, at home in programs: all of this
// runs on glibc, which looks at nothing but the pointer.
#include <cstdlib>
#include <new>

#include "cases.h"

namespace {

struct alignas(64) Wide {
  char bytes[192];
};

// As in code that deletes a derived object by its base without a virtual destructor.
struct Base {
  int value = 1;
};
struct Derived : Base {
  char rest[300] = {};
};

constexpr size_t kSizes[] = {1,    8,     16,     17,     100,    1000,    4096,
                             5000, 32768, 100000, 262144, 262145, 1 << 20, 5 << 20};

// After the pair, blocks of the size and of the wrong ones come out disjoint and hold what is written: a block that
// was filed as another size would not.
void CheckWholeAfter(size_t bytes) {
  unsigned char* blocks[24];
  size_t sizes[24];
  for (int i = 0; i < 24; ++i) {
    sizes[i] = i % 3 == 0 ? bytes : i % 3 == 1 ? bytes / 2 + 1 : bytes * 2;
    blocks[i] = static_cast<unsigned char*>(malloc(sizes[i]));
    CHECK(blocks[i] != nullptr && malloc_usable_size(blocks[i]) >= sizes[i]);
    memset(blocks[i], i + 1, sizes[i]);
  }
  for (int i = 0; i < 24; ++i) CHECK(AllBytesAre(blocks[i], sizes[i], static_cast<unsigned char>(i + 1)));
  for (unsigned char* block : blocks) free(block);
}

template <typename Pair>
void WithEverySize(Pair pair) {
  for (const size_t bytes : kSizes) {
    for (int i = 0; i < 50; ++i) pair(bytes);
    CheckWholeAfter(bytes);
  }
}

void MallocThenDelete() {
  WithEverySize([](size_t bytes) { operator delete(malloc(bytes)); });
  WithEverySize([](size_t bytes) { operator delete[](calloc(1, bytes)); });
}

void NewThenFree() {
  WithEverySize([](size_t bytes) { free(operator new(bytes)); });
  WithEverySize([](size_t bytes) { free(operator new[](bytes)); });
  WithEverySize([](size_t bytes) { free(operator new(bytes, std::nothrow)); });
}

void NewThenDeleteArray() {
  WithEverySize([](size_t bytes) { operator delete[](operator new(bytes)); });
  WithEverySize([](size_t bytes) { operator delete(operator new[](bytes)); });
}

void AlignedThenFree() {
  WithEverySize([](size_t bytes) { free(aligned_alloc(64, bytes)); });
  WithEverySize([](size_t bytes) { free(memalign(4096, bytes)); });
  WithEverySize([](size_t bytes) { free(operator new (bytes, std::align_val_t{256})); });
  WithEverySize([](size_t bytes) { operator delete(memalign(128, bytes)); });
}

void AlignedNewThenPlainDelete() {
  WithEverySize([](size_t bytes) { operator delete(operator new (bytes, std::align_val_t{64})); });
  WithEverySize([](size_t bytes) { operator delete (operator new(bytes), std::align_val_t{64}); });
  delete reinterpret_cast<Base*>(new Wide);
}

void AlignedThenRealloc() {
  WithEverySize([](size_t bytes) {
    auto* p = static_cast<unsigned char*>(memalign(256, bytes));
    memset(p, 0x66, bytes);
    p = static_cast<unsigned char*>(realloc(p, bytes * 2));
    CHECK(p != nullptr && AllBytesAre(p, bytes, 0x66));
    free(p);
  });
}

void NewThenRealloc() {
  WithEverySize([](size_t bytes) {
    void* p = operator new(bytes);
    memset(p, 0x67, bytes);
    p = realloc(p, bytes + 100);
    CHECK(p != nullptr && AllBytesAre(p, bytes, 0x67));
    operator delete(p);
  });
}

// Up to 256 KiB: above, libmallow takes a wrong size for the damage that it is.
void SizedDeleteOfAnotherSize() {
  for (const size_t bytes : kSizes) {
    if (bytes > 256 * 1024) continue;
    for (int i = 0; i < 50; ++i) {
      operator delete(operator new(bytes), bytes / 2);
      operator delete (operator new(bytes), size_t{0});
      operator delete[](operator new[](bytes), bytes * 3);
      operator delete (memalign(512, bytes), size_t{8});
    }
    CheckWholeAfter(bytes);
  }
  for (int i = 0; i < 1000; ++i) {
    Base* p = new Derived;
    HIDE(p);
    delete p;
  }
  CheckWholeAfter(sizeof(Derived));
}

void SizedDeleteOfMalloc() {
  WithEverySize([](size_t bytes) { operator delete(malloc(bytes), bytes); });
  WithEverySize([](size_t bytes) { operator delete(realloc(malloc(8), bytes), bytes); });
}

void TextThenDelete() {
  for (int i = 0; i < 1000; ++i) {
    operator delete(strdup("a text"));
    operator delete[](strndup("a text", 3));
  }
  CheckWholeAfter(7);
}

}  // namespace

int main() {
  static const Case cases[] = {
      {"malloc and delete", MallocThenDelete},
      {"new and free", NewThenFree},
      {"new and delete[], new[] and delete", NewThenDeleteArray},
      {"aligned blocks and free", AlignedThenFree},
      {"aligned new and plain delete", AlignedNewThenPlainDelete},
      {"memalign and realloc", AlignedThenRealloc},
      {"new and realloc", NewThenRealloc},
      {"sized delete with another size", SizedDeleteOfAnotherSize},
      {"malloc and sized delete", SizedDeleteOfMalloc},
      {"strdup and delete", TextThenDelete},
  };
  return RUN_CASES(cases);
}
