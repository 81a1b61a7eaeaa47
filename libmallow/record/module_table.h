// The modules (executable and shared objects) that frames lie in, with what a reader needs to find their
// symbols later: path, build id, bias, and the file's identity.
//
// A module is noted when the first rule for one of its addresses is made. One that was unloaded keeps its id;
// another object at the same addresses gets a new one. Looked up only on the unwinder's miss path.
//
// Thread safety: IdOf takes a lock. Nothing here allocates from the heap or calls into ld.so.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/hash.h"
#include "base/spinlock.h"
#include "record/image_format.h"

struct dl_find_object;

namespace mallow::record {

class MappedFile;

class ModuleTable {
 public:
  // For the first process, and for each later session. The executable's path is resolved here: a program may change its
  // root later.
  void Init(MappedFile* file);
  // For a fork child: ids go on in `file`.
  void ContinueIn(MappedFile* file);
  Spinlock& lock() { return lock_; }

  // Module id + 1 of what _dl_find_object found; 0 when there is no room.
  uint32_t IdOf(const dl_find_object& found);
  // Of the module that the address lies in; 0 for none.
  uint32_t IdAt(uintptr_t address);
  // Whether the address lies in libc itself (libc.so, ld.so or one of their parts). `id`: what IdAt would return, if known.
  bool IsLibc(uintptr_t address, uint32_t id = 0);

  uint32_t count() const { return count_; }

 private:
  // What tells modules apart without touching the recording (an ancestor's entries lie in its file).
  struct Known {
    uintptr_t start, end;
    uint64_t identity;  // hash of path and build id, or segments
    ModuleKind kind;
  };

  // With the lock held.
  uint32_t Search(const dl_find_object& found);
  bool Add(const Known& known, const dl_find_object& found, const char* path, const uint8_t* build_id,
           size_t build_id_bytes);

  // The last answers: rules are made for a few objects by turns. Any change of the loaded objects voids them. They are
  // written with the lock held and read without: `version` is odd meanwhile.
  struct Answer {
    uint32_t version;
    uint32_t id;
    uintptr_t start;
    const void* link_map;
    uint64_t generation;

    void Become(uintptr_t start_now, const void* link_map_now, uint64_t generation_now, uint32_t id_now);
  };
  // 0: it was another question.
  uint32_t Remembered(uintptr_t start, const void* link_map, uint64_t generation);

  static constexpr unsigned kAnswerBits = 3;
  Answer& AnswerAbout(const void* link_map) {
    return answers_[HashWord(reinterpret_cast<uintptr_t>(link_map)) >> (64 - kAnswerBits)];
  }
  Answer answers_[1 << kAnswerBits] = {};
  Known* known_ = nullptr;
  uint32_t count_ = 0;
  uint32_t first_ = 0;  // ids below lie in an ancestor's file
  MappedFile* file_ = nullptr;
  char executable_[4096] = {};
  char path_[8192] = {};  // under the lock; not on the stack, which may be a signal stack of 2 KiB
  Spinlock lock_{LockRank::kStackTable};
};

}  // namespace mallow::record
