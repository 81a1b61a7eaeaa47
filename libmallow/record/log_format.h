// The file of the ordered log as format/recording.md specifies it, version 1. Any change here is a change there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mallow::record {

inline constexpr char kLogMagic[8] = {'M', 'A', 'L', 'L', 'O', 'W', 'L', 'G'};
inline constexpr uint32_t kLogMajor = 1;
inline constexpr uint32_t kLogBlockBytes = 32 * 1024;

enum class LogClock : uint32_t {
  kCycleCounter = 1,   // stamps are the processor's counter / 4
  kSharedCounter = 2,  // stamps count the process's events; the time is that of the latest kClock record
};
inline constexpr int kCyclesShift = 2;

enum class LogEnd : uint32_t { kNone = 0, kLimit = 1, kDisk = 2, kMemory = 3 };

// Block 0 of the file.
struct LogHeader {
  char magic[8];
  uint32_t major, minor;
  uint32_t block_bytes;
  uint32_t flags;
  uint32_t clock;  // LogClock
  uint32_t end;    // LogEnd
  uint64_t end_stamp;
  uint64_t limit_bytes;
  uint64_t start_stamp, start_ns;
  uint64_t second_stamp, second_ns;
  char reserved0[48];
  // Each in a cache line of its own: all threads write them.
  alignas(64) uint64_t blocks;
  alignas(64) uint64_t counter;
};
static_assert(offsetof(LogHeader, end_stamp) == 32);
static_assert(offsetof(LogHeader, blocks) == 128);
static_assert(offsetof(LogHeader, counter) == 192);

struct LogBlock {
  uint32_t stream;
  uint32_t used;
  uint32_t next;
  uint32_t first;
  uint32_t tid;
  uint32_t reserved0;
  uint64_t stamp, ns;
  char reserved1[24];
};
static_assert(sizeof(LogBlock) == 64);

// The two bytes before each record.
//
//   bits 0..2   kind
//        3..4   bytes of the stamp less 1
//        5..6   place: 0 predicted, 1, 2, or 3: 4 bytes
//        7..8   size: 0 predicted, 1, 2, or 3: 8 bytes
//        9..11  bytes of the address
//        12..14 bytes of the old address
//        15     the old address is an age
enum class LogKind : uint32_t {
  kControl = 0,  // bits 3..15: LogControl
  kBirth = 1,
  kDeath = 2,
  kMove = 3,
  kFailure = 4,
  kNullRelease = 5,
  kBirthWithArgument = 6,
};
enum class LogControl : uint32_t {
  kClock = 1,   // stamp, ns
  kThread = 2,  // tid
};

inline constexpr size_t kLogPlaces = 256;
inline constexpr uint32_t kLogLongestAge = 255;
inline constexpr uint64_t kUnknownBytes = ~uint64_t{0};

}  // namespace mallow::record
