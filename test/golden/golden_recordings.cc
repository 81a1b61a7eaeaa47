// Writes eight recordings whose every byte is known, with the parts that the recorder is made of: MappedFile,
// StackTable, and the counter records. Stacks and addresses are given, not captured.
//
//   golden_recordings FOLDER      makes FOLDER/{one_thread,two_threads,fork_child,incomplete,functions,
//                                 cpu_samples,habits,huge}.mallow
//
// What depends on the run (process id, clock, executable) is overwritten with constants, file names too.
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <initializer_list>

#include "record/cpu_table.h"
#include "record/mapped_file.h"
#include "record/stack_table.h"

namespace {

using namespace mallow::record;

constexpr uint64_t kProgram = 0x400000, kLibc = 0x7f0000000000;

[[noreturn]] void Fail(const char* what) {
  perror(what);
  _exit(1);
}

// One recording under construction: a process with its stacks and shards.
class Image {
 public:
  Image(const char* folder, const char* name, uint32_t first_pid)
      : folder_(folder), name_(name), pid_(first_pid) {
    Create();
    if (!stacks_.Init(&file_)) Fail("stack table");
    AddModule(kProgram, 0x10000, "/opt/golden/program", ModuleKind::kExecutable, 0x11);
    AddModule(kLibc, 0x200000, "/opt/golden/lib/libc.so.6", ModuleKind::kLibc, 0x22);
  }

  ~Image() { Finish(); }

  Header& header() { return *file_.header(); }
  StackTable& stacks() { return stacks_; }
  MappedFile& file() { return file_; }

  // Return addresses outermost first; `module` counts from 1.
  StackId Stack(std::initializer_list<uint64_t> addresses, Function function, bool from_libc = false) {
    NodeId node = kRoot;
    for (uint64_t address : addresses) node = Frame(node, kTagReturnAddress, address);
    return stacks_.AddStack(node, function, from_libc);
  }
  NodeId Frame(NodeId parent, uint64_t tag, uint64_t value) {
    const uint32_t module = tag == kTagTruncated ? 0 : value >= kLibc ? 2 : 1;
    return stacks_.Child(parent, tag << 56 | value, module);
  }

  Shard& AddShard() {
    const uint64_t item = file_.Used(Section::kShards);
    if (!file_.Grow(Section::kShards, item + 1, kShardsFull)) Fail("shards");
    file_.SetUsed(Section::kShards, item + 1);
    Shard& shard = file_.Items<Shard>(Section::kShards)[item];
    shard.state = kShardOwned;
    shard.tid = pid_ + static_cast<uint32_t>(item);
    shard.threads = 1;
    return shard;
  }

  template <typename Record>
  Record& Of(uint32_t shard, CounterKind kind, StackId stack) {
    const uint32_t index = StackIndex(stack);
    const uint64_t pages = file_.Used(Section::kCounterPages);
    auto* directory = file_.Items<PageDirectoryEntry>(Section::kPageDirectory);
    const PageDirectoryEntry wanted = {shard | static_cast<uint32_t>(kind) << 24,
                                       static_cast<uint32_t>(index / kCountersPerPage)};
    uint64_t page = 0;
    while (page < pages && memcmp(&directory[page], &wanted, sizeof(wanted)) != 0) page++;
    if (page == pages) {
      if (!file_.Grow(Section::kPageDirectory, page + 1, kStacksFull) ||
          !file_.Grow(Section::kCounterPages, page + 1, kStacksFull)) {
        Fail("counter pages");
      }
      directory[page] = wanted;
      file_.SetUsed(Section::kPageDirectory, page + 1);
      file_.SetUsed(Section::kCounterPages, page + 1);
    }
    char* records = file_.Items<char>(Section::kCounterPages) + page * kCounterPageBytes;
    return reinterpret_cast<Record*>(records)[index % kCountersPerPage];
  }
  Counts& CountsOf(uint32_t shard, StackId stack) { return Of<Counts>(shard, CounterKind::kCounts, stack); }
  Traits& TraitsOf(uint32_t shard, StackId stack) {
    return Of<Traits>(shard, CounterKind::kFewTraits, stack);
  }
  WideTraits& WideTraitsAt(uint32_t shard, uint32_t number) {
    const auto page = static_cast<uint32_t>(number / kWideTraitsPerPage * kCountersPerPage);
    return (&Of<WideTraits>(shard, CounterKind::kWideTraits, page))[number % kWideTraitsPerPage];
  }
  void AddReallocs(uint32_t shard, StackId stack, uint32_t number, Reallocs reallocs) {
    reallocs.stack = StackIndex(stack);
    Of<Reallocs>(shard, CounterKind::kReallocs, number) = reallocs;
    const uint32_t after = number + 1;
    memcpy(TraitsOf(shard, stack).reallocs, &after, sizeof(Traits::reallocs));
  }
  RareCounts& RareCountsOf(uint32_t shard, StackId stack) {
    return Of<RareCounts>(shard, CounterKind::kRareCounts, stack);
  }

  // Goes on as a fork child of the process so far.
  void Fork(uint32_t shards) {
    const uint32_t nodes = stacks_.node_count(), stack_count = stacks_.stack_count();
    const uint64_t modules = file_.Used(Section::kModules);
    char parent[sizeof(Header::parent_file)] = {};
    snprintf(parent, sizeof(parent), "image-%u-1000000000-0", pid_);
    Finish();
    pid_++;
    Create();
    stacks_.ContinueIn(&file_);
    header().parent_pid = pid_ - 1;
    header().parent_nodes = nodes;
    header().parent_stacks = stack_count;
    header().parent_shards = shards;
    header().parent_modules = static_cast<uint32_t>(modules);
    memcpy(header().parent_file, parent, sizeof(parent));
  }

 private:
  void Create() {
    snprintf(path_, sizeof(path_), "%s/%s.mallow", folder_, name_);
    mkdir(path_, 0700);
    if (!file_.Create(path_)) Fail(path_);
    Header& header = *file_.header();
    header.pid = getpid();  // so that StackTable sees no vfork child
    header.parent_pid = 1;
    header.start_realtime = 1000000000;
    header.start_monotonic = 1000;
    memset(header.executable, 0, sizeof(header.executable));
    strcpy(header.executable, "/opt/golden/program");
    header.most_threads = 1;
  }

  void Finish() {
    header().pid = pid_;
    header().last_realtime = 0;
    char from[1024], to[1024];
    snprintf(from, sizeof(from), "%s/%s", path_, file_.name());
    snprintf(to, sizeof(to), "%s/image-%u-1000000000-0", path_, pid_);
    if (rename(from, to) != 0) Fail(to);
  }

  void AddModule(uint64_t start, uint64_t bytes, const char* path, ModuleKind kind, uint8_t build_id) {
    const uint64_t item = file_.Used(Section::kModules);
    if (!file_.Grow(Section::kModules, item + 1, kModulesFull)) Fail("modules");
    ModuleEntry& entry = file_.Items<ModuleEntry>(Section::kModules)[item];
    entry.start = start;
    entry.end = start + bytes;
    entry.bias = start;
    entry.path = static_cast<uint32_t>(file_.AppendString(path, strlen(path)));
    entry.path_bytes = static_cast<uint32_t>(strlen(path));
    entry.build_id_bytes = 20;
    memset(entry.build_id, build_id, 20);
    entry.kind = static_cast<uint32_t>(kind);
    entry.device = 1;
    entry.inode = build_id;
    entry.size = bytes;
    entry.modification_ns = 5;
    file_.SetUsed(Section::kModules, item + 1);
  }

  const char* folder_;
  const char* name_;
  uint32_t pid_;
  char path_[512];
  MappedFile file_;
  StackTable stacks_;
};

constexpr uint64_t kMain = kProgram + 0x1100, kParse = kProgram + 0x1205, kGrow = kProgram + 0x1310;
constexpr uint64_t kStart = kLibc + 0x27000, kFopen = kLibc + 0x80123;

// Ten blocks of 16 bytes from one line, all freed at once; one realloc that grows 100 to 300 bytes and stays.
void OneThread(const char* folder) {
  Image image(folder, "one_thread", 100);
  Shard& shard = image.AddShard();
  const StackId small = image.Stack({kStart, kMain, kParse}, Function::kMalloc);
  const StackId first = image.Stack({kStart, kMain}, Function::kMalloc);
  const StackId grown = image.Stack({kStart, kMain, kGrow}, Function::kRealloc);
  image.CountsOf(0, small) = {10, 10, 160, 160, 16, 1, 0, 16, 16, 10, 10, 0};
  image.CountsOf(0, first) = {1, 1, 100, 100, 100, 1, 12, 100, 100, 0, 1, 0};
  image.AddReallocs(0, first, 0, {0, 0, 0, 0, 0, 0, 1, 0});
  image.CountsOf(0, grown) = {1, 0, 300, 0, 0, 1, 20, 300, 300, 0, 0, 0};
  shard.events = 23;
  shard.live_bytes = 300;
  shard.live_blocks = 1;
  shard.peak_bytes = shard.peak_bytes_program = 300;
  shard.at_peak = 1;
  shard.frees = 10;
  shard.captures.captures = 12;
  shard.captures.frames_walked = 30;
  image.header().peak_epoch = 1;
}

// Four thousand million calls of one line, most of whose blocks are dropped at once; three blocks of more than 4 GiB, of
// which one is released.
void Huge(const char* folder) {
  Image image(folder, "huge", 800);
  Shard& shard = image.AddShard();
  constexpr uint64_t kCalls = 4'000'000'000, kGiB = uint64_t{1} << RareCounts::kCarriedBits;
  const StackId often = image.Stack({kStart, kMain, kParse}, Function::kMalloc);
  const StackId wide = image.Stack({kStart, kMain, kGrow}, Function::kMalloc);
  const auto rest = [](uint64_t count, uint64_t units) {
    return static_cast<uint32_t>(count - units * kGiB);
  };
  Counts& counts = image.CountsOf(0, often);
  counts.calls = counts.releases = rest(kCalls, 2);
  counts.bytes = counts.released_bytes = kCalls * 8;
  counts.waste = rest(kCalls * 8, 28);
  counts.size_min = counts.size_max = 8;
  counts.temporary = rest(kCalls - 5, 2);
  counts.short_lived = 7;
  image.RareCountsOf(0, often) = {2, 2, 28, 2, 3, 0, 0, 0, 0, {}};
  image.CountsOf(0, wide) = {3, 1, 18 * kGiB, 7 * kGiB, 18 * kGiB, 1, 4096, kHugeSize, kHugeSize, 0, 0, 1};
  image.RareCountsOf(0, wide) = {0, 0, 1, 0, 0, 0, 1, 5 * kGiB, 7 * kGiB, {}};
  shard.events = 2 * kCalls + 4;
  shard.live_blocks = 2;
  shard.live_bytes = 11 * kGiB;
  shard.peak_bytes = shard.peak_bytes_program = 18 * kGiB;
  shard.frees = kCalls + 1;
  shard.failed = 1;
  image.header().peak_epoch = 1;
}

// Thread 1 allocates four blocks of 1000 bytes, thread 2 frees three of them and allocates one of its own.
void TwoThreads(const char* folder) {
  Image image(folder, "two_threads", 200);
  Shard& one = image.AddShard();
  Shard& two = image.AddShard();
  const StackId made = image.Stack({kStart, kMain, kParse}, Function::kNew);
  const StackId other = image.Stack({kStart, kGrow}, Function::kCalloc);
  image.CountsOf(0, made) = {4, 0, 4000, 0, 0, 0, 96, 1000, 1000, 0, 0, 0};
  image.CountsOf(1, made) = {0, 3, 0, 3000, 0, 0, 0, 0, 0, 0, 0, 3};
  image.CountsOf(1, other) = {1, 0, 64, 0, 0, 0, 0, 64, 64, 0, 0, 0};
  one.events = 4;
  one.live_blocks = 4;
  one.live_bytes = 4000;
  one.peak_bytes = one.peak_bytes_program = 4000;
  one.at_peak = 1;
  two.events = 4;
  two.live_blocks = -2;
  two.live_bytes = -2936;
  two.frees = 3;
  image.header().most_threads = 2;
}

// The child frees a block that it inherited, allocates under a stack of its parent and under one of its own.
void ForkChild(const char* folder) {
  Image image(folder, "fork_child", 300);
  Shard& parent = image.AddShard();
  const StackId shared = image.Stack({kStart, kMain, kParse}, Function::kMalloc);
  image.CountsOf(0, shared) = {2, 0, 64, 0, 0, 0, 0, 32, 32, 0, 0, 0};
  parent.events = 2;
  parent.live_blocks = 2;
  parent.live_bytes = 64;
  parent.peak_bytes = parent.peak_bytes_program = 64;
  parent.at_peak = 1;
  image.Fork(1);
  Shard& child = image.AddShard();
  const StackId own = image.Stack({kStart, kMain, kGrow}, Function::kStrdup);
  image.CountsOf(0, shared) = {1, 0, 32, 0, 0, 0, 0, 32, 32, 0, 0, 0};
  image.CountsOf(0, own) = {5, 1, 60, 12, 0, 0, 20, 12, 12, 1, 1, 0};
  child.events = 8;
  child.live_blocks = 5;
  child.live_bytes = 80;
  child.peak_bytes = child.peak_bytes_program = 92;
  child.frees = 2;
  child.inherited_frees = 1;
}

// The disk was full: calls under stack 0, lost calls, children that could not record; two truncated stacks; one call
// in flight.
void LosesCalls(const char* folder) {
  Image image(folder, "incomplete", 400);
  Shard& shard = image.AddShard();
  const NodeId jit = image.Frame(kRoot, kTagTruncated, static_cast<uint64_t>(Truncation::kNoUnwindInfo));
  const NodeId damaged = image.Frame(kRoot, kTagTruncated, static_cast<uint64_t>(Truncation::kDamagedStack));
  const StackId under_jit =
      image.stacks().AddStack(image.Frame(jit, kTagReturnAddress, kParse), Function::kMalloc, false);
  const StackId broken =
      image.stacks().AddStack(image.Frame(damaged, kTagReturnAddress, kGrow), Function::kMalloc, false);
  image.CountsOf(0, kNoStack) = {7, 0, 700, 0, 0, 0, 84, 100, 100, 0, 0, 0};
  image.RareCountsOf(0, kNoStack).failed = 1;
  image.CountsOf(0, under_jit) = {2, 0, 20, 0, 0, 0, 12, 10, 10, 0, 0, 0};
  image.CountsOf(0, broken) = {1, 0, 5, 0, 0, 0, 11, 5, 5, 0, 0, 0};
  shard.events = 10;
  shard.in_flight = StackIndex(broken) + 1;
  shard.live_blocks = 10;
  shard.live_bytes = 725;
  shard.peak_bytes = shard.peak_bytes_program = 725;
  shard.at_peak = 1;
  shard.failed = 1;
  shard.captures.captures = 10;
  shard.captures.truncated = 3;
  shard.lost_growth = 7;
  image.header().incomplete = kFileFull;
  image.header().lost_calls = 4;
  image.header().unrecorded_children = 2;
  image.header().vfork_children = 1;
}

// Every function number once, called from the program and from libc; a signal frame; free(NULL).
void Functions(const char* folder) {
  Image image(folder, "functions", 500);
  Shard& shard = image.AddShard();
  const NodeId handler =
      image.Frame(image.Frame(image.Frame(kRoot, kTagReturnAddress, kStart), kTagSignalFrame, kMain),
                  kTagReturnAddress, kParse);
  uint64_t calls = 0, bytes = 0;
  for (uint32_t number = 1; number <= 20; number++) {
    const StackId stack = image.stacks().AddStack(handler, static_cast<Function>(number), false);
    image.CountsOf(0, stack) = {number, 0, number * 8, 0, 0, 0, number * 8, 8, 8, 0, 0, 0};
    calls += number;
    bytes += number * 8;
  }
  const StackId libc = image.Stack({kStart, kMain, kFopen}, Function::kMalloc, true);
  image.CountsOf(0, libc) = {3, 0, 1416, 0, 0, 0, 24, 472, 472, 0, 0, 0};
  const StackId null =
      image.stacks().AddStack(image.Frame(kRoot, kTagReturnAddress, kGrow), Function::kFreeNull, false);
  image.CountsOf(0, null).calls = 9;
  shard.events = calls + 3;
  shard.live_blocks = static_cast<int64_t>(calls + 3);
  shard.live_bytes = static_cast<int64_t>(bytes + 1416);
  shard.live_bytes_libc = 1416;
  shard.peak_bytes = bytes + 1416;
  shard.peak_bytes_program = bytes;
  shard.at_peak = 1;
  shard.free_nulls = 9;
}

// 30 ms on one stack in two additions, 5 ms in malloc on another, the recorder's own, and a sample without a stack.
void CpuSamples(const char* folder) {
  Image image(folder, "cpu_samples", 600);
  image.AddShard();
  image.header().cpu_interval = 5'000'000;
  image.header().cpu_process = 60'000'000;
  NodeId parse = kRoot;
  for (uint64_t address : {kStart, kMain}) parse = image.Frame(parse, kTagReturnAddress, address);
  const NodeId grow = image.Frame(parse, kTagSignalFrame, kGrow);
  parse = image.Frame(parse, kTagSignalFrame, kParse);
  CpuTable table;
  if (!table.StartIn(&image.file())) Fail("CPU samples");
  table.Add(parse, CpuPart::kProgram, 10'000'000, 2);
  table.Add(grow, CpuPart::kAllocator, 5'000'000, 1);
  table.Add(parse, CpuPart::kProgram, 20'000'000, 4);
  table.Add(kRoot, CpuPart::kRecorder, 7'000'000, 1);
  table.Add(kRoot, CpuPart::kNoRoom, 4'000'000, 1);
}

// Two threads build pairs of a node and its key; the first frees all of them, the key by one caller, the node by
// another. A buffer is grown so often that its traits are wide.
void Habits(const char* folder) {
  Image image(folder, "habits", 700);
  Shard& one = image.AddShard();
  Shard& two = image.AddShard();
  const StackId node = image.Stack({kStart, kMain, kParse}, Function::kMalloc);
  const StackId key = image.Stack({kStart, kMain, kGrow}, Function::kStrdup);
  const StackId buffer = image.Stack({kStart, kMain}, Function::kRealloc);
  const NodeId frees_nodes = image.Frame(kRoot, kTagReturnAddress, kParse + 16);
  const NodeId frees_keys = image.Frame(kRoot, kTagReturnAddress, kGrow + 16);
  image.CountsOf(0, node) = {10, 14, 400, 560, 0, 0, 80, 40, 40, 0, 0, 4};
  image.CountsOf(1, node) = {4, 0, 160, 0, 0, 0, 32, 40, 40, 0, 0, 0};
  image.CountsOf(0, key) = {10, 14, 110, 170, 0, 0, 50, 5, 20, 0, 0, 4};
  image.CountsOf(1, key) = {4, 0, 60, 0, 0, 0, 4, 15, 15, 0, 0, 0};
  image.CountsOf(0, buffer) = {70000, 70000, 7000000, 7000000, 0, 0, 840000, 100, 100, 0, 0, 0};
  // Four lifetimes of length 3 and six of length 4.
  image.TraitsOf(0, node) = {
      5, 10, 14, 10, 14, 1000, 2000, {40, 10}, {key, 8}, {key, 12}, {frees_nodes, 14}, 1, {0, 0, 4 << 2, 6},
      {}};
  image.TraitsOf(1, node) = {3, 4, 0, 4, 0, 900, 0, {40, 4}, {key, 2}, {}, {}, 1, {}, {}};
  image.TraitsOf(0, key) = {5, 10, 14, 10, 14, 1000, 2001, {11, 4}, {node, 10}, {node, 14}, {frees_keys, 10},
                            1, {}, {}};
  image.TraitsOf(1, key) = {3, 4, 0, 4, 0, 901, 0, {15, 4}, {node, 4}, {}, {}, 1, {}, {}};
  constexpr uint32_t kNumber = kWideTraitsPerPage + 1;
  image.TraitsOf(0, buffer).first_ms = kNumber;
  image.TraitsOf(0, buffer).studied = Traits::kWide;
  image.WideTraitsAt(0, kNumber) = {
      1100,  70000,  70000, 1, 1, 1900, 1950, {100, 70000}, {key, 1}, {key, 1}, {frees_keys, 70000},
      70000, {70000}};
  image.AddReallocs(0, buffer, kCountersPerPage + 1, {69999, 9, 0, 7, 1234, 69998, 70000, 0});
  // The third goes back: it was about to be replaced.
  image.Of<TimelineSample>(0, CounterKind::kTimeline, 0) = {500, 2,     300,
                                                            290, 11000, {{key, 6000}, {node, 5000}}};
  image.Of<TimelineSample>(0, CounterKind::kTimeline, 1) = {1500, 4, 40000, 20, 700, {{node, -10000}}};
  image.Of<TimelineSample>(0, CounterKind::kTimeline, 2) = {400, 2, 250, 240, 9000, {}};
  image.header().timeline_used = 3;
  image.header().timeline_events = 256;
  image.header().timeline_ms = 100;
  one.events = 140048;
  one.live_blocks = -8;
  one.live_bytes = -220;
  one.frees = 28;
  two.events = 8;
  two.live_blocks = 8;
  two.live_bytes = 220;
  image.header().most_threads = 2;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: golden_recordings FOLDER\n");
    return 1;
  }
  const char* folder = arguments[1];
  OneThread(folder);
  TwoThreads(folder);
  ForkChild(folder);
  LosesCalls(folder);
  Functions(folder);
  CpuSamples(folder);
  Habits(folder);
  Huge(folder);
}
