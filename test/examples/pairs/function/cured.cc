// Callables of several sizes that are handed on, copied and kept.
#include <cstdio>
#include <functional>
#include <memory>

using Visit = std::function<long(long)>;

[[gnu::noinline]] static long Call(const Visit& visit) { return visit(3); }

[[gnu::noinline]] static long Big(long a, long b, long c) {
  const struct { long a, b, c; } all{a, b, c};
  return Call([&all](long x) { return all.a + all.b + all.c + x; });
}

[[gnu::noinline]] static long Shared(const std::shared_ptr<long>& p) {
  return Call([p = p.get()](long x) { return *p + x; });
}

[[gnu::noinline]] static long Small(long a, long b) {
  return Call([a, b](long x) { return a + b + x; });
}

[[gnu::noinline]] static long Copy(const Visit& visit) {
  const Visit& copy = visit;
  return copy(4);
}

int main() {
  const auto shared = std::make_shared<long>(5);
  const long a = 1, b = 2, c = 3;
  const Visit kept = [=](long x) { return a + b * x + c + *shared; };
  long sum = 0;
  for (long i = 0; i < 3000; i++) sum += Big(i, 2, 3) + Shared(shared) + Small(i, 1) + Copy(kept);
  std::printf("%ld\n", sum);
}
