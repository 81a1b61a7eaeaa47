// Arithmetic on sizes and alignments.
#pragma once

#include "base/config.h"

namespace mallow {

constexpr bool IsPowerOfTwo(size_t value) { return value != 0 && (value & (value - 1)) == 0; }

// `alignment` is a power of two. RoundUp may wrap: the caller has bounded the value.
constexpr size_t RoundUp(size_t value, size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}
constexpr size_t RoundDown(size_t value, size_t alignment) { return value & ~(alignment - 1); }
constexpr bool IsAligned(size_t value, size_t alignment) { return (value & (alignment - 1)) == 0; }
inline bool IsAligned(const void* p, size_t alignment) {
  return IsAligned(reinterpret_cast<uintptr_t>(p), alignment);
}

constexpr size_t DivideUp(size_t value, size_t divisor) { return (value + divisor - 1) / divisor; }

// Floor of the binary logarithm; value > 0.
constexpr int Log2Floor(uint64_t value) { return 63 - __builtin_clzll(value); }
constexpr int Log2Ceiling(uint64_t value) { return value <= 1 ? 0 : Log2Floor(value - 1) + 1; }

constexpr int CountTrailingZeros(uint64_t value) { return __builtin_ctzll(value); }

template <typename T>
constexpr T Min(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
constexpr T Max(T a, T b) {
  return a < b ? b : a;
}
template <typename T>
constexpr T Clamp(T value, T low, T high) {
  return Max(low, Min(value, high));
}

}  // namespace mallow
