// Factors COUNT numbers of 16 decimal digits by trial division and Pollard's rho on numbers of arbitrary length, whose
// digits are a list of small blocks, allocated for every intermediate result.
//
//	numbers COUNT
//
// A symbolic program: nearly all its time goes into pairs of 16 to 64 bytes that live for microseconds.
#include "support.h"

namespace {

constexpr uint64_t kBase = 1000000;  // of a limb

struct Limb {
  uint32_t value;
  Limb* next;  // the more significant one
};

// A natural number without leading zero limbs; zero has none.
class Natural {
 public:
  Natural() = default;
  explicit Natural(uint64_t value) {
    for (Limb** end = &least_; value > 0; value /= kBase) end = &Append(end, value % kBase)->next;
  }
  Natural(Natural&& other) noexcept : least_(other.least_) { other.least_ = nullptr; }
  Natural& operator=(Natural&& other) noexcept {
    if (this != &other) {
      Clear();
      least_ = other.least_;
      other.least_ = nullptr;
    }
    return *this;
  }
  ~Natural() { Clear(); }

  // Valid for numbers below 2^64 only.
  uint64_t Value() const {
    uint64_t value = 0, weight = 1;
    for (const Limb* limb = least_; limb != nullptr; limb = limb->next, weight *= kBase)
      value += limb->value * weight;
    return value;
  }

  Natural Plus(const Natural& other) const {
    Natural sum;
    Limb** end = &sum.least_;
    uint64_t carry = 0;
    for (const Limb *a = least_, *b = other.least_; a != nullptr || b != nullptr || carry > 0;) {
      if (a != nullptr) carry += a->value, a = a->next;
      if (b != nullptr) carry += b->value, b = b->next;
      end = &Append(end, carry % kBase)->next;
      carry /= kBase;
    }
    return sum;
  }

  Natural Shifted() const {
    Natural shifted;
    if (least_ == nullptr) return shifted;
    Limb** end = &Append(&shifted.least_, 0)->next;
    for (const Limb* limb = least_; limb != nullptr; limb = limb->next) end = &Append(end, limb->value)->next;
    return shifted;
  }

  Natural TimesLimb(uint64_t factor) const {
    Natural product;
    Limb** end = &product.least_;
    uint64_t carry = 0;
    for (const Limb* limb = least_; factor > 0 && (limb != nullptr || carry > 0);) {
      if (limb != nullptr) carry += limb->value * factor, limb = limb->next;
      end = &Append(end, carry % kBase)->next;
      carry /= kBase;
    }
    return product;
  }

  // this * other mod modulus, limb by limb from the most significant one; modulus < 2^63 / kBase.
  Natural TimesModulo(const Natural& other, uint64_t modulus) const {
    const Limb* limbs[8];
    size_t count = 0;
    for (const Limb* limb = least_; limb != nullptr; limb = limb->next) limbs[count++] = limb;
    Natural product;
    while (count-- > 0)
      product = Natural(product.Shifted().Modulo(modulus))
                    .Plus(other.TimesLimb(limbs[count]->value))
                    .Reduced(modulus);
    return product;
  }

  Natural Reduced(uint64_t modulus) const { return Natural(Modulo(modulus)); }

  uint64_t Modulo(uint64_t modulus) const {
    const Limb* limbs[8];
    size_t count = 0;
    for (const Limb* limb = least_; limb != nullptr; limb = limb->next) limbs[count++] = limb;
    unsigned __int128 rest = 0;
    while (count-- > 0) rest = (rest * kBase + limbs[count]->value) % modulus;
    return static_cast<uint64_t>(rest);
  }

 private:
  static Limb* Append(Limb** end, uint64_t value) {
    Limb* const limb = static_cast<Limb*>(bench::Allocate(sizeof(Limb)));
    *limb = {static_cast<uint32_t>(value), nullptr};
    return *end = limb;
  }
  void Clear() {
    for (Limb* limb = least_; limb != nullptr;) {
      Limb* const next = limb->next;
      free(limb);
      limb = next;
    }
    least_ = nullptr;
  }

  Limb* least_ = nullptr;
};

uint64_t CommonDivisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// A divisor of n other than 1 and n by Pollard's rho, n if this sequence finds none.
uint64_t Divisor(uint64_t n, uint64_t constant) {
  const Natural step(constant);
  auto next = [&](const Natural& x) { return x.TimesModulo(x, n).Plus(step).Reduced(n); };
  Natural slow(2), fast(2);
  for (;;) {
    slow = next(slow);
    fast = next(next(fast));
    const uint64_t a = slow.Value(), b = fast.Value();
    const uint64_t divisor = CommonDivisor(a > b ? a - b : b - a, n);
    if (divisor != 1) return divisor;
  }
}

bool Prime(uint64_t n) {
  for (uint64_t i = 2; i * i <= n; i++)
    if (n % i == 0) return false;
  return n > 1;
}

uint64_t PrimeFrom(uint64_t n) {
  while (!Prime(n)) n++;
  return n;
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 1, "COUNT");
  bench::Random random(5);
  for (uint64_t i = arguments.Number(1); i > 0; i--) {
    const uint64_t p = PrimeFrom(100000 + random.Below(200000)),
                   q = PrimeFrom(4000000 + random.Below(4000000));
    uint64_t divisor = p * q;
    for (uint64_t constant = 1; divisor == p * q; constant++) divisor = Divisor(p * q, constant);
    if (divisor != p && divisor != q) bench::Fail("found a factor that is none");
  }
}
