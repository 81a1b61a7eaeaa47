// Functions that the dynamic linker finds at their first call, by asking the library which code they are: it calls back
// then, from within the linker, whose frame comes from rbx.
extern "C" void (*lazy_callback)();
void (*lazy_callback)();

using Function = int();

#define MALLOW_LAZY(n)                               \
  extern "C" {                                       \
  static int Code##n() { return n; }                 \
  static Function* Choose##n() {                     \
    if (lazy_callback != nullptr) lazy_callback();   \
    return Code##n;                                  \
  }                                                  \
  __attribute__((ifunc("Choose" #n))) int Lazy##n(); \
  }

MALLOW_LAZY(0)
MALLOW_LAZY(1)
MALLOW_LAZY(2)
MALLOW_LAZY(3)
MALLOW_LAZY(4)
MALLOW_LAZY(5)
MALLOW_LAZY(6)
MALLOW_LAZY(7)
