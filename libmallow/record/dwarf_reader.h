// Reads the byte formats of .eh_frame: LEB128 numbers and encoded pointers.
//
// Never reads outside [begin, end). An overrun makes the reader fail: from then on it returns zeros and
// ok() is false, so that callers check once at the end of a record. Thread-compatible; does not allocate.
#pragma once

#include <cstdint>
#include <cstring>

namespace mallow::record {

// DW_EH_PE_*: how a pointer is written. Low four bits format, next three the base, top bit indirect.
inline constexpr uint8_t kPointerOmitted = 0xff, kPointerFormatMask = 0x0f, kPointerBaseMask = 0x70,
                         kPointerIndirect = 0x80;

class DwarfReader {
 public:
  DwarfReader(const uint8_t* begin, const uint8_t* end) : at_(begin), end_(end), ok_(begin <= end) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ >= end_; }
  const uint8_t* at() const { return at_; }
  const uint8_t* end() const { return end_; }

  template <typename T>
  T Fixed() {
    T value{};
    if (!Has(sizeof(T))) return value;
    memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  uint64_t Uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; Has(1); shift += 7) {
      const uint8_t byte = *at_++;
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) return value;
    }
    return 0;
  }

  int64_t Sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; Has(1);) {
      const uint8_t byte = *at_++;
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (byte & 0x80) continue;
      if (shift < 64 && (byte & 0x40)) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
    return 0;
  }

  void Skip(uint64_t bytes) {
    if (Has(bytes)) at_ += bytes;
  }

  // Moves to `target`, which may lie before the present position but not outside [begin, end] of the
  // caller's knowledge.
  void JumpTo(const uint8_t* begin, const uint8_t* target) {
    if (target < begin || target > end_) {
      Fail();
    } else {
      at_ = target;
    }
  }

  // A pointer in `encoding`; `data_base` is the base of data-relative ones. An indirect one is returned as the
  // address of the word that holds it.
  uintptr_t Pointer(uint8_t encoding, uintptr_t data_base);

  void Fail() {
    ok_ = false;
    at_ = end_;
  }

 private:
  bool Has(uint64_t bytes) {
    if (ok_ && bytes <= static_cast<uint64_t>(end_ - at_)) return true;
    Fail();
    return false;
  }

  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_;
};

}  // namespace mallow::record
