// Functions that no other file sees: debug information has no linkage name of them.
#include <cstdio>
#include <cstdlib>

static void* volatile sink;

namespace net {

static inline __attribute__((always_inline)) void inlined(int n) { sink = malloc(n); }

// The compiler makes a copy of it for the calls with 3.
static __attribute__((noinline)) int copied(int* p, int always, int n) {
  sink = malloc(n);
  return *p + always;
}

namespace {

// Both inlined and called.
__attribute__((noinline)) int partly(int n) {
  sink = malloc(n);
  sink = malloc(n);
  return n;
}

__attribute__((always_inline)) inline int both(int n) {
  sink = malloc(n);
  sink = malloc(n + 1);
  return n;
}

}  // namespace

}  // namespace net

static int (*volatile pointer)(int) = net::both;

int main() {
  int sum = 0;
  for (int i = 1; i <= 10; i++) {
    net::inlined(i);
    sum += net::copied(&sum, 3, i) + net::partly(i) + net::both(i) + pointer(i);
  }
  puts("done");
  return sum == 0;
}
