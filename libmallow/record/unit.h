// Units of work: what the program has done, counted by name, so that allocations can be counted per request.
//
// One word for all threads, changed atomically: units are rarer than allocations by far, and a signal handler may count
// one at any moment.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/spinlock.h"
#include "record/image_format.h"

namespace mallow::record {

class MappedFile;

// Thread safety: Find is lock-free and may be called from any signal handler.
class UnitTable {
 public:
  // Empty; for the first process and for a fork child, which counts from nothing.
  void StartIn(MappedFile* file);
  Spinlock& lock() { return lock_; }

  // Null: there is none yet.
  UnitItem* Find(const char* name, UnitSource source) const;
  // Null: there is no room, or the calling thread is late (Process::IsLate).
  UnitItem* Add(const char* name, UnitSource source);

 private:
  static constexpr uint32_t kMost = 256;
  static constexpr uint32_t kSlots = 2 * kMost;

  UnitItem* Search(const char* name, size_t bytes, UnitSource source, uint32_t* slot) const;

  MappedFile* file_ = nullptr;
  std::atomic<UnitItem*> slots_[kSlots] = {};
  Spinlock lock_{LockRank::kStackTable};
};

}  // namespace mallow::record
