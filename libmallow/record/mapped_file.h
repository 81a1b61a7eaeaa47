// The image file of this process: a sparse file, mapped once, written in place.
//
//   create O_EXCL -> ftruncate (sparse) -> mmap PROT_NONE -> close the descriptor -> open up pages as sections grow
//
// Invariants
//  M1  No descriptor stays open: the program never sees one of ours.
//  M2  Memory is touched only after Grow() populated it, so a full disk is a false return and never
//      a SIGBUS. What lies behind is PROT_NONE: mlockall cannot fill it and a stray write cannot hit it.
//  M3  Items never move.
//  M4  What was given back may be somebody else's by now: nothing is done to addresses behind `reserved_` of a section.
//
// Thread safety: Grow takes a lock; everything else is set before the first reader. The room, which is M4's, has a lock of
// its own, because GiveBackRoom may be called by a thread that has any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/spinlock.h"
#include "record/image_format.h"

namespace mallow::record {

// What a file that is mapped as a whole may take of the address space: an eighth of what the process may have, so that a
// program under `ulimit -v` keeps nearly all of it for itself. A system call.
uint64_t AffordableAddresses();
// The same, and no more than the limit of files.
uint64_t AffordableBytes();

class MappedFile {
 public:
  // Makes a new image file in `folder` and opens up its header. On failure an empty file stays behind where one
  // could be made, as a word that this process is not recorded, and the object is as before. `executable` and ids are filled in; the parent's fields are the caller's.
  // `before`, if not null: what was mapped, which is the caller's from here on.
  struct Mapping;
  bool Create(const char* folder, Mapping* before = nullptr);
  // Takes the file of the last Create out of its folder, also the empty one of a failure. What is mapped stays so.
  void Unlink();
  // Only the empty file.
  void LeaveWord(const char* folder);

  Header* header() const { return reinterpret_cast<Header*>(base_); }
  // Name of the file within the folder.
  const char* name() const { return name_; }

  // First item of a section.
  template <typename T>
  T* Items(Section section) const {
    return reinterpret_cast<T*>(base_ + Entry(section).offset);
  }
  // Items [0, count) of the section can be written after this returned true. False: no room in the
  // section, or the disk is full; the header's `incomplete` says which (`full_bit` for the former).
  MALLOW_ALWAYS_INLINE bool Grow(Section section, uint64_t count, Incomplete full_bit) {
    const uint64_t needed = count * Entry(section).item_bytes;
    if (MALLOW_LIKELY(needed <= __atomic_load_n(&opened_[SectionIndex(section)], __ATOMIC_ACQUIRE)))
      return true;
    return OpenMore(section, needed, full_bit);
  }

  // Items that there can be at most. May become fewer (GiveBackRoom).
  uint64_t Room(Section section) const {
    return __atomic_load_n(&reserved_[SectionIndex(section)], __ATOMIC_RELAXED) / Entry(section).item_bytes;
  }
  uint64_t Used(Section section) const;
  // Publishes items: everything below `used` is complete.
  void SetUsed(Section section, uint64_t used) {
    __atomic_store_n(&Entry(section).used, used, __ATOMIC_RELEASE);
  }

  // Items [from, to) are complete and the process does not look at them again: they need not be in its memory. For whole
  // pages.
  void LetGo(Section section, uint64_t from, uint64_t to);

  // Appends to the strings; returns the offset, or ~0 when there is no room. The caller holds a lock of its own
  // (only the module table writes strings).
  uint64_t AppendString(const char* text, size_t bytes);

  // For a fork child: Create gives it a file of its own, then the parent's mapping goes.
  struct Mapping {
    char* base;  // null: none
    struct Part {
      uint64_t offset, bytes;
    } parts[kSectionCount];

    // Where the section has items: zeros take its place, which stay when the rest is unmapped.
    void LeaveZeros(Section section);
  };
  Mapping mapping() const;
  static void Unmap(const Mapping& mapping);

  // Where address space is limited: gives up what this file would not have been given if it had been so at the start,
  // but for what is in use. A shrunken section is full sooner. Where the program locks all of its memory: no longer has what
  // is not in use locked, which a limit counts. False: nothing. The caller holds the room.
  bool GiveBackRoom();
  // False: another thread has the room for long, or is not there (in a fork child).
  bool TryLockRoom();

  // Items of a section that a fork child's file lacks, because an ancestor's has them.
  struct Inherited {
    Section section;
    uint64_t count;
    void (*read)(void* items);  // all of them; `items` are zero
    bool has_room;              // the section begins with as many items that are zero, in their place
  };
  // Writes what is recorded so far into a new image file in `folder`, which has no parent: behind `inherited`, of each section
  // one at most, go the file's own items. Each figure is of some moment meanwhile. False: no such folder, or no room;
  // nothing is left behind then.
  bool CopyTo(const char* folder, std::span<const Inherited> inherited = {});

  // Nothing more is to be recorded: the file is let go, and its addresses keep memory of their own, for threads that are
  // still within a record. False: it stays mapped. Either way that is the caller's from here on.
  bool Detach(Mapping* mapping = nullptr);

  // After a fork the child's copy of the lock may be held by a thread that is not there.
  void ResetLock() {
    grow_lock_.ResetInChild();
    room_lock_.ResetInChild();
  }
  Spinlock& grow_lock() { return grow_lock_; }
  Spinlock& room_lock() { return room_lock_; }

 private:
  static constexpr size_t kNameBytes = 128;

  SectionEntry& Entry(Section section) const {
    return reinterpret_cast<Header*>(base_)->sections[SectionIndex(section)];
  }
  // Of a section, so that `needed` bytes of it are.
  MALLOW_COLD bool OpenMore(Section section, uint64_t needed, Incomplete full_bit);
  bool IsKnownFull(Section section, uint64_t needed, Incomplete full_bit) const;
  bool Open(uint64_t begin, uint64_t end);
  bool NothingIn(uint64_t begin, uint64_t end);
  bool WriteCopy(int fd, char* header_page, std::span<const Inherited> inherited);
  // A new empty file, open, and its name; a negative errno when none can be made.
  int OpenNew(const char* folder, uint64_t now, char (&name)[kNameBytes]);

  char* base_ = nullptr;
  bool detached_ = false;
  uint64_t opened_[kSectionCount] = {};    // bytes of each section that may be written
  uint64_t reserved_[kSectionCount] = {};  // of each that are ours
  uint64_t full_until_ = 0;                // so long the disk is taken to be full
  Spinlock grow_lock_{LockRank::kMappedFile};
  Spinlock room_lock_{LockRank::kLeaf};
  char name_[kNameBytes] = {};
  char path_[4096 + 128] = {};  // scratch of Create; not on the stack, which may be small
};

}  // namespace mallow::record
