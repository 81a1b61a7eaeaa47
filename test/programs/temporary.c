// Temporary blocks (nothing else allocated between birth and release) and short-lived ones (released within
// the next 32 allocations and releases of the thread), by construction.
//   expect KIND calls=N bytes=N temporary=N short_lived=N
#include <stdlib.h>

// One event each: a block that lives from here on.
static void *kept[4000];
static int kept_count;

static void pass_events(int events) {
  for (int i = 0; i < events; i++) {
    kept[kept_count++] = malloc(16);
  }
}

__attribute__((noinline)) static void release_at_once(void) {
  for (int i = 0; i < 1000; i++) {
    void *block = malloc(10);  // expect mallocs calls=1000 bytes=10000 temporary=1000 short_lived=1000
    free(block);
  }
}

__attribute__((noinline)) static void release_in_order_of_birth(void) {
  for (int i = 0; i < 500; i++) {
    void *first = malloc(10);   // expect mallocs calls=500 bytes=5000 temporary=0 short_lived=500
    void *second = malloc(20);  // expect mallocs calls=500 bytes=10000 temporary=500 short_lived=500
    free(first);
    free(second);
  }
}

__attribute__((noinline)) static void nest(void) {
  for (int i = 0; i < 200; i++) {
    void *outer = malloc(30);  // expect mallocs calls=200 bytes=6000 temporary=0 short_lived=200
    void *inner = malloc(40);  // expect mallocs calls=200 bytes=8000 temporary=200 short_lived=200
    free(inner);
    free(outer);
  }
}

__attribute__((noinline)) static void release_at_the_32nd_event(void) {
  for (int i = 0; i < 20; i++) {
    void *block = malloc(50);  // expect mallocs calls=20 bytes=1000 temporary=0 short_lived=20
    pass_events(31);
    free(block);
  }
}

__attribute__((noinline)) static void release_at_the_33rd_event(void) {
  for (int i = 0; i < 20; i++) {
    void *block = malloc(60);  // expect mallocs calls=20 bytes=1200 temporary=0 short_lived=0
    pass_events(32);
    free(block);
  }
}

__attribute__((noinline)) static void keep(void) {
  for (int i = 0; i < 10; i++) {
    kept[kept_count++] = malloc(70);  // expect mallocs calls=10 bytes=700 temporary=0 short_lived=0
  }
}

int main(void) {
  release_at_once();
  release_in_order_of_birth();
  nest();
  release_at_the_32nd_event();
  release_at_the_33rd_event();
  keep();
  return 0;
}
