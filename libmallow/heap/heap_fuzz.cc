// The whole heap, used by two to four threads: what every block holds, that no two overlap, and that the statistics add
// up whenever all threads are at rest. Threads work in turn or all at once, hand blocks to each other, and come and
// go; the system refuses memory now and then. With MALLOW_FUZZ_RECORDS in the environment blocks have side records and
// no hit path hits.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "base/fuzz.h"
#include "heap/block.h"
#include "heap/fuzz_memory.h"
#include "heap/heap.h"
#include "heap/page_heap.h"
#include "heap/shared_lists.h"
#include "heap/statistics.h"
#include "heap/thread_registry.h"

namespace mallow::heap {
namespace {

constexpr size_t kRecordBytes = 16;

bool WithRecords() {
  static const bool with_records = [] {
    const bool wanted = getenv("MALLOW_FUZZ_RECORDS") != nullptr;
    if (wanted) Configure(kRecordBytes, true);
    return wanted;
  }();
  return with_records;
}

bool AllAre(unsigned char fill, const unsigned char* p, size_t bytes) {
  return bytes == 0 || (p[0] == fill && memcmp(p, p + 1, bytes - 1) == 0);
}

struct Piece {
  unsigned char* p;
  size_t bytes;
  unsigned char fill;
};

// What one thread owns and does. Between rounds everybody may look at it.
class Player {
 public:
  void Play(uint64_t seed, size_t steps) {
    random_ = FuzzRandom(seed);
    for (size_t i = 0; i < steps; ++i) Step();
    const ThreadCache* cache = thread_words.cache;
    MALLOW_CHECK(cache == nullptr || cache->IsValid());
  }

  // A block for another player.
  void HandTo(Player& other) {
    if (!live_.empty()) other.Receive(Take());
  }

  void FreeAll() {
    while (!live_.empty()) Release(Take());
  }

  size_t blocks() const { return live_.size(); }
  uint64_t usable_bytes() const { return usable_bytes_; }

 private:
  void Step() {
    const uint64_t choice = random_.Below(100);
    if (live_.empty() || (choice < 48 && live_.size() < 2000)) return AllocateAny();
    if (choice < 90) return Release(Take());
    if (choice < 97) return ResizeAny();
    if (choice < 99) return AllocateMany();
    if (random_.Below(4) == 0) Trim(random_.Below(4 << 20));
  }

  size_t AnySize() {
    const uint64_t kind = random_.Below(64);
    if (kind == 0) return random_.Below(2 << 20);
    if (kind < 4) return random_.Below(300 << 10);
    if (kind < 10) return random_.Below(20 << 10);
    return random_.Below(1100);
  }

  void AllocateAny() {
    const uint64_t kind = random_.Below(4);
    const size_t bytes = AnySize();
    const size_t alignment = kind == 0 ? kMinAlignment << random_.Below(12) : kMinAlignment;
    void* p = kind == 0   ? AllocateAligned(alignment, bytes)
              : kind == 1 ? AllocateZeroed(bytes)
                          : Allocate(bytes);
    if (p == nullptr) return;
    MALLOW_CHECK(IsAligned(p, alignment));
    Piece piece = {static_cast<unsigned char*>(p), bytes, 0};
    if (kind == 1) Expect(piece);
    Keep(piece);
  }

  // Of one size, so that whole spans fill up and lists overflow.
  void AllocateMany() {
    const size_t bytes = AnySize() % 5000;
    for (uint64_t i = random_.Below(300); i > 0; --i) {
      void* p = Allocate(bytes);
      if (p == nullptr) return;
      Keep({static_cast<unsigned char*>(p), bytes, 0});
    }
  }

  void Keep(Piece piece) {
    const size_t usable = UsableBytes(piece.p);
    MALLOW_CHECK(usable >= piece.bytes && Owns(piece.p) && Owns(piece.p + usable - 1));
    usable_bytes_ += usable;
    Fill(piece);
    live_.push_back(piece);
  }

  void Fill(Piece& piece) {
    piece.fill = static_cast<unsigned char>(random_.Next() >> 56);
    memset(piece.p, piece.fill, piece.bytes);
    if (WithRecords()) memset(Record(piece), piece.fill, kRecordBytes);
  }

  static unsigned char* Record(const Piece& piece) {
    const Block block = Describe<kRecordBytes>(piece.p);
    MALLOW_CHECK(block.record != nullptr);
    return static_cast<unsigned char*>(block.record);
  }

  static void Expect(const Piece& piece) { MALLOW_CHECK(AllAre(piece.fill, piece.p, piece.bytes)); }

  static void ExpectWhole(const Piece& piece) {
    Expect(piece);
    if (!WithRecords()) return;
    MALLOW_CHECK(AllAre(piece.fill, Record(piece), kRecordBytes));
  }

  Piece Take() {
    std::swap(live_[random_.Below(live_.size())], live_.back());
    const Piece piece = live_.back();
    live_.pop_back();
    usable_bytes_ -= UsableBytes(piece.p);
    ExpectWhole(piece);
    return piece;
  }

  void Release(const Piece& piece) {
    if (random_.Below(2) == 0 || piece.bytes == 0) return Free(piece.p);
    if (!TryFree(piece.p)) FreeSlow(piece.p);
  }

  void Receive(Piece piece) { Keep(piece); }

  void ResizeAny() {
    Piece piece = Take();
    const size_t wanted = random_.Below(2 * piece.bytes + 1);
    bool resized = ResizeInPlace(piece.p, wanted);
    if (!resized) {
      if (void* to = Relocate(piece.p, wanted)) {
        if (to != piece.p) Free(piece.p);
        piece.p = static_cast<unsigned char*>(to);
        if (WithRecords()) memset(Record(piece), piece.fill, kRecordBytes);
        resized = true;
      }
    }
    if (resized) {
      piece.bytes = Min(piece.bytes, wanted);
      ExpectWhole(piece);
      piece.bytes = wanted;
    }
    Keep(piece);
  }

  FuzzRandom random_{0};
  std::vector<Piece> live_;
  uint64_t usable_bytes_ = 0;
};

// A thread that plays one round at a time.
class Worker {
 public:
  Worker() : thread_([this] { Run(); }) {}
  ~Worker() {
    steps_ = 0;
    begin_.release();
    thread_.join();
  }

  void Begin(Player& player, uint64_t seed, size_t steps) {
    player_ = &player;
    seed_ = seed;
    steps_ = steps;
    begin_.release();
  }
  void Wait() { end_.acquire(); }

 private:
  void Run() {
    for (;;) {
      begin_.acquire();
      if (steps_ == 0) return;
      player_->Play(seed_, steps_);
      end_.release();
    }
  }

  Player* player_ = nullptr;
  uint64_t seed_ = 0;
  size_t steps_ = 0;
  std::binary_semaphore begin_{0};
  std::binary_semaphore end_{0};
  std::thread thread_;
};

class Game {
 public:
  explicit Game(FuzzInput input) : input_(input), players_(2 + input_.Below(3)) {
    for (size_t i = 0; i < players_.size(); ++i) workers_.push_back(std::make_unique<Worker>());
    Failures::Plan(input_.Below(65536), input_.OneIn(2) ? 0 : 1 + input_.Below(8));
    os::ReplaceMemoryFunctions(&kFailingMemory);
  }

  void Play() {
    // A round is many operations: few of them make an input.
    for (int round = 0; round < 20 && !input_.done(); ++round) {
      PlayRound();
      CheckSums();
      if (round % 8 == 0) CheckInvariants();
    }
    Failures::Plan(0, 0);
    for (Player& player : players_) player.FreeAll();
    workers_.clear();
    Trim(0);
    CheckInvariants();
    CheckSums();
    os::ReplaceMemoryFunctions(nullptr);
  }

 private:
  void PlayRound() {
    switch (input_.Operation(8)) {
      case 0:
      case 1:
        return PlayInTurn();
      case 2:
        return AnyPlayer().HandTo(AnyPlayer());
      case 3: {
        // The blocks stay when a thread ends, and another thread goes on with them.
        const size_t chosen = input_.Below(workers_.size());
        workers_[chosen].reset();
        workers_[chosen] = std::make_unique<Worker>();
        return;
      }
      default:
        return PlayAtOnce();
    }
  }

  Player& AnyPlayer() { return players_[input_.Below(players_.size())]; }

  void PlayInTurn() {
    for (uint64_t turns = 1 + input_.Below(16); turns > 0; --turns) {
      Worker& worker = *workers_[input_.Below(workers_.size())];
      Begin(worker, AnyPlayer(), 1 + input_.Below(4));
      worker.Wait();
      CheckSums();
    }
  }

  void PlayAtOnce() {
    for (size_t i = 0; i < players_.size(); ++i) Begin(*workers_[i], players_[i], 1 + input_.Below(400));
    for (const auto& worker : workers_) worker->Wait();
  }

  void Begin(Worker& worker, Player& player, size_t steps) {
    fuzz_operations += steps;
    worker.Begin(player, input_.Below(65536), steps);
  }

  void CheckSums() {
    const Statistics total = GetStatistics();
    MALLOW_CHECK(total.system_bytes == total.in_use_bytes + total.free_bytes() + total.tail_bytes);
    MALLOW_CHECK(total.returned_bytes <= total.page_heap_bytes);
    uint64_t blocks = 0, usable = 0;
    for (const Player& player : players_) {
      blocks += player.blocks();
      usable += player.usable_bytes();
    }
    MALLOW_CHECK(total.in_use_blocks == blocks && total.in_use_bytes == usable);
  }

  void CheckInvariants() {
    MALLOW_CHECK(page_heap.IsValid());
    for (SizeClass c = 1; c < kClassCount; ++c) {
      MALLOW_CHECK(shared_lists[c].central.IsValid(c));
      ForTransferCaches(c, [c](TransferCache& cache) { MALLOW_CHECK(cache.IsValid(c)); });
    }
  }

  FuzzInput input_;
  std::vector<Player> players_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace
}  // namespace mallow::heap

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mallow::heap::WithRecords();
  mallow::heap::Game({data, size}).Play();
  return 0;
}
