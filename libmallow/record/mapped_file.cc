#include "record/mapped_file.h"

#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "base/config.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/memory.h"
#include "os/thread.h"
#include "record/quiet_holder.h"

namespace mallow::record {
namespace {

struct SectionPlan {
  Section kind;
  uint32_t item_bytes;
  uint64_t items;      // reserved at full width: address space (1.2 GiB in all) and sparse file, not memory
  uint64_t min_items;  // kept when a limit forces everything to shrink
};

constexpr SectionPlan kPlan[kSectionCount] = {
    {Section::kSteps, sizeof(Step), 1u << 24, 1u << 14},
    {Section::kFrames, sizeof(FrameItem), 1u << 22, 1u << 12},
    {Section::kStacks, sizeof(uint32_t), 1u << 22, 1u << 12},
    {Section::kShards, sizeof(Shard), 1u << 15, 1u << 6},
    {Section::kCounterPages, kCounterPageBytes, 1u << 18, 1u << 8},
    {Section::kPageDirectory, sizeof(PageDirectoryEntry), 1u << 18, 1u << 8},
    {Section::kModules, sizeof(ModuleEntry), 1u << 13, 1u << 8},
    {Section::kStrings, 1, 1u << 24, 1u << 16},
    {Section::kCpuSamples, sizeof(CpuSample), 1u << 20, 1u << 10},
    {Section::kRegions, sizeof(RegionItem), 1u << 12, 1u << 9},
    {Section::kUnits, sizeof(UnitItem), 1u << 8, 1u << 8},
    {Section::kSampling, sizeof(SamplingItem), 1, 1},
};
constexpr bool PlanIsInOrder() {
  for (size_t i = 0; i < kSectionCount; i++) {
    if (kPlan[i].kind != kSections[i]) return false;
  }
  return true;
}
static_assert(PlanIsInOrder());
constexpr int kNarrowest = 10;  // halvings after which every section is at its least

// Pages are opened up in steps: few system calls for a long growth, little waste for a short one. At first in longer ones:
// a step costs as much as five pages, and a short program is over soon.
constexpr uint64_t kFirstStep = 4 * 1024, kFirstShare = 2, kStepShare = 8;
constexpr uint64_t kFirstShareUpTo = 64 * 1024;
constexpr uint64_t kLastStep = 1024 * 1024;
// A section that has come so far will go on, so that what the kernel reads ahead of a hole is soon used, and costs less than
// page by page. Huge pages would cost less still, but many times as much where a virtual machine's host took them back.
constexpr uint64_t kReadAheadFrom = 8 * 1024 * 1024;
// Some file systems search for milliseconds before they say that they are full, and every call whose stack is new would ask:
// no more is asked for so many times as long as the answer took, and for a tick of the clock at the least.
constexpr uint64_t kFullFor = 100;

uint64_t RoundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// Every section starts where the largest page size of any Linux would allow to protect it apart.
constexpr uint64_t kSectionAlignment = 64 * 1024;

uint64_t PlannedBytes(const SectionPlan& plan, int halvings) {
  uint64_t items = plan.items >> halvings;
  if (items < plan.min_items) items = plan.min_items;
  return RoundUp(items * plan.item_bytes, kSectionAlignment);
}

uint64_t PlannedFile(int halvings) {
  uint64_t bytes = kSectionAlignment;
  for (const SectionPlan& plan : kPlan) bytes += PlannedBytes(plan, halvings);
  return bytes;
}

// Each word as it is at some moment: others change them meanwhile.
void CopyWords(char* to, const char* from, size_t bytes) {
  auto* const words = reinterpret_cast<uint64_t*>(to);
  const auto* const others = reinterpret_cast<const uint64_t*>(from);
  for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
    words[i] = __atomic_load_n(&others[i], __ATOMIC_RELAXED);
}

}  // namespace

uint64_t AffordableAddresses() { return os::AddressSpaceLimit() / 8; }

uint64_t AffordableBytes() { return Min(os::FileSizeLimit(), AffordableAddresses()); }

int MappedFile::OpenNew(const char* folder, uint64_t now, char (&name)[kNameBytes]) {
  const uint64_t pid = static_cast<uint64_t>(os::ProcessId());
  int fd = -1;
  for (uint64_t sequence = 0; fd < 0; sequence++) {
    TextWriter text(name, sizeof(name));
    text.Append("image-").AppendDecimal(pid).Append("-").AppendDecimal(now).Append("-").AppendDecimal(
        sequence);
    TextWriter full(path_, sizeof(path_));
    full.Append(folder).Append("/").Append(name);
    if (full.truncated()) return -ENAMETOOLONG;
    fd = os::CreateExclusive(path_, 0600);
    if (fd < 0 && fd != -EEXIST) return fd;
  }
  return fd;
}

void MappedFile::LeaveWord(const char* folder) {
  char name[kNameBytes];
  const int fd = OpenNew(folder, os::RealtimeNanoseconds(), name);
  if (fd >= 0) os::Close(fd);
}

void MappedFile::Unlink() { os::Unlink(path_); }

bool MappedFile::Create(const char* folder, Mapping* before) {
  const uint64_t now = os::RealtimeNanoseconds();
  char name[kNameBytes];
  const int fd = OpenNew(folder, now, name);
  if (fd < 0) return false;

  const uint64_t affordable = AffordableBytes();
  const uint64_t header_bytes = RoundUp(kHeaderBytes, os::PageSize());
  void* memory = nullptr;
  uint64_t bytes = 0;
  int halvings = -1;
  while (memory == nullptr && ++halvings <= kNarrowest) {
    bytes = PlannedFile(halvings);
    // Beyond the limit ftruncate would raise SIGXFSZ.
    if (bytes > affordable || os::Truncate(fd, bytes) != 0) continue;
    memory = os::ReserveShared(fd, bytes);
  }
  if (memory != nullptr &&
      (!os::AllowWriting(memory, header_bytes) || os::Populate(memory, header_bytes) != 0)) {
    os::UnmapShared(memory, bytes);
    memory = nullptr;
  }
  if (memory == nullptr) os::Truncate(fd, 0);
  os::Close(fd);
  if (memory == nullptr) return false;

  {
    const SpinlockHolder room(room_lock_);
    if (before != nullptr) *before = mapping();
    base_ = static_cast<char*>(memory);
    detached_ = false;
    full_until_ = 0;
    memset(opened_, 0, sizeof(opened_));
    for (size_t i = 0; i < kSectionCount; i++) reserved_[i] = PlannedBytes(kPlan[i], halvings);
  }
  memcpy(name_, name, sizeof(name_));
  Header& header = *this->header();
  header.major = kMajor;
  header.minor = kMinor;
  header.header_bytes = kHeaderBytes;
  header.section_count = kSectionCount;
  header.pid = static_cast<uint64_t>(os::ProcessId());
  header.parent_pid = static_cast<uint64_t>(os::ParentProcessId());
  header.start_realtime = now;
  header.start_monotonic = os::MonotonicNanoseconds();
  header.page_size = os::PageSize();
  os::ExecutablePath(header.executable, sizeof(header.executable));
  uint64_t offset = kSectionAlignment;
  for (size_t i = 0; i < kSectionCount; i++) {
    header.sections[i] = {
        static_cast<uint32_t>(kPlan[i].kind), kPlan[i].item_bytes, offset, reserved_[i], 0, {}};
    offset += reserved_[i];
  }
  // Last: a file with the magic is a whole one.
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  memcpy(header.magic, kMagic, sizeof(kMagic));
  return true;
}

MappedFile::Mapping MappedFile::mapping() const {
  Mapping mapping = {base_, {}};
  if (base_ == nullptr) return mapping;
  for (size_t i = 0; i < kSectionCount; i++) mapping.parts[i] = {header()->sections[i].offset, reserved_[i]};
  return mapping;
}

void MappedFile::Mapping::LeaveZeros(Section section) {
  const size_t index = SectionIndex(section);
  const uint64_t used = reinterpret_cast<const Header*>(base)->sections[index].used;
  if (used != 0 && os::MapZerosOver(base + parts[index].offset, parts[index].bytes)) parts[index].bytes = 0;
}

void MappedFile::Unmap(const Mapping& mapping) {
  os::UnmapShared(mapping.base, kSectionAlignment);
  for (const Mapping::Part& part : mapping.parts) {
    if (part.bytes != 0) os::UnmapShared(mapping.base + part.offset, part.bytes);
  }
}

bool MappedFile::TryLockRoom() {
  // A thread that has it may wait for a disk.
  constexpr int kMostNaps = 20'000;
  for (int naps = 0; !room_lock_.TryLock(); ++naps) {
    if (naps == kMostNaps || room_lock_.HeldByThisThread()) return false;
    os::Nap();
  }
  return true;
}

bool MappedFile::GiveBackRoom() {
  if (base_ == nullptr || detached_) return false;
  const uint64_t affordable = AffordableAddresses();
  int halvings = 0;
  while (halvings < kNarrowest && PlannedFile(halvings) > affordable) ++halvings;
  bool given = false;
  for (size_t i = 0; i < kSectionCount; i++) {
    const uint64_t planned = PlannedBytes(kPlan[i], halvings), before = reserved_[i];
    const uint64_t kept = Min(before, Max(planned, opened_[i]));
    char* const section = base_ + header()->sections[i].offset;
    // First this: a fork child that comes between the two must not unmap what became somebody else's.
    __atomic_store_n(&reserved_[i], kept, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (kept < before) given |= os::UnmapShared(section + kept, before - kept);
    given |= os::Unlock(section + opened_[i], kept - opened_[i]);
  }
  return given;
}

bool MappedFile::CopyTo(const char* folder, std::span<const Inherited> inherited) {
  char name[kNameBytes];
  const int fd = OpenNew(folder, os::RealtimeNanoseconds(), name);
  if (fd < 0) return false;
  void* const page = os::Map(nullptr, kHeaderBytes);
  const bool done = page != nullptr && WriteCopy(fd, static_cast<char*>(page), inherited);
  if (page != nullptr) os::Unmap(page, kHeaderBytes);
  os::Close(fd);
  if (!done) os::Unlink(path_);
  return done;
}

namespace {

bool WriteInherited(int fd, const MappedFile::Inherited& inherited, uint64_t bytes) {
  void* const items = os::Map(nullptr, bytes);
  if (items == nullptr) return false;
  inherited.read(items);
  const bool done = os::WriteAll(fd, items, bytes) == 0;
  os::Unmap(items, bytes);
  return done;
}

}  // namespace

// The used parts of the sections, one behind the other: what names items of other sections before those. How many items a
// section has is read when its turn comes, and none is changed that another names: so the file names nothing that it does
// not hold, whatever is recorded meanwhile.
bool MappedFile::WriteCopy(int fd, char* header_page, std::span<const Inherited> inherited) {
  static constexpr Section kOrder[] = {Section::kPageDirectory, Section::kCounterPages, Section::kShards,
                                       Section::kCpuSamples,    Section::kUnits,        Section::kSampling,
                                       Section::kStacks,        Section::kSteps,        Section::kFrames,
                                       Section::kRegions,       Section::kModules,      Section::kStrings};
  static_assert(sizeof(kOrder) == sizeof(kSections));
  // What a section has behind its last item is not for this file.
  static constexpr char kZeros[kHeaderBytes] = {};
  CopyWords(header_page, base_, kHeaderBytes);
  Header& header = *reinterpret_cast<Header*>(header_page);
  header.parent_nodes = header.parent_stacks = header.parent_modules = 0;
  header.first_region = 1;
  memset(header.parent_file, 0, sizeof(header.parent_file));
  SectionEntry* const entries = header.sections;
  const uint64_t affordable = os::FileSizeLimit();
  uint64_t offset = kHeaderBytes;
  if (affordable < offset || os::WriteAll(fd, kZeros, kHeaderBytes) != 0) return false;
  for (const Section section : kOrder) {
    SectionEntry& entry = entries[SectionIndex(section)];
    const char* items = base_ + entry.offset;
    entry.used = Used(section);
    uint64_t bytes = entry.used * entry.item_bytes, bytes_before = 0;
    for (const Inherited& before : inherited) {
      if (before.section != section || before.count == 0) continue;
      bytes_before = before.count * entry.item_bytes;
      if (before.has_room) {
        items += bytes_before;
        bytes -= bytes_before;
      } else {
        entry.used += before.count;
      }
      if (affordable < offset + bytes_before || !WriteInherited(fd, before, bytes_before)) return false;
    }
    entry.offset = offset;
    entry.reserved_bytes = RoundUp(bytes_before + bytes, kHeaderBytes);
    offset += entry.reserved_bytes;
    if (affordable < offset || os::WriteAll(fd, items, bytes) != 0) return false;
    if (os::WriteAll(fd, kZeros, entry.reserved_bytes - bytes_before - bytes) != 0) return false;
  }
  return os::WriteAtStart(fd, header_page, kHeaderBytes) == 0;
}

bool MappedFile::Detach(Mapping* mapping) {
  const SpinlockHolder room(room_lock_);
  detached_ = true;
  if (mapping != nullptr) *mapping = this->mapping();
  const uint64_t header_bytes = RoundUp(kHeaderBytes, os::PageSize());
  // The header says where the sections are.
  if (!os::MapCopyOver(base_, header_bytes) || !NothingIn(header_bytes, kSectionAlignment)) return false;
  for (size_t i = 0; i < kSectionCount; i++) {
    const uint64_t offset = header()->sections[i].offset;
    if (opened_[i] != 0 && !os::MapZerosOver(base_ + offset, opened_[i])) return false;
    // Up to here nobody touches the pages.
    if (!NothingIn(offset + opened_[i], offset + reserved_[i])) return false;
  }
  return true;
}

bool MappedFile::NothingIn(uint64_t begin, uint64_t end) {
  if (begin == end) return true;
  if (!os::MapNothingOver(base_ + begin, end - begin)) return false;
  os::Unlock(base_ + begin, end - begin);
  return true;
}

bool MappedFile::OpenMore(Section section, uint64_t needed, Incomplete full_bit) {
  const SectionEntry& entry = Entry(section);
  uint64_t& opened = opened_[SectionIndex(section)];
  if (IsKnownFull(section, needed, full_bit)) return false;
  QuietHolder holder(grow_lock_);
  const SpinlockHolder room(room_lock_);
  if (needed <= opened) return true;
  const uint64_t reserved = reserved_[SectionIndex(section)];
  if (needed > reserved) {
    header()->incomplete |= full_bit;
    return false;
  }
  const uint64_t asked = os::CoarseNanoseconds();
  if (asked < full_until_) return false;
  const uint64_t page = os::PageSize();
  const uint64_t share = opened < kFirstShareUpTo ? kFirstShare : kStepShare;
  const uint64_t step = Clamp(opened / share, kFirstStep, kLastStep);
  uint64_t target = RoundUp(needed > opened + step ? needed : opened + step, page);
  if (target > reserved) target = reserved;
  if (!Open(entry.offset + opened, entry.offset + target)) {
    // Perhaps just this much still fits.
    target = RoundUp(needed, page);
    if (!Open(entry.offset + opened, entry.offset + target)) {
      const uint64_t answered = os::CoarseNanoseconds();
      const uint64_t pause = Max((answered - asked) * kFullFor, os::TickNanoseconds());
      __atomic_store_n(&full_until_, answered + pause, __ATOMIC_RELAXED);
      header()->incomplete |= kFileFull;
      return false;
    }
  }
  if (opened < kReadAheadFrom && target >= kReadAheadFrom)
    os::ReadAhead(base_ + entry.offset + target, reserved - target);
  __atomic_store_n(&header()->last_realtime, os::CoarseRealtimeNanoseconds(), __ATOMIC_RELAXED);
  __atomic_store_n(&opened, target, __ATOMIC_RELEASE);
  return true;
}

// Without a lock and a system call: every call of a program may ask.
bool MappedFile::IsKnownFull(Section section, uint64_t needed, Incomplete full_bit) const {
  if (os::CoarseNanoseconds() < __atomic_load_n(&full_until_, __ATOMIC_RELAXED)) return true;
  // The room never grows.
  const bool is_said = (__atomic_load_n(&header()->incomplete, __ATOMIC_RELAXED) & full_bit) != 0;
  return is_said && needed > __atomic_load_n(&reserved_[SectionIndex(section)], __ATOMIC_RELAXED);
}

// Population needs write permission, so that comes first; until the caller advances `opened`, nothing is written.
bool MappedFile::Open(uint64_t begin, uint64_t end) {
  return os::AllowWriting(base_ + begin, end - begin) && os::Populate(base_ + begin, end - begin) == 0;
}

uint64_t MappedFile::Used(Section section) const {
  return __atomic_load_n(&Entry(section).used, __ATOMIC_ACQUIRE);
}

void MappedFile::LetGo(Section section, uint64_t from, uint64_t to) {
  const SectionEntry& entry = Entry(section);
  os::LetGo(base_ + entry.offset + from * entry.item_bytes, (to - from) * entry.item_bytes);
}

uint64_t MappedFile::AppendString(const char* text, size_t bytes) {
  const uint64_t at = Used(Section::kStrings);
  if (!Grow(Section::kStrings, at + bytes, kModulesFull)) return ~uint64_t{0};
  memcpy(Items<char>(Section::kStrings) + at, text, bytes);
  SetUsed(Section::kStrings, at + bytes);
  return at;
}

}  // namespace mallow::record
