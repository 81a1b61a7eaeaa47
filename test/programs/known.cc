// Every form of operator new and delete with counts known by construction, in N threads (argument 1, default 1).
// The comments are those of known.c.
//
// peak 819200+1500
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

namespace known {

volatile std::size_t too_large = PTRDIFF_MAX;
pthread_barrier_t at_peak;
void* volatile leaked;

void Check(bool condition) {
  if (!condition) std::abort();
}

struct alignas(128) Wide {
  char bytes[256];
};

[[gnu::noinline]] void CallOperators() {
  constexpr std::align_val_t kAlignment{64};
  for (int i = 0; i < 20; i++) {
    void* one = ::operator new(8);                                       // expect news calls=20 bytes=160
    void* many = ::operator new[](16);                                   // expect news calls=20 bytes=320
    void* quiet = ::operator new(24, std::nothrow);                      // expect news calls=20 bytes=480
    void* quiet_many = ::operator new[](32, std::nothrow);               // expect news calls=20 bytes=640
    void* aligned = ::operator new(40, kAlignment);                      // expect news calls=20 bytes=800
    void* aligned_many = ::operator new[](48, kAlignment);               // expect news calls=20 bytes=960
    void* quiet_aligned = ::operator new(56, kAlignment, std::nothrow);  // expect news calls=20 bytes=1120
    void* quiet_aligned_many =
        ::operator new[](64, kAlignment, std::nothrow);  // expect news calls=20 bytes=1280
    Check(reinterpret_cast<uintptr_t>(aligned) % 64 == 0 &&
          reinterpret_cast<uintptr_t>(quiet_aligned_many) % 64 == 0);
    ::operator delete(one);                                             // frees 20
    ::operator delete[](many);                                          // frees 20
    ::operator delete(quiet, std::nothrow);                             // frees 20
    ::operator delete[](quiet_many, std::nothrow);                      // frees 20
    ::operator delete(aligned, kAlignment);                             // frees 20
    ::operator delete[](aligned_many, kAlignment);                      // frees 20
    ::operator delete(quiet_aligned, kAlignment, std::nothrow);         // frees 20
    ::operator delete[](quiet_aligned_many, kAlignment, std::nothrow);  // frees 20
    one = ::operator new(72);                                           // expect news calls=20 bytes=1440
    many = ::operator new[](80);                                        // expect news calls=20 bytes=1600
    aligned = ::operator new(88, kAlignment);                           // expect news calls=20 bytes=1760
    aligned_many = ::operator new[](96, kAlignment);                    // expect news calls=20 bytes=1920
    ::operator delete (one, std::size_t{72});                           // frees 20
    ::operator delete[](many, std::size_t{80});                         // frees 20
    ::operator delete (aligned, std::size_t{88}, kAlignment);           // frees 20
    ::operator delete[](aligned_many, std::size_t{96}, kAlignment);     // frees 20
  }
}

[[gnu::noinline]] void UseExpressions() {
  for (int i = 0; i < 10; i++) {
    int* number = new int(i);                  // expect news calls=10 bytes=40
    double* numbers = new double[12];          // expect news calls=10 bytes=960
    Wide* wide = new Wide;                     // expect news calls=10 bytes=2560
    Wide* wides = new Wide[2];                 // expect news calls=10 bytes=5120
    char* none = new char[0];                  // expect news calls=10 bytes=0
    char* quiet = new (std::nothrow) char[5];  // expect news calls=10 bytes=50
    Check(reinterpret_cast<uintptr_t>(wide) % 128 == 0 && reinterpret_cast<uintptr_t>(wides) % 128 == 0);
    delete number;     // frees 10
    delete[] numbers;  // frees 10
    delete wide;       // frees 10
    delete[] wides;    // frees 10
    delete[] none;     // frees 10
    delete[] quiet;    // frees 10
  }
}

[[gnu::noinline]] void UseContainer() {
  std::vector<int> numbers;
  numbers.reserve(100);  // expect news calls=1 bytes=400
  Check(numbers.capacity() == 100);
}  // frees 1

[[gnu::noinline]] void Mix() {
  void* block = std::malloc(30);               // expect mallocs calls=1 bytes=30
  block = std::realloc(block, 60);             // expect reallocs calls=1 bytes=60
  std::free(block);                            // frees 1
  void* aligned = std::aligned_alloc(32, 64);  // expect aligned calls=1 bytes=64
  std::free(aligned);                          // frees 1
}

[[gnu::noinline]] void Fail() {
  Check(::operator new(too_large, std::nothrow) == nullptr);                          // failed 1
  Check(::operator new[](too_large, std::nothrow) == nullptr);                        // failed 1
  Check(::operator new (too_large, std::align_val_t{64}, std::nothrow) == nullptr);   // failed 1
  Check(::operator new[](too_large, std::align_val_t{64}, std::nothrow) == nullptr);  // failed 1
}

[[gnu::noinline]] void Leak() {
  for (int i = 0; i < 3; i++) {
    leaked = ::operator new(500);  // expect news calls=3 bytes=1500 live=3
  }
}

[[gnu::noinline]] void RiseToPeak() {
  constexpr int kBlocks = 400;
  static thread_local void* blocks[kBlocks];
  for (int i = 0; i < kBlocks; i++) {
    blocks[i] = ::operator new(2048);  // expect news calls=400 bytes=819200
  }
  pthread_barrier_wait(&at_peak);
  for (int i = 0; i < kBlocks; i++) {
    ::operator delete(blocks[i]);  // frees 400
  }
}

void* Work(void*) {
  CallOperators();
  UseExpressions();
  UseContainer();
  Mix();
  Fail();
  Leak();
  RiseToPeak();
  return nullptr;
}

}  // namespace known

int main(int count, char** arguments) {
  int threads = count > 1 ? std::atoi(arguments[1]) : 1;
  pthread_barrier_init(&known::at_peak, nullptr, static_cast<unsigned>(threads));
  if (threads == 1) {
    known::Work(nullptr);
    return 0;
  }
  pthread_t thread[64];
  for (int i = 0; i < threads; i++)
    known::Check(pthread_create(&thread[i], nullptr, known::Work, nullptr) == 0);
  for (int i = 0; i < threads; i++) known::Check(pthread_join(thread[i], nullptr) == 0);
  return 0;
}
