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
#include "record/mapped_array.h"

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
  // Of a fork child: the first modules are in its ancestors' files, and the strings at the beginning, for which its own file
  // leaves room. What those files have, as far as there was memory to remember it.
  uint32_t first() const { return first_; }
  uint32_t first_string() const { return first_string_; }
  void InheritedModules(ModuleEntry* modules);
  void InheritedStrings(char* strings);

 private:
  // What tells modules apart without touching the recording (an ancestor's entries lie in its file).
  struct Known {
    uintptr_t start, end;
    uint64_t identity;  // hash of path and build id, or segments
    ModuleKind kind;
  };

  // With the lock held.
  uint32_t Search(const dl_find_object& found);
  void Remember(const ModuleEntry& entry, const char* path);
  template <typename F>
  void EachInherited(F take);
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
  uint32_t first_ = 0;
  uint32_t first_string_ = 0, string_end_ = 0;
  // What the files say of the first so many modules: each entry, with its path behind it. A fork child does not keep its
  // parent's file.
  uint32_t remembered_count_ = 0;
  MappedArray<char> remembered_;
  MappedFile* file_ = nullptr;
  char executable_[4096] = {};
  char path_[8192] = {};  // under the lock; not on the stack, which may be a signal stack of 2 KiB
  Spinlock lock_{LockRank::kStackTable};
};

}  // namespace mallow::record
