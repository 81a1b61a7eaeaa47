#include "record/dwarf_reader.h"

namespace mallow::record {

namespace {

enum Format : uint8_t {
  kAbsolute = 0x00,
  kUleb = 0x01,
  kUnsigned2 = 0x02,
  kUnsigned4 = 0x03,
  kUnsigned8 = 0x04,
  kSleb = 0x09,
  kSigned2 = 0x0a,
  kSigned4 = 0x0b,
  kSigned8 = 0x0c,
};

enum Base : uint8_t { kFromZero = 0x00, kFromHere = 0x10, kFromData = 0x30, kAligned = 0x50 };

}  // namespace

uintptr_t DwarfReader::Pointer(uint8_t encoding, uintptr_t data_base) {
  if (encoding == kPointerOmitted) return 0;
  if ((encoding & kPointerBaseMask) == kAligned) {
    Skip(-reinterpret_cast<uintptr_t>(at_) & (sizeof(uintptr_t) - 1));
    return Fixed<uintptr_t>();
  }
  const uintptr_t here = reinterpret_cast<uintptr_t>(at_);
  uintptr_t value = 0;
  switch (encoding & kPointerFormatMask) {
    case kAbsolute:
    case kUnsigned8:
    case kSigned8:
      value = Fixed<uint64_t>();
      break;
    case kUleb:
      value = Uleb();
      break;
    case kSleb:
      value = static_cast<uintptr_t>(Sleb());
      break;
    case kUnsigned2:
      value = Fixed<uint16_t>();
      break;
    case kSigned2:
      value = static_cast<uintptr_t>(int64_t{Fixed<int16_t>()});
      break;
    case kUnsigned4:
      value = Fixed<uint32_t>();
      break;
    case kSigned4:
      value = static_cast<uintptr_t>(int64_t{Fixed<int32_t>()});
      break;
    default:
      Fail();
      return 0;
  }
  // A null pointer is written as zero whatever its base.
  if (value == 0) return 0;
  switch (encoding & kPointerBaseMask) {
    case kFromZero:
      return value;
    case kFromHere:
      return here + value;
    case kFromData:
      return data_base + value;
    default:
      Fail();
      return 0;
  }
}

}  // namespace mallow::record
