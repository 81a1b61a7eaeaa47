#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "heap/test_processors.h"

namespace mallow::heap {
namespace {

struct Block {
  Block* next;
  size_t bytes;
  unsigned char mark;
};

Block* NewBlock(uint64_t& random) {
  random ^= random << 13, random ^= random >> 7, random ^= random << 17;
  const size_t bytes = sizeof(Block) + random % (random >> 40 & 15 ? 700 : 70000);
  Block* block = static_cast<Block*>(Allocate(bytes));
  block->bytes = bytes;
  block->mark = static_cast<unsigned char>(bytes * 31);
  reinterpret_cast<unsigned char*>(block)[bytes - 1] = block->mark;
  return block;
}

void FreeBlock(Block* block) {
  ASSERT_EQ(block->mark, static_cast<unsigned char>(block->bytes * 31));
  ASSERT_EQ(reinterpret_cast<unsigned char*>(block)[block->bytes - 1], block->mark);
  Free(block);
}

// In short and in long bins of all classes, at one time.
void UseManyClassesInThreads(size_t count) {
  std::vector<std::thread> threads;
  std::atomic<size_t> ready{0};
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&ready, count] {
      for (size_t bytes = 16; bytes <= 8192; bytes += 16) Free(Allocate(bytes));
      ++ready;
      while (ready != count) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, GiveTheMemoryOfTheirCachesBack) {
  constexpr size_t kThreads = 60;
  for (int round = 0; round < 3; ++round) {
    UseManyClassesInThreads(kThreads);
    const size_t before = page_heap.MetadataResidentBytes();
    EXPECT_TRUE(Trim(0));
    EXPECT_GT(before, page_heap.MetadataResidentBytes() + kThreads * 16 * 1024);
    ExpectValidHeap();
    ExpectEmptyHeap();
  }
}

TEST(Threads, GiveItBackByHalvesWhileNobodyBegins) {
  UseManyClassesInThreads(60);
  thread_registry.ReleaseWarm();
  thread_registry.ReleaseIdleSpares();
  const size_t before = page_heap.MetadataResidentBytes();
  EXPECT_TRUE(thread_registry.ReleaseIdleSpares());
  const size_t half = page_heap.MetadataResidentBytes();
  EXPECT_LT(half, before);
  for (int i = 0; i < 12; ++i) thread_registry.ReleaseIdleSpares();
  EXPECT_FALSE(thread_registry.ReleaseIdleSpares());
  EXPECT_LT(page_heap.MetadataResidentBytes(), half);
  Trim(0);
  ExpectEmptyHeap();
}

TEST(Threads, EachForItself) {
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([seed] {
      uint64_t random = seed * 0x9e3779b97f4a7c15;
      std::vector<Block*> live(300);
      for (int step = 0; step < 60000; ++step) {
        Block*& slot = live[random % live.size()];
        if (slot != nullptr) FreeBlock(slot);
        slot = NewBlock(random);
      }
      for (Block* block : live) {
        if (block != nullptr) FreeBlock(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Trim(0);
  ExpectValidHeap();
  ExpectEmptyHeap();
}

TEST(Threads, OneAllocatesAnotherFrees) {
  constexpr int kBlocks = 200000;
  constexpr size_t kRing = 1024;
  auto ring = std::make_unique<std::atomic<Block*>[]>(kRing);
  size_t most_in_system = 0;
  std::thread producer([&] {
    uint64_t random = 42;
    for (int i = 0; i < kBlocks; ++i) {
      Block* block = NewBlock(random);
      while (ring[i % kRing].load(std::memory_order_relaxed) != nullptr) std::this_thread::yield();
      ring[i % kRing].store(block, std::memory_order_release);
    }
  });
  std::thread consumer([&] {
    for (int i = 0; i < kBlocks; ++i) {
      Block* block;
      while ((block = ring[i % kRing].load(std::memory_order_acquire)) == nullptr) std::this_thread::yield();
      ring[i % kRing].store(nullptr, std::memory_order_relaxed);
      FreeBlock(block);
    }
    most_in_system = GetStatistics().system_bytes;
  });
  producer.join();
  consumer.join();
  EXPECT_LT(most_in_system, size_t{64} << 20) << "a thread that only frees must not pile blocks up";
  Trim(0);
  ExpectValidHeap();
  ExpectEmptyHeap();
}

std::vector<void*> AllocateMany(size_t count, size_t bytes) {
  std::vector<void*> blocks(count);
  for (void*& block : blocks) block = Allocate(bytes);
  return blocks;
}

TEST(Threads, OneThatFollowsHasWhatTheLastOneFreed) {
  constexpr size_t kBlocks = 300, kBytes = 100, kLong = kPageBytes + 1;
  Trim(0);
  std::vector<void*> first, second;
  std::thread([&] {
    first = AllocateMany(kBlocks, kBytes);
    for (void* block : first) Free(block);
    Free(Allocate(kLong));
  }).join();
  const Statistics between = GetStatistics();
  EXPECT_GE(between.classes[SizeClassOf(kBytes)].in_thread_caches, kBlocks);
  EXPECT_EQ(between.classes[SizeClassOf(kLong)].in_thread_caches, 0u);
  std::thread([&] {
    second = AllocateMany(kBlocks, kBytes);
    for (void* block : second) Free(block);
  }).join();
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);
  EXPECT_EQ(GetStatistics().thread_caches, between.thread_caches);
  ExpectValidHeap();
  Trim(0);
  ExpectEmptyHeap();
}

// A thread on a stack of its own, at the end of which its identity lies: the next one on it has the same.
class OnStack {
 public:
  template <typename Body>
  void Start(Body& body) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ASSERT_EQ(pthread_attr_setstack(&attributes, stack_.get(), kBytes), 0);
    const auto run = [](void* argument) -> void* {
      (*static_cast<Body*>(argument))();
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread_, &attributes, run, &body), 0);
    pthread_attr_destroy(&attributes);
  }
  void Join() { pthread_join(thread_, nullptr); }

 private:
  static constexpr size_t kBytes = 1024 * 1024;
  struct Free {
    void operator()(void* stack) const { free(stack); }
  };
  std::unique_ptr<void, Free> stack_{aligned_alloc(4096, kBytes)};
  pthread_t thread_;
};

constexpr size_t kBytesOfOne = 100;

// The blocks that two threads are given that live at one time.
std::pair<void*, void*> RunTogether(OnStack& left, unsigned on_left, OnStack& right, unsigned on_right) {
  std::pair<void*, void*> blocks;
  std::atomic<int> begun{0};
  const auto run = [&begun](unsigned processor, void*& block) {
    RunOn(processor);
    block = Allocate(kBytesOfOne);
    ++begun;
    while (begun < 2) std::this_thread::yield();
    Free(block);
  };
  auto run_left = [&] { run(on_left, blocks.first); };
  auto run_right = [&] { run(on_right, blocks.second); };
  left.Start(run_left);
  right.Start(run_right);
  left.Join();
  right.Join();
  return blocks;
}

void* RunAlone(OnStack& stack, unsigned processor) {
  void* block = nullptr;
  auto run = [&] {
    RunOn(processor);
    block = Allocate(kBytesOfOne);
    Free(block);
  };
  stack.Start(run);
  stack.Join();
  return block;
}

TEST(Threads, OneThatFollowsTakesAfterTheOneWhoseStackItHas) {
  Trim(0);
  const unsigned processor = ProcessorsAllowed().at(0);
  OnStack left, right;
  const auto [of_left, of_right] = RunTogether(left, processor, right, processor);
  EXPECT_EQ(RunAlone(left, processor), of_left);
  EXPECT_EQ(RunAlone(right, processor), of_right);
  Trim(0);
  ExpectEmptyHeap();
}

TEST(Threads, OneThatFollowsTakesAfterTheOneOfItsProcessor) {
  Trim(0);
  const std::vector<unsigned> processors = ProcessorsAllowed();
  if (processors.size() < 2) GTEST_SKIP() << "it needs two processors";
  OnStack left, right;
  const auto [of_left, of_right] = RunTogether(left, processors[0], right, processors[1]);
  EXPECT_EQ(RunAlone(left, processors[1]), of_right);
  EXPECT_EQ(RunAlone(right, processors[0]), of_left);
  EXPECT_EQ(RunAlone(right, processors[1]), of_right);
  Trim(0);
  ExpectEmptyHeap();
}

TEST(Threads, ManyThatEndLeaveNoMoreThanOneMayHave) {
  constexpr int kThreads = 100;
  constexpr size_t kBlocks = 500, kBytes = 200;
  Trim(0);
  std::atomic<int> begun{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      const std::vector<void*> blocks = AllocateMany(kBlocks, kBytes);
      for (void* block : blocks) Free(block);
      ++begun;
      while (begun < kThreads) std::this_thread::yield();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(GetStatistics().thread_cache_bytes, size_t{4} << 20) << "not 10 MiB";
  ExpectValidHeap();
  Trim(0);
  ExpectEmptyHeap();
}

// Neighbours that one thread allocated and two others freed: neither goes on in their cache line.
TEST(Threads, NobodyStaysInTheLineOfAStranger) {
  constexpr size_t kBlocks = 2, kOwn = 8;
  for (const size_t bytes : {16u, 32u, 48u, 80u, 96u}) {
    // What other tests left scattered goes back, so that there are whole lines at hand.
    Trim(0);
    void* given[kBlocks];
    for (void*& block : given) block = Allocate(bytes);
    std::atomic<size_t> begun{0}, done{0};
    std::vector<uintptr_t> lines[kBlocks];
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kBlocks; ++i)
      threads.emplace_back([&, i] {
        Free(given[i]);
        ++begun;
        while (begun < kBlocks) std::this_thread::yield();
        void* own[kOwn];
        for (void*& block : own) block = Allocate(bytes);
        for (void* block : own) {
          const uintptr_t start = reinterpret_cast<uintptr_t>(block);
          for (uintptr_t line = start / 64; line <= (start + bytes - 1) / 64; ++line)
            lines[i].push_back(line);
        }
        ++done;
        while (done < kBlocks) std::this_thread::yield();
        for (void* block : own) Free(block);
      });
    for (std::thread& thread : threads) thread.join();
    for (const uintptr_t line : lines[0])
      EXPECT_EQ(std::count(lines[1].begin(), lines[1].end(), line), 0) << "blocks of " << bytes;
  }
}

TEST(Threads, ChurnLeaksNothing) {
  const int rounds = kChecksEnabled ? 1000 : 10000;
  size_t metadata = 0;
  for (int round = 0; round < rounds; ++round) {
    std::thread threads[2];
    for (std::thread& thread : threads) {
      thread = std::thread([round] {
        uint64_t random = static_cast<uint64_t>(round) * 77 + 1;
        Block* blocks[20];
        for (Block*& block : blocks) block = NewBlock(random);
        for (Block* block : blocks) FreeBlock(block);
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (round == rounds / 10) metadata = GetStatistics().metadata_bytes;
  }
  EXPECT_EQ(thread_registry.threads(), thread_words.cache == nullptr ? 0u : 1u);
  EXPECT_LE(GetStatistics().metadata_bytes, metadata + metadata / 4);
  Trim(0);
  ExpectEmptyHeap();
}

// A destructor that runs after the cache is gone, and arms itself again: four times in all.
pthread_key_t late_key;
std::atomic<int> late_runs{0};

void LateDestructor(void* value) {
  ++late_runs;
  Free(value);
  void* next = Allocate(1000);
  void* large = Allocate(1 << 20);
  ASSERT_TRUE(next != nullptr && large != nullptr);
  memset(next, 1, 1000);
  Free(large);
  if (late_runs < 3) {
    pthread_setspecific(late_key, next);
  } else {
    Free(next);
  }
}

TEST(Threads, DestructorsMayRunAfterTheCacheIsGone) {
  // The heap's own key must be older than ours, for its destructor to run first.
  Free(Allocate(1));
  ASSERT_EQ(pthread_key_create(&late_key, LateDestructor), 0);
  std::thread([] { pthread_setspecific(late_key, Allocate(500)); }).join();
  EXPECT_EQ(late_runs, 3);
  pthread_key_delete(late_key);
  Trim(0);
  ExpectValidHeap();
  ExpectEmptyHeap();
}

}  // namespace
}  // namespace mallow::heap
