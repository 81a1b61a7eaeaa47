#include "record/event_log.h"

#include <string.h>

#include "base/bits.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/memory.h"
#include "record/mapped_file.h"
#include "record/thread_recorder.h"

namespace mallow::record {

constinit EventLog g_event_log;

namespace {

constexpr uint64_t kLeastBlocks = 2;

// Scratch of Create; not on the stack, which may be small.
char file_path[4096 + 128];

uint64_t RoundDown(uint64_t bytes) { return bytes / kLogBlockBytes * kLogBlockBytes; }

}  // namespace

LogClock EventLog::BestClock() {
  return os::CycleCountersAgree() ? LogClock::kCycleCounter : LogClock::kSharedCounter;
}

bool EventLog::Create(const char* folder, const char* image, LogClock clock) {
  clock_ = clock;
  return CreateFile(folder, image);
}

bool EventLog::CreateInChild(const char* folder, const char* image) {
  LogHeader* const parent = header_;
  const uint64_t parent_bytes = bytes_;
  header_ = nullptr;
  const bool made = CreateFile(folder, image);
  if (parent != nullptr) os::UnmapShared(parent, parent_bytes);
  return made;
}

bool EventLog::CreateFile(const char* folder, const char* image) {
  const uint64_t start_ns = os::MonotonicNanoseconds();
  const uint64_t start_stamp = clock_ == LogClock::kCycleCounter ? Stamp() : 0;
  const uint64_t bytes = RoundDown(Min(limit_, AffordableBytes()));
  if (bytes < kLeastBlocks * kLogBlockBytes) return false;
  // image-PID-STARTNS-SEQ is nobody else's, so log-PID-STARTNS-SEQ is not either.
  TextWriter path(file_path, sizeof(file_path));
  path.Append(folder).Append("/log").Append(strchr(image, '-'));
  if (path.truncated()) return false;
  const int fd = os::CreateExclusive(file_path, 0600);
  if (fd < 0) return false;
  void* memory = nullptr;
  if (os::Truncate(fd, bytes) == 0) memory = os::ReserveShared(fd, bytes);
  if (memory != nullptr &&
      (!os::AllowWriting(memory, kLogBlockBytes) || os::Populate(memory, os::PageSize()) != 0)) {
    os::UnmapShared(memory, bytes);
    memory = nullptr;
  }
  if (memory == nullptr) os::Truncate(fd, 0);
  os::Close(fd);
  if (memory == nullptr) return false;

  auto* header = static_cast<LogHeader*>(memory);
  header->major = kLogMajor;
  header->block_bytes = kLogBlockBytes;
  header->clock = static_cast<uint32_t>(clock_);
  header->limit_bytes = bytes;
  header->start_ns = start_ns;
  header->blocks = 1;
  if (clock_ == LogClock::kCycleCounter) {
    header->start_stamp = start_stamp;
    header->second_ns = os::MonotonicNanoseconds();
    header->second_stamp = Stamp();
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  memcpy(header->magic, kLogMagic, sizeof(kLogMagic));
  header_ = header;
  bytes_ = bytes;
  return true;
}

void EventLog::Detach() {
  if (header_ == nullptr) return;
  char* const base = reinterpret_cast<char*>(header_);
  const uint64_t page = os::PageSize();
  const uint64_t blocks = __atomic_load_n(&header_->blocks, __ATOMIC_RELAXED) * kLogBlockBytes;
  const uint64_t used = blocks < bytes_ ? blocks : bytes_;
  // The header has how many blocks there are.
  if (os::MapCopyOver(base, page) && os::MapZerosOver(base + page, used - page))
    os::MapNothingOver(base + used, bytes_ - used);
}

void EventLog::Follow(ThreadRecorder* recorder) {
  EventStream* stream = recorder->log;
  recorder->log = nullptr;
  recorder->state.logging = false;
  if (header_ == nullptr || header_->end != 0) return;
  if (stream == nullptr) {
    const uint64_t page = os::PageSize();
    stream = static_cast<EventStream*>(os::Map(nullptr, (sizeof(EventStream) + page - 1) / page * page));
    if (stream == nullptr) return End(LogEnd::kMemory, Stamp());
  }
  stream->Begin(&recorder->log, recorder->number);
  recorder->log = stream;
  recorder->state.logging = true;
}

bool EventLog::GiveBackRoom() {
  if (header_ == nullptr || bytes_ <= AffordableAddresses()) return false;
  // All that is left is taken from the other threads, and then is no longer there.
  const uint64_t all = bytes_;
  const uint64_t taken = __atomic_exchange_n(&header_->blocks, all / kLogBlockBytes, __ATOMIC_ACQ_REL);
  const uint64_t used = taken * kLogBlockBytes;
  if (used >= all) return false;
  __atomic_store_n(&bytes_, used, __ATOMIC_RELEASE);
  __atomic_store_n(&header_->blocks, taken, __ATOMIC_RELEASE);
  End(LogEnd::kMemory, Stamp());
  return os::UnmapShared(reinterpret_cast<char*>(header_) + used, all - used);
}

LogBlock* EventLog::TakeBlock(uint64_t stamp, uint32_t* number) {
  if (__atomic_load_n(&header_->end, __ATOMIC_RELAXED) != 0) {
    End(LogEnd::kNone, stamp);
    return nullptr;
  }
  const uint64_t at = __atomic_fetch_add(&header_->blocks, 1, __ATOMIC_ACQ_REL);
  if (at >= __atomic_load_n(&bytes_, __ATOMIC_ACQUIRE) / kLogBlockBytes) {
    End(LogEnd::kLimit, stamp);
    return nullptr;
  }
  char* const block = reinterpret_cast<char*>(header_) + at * kLogBlockBytes;
  if (!os::AllowWriting(block, kLogBlockBytes) || os::Populate(block, kLogBlockBytes) != 0) {
    End(LogEnd::kDisk, stamp);
    return nullptr;
  }
  *number = static_cast<uint32_t>(at);
  return reinterpret_cast<LogBlock*>(block);
}

// Another thread may still find room for an event of an earlier stamp, and none for one of a later.
void EventLog::End(LogEnd why, uint64_t stamp) {
  uint64_t end = __atomic_load_n(&header_->end_stamp, __ATOMIC_RELAXED);
  while ((end == 0 || stamp < end) && !__atomic_compare_exchange_n(&header_->end_stamp, &end, stamp, true,
                                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  uint32_t none = 0;
  __atomic_compare_exchange_n(&header_->end, &none, static_cast<uint32_t>(why), false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}

}  // namespace mallow::record
