// The image file as format/recording.md specifies it, version 5. Any change here is a change there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/unwind.h"

namespace mallow::record {

inline constexpr char kMagic[8] = {'M', 'A', 'L', 'L', 'O', 'W', 'R', 'C'};
inline constexpr uint32_t kMajor = 5;
inline constexpr uint32_t kMinor = 0;
inline constexpr size_t kHeaderBytes = 4096;

enum class Section : uint32_t {
  kStacks = 2,
  kShards = 3,
  kCounterPages = 4,
  kPageDirectory = 5,
  kModules = 6,
  kStrings = 7,
  kSymbolicFrames = 8,
  kCpuSamples = 10,
  kRegions = 11,
  kUnits = 12,
  kSteps = 13,
  kFrames = 14,
  kSampling = 20,
};
// Those that a process writes, in the order of its section table; no symbolic frames.
inline constexpr Section kSections[] = {Section::kSteps,   Section::kFrames,       Section::kStacks,
                                        Section::kShards,  Section::kCounterPages, Section::kPageDirectory,
                                        Section::kModules, Section::kStrings,      Section::kCpuSamples,
                                        Section::kRegions, Section::kUnits,        Section::kSampling};
inline constexpr size_t kSectionCount = sizeof(kSections) / sizeof(kSections[0]);
// Entry of the section table; kSectionCount for one that is not written.
constexpr size_t SectionIndex(Section section) {
  size_t i = 0;
  while (i < kSectionCount && kSections[i] != section) ++i;
  return i;
}

// What the file lacks; bits of Header::incomplete.
enum Incomplete : uint32_t {
  kFileFull = 1,
  kNodesFull = 2,
  kStacksFull = 4,
  kShardsFull = 8,
  kModulesFull = 16,
  kRegionsFull = 32,
  kUnitsFull = 64,
  kCpuSamplesFull = 128,
  kOwnMalloc = 256,
};

// Whether an ordered log was asked for, and is beside the image file.
enum Log : uint64_t { kNoLog = 0, kLogKept = 1, kLogRefused = 2 };

// The function that the program called; the innermost node of a stack.
enum class Function : uint8_t {
  kNone = 0,
  kMalloc = 1,
  kCalloc = 2,
  kRealloc = 3,
  kReallocarray = 4,
  kStrdup = 5,
  kStrndup = 6,
  kWcsdup = 7,
  kMemalign = 8,
  kAlignedAlloc = 9,
  kPosixMemalign = 10,
  kValloc = 11,
  kPvalloc = 12,
  kNew = 13,
  kNewArray = 14,
  kNewNothrow = 15,
  kNewArrayNothrow = 16,
  kNewAligned = 17,
  kNewArrayAligned = 18,
  kNewAlignedNothrow = 19,
  kNewArrayAlignedNothrow = 20,
  kFreeNull = 21,
};

struct SectionEntry {
  uint32_t kind;
  uint32_t item_bytes;
  uint64_t offset;
  uint64_t reserved_bytes;
  uint64_t used;
  uint64_t unused[4];
};
static_assert(sizeof(SectionEntry) == 64);

struct Header {
  char magic[8];
  uint32_t major, minor;
  uint32_t header_bytes;
  uint32_t flags;
  uint32_t incomplete;
  uint32_t section_count;
  uint64_t pid, parent_pid;
  uint64_t start_realtime, start_monotonic;
  uint64_t page_size;
  uint32_t parent_nodes, parent_stacks, parent_shards, parent_modules;
  uint64_t lost_calls;
  uint64_t unrecorded_children;
  uint64_t peak_epoch;
  uint64_t most_threads;
  int64_t shared_live, shared_live_program;
  uint64_t last_realtime;
  uint64_t shared_peak, shared_peak_program;
  uint64_t vfork_children;
  uint64_t log;  // Log
  uint64_t reserved_log;
  uint64_t cpu_interval, cpu_process;  // ns
  uint32_t first_region, unused_units;
  uint64_t lost_marks;
  uint64_t joined;  // 0: recorded from its start; else usable bytes of the blocks that were there + 1
  uint64_t stopped_realtime;  // 0: not stopped
  uint32_t timeline_used, timeline_events, timeline_ms;
  char reserved2[12];
  char parent_file[128];
  char executable[512];
  char reserved1[128];
  SectionEntry sections[kSectionCount];
};
static_assert(offsetof(Header, page_size) == 64);
static_assert(offsetof(Header, lost_calls) == 88);
static_assert(offsetof(Header, shared_live) == 120);
static_assert(offsetof(Header, vfork_children) == 160);
static_assert(offsetof(Header, log) == 168);
static_assert(offsetof(Header, cpu_interval) == 184);
static_assert(offsetof(Header, first_region) == 200);
static_assert(offsetof(Header, joined) == 216);
static_assert(offsetof(Header, timeline_used) == 232);
static_assert(offsetof(Header, parent_file) == 256);
static_assert(offsetof(Header, executable) == 384);
static_assert(offsetof(Header, sections) == 1024);
static_assert(sizeof(Header) <= kHeaderBytes);

// A node, as the step that leads to it: its frame, which comes below the node before, or below that which the head before it
// names. So a path takes a word for each frame, and one more where it leaves another path.
struct Step {
  static constexpr uint32_t kHead = 1u << 31;

  uint32_t word;

  static constexpr Step ToFrame(FrameId frame) { return {frame}; }
  static constexpr Step Head(NodeId parent) { return {parent | kHead}; }
  constexpr bool is_head() const { return (word & kHead) != 0; }
  constexpr FrameId frame() const { return word; }           // of no head
  constexpr NodeId parent() const { return word & ~kHead; }  // of a head
  constexpr bool operator==(const Step&) const = default;

  // The parent of the node `next`, of which the step comes behind this one.
  constexpr NodeId ParentOfNext(NodeId next) const { return is_head() ? parent() : next - 1; }
  // The parent of the node of steps[item]; the first of them is that of the node `first`.
  static constexpr NodeId ParentOf(const Step* steps, size_t item, NodeId first) {
    return item == 0 ? kRoot : steps[item - 1].ParentOfNext(static_cast<NodeId>(first + item));
  }
};
static_assert(sizeof(Step) == 4);

// A frame: 48 bits of value, 13 of module id + 1, 3 of tag. Why there are at most kMaxModules modules.
struct FrameItem {
  static constexpr unsigned kModuleShift = 48, kTagShift = 61;
  static constexpr uint64_t kValueMask = (uint64_t{1} << kModuleShift) - 1;

  uint64_t word;

  // `frame`: tag << 56 | value.
  static constexpr FrameItem Of(uint64_t frame, uint32_t module) {
    return {(frame & kValueMask) | uint64_t{module} << kModuleShift | frame >> 56 << kTagShift};
  }
  constexpr uint64_t tag() const { return word >> kTagShift; }
  constexpr uint64_t frame() const { return tag() << 56 | (word & kValueMask); }
  constexpr uint32_t module() const { return static_cast<uint32_t>(word >> kModuleShift) & 0x1fff; }
};
static_assert(sizeof(FrameItem) == 8);
inline constexpr uint32_t kMaxModules = 8190;

struct Shard {
  uint32_t state, tid;
  uint64_t in_flight;
  uint64_t threads;
  uint64_t events;
  int64_t live_bytes, live_blocks;
  uint64_t hits;  // captures that are not in `captures`
  uint64_t peak_bytes, peak_bytes_program;
  uint64_t frees, free_nulls, failed, frees_libc, inherited_frees;
  uint64_t at_peak;
  CaptureStatistics captures;
  uint64_t lost_growth;
  int64_t live_bytes_libc;
  uint64_t unused[41];
};
static_assert(offsetof(Shard, peak_bytes) == 56);
static_assert(offsetof(Shard, captures) == 120);
static_assert(offsetof(Shard, at_peak) == 112);
static_assert(offsetof(Shard, lost_growth) == 168);
static_assert(sizeof(Shard) == 512);

enum ShardState : uint32_t { kShardUnused = 0, kShardOwned = 1, kShardFree = 2 };

struct TimelineSample {
  uint32_t ms;
  uint32_t stacks;
  uint64_t births;
  int64_t live_blocks, live_bytes;
  struct Change {
    uint32_t stack;
    int32_t bytes;
  } changes[4];
};
static_assert(sizeof(TimelineSample) == 64);
inline constexpr uint32_t kTimelineSamples = 1024;

struct PageDirectoryEntry {
  uint32_t shard_and_kind;  // bits 0..23 shard, 24..31 kind
  uint32_t first_stack_by_64;
};
static_assert(sizeof(PageDirectoryEntry) == 8);

// Other numbers are those of older recorders.
enum class CounterKind : uint32_t {
  kTimeline = 8,  // not of stacks
  kCounts = 9,
  kRareCounts = 10,
  kFewTraits = 11,
  kWideTraits = 12,  // by number
  kReallocs = 13,    // likewise
  kRegions = 64,
  kWeights = 65,
};
inline constexpr size_t kCounterPageBytes = 4096;
inline constexpr size_t kCountersPerPage = 64;

// What births and deaths change, in one cache line.
struct Counts {
  uint32_t calls, releases;
  uint64_t bytes, released_bytes;
  int64_t live_bytes_at_peak;
  uint64_t peak_epoch;
  uint32_t waste;               // usable bytes less those asked for
  uint32_t size_min, size_max;  // capped
  uint32_t temporary, short_lived, foreign;
};
// Stands for itself and all greater sizes.
inline constexpr uint32_t kHugeSize = ~uint32_t{0};
constexpr uint32_t CappedSize(uint64_t bytes) {
  return bytes < kHugeSize ? static_cast<uint32_t>(bytes) : kHugeSize;
}
// What does not fit there.
struct RareCounts {
  static constexpr unsigned kCarriedBits = 30;

  // In units of 2^30, which are taken from a count before it gets to 2^32.
  uint32_t calls, releases, waste, temporary, short_lived, foreign;
  uint64_t failed, huge_min, huge_max;
  uint64_t unused[2];
};
// Of samples, see sampling.h.
struct Weights {
  double calls, bytes, calls_variance, bytes_variance;
  double releases, released_bytes, releases_variance, released_bytes_variance;
};
static_assert(sizeof(Counts) * kCountersPerPage == kCounterPageBytes);
static_assert(sizeof(RareCounts) == sizeof(Counts));
static_assert(sizeof(Weights) * kCountersPerPage == kCounterPageBytes);
// A majority vote: the value that more than half of the voters named, if there is one, and its lead over all others.
template <typename T>
struct __attribute__((packed)) Vote {
  uint32_t candidate;
  T lead;
};
// What is usual of a stack with few calls, in one cache line. Of one with many its number among WideTraits is there, and
// nothing else but what every stack has, the number of its reallocs.
struct Traits {
  // No figure goes beyond it, but for the longest run, which goes to 255.
  static constexpr uint8_t kMost = 63, kWide = 255;

  uint32_t first_ms;  // or the number
  uint8_t studied;    // or kWide
  uint8_t studied_deaths, runs, death_runs;
  uint32_t last_ms, last_death_ms;
  Vote<uint8_t> size, born_after, freed_after, freed_by;
  uint8_t longest_run;
  uint8_t lifetimes[24];  // six bits each
  uint8_t reallocs[3];    // one more than their number; 0: there are none
};
inline constexpr size_t kLifetimes = 32;
struct WideTraits {
  uint32_t first_ms, studied, studied_deaths, runs, death_runs, last_ms, last_death_ms;
  Vote<uint32_t> size, born_after, freed_after, freed_by;  // values, a stack, a stack, a node
  uint32_t longest_run;
  // Item i counts lifetimes of 2^i to 2^(i+1) - 1 events of the thread.
  uint32_t lifetimes[kLifetimes];
};
inline constexpr size_t kWideTraitsPerPage = kCounterPageBytes / sizeof(WideTraits);
// Of a stack of which a block was given to a realloc, or returned by one: most have none.
struct Reallocs {
  uint64_t resized, grown, shrunk, moved, bytes_copied, chained;
  uint64_t given_up;  // releases by a realloc, of blocks of this stack
  uint64_t stack;     // item
};
static_assert(offsetof(Traits, size) == 16);
static_assert(offsetof(Traits, lifetimes) == 37);
static_assert(sizeof(Traits) == sizeof(Counts));
static_assert(sizeof(WideTraits) == 192);
static_assert(sizeof(Reallocs) == sizeof(Counts));

// Of a region within one shard.
struct RegionFigures {
  uint64_t entries;
  uint64_t open;  // 1: the thread is inside
  // Of the stretches that have ended.
  int64_t frees, live_blocks, live_bytes;
  // The shard's figures when the present one began.
  int64_t frees_at_entry, live_blocks_at_entry, live_bytes_at_entry;
};
static_assert(sizeof(RegionFigures) * kCountersPerPage == kCounterPageBytes);

struct RegionItem {
  uint32_t outer;  // region id; 0 none
  uint32_t name_bytes;
  char name[120];
};
static_assert(sizeof(RegionItem) == 128);

enum class UnitSource : uint32_t { kProgram = 1, kFunction = 2 };

struct UnitItem {
  uint64_t amount, calls;
  UnitSource source;
  uint32_t refusal;
  uint32_t name_bytes;
  uint32_t unused;
  char name[224];
};
static_assert(sizeof(UnitItem) == 256);

// Whose CPU time a sample stands for; from kNoRoom on, why there is none.
enum class CpuPart : uint32_t {
  kProgram = 0,
  kAllocator = 1,    // libmallow's, when it serves malloc and free
  kRecorder = 2,     // libmallow's, when it captures and counts
  kSampler = 3,      // the samples themselves
  kNoRoom = 4,       // the stack could not be stored
  kNoTimer = 5,      // a thread got no timer
  kSignalTaken = 6,  // the program handled the signal itself
};

struct CpuSample {
  NodeId node;  // innermost frame
  uint32_t part;
  uint64_t nanoseconds, samples;
  uint64_t unused;
};
static_assert(sizeof(CpuSample) == 32);

struct ModuleEntry {
  uint64_t start, end, bias;
  uint32_t path, path_bytes;
  uint32_t build_id_bytes;
  uint32_t kind;
  uint8_t build_id[32];
  uint64_t device, inode, size, modification_ns;
  uint64_t unused[3];
};
static_assert(offsetof(ModuleEntry, device) == 72);
static_assert(sizeof(ModuleEntry) == 128);

// One, if the process is sampled.
struct SamplingItem {
  uint64_t mean_bytes;   // between two samples
  uint64_t extra_bytes;  // that each block counts more
  uint64_t unused[6];
};
static_assert(sizeof(SamplingItem) == 64);

enum class ModuleKind : uint32_t { kExecutable = 0, kLibrary = 1, kLibc = 2, kVdso = 3 };

}  // namespace mallow::record
