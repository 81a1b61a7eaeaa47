// operator new that cannot allocate: throws std::bad_alloc, after asking the new_handler as long as there is
// one. Each throwing call is one failed call; prints how many it made.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>

namespace {

volatile std::size_t too_large = PTRDIFF_MAX;
int asked = 0;

void GiveUpAtThird() {
  if (++asked == 3) std::set_new_handler(nullptr);
}

template <typename Call>
int Throws(Call call) {
  try {
    call();
  } catch (const std::bad_alloc&) {
    return 1;
  }
  return 0;
}

}  // namespace

int main() {
  int failed = 0;
  for (int i = 0; i < 10; i++) {
    failed += Throws([] { return ::operator new(too_large); });
    failed += Throws([] { return ::operator new[](too_large); });
    failed += Throws([] { return ::operator new (too_large, std::align_val_t{64}); });
    failed += Throws([] { return ::operator new[](too_large, std::align_val_t{64}); });
  }
  std::set_new_handler(GiveUpAtThird);
  failed += Throws([] { return ::operator new(too_large); });
  std::printf("%d %d\n", failed, asked);
  return 0;
}
