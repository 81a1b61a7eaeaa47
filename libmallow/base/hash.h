// Mixing of words; not against an adversary.
#pragma once

#include "base/config.h"

namespace mallow {

// A bijection in which every input bit moves about half of the output bits.
constexpr uint64_t HashWord(uint64_t value) {
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93u;
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93u;
  value ^= value >> 32;
  return value;
}

// One multiplication (Fibonacci hashing, Knuth): its top bits depend on all bits of the value, the others on fewer.
constexpr uint64_t HashToTop(uint64_t value) { return value * 0x9e3779b97f4a7c15u; }

constexpr uint64_t HashWords(uint64_t a, uint64_t b) {
  return HashWord(HashWord(a) + 0x9e3779b97f4a7c15u + b);
}

// Of short texts, such as names.
constexpr uint32_t HashText(const char* text, size_t bytes) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * 1099511628211u;
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

}  // namespace mallow
