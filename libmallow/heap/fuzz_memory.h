// For fuzzers: memory functions of the system that fail where they are told to, and a space of addresses that can be
// taken back, so that each input begins with a heap that has nothing.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "base/bits.h"
#include "base/check.h"
#include "base/fuzz.h"
#include "heap/page_map.h"
#include "heap/record_map.h"
#include "heap/span.h"
#include "os/memory.h"

namespace mallow::heap {

// Which calls of the system fail: one in so many, by a seed. Thread-safe.
class Failures {
 public:
  // 0: none.
  static void Plan(uint64_t seed, uint64_t one_in) {
    seed_ = seed;
    one_in_ = one_in;
  }
  static bool Strikes() {
    const uint64_t one_in = one_in_.load(std::memory_order_relaxed);
    return one_in != 0 && FuzzRandom(seed_.fetch_add(1, std::memory_order_relaxed)).Below(one_in) == 0;
  }

 private:
  static inline std::atomic<uint64_t> seed_{0};
  static inline std::atomic<uint64_t> one_in_{0};
};

// The system's own functions, with failures.
inline constexpr os::MemoryFunctions kFailingMemory = {
    [](void* hint, size_t bytes) -> void* {
      return Failures::Strikes() ? nullptr : os::SystemMemoryFunctions().map(hint, bytes);
    },
    [](void* p, size_t bytes) { return !Failures::Strikes() && os::SystemMemoryFunctions().unmap(p, bytes); },
    [](void* p, size_t bytes) {
      return !Failures::Strikes() && os::SystemMemoryFunctions().release(p, bytes);
    },
    0,
    [](void* from, size_t bytes, void* to, size_t to_bytes, bool needed) {
      if (!Failures::Strikes()) return os::SystemMemoryFunctions().move(from, bytes, to, to_bytes, needed);
      os::SystemMemoryFunctions().unmap(to, to_bytes);
      return false;
    }};

// Gives regions at rising addresses: side by side, with gaps, off the heap's pages, and across leaves of the page map.
// Ends the process when something is given back that was not mapped.
class RewindableMemory {
 public:
  static void Install(uint64_t seed) {
    if (space_ == 0) space_ = next_ = ReserveSpace();
    random_ = FuzzRandom(seed);
    os::ReplaceMemoryFunctions(&kFunctions);
  }

  // Forgets all that was mapped and what the page map says of it.
  static void Rewind() {
    for (const auto& [start, bytes] : regions_) {
      if (IsLeaf(start)) continue;
      ForgetPages(start, bytes);
      Wipe(start, bytes);
    }
    regions_.clear();
    if (next_ - space_ > kSpaceBytes / 2) next_ = space_;
  }

  // With leaves of the page map, if any were made since.
  static size_t mapped_bytes() {
    size_t sum = 0;
    for (const auto& [start, bytes] : regions_) sum += bytes;
    return sum;
  }

  static bool Holds(const void* p, size_t bytes) {
    uintptr_t at = reinterpret_cast<uintptr_t>(p);
    for (const uintptr_t end = at + bytes; at < end;) {
      auto region = regions_.upper_bound(at);
      if (region == regions_.begin()) return false;
      --region;
      if (at >= region->first + region->second) return false;
      at = region->first + region->second;
    }
    return true;
  }

 private:
  static constexpr size_t kSpaceBytes = size_t{64} << 30;
  static constexpr size_t kSystemPage = 4096;

  // More than the system would promise.
  static uintptr_t ReserveSpace() {
    void* const p = mmap(nullptr, kSpaceBytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MALLOW_CHECK(p != MAP_FAILED);
    return reinterpret_cast<uintptr_t>(p);
  }

  static uintptr_t Map(size_t bytes) {
    void* p = os::SystemMemoryFunctions().map(nullptr, bytes);
    MALLOW_CHECK(p != nullptr);
    return reinterpret_cast<uintptr_t>(p);
  }

  static void* TestMap(void*, size_t bytes) {
    if (Failures::Strikes()) return nullptr;
    // What may be a leaf of the page map, which stays for ever, comes from elsewhere.
    if (bytes == PageMap::LeafBytes()) {
      const uintptr_t start = Map(bytes);
      regions_[start] = bytes;
      return reinterpret_cast<void*>(start);
    }
    const uint64_t choice = random_.Below(64);
    if (choice >= 32) next_ += (choice - 31) / 8 * kSystemPage;
    if (choice == 0)
      next_ = RoundUp(next_ + 1, size_t{1} << internal::kRootShift) - RoundDown(bytes / 2, kSystemPage);
    MALLOW_CHECK(next_ + bytes <= space_ + kSpaceBytes);
    const uintptr_t start = next_;
    next_ += RoundUp(bytes, kSystemPage);
    regions_[start] = RoundUp(bytes, kSystemPage);
    return reinterpret_cast<void*>(start);
  }

  static bool TestUnmap(void* p, size_t bytes) {
    MALLOW_CHECK(Holds(p, bytes));
    if (Failures::Strikes()) return false;
    Drop(reinterpret_cast<uintptr_t>(p), bytes);
    return true;
  }

  static bool TestRelease(void* p, size_t bytes) {
    MALLOW_CHECK(Holds(p, bytes) && IsAligned(p, kSystemPage));
    if (Failures::Strikes()) return false;
    Wipe(reinterpret_cast<uintptr_t>(p), bytes);
    return true;
  }

  static bool IsLeaf(uintptr_t start) {
    return start - space_ >= kSpaceBytes &&
           PageMap::StateOf((start >> kPageShift) + 1) == PageState::kForeign;
  }

  static bool TestMove(void* from, size_t bytes, void* to, size_t to_bytes, bool) {
    MALLOW_CHECK(Holds(from, bytes) && Holds(to, to_bytes) && bytes <= to_bytes);
    if (Failures::Strikes()) {
      Drop(reinterpret_cast<uintptr_t>(to), to_bytes);
      return false;
    }
    memcpy(to, from, bytes);
    Wipe(reinterpret_cast<uintptr_t>(from), bytes);
    return true;
  }

  static void Drop(uintptr_t start, size_t bytes) {
    Split(start);
    Split(start + bytes);
    regions_.erase(regions_.lower_bound(start), regions_.lower_bound(start + bytes));
    Wipe(start, bytes);
  }

  // Makes a region begin at the address if one lies around it.
  static void Split(uintptr_t at) {
    auto region = regions_.upper_bound(at);
    if (region == regions_.begin()) return;
    --region;
    const uintptr_t end = region->first + region->second;
    if (region->first == at || end <= at) return;
    region->second = at - region->first;
    regions_[at] = end - at;
  }

  static void Wipe(uintptr_t start, size_t bytes) {
    MALLOW_CHECK(os::SystemMemoryFunctions().release(reinterpret_cast<void*>(start), bytes));
  }

  static void ForgetPages(uintptr_t start, size_t bytes) {
    const PageId first = RoundUp(start, kPageBytes) >> kPageShift;
    for (PageId page = first; page < (start + bytes) >> kPageShift; ++page) {
      if (PageMap::StateOf(page) == PageState::kForeign) continue;
      PageMap::SetState(page, 1, PageState::kForeign);
      PageMap::SetClass(page, 1, 0);
      PageMap::SetSpan(page, nullptr);
      internal::record_window.Set(page, 0);
    }
  }

  static constexpr os::MemoryFunctions kFunctions = {TestMap, TestUnmap, TestRelease, 0, TestMove};
  static inline uintptr_t space_ = 0;
  static inline uintptr_t next_ = 0;
  static inline FuzzRandom random_{0};
  // By start, in bytes.
  static inline std::map<uintptr_t, size_t> regions_;
};

}  // namespace mallow::heap
