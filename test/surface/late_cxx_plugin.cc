// A library that brings the C++ runtime into a C program.
#include <new>

extern "C" int CatchesBadAlloc(unsigned long bytes) {
  try {
    void* p = ::operator new(bytes);
    asm volatile("" : : "r"(p) : "memory");
  } catch (const std::bad_alloc&) {
    return 1;
  }
  return 0;
}

namespace {
int asked = 0;
void GiveUp() {
  ++asked;
  std::set_new_handler(nullptr);
}
}  // namespace

extern "C" int AsksHandler(unsigned long bytes) {
  asked = 0;
  std::set_new_handler(GiveUp);
  return CatchesBadAlloc(bytes) && asked == 1;
}
