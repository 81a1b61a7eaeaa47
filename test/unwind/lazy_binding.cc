// Captures while the dynamic linker binds a function at its first call: through its resolver and back into the program.
#include <stdio.h>

#include "capture_here.h"

extern "C" {
extern void (*lazy_callback)();
int Lazy0();
int Lazy1();
int Lazy2();
int Lazy3();
int Lazy4();
int Lazy5();
int Lazy6();
int Lazy7();
}

namespace {

int g_asked = 0;

void OnAsked() {
  ++g_asked;
  mallow::unwind_test::CaptureHere();
  mallow::unwind_test::CaptureHere();
}

template <int (*lazy)()>
__attribute__((noinline)) int From(int depth) {
  volatile char room[100];
  room[0] = static_cast<char>(depth);
  if (depth > 0) return From<lazy>(depth - 1) + room[0] * 0;
  const int result = lazy();
  mallow::unwind_test::CaptureHere();
  return result + room[0] * 0;
}

}  // namespace

int main() {
  lazy_callback = OnAsked;
  const int sum = From<Lazy0>(0) + From<Lazy1>(1) + From<Lazy2>(5) + From<Lazy3>(5) + From<Lazy4>(20) +
                  From<Lazy5>(3) + From<Lazy6>(3) + From<Lazy7>(3);
  if (sum != 28 || g_asked != 8) {
    fprintf(stderr, "lazy binding: vacuous, the linker asked %d times\n", g_asked);
    return 1;
  }
  return mallow::unwind_test::Report("lazy binding");
}
