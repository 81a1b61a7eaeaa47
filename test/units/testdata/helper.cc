// The helper class of mallow.h: a region ends with its scope, also by an exception.
#include <mallow/mallow.h>

#include <cstdio>
#include <new>

static void* volatile sink;

static void serve(int i) {
  mallow::Region request("request");
  sink = ::operator new(32);
  mallow::Region parse("parse");
  mallow_region_begin("forgotten");
  sink = ::operator new(16);
  if (i % 2 == 0) throw i;
}

int main() {
  for (int i = 0; i < 10; ++i) {
    try {
      serve(i);
    } catch (int) {
      mallow::Region failed("failed");
      sink = ::operator new(8);
    }
    sink = ::operator new(64);  // outside
  }
  unsigned (*begin)(const char*) = &mallow_region_begin;  // its address may be taken
  begin("by address");
  mallow_region_end();
  std::puts("done");
}
