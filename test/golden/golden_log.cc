// Writes a log of random events with the recorder's own parts, and prints the events: what the Go side reads must be
// the same, in the same order.
//
//   golden_log FOLDER CLOCK SEED EVENTS [LIMIT]      makes FOLDER/log-1-1-0
//   golden_log FOLDER CLOCK threads THREADS EVENTS   the same with threads that take blocks from a common heap
//
// CLOCK: 1 the processor's counter, where it will do, 2 the shared one.
//
// The former prints an event a line: kind, thread, stack or node, size, address, old address, argument.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "record/event_log.h"

namespace {

using namespace mallow::record;

std::mt19937_64 g_random;

uint64_t Below(uint64_t limit) { return g_random() % limit; }
// Each magnitude as likely as the others.
uint64_t Magnitude(int bits) { return g_random() >> (64 - bits + Below(static_cast<uint64_t>(bits))); }

struct Block {
  uint64_t address, clock;
  size_t thread;
};

struct Thread {
  EventStream* stream;
  uint32_t tid;
  uint64_t events;
};

// A program with a few places that are likely to follow one another, and others that are not.
class Run {
 public:
  explicit Run(size_t threads) : threads_(threads) {
    for (size_t i = 0; i < threads; i++) {
      threads_[i] = {static_cast<EventStream*>(calloc(1, sizeof(EventStream))),
                     static_cast<uint32_t>(100 + i), 0};
      threads_[i].stream->Begin(&threads_[i].stream, static_cast<uint32_t>(i));
      threads_[i].stream->SetThread(threads_[i].tid);
    }
  }

  // False: the log has ended.
  bool Step() {
    const size_t index = Below(threads_.size());
    Thread& thread = threads_[index];
    if (thread.stream == nullptr) return false;
    if (Below(500) == 0) thread.stream->SetThread(thread.tid += 100);
    if (Below(2000) == 0) usleep(1000);
    const uint64_t what = Below(20);
    if (what < 8 || blocks_.empty()) {
      Birth(thread, index);
    } else if (what < 16) {
      Death(thread, index);
    } else if (what < 18) {
      Move(thread, index);
    } else if (what == 18) {
      const uint32_t stack = Place();
      const uint64_t bytes = Below(4) == 0 ? kUnknownBytes : Magnitude(63);
      Print("failure", thread, stack, bytes, 0, 0, 0);
      thread.stream->Failure(stack, bytes, thread.events);
    } else {
      const uint32_t node = Place();
      Print("null", thread, node, 0, 0, 0, 0);
      thread.stream->NullRelease(node, thread.events);
    }
    return true;
  }

 private:
  uint32_t Place() {
    if (Below(4) != 0) return static_cast<uint32_t>(place_ = (place_ * 5 + 3) % 64);
    return static_cast<uint32_t>(Magnitude(31));
  }
  uint64_t Address() {
    return Below(8) == 0 ? Magnitude(47) & ~uint64_t{7} : 0x7f0000000000 + Below(1 << 16) * 16;
  }
  static const void* Pointer(uint64_t address) { return reinterpret_cast<const void*>(address); }

  void Birth(Thread& thread, size_t index) {
    const uint32_t stack = Place();
    const uint64_t bytes = Below(2) == 0 ? 24 : Magnitude(63), address = Address();
    const uint64_t argument = Below(4) == 0 ? Magnitude(64) : 0;
    Print("birth", thread, stack, bytes, address, 0, argument);
    thread.stream->Birth(stack | (Below(2) == 0 ? kLibcStack : 0), bytes, Pointer(address), argument,
                         ++thread.events);
    blocks_.push_back({address, thread.events, index});
  }
  Block Take() {
    const size_t back = Below(2) == 0 ? 0 : Below(blocks_.size());
    const Block block = blocks_[blocks_.size() - 1 - back];
    blocks_.erase(blocks_.end() - 1 - static_cast<long>(back));
    if (blocks_.size() > 400) blocks_.erase(blocks_.begin(), blocks_.begin() + 200);
    return block;
  }
  void Death(Thread& thread, size_t index) {
    const uint32_t node = Place();
    const Block block = Take();
    Print("death", thread, node, 0, 0, block.address, 0);
    const uint64_t clock = block.thread == index ? static_cast<uint32_t>(block.clock) : EventStream::kNoClock;
    thread.stream->Death(node, Pointer(block.address), clock, ++thread.events);
  }
  void Move(Thread& thread, size_t index) {
    const uint32_t stack = Place();
    const Block old = Take();
    const uint64_t bytes = Magnitude(63), address = Below(2) == 0 ? old.address : Address();
    Print("move", thread, stack, bytes, address, old.address, 0);
    thread.events += 2;
    const uint64_t clock = old.thread == index ? static_cast<uint32_t>(old.clock) : EventStream::kNoClock;
    thread.stream->Move(stack, Pointer(old.address), clock, bytes, Pointer(address), thread.events);
    blocks_.push_back({address, thread.events, index});
  }
  static void Print(const char* kind, const Thread& thread, uint32_t place, uint64_t bytes, uint64_t address,
                    uint64_t old, uint64_t argument) {
    printf("%s %u %u %lu %lx %lx %lu\n", kind, thread.tid, place, bytes, address, old, argument);
  }

  std::vector<Thread> threads_;
  std::vector<Block> blocks_;
  uint64_t place_ = 1;
};

// Blocks of a heap that is used by several threads: what one gives back another takes.
void UseOneHeap(size_t thread_count, uint64_t events) {
  static std::mutex lock;
  static std::vector<uint64_t> heap;
  for (uint64_t i = 1; i <= 4 * thread_count; i++) heap.push_back(i << 12);
  std::vector<std::thread> threads;
  for (size_t number = 0; number < thread_count; number++) {
    threads.emplace_back([number, events] {
      auto* stream = static_cast<EventStream*>(calloc(1, sizeof(EventStream)));
      stream->Begin(&stream, static_cast<uint32_t>(number));
      stream->SetThread(static_cast<uint32_t>(100 + number));
      std::vector<uint64_t> mine;
      uint64_t random = number + 1;
      for (uint64_t i = 1; i <= events; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (mine.size() < 3 && (mine.empty() || (random >> 63) != 0)) {
          std::unique_lock<std::mutex> hold(lock);
          mine.push_back(heap.back());
          heap.pop_back();
          hold.unlock();
          stream->Birth(1, 16, reinterpret_cast<void*>(mine.back()), 0, i);
        } else {
          stream->Death(1, reinterpret_cast<void*>(mine.back()), EventStream::kNoClock, i);
          const std::lock_guard<std::mutex> hold(lock);
          heap.push_back(mine.back());
          mine.pop_back();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) {
    fprintf(stderr, "usage: golden_log FOLDER CLOCK SEED EVENTS [LIMIT]\n");
    return 1;
  }
  const bool threads = strcmp(arguments[3], "threads") == 0;
  g_event_log.SetLimit(count > 5 && !threads ? strtoull(arguments[5], nullptr, 10) : 1u << 30);
  const LogClock clock = *arguments[2] == '1' ? EventLog::BestClock() : LogClock::kSharedCounter;
  if (!g_event_log.Create(arguments[1], "image-1-1-0", clock)) {
    fprintf(stderr, "golden_log: no log\n");
    return 1;
  }
  if (threads) {
    UseOneHeap(strtoull(arguments[4], nullptr, 10), strtoull(arguments[5], nullptr, 10));
    return 0;
  }
  g_random.seed(strtoull(arguments[3], nullptr, 10));
  Run run(1 + Below(4));
  for (uint64_t left = strtoull(arguments[4], nullptr, 10); left > 0 && run.Step(); left--) {
  }
}
