// Regions: named stretches of a thread's work, which may lie within each other.
//
// A region here is a path of names ("request" within "session"); its number is part of the stacks that are made while a
// thread is inside (format/recording.md, "Stacks"), so all that is known of a stack is known of it within each region,
// and the recorded path of malloc has no step more. What the thread released inside, and by how much its live bytes
// changed, is the difference of its own sums at the two ends: nothing is counted twice, and nothing in between.
//
// Invariants
//  R1  A name occurs once in a path: a region that is entered within itself stays where it is. So recursion needs no
//      new paths, and the figures of a name are the sum over the paths that end with it.
//  R2  A thread has each path open at most once.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/spinlock.h"
#include "record/image_format.h"

namespace mallow::record {

class MappedFile;
struct ThreadRecorder;

using RegionId = uint32_t;
inline constexpr RegionId kNoRegion = 0;

// All paths of the process. Thread safety: Enter from any thread; lock-free where the path is known.
class RegionTable {
 public:
  // For the first process, and for each later session: there are none.
  void StartIn(MappedFile* file);
  // For a fork child: numbers go on in `file`.
  void ContinueIn(MappedFile* file);
  Spinlock& lock() { return lock_; }

  struct Entered {
    RegionId innermost;  // where the thread is now
    RegionId named;      // the region of that name; none when there is no room for it
  };
  // From `outer` into `name`. Where `outer` is within a region of that name, or there is no room, one stays in `outer`.
  Entered Enter(RegionId outer, const char* name);
  // The region of that name among `region` and those around it; none if there is none.
  RegionId Around(RegionId region, const char* name) const { return Around(region, NameOf(name)); }
  RegionId OuterOf(RegionId region) const { return known_[region].outer; }
  uint32_t count() const { return count_; }
  // Regions 1 to first - 1 lie in an ancestor's file.
  uint32_t first() const { return first_; }
  const RegionItem& At(RegionId region) const { return known_[region]; }

 private:
  static constexpr uint32_t kMost = 4096;
  static constexpr uint32_t kSlots = 2 * kMost;
  struct Name {
    const char* text;
    uint32_t bytes, hash;
  };
  struct Slot {
    std::atomic<uint32_t> region;  // 0: empty
    uint32_t hash;
  };

  RegionId Around(RegionId region, const Name& name) const;
  static Name NameOf(const char* text);
  bool Is(RegionId region, const Name& name) const;
  RegionId Find(RegionId outer, const Name& name, uint32_t* slot) const;
  RegionId Add(RegionId outer, const Name& name);
  bool MakeRoom();

  // Copies of what the files hold: a child of fork does not keep its parent's. Mapped at the first region.
  RegionItem* known_ = nullptr;
  std::atomic<Slot*> slots_{nullptr};
  uint32_t first_ = 0;
  uint32_t count_ = 0;  // next id; id 0 is no region
  MappedFile* file_ = nullptr;
  Spinlock lock_{LockRank::kStackTable};
};

// What a thread has open. Used by its owner alone.
class OpenRegions {
 public:
  RegionId innermost() const { return innermost_; }
  // Regions begun and not ended, also those that no room was left for.
  uint32_t depth() const { return depth_; }

  void Begin(ThreadRecorder& thread, const char* name);
  // Ends regions until `depth` are left.
  void ReturnTo(ThreadRecorder& thread, uint32_t depth);
  // For a fork child, whose thread is inside the same regions: with the counters of its own file.
  void ContinueIn(ThreadRecorder& thread);

 private:
  static constexpr uint32_t kDeepest = 64;

  RegionId innermost_;
  uint32_t depth_;
  RegionId outer_[kDeepest];  // that each level goes back to
};

}  // namespace mallow::record
