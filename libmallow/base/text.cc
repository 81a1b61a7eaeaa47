#include "base/text.h"

#include <string.h>

namespace mallow {
namespace {

constexpr char kDigits[] = "0123456789abcdef";
constexpr size_t kMostDigits = 20;

// Writes `value` right-aligned, ending at `end`; returns where it starts.
char* WriteDigits(uint64_t value, unsigned base, char* end) {
  do {
    *--end = kDigits[value % base];
    value /= base;
  } while (value != 0);
  return end;
}

}  // namespace

TextWriter& TextWriter::Append(const char* text, size_t length) {
  const size_t room = capacity_ - 1 - size_;
  if (length > room) {
    truncated_ = true;
    length = room;
  }
  memcpy(buffer_ + size_, text, length);
  size_ += length;
  buffer_[size_] = 0;
  return *this;
}

TextWriter& TextWriter::Append(const char* text) { return Append(text, strlen(text)); }

TextWriter& TextWriter::AppendDecimal(uint64_t value) {
  char digits[kMostDigits];
  char* const end = digits + sizeof(digits);
  const char* start = WriteDigits(value, 10, end);
  return Append(start, static_cast<size_t>(end - start));
}

TextWriter& TextWriter::AppendHex(uint64_t value) {
  char digits[kMostDigits];
  char* const end = digits + sizeof(digits);
  const char* start = WriteDigits(value, 16, end);
  return Append("0x", 2).Append(start, static_cast<size_t>(end - start));
}

}  // namespace mallow
