// A stack of a million frames.
#include <pthread.h>
#include <stdio.h>

#include "capture_here.h"
#include "node_map.h"

namespace {

using namespace mallow::unwind_test;

constexpr int kDepth = 1'000'000;
constexpr size_t kStackBytes = size_t{1} << 30;
int g_failures = 0;

uint64_t PathLength(mallow::record::NodeId node) {
  uint64_t frames = 0;
  for (; node != mallow::record::kRoot; node = NodeAt(node).parent) ++frames;
  return frames;
}

void Expect(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "deep: %s\n", what);
  ++g_failures;
}

__attribute__((noinline)) uint64_t Descend(int depth) {
  if (depth % (kDepth / 10) == 0) CaptureUnchecked();
  uint64_t length = 0;
  if (depth == 0) {
    CaptureHere();
    CaptureUnchecked();
    const uint64_t walked = Statistics().frames_walked;
    length = PathLength(CaptureUnchecked());
    Expect(Statistics().frames_walked - walked <= 1, "an unchanged deep stack was walked again");
  } else {
    length = Descend(depth - 1);
  }
  asm volatile("" : "+r"(length));
  return length;
}

void* Run(void*) {
  const uint64_t length = Descend(kDepth);
  printf("frames %lu\n", length);
  Expect(length > kDepth, "frames are missing");
  CaptureHere();
  Report("deep");
  return nullptr;
}

}  // namespace

int main() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, Run, nullptr) != 0) return 2;
  pthread_join(thread, nullptr);
  return Report("deep") | (g_failures != 0);
}
