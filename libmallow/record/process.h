// The recorded process: its image file, its stacks and modules, its thread recorders, and what a fork does to them.
//
// A forked child notices at its next record: a page that the kernel wipes at fork (MADV_WIPEONFORK) reads 0. It
// then opens an image file of its own, whose ids go on from the parent's, before it records anything. vfork and
// CLONE_VM children share our memory, so their page is not wiped: they count in the parent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/spinlock.h"
#include "os/thread.h"
#include "record/mapped_file.h"
#include "record/module_table.h"
#include "record/region.h"
#include "record/stack_table.h"
#include "record/thread_recorder.h"
#include "record/timeline.h"
#include "record/unit.h"

namespace mallow::record {

// In the page that a fork wipes: session, 0, kParting, kBetween or kNoSession. Of the image, so that no call has to look where it is.
struct alignas(4096) AliveWord {
  uint64_t session;
};
extern MALLOW_INTERNAL AliveWord g_alive;

class Process {
 public:
  // Begins a session: a recording of its own. The first one may begin with the process, `joined` being 0; later ones
  // begin when there are blocks already, see Header::joined. False: it cannot be recorded.
  bool Start(const char* folder, uint64_t joined);
  // Ends the session. A record that is under way ends first, and none begins any more. Threads that are within one for long
  // go on without harm; what they count is lost.
  void Stop();

  // The calling thread's recorder, or null when it cannot have one (counted as lost by the caller).
  ThreadRecorder* Current() {
    if (MALLOW_LIKELY(IsRecorder(t_recorder) && IsOfNow(*t_recorder))) return t_recorder;
    return CurrentSlow();
  }

  // Whether that recorder counts in the recording of this moment, and of this process.
  bool IsOfNow(const ThreadRecorder& recorder) const {
    return MALLOW_LIKELY(__atomic_load_n(&g_alive.session, __ATOMIC_RELAXED) == recorder.session);
  }

  // Whether the last session is over.
  bool HasEnded() const { return __atomic_load_n(&g_alive.session, __ATOMIC_ACQUIRE) == kNoSession; }

  // A recorder for one call of a thread whose exit hook ran, to be given back after it; else null. Until then it is the
  // thread's, and busy: a handler that allocates or forks meanwhile finds the thread within a record.
  ThreadRecorder* Borrow();
  // The same of a thread that has none yet.
  ThreadRecorder* BorrowFirst();
  void GiveBackBorrowed();

  // For fork; see recorder.h.
  bool TryLockAll();
  void UnlockAll(bool child);
  // Whether the calling thread is inside one of them.
  bool HoldsLock();
  // See os::SetSpare.
  bool GiveBackRoom();
  // What is recorded so far, as a recording of its own; see MappedFile.
  bool CopyTo(const char* folder);
  // In a fork child, of its one thread.
  void PartFromParent();

  MappedFile& file() { return file_; }
  StackTable& stacks() { return stacks_; }
  ModuleTable& modules() { return modules_; }
  RegionTable& regions() { return regions_; }
  UnitTable& units() { return units_; }
  Header& header() { return *file_.header(); }
  const NodeTable& node_table() const { return node_table_; }

  // Blocks of a thread with a lower number were there before the last fork, or before the session.
  uint32_t first_owner() const { return first_owner_; }
  uint32_t first_shard() const { return first_shard_; }
  // Every call since the process began was recorded: side records tell all of every block.
  bool from_beginning() const { return from_beginning_; }

  bool IsLdSo(uintptr_t pc) const { return pc - ldso_start_ < ldso_bytes_; }
  bool IsLibc(uintptr_t pc) const {
    return MALLOW_UNLIKELY(pc - around_libc_start_ < around_libc_bytes_) &&
           (pc - libc_start_ < libc_bytes_ || IsLdSo(pc));
  }

  uint64_t session() const { return session_; }
  // How many sessions have begun, of which those of fork children are parts. It changes before any table begins anew.
  uint64_t begun() const { return __atomic_load_n(&begun_, __ATOMIC_ACQUIRE); }
  // Whether the calling thread is within a record of a session that has ended. What such a record has learned, the numbers of
  // nodes, frames, regions and shards, means nothing in the tables of this one. They begin anew with all their locks held: who
  // adds to one asks when it has the lock.
  bool IsLate() const {
    const ThreadRecorder* const own = t_recorder;
    return IsRecorder(own) && own->state.busy && own->session != __atomic_load_n(&session_, __ATOMIC_RELAXED);
  }

  // Of all threads, as far as they tell at this moment.
  struct Sums {
    uint64_t births;
    int64_t live_blocks, live_bytes;
  };
  Sums SumUp();
  Timeline& timeline() { return timeline_; }

  // A page of counters for the shard of that number, of that session; null when there is no room, and in a later session.
  char* NewCounterPage(uint64_t session, uint32_t number, CounterKind kind, uint32_t stack_index);

 private:
  static void AddUp(const Shard& shard, int64_t* events, Sums* sums);
  ThreadRecorder* CurrentSlow();
  ThreadRecorder* Lend(Loan loan);
  // The next four with every signal blocked. A fork child that has not recorded yet gets a file of its own; false: there
  // is none to record in.
  bool ContinuesInOwnFile();
  void ContinueInChild();
  bool MakeFileInChild(MappedFile::Mapping* parent);
  // Gives the calling thread a recorder: `own` if not null, else one that a finished thread left, else a new one.
  ThreadRecorder* Adopt(ThreadRecorder* own);
  void NameOwner(ThreadRecorder* recorder);
  void NameNextOwner(ThreadRecorder* recorder);
  // The same without making it the thread's.
  ThreadRecorder* Take(ThreadRecorder* own);
  // What a thread has left the next one goes on with.
  void GiveBack(ThreadRecorder* recorder);
  ThreadRecorder* NewThreadRecorder();
  // Among all threads, if it is not yet: WaitForRecords looks at those. A fork child has none of its parent's, not even that
  // of the thread that forked, until each comes to record.
  void List(ThreadRecorder* recorder);
  void ForgetThreads();
  bool Renew(ThreadRecorder* recorder);
  bool IsOfThisSession(const ThreadRecorder* recorder) const { return recorder->session == session_; }
  bool SetFolder(const char* folder);
  bool Begin(uint64_t joined);
  void WaitForRecords();
  void LetGoOfFile();
  void ForgetLastSession(bool joins);
  bool GiveShard(ThreadRecorder* recorder);
  // Since the fork nothing has been recorded, or a thread is just about to record the first call.
  static constexpr uint64_t kParting = ~uint64_t{0};
  bool IsForkChild() const {
    const uint64_t session = __atomic_load_n(&g_alive.session, __ATOMIC_ACQUIRE);
    return session == 0 || session == kParting;
  }
  // One session has ended and the next one has not begun. Who has a call of an earlier one to count waits.
  static constexpr uint64_t kBetween = ~uint64_t{1};
  // One session has ended and no other one is about to begin: there is nothing to count a call in.
  static constexpr uint64_t kNoSession = ~uint64_t{2};
  static bool IsBetweenSessions() { return __atomic_load_n(&g_alive.session, __ATOMIC_ACQUIRE) == kBetween; }
  static constexpr size_t kLocks = 8;
  Spinlock& LockAt(size_t index);
  void HideOwnFrames();
  void RememberLibc();
  static void OnThreadExit(void* recorder);

  // What every call looks at.
  // From the first of the two to the end of the second: nearly all callers lie outside.
  alignas(kCacheLineBytes) uintptr_t around_libc_start_ = 0, around_libc_bytes_ = 0;
  uintptr_t ldso_start_ = 0, ldso_bytes_ = 0;
  uintptr_t libc_start_ = 0, libc_bytes_ = 0;
  uint64_t session_ = 0;
  bool from_beginning_ = false;
  MappedFile file_;
  StackTable stacks_;
  ModuleTable modules_;
  RegionTable regions_;
  UnitTable units_;
  Timeline timeline_;
  NodeTable node_table_ = {};
  uint64_t begun_ = 0;
  uint32_t first_shard_ = 0;
  ThreadRecorder* first_recorder_ = nullptr;  // of shard 0 of the file
  uint32_t shard_count_ = 0;  // in this file; the header's may be that of a parent, which goes on
  uint32_t first_owner_ = 0;
  uint32_t owner_count_ = 0;  // likewise
  uint32_t live_threads_ = 0;
  ThreadRecorder* free_threads_ = nullptr;
  ThreadRecorder* all_threads_ = nullptr;
  uint32_t list_ = 1;  // a fork child's is another one
  // What the files of ended sessions were mapped at: kept for a while, for threads that are late.
  static constexpr size_t kKeptMappings = 8;
  MappedFile::Mapping kept_[kKeptMappings] = {};
  os::ThreadExitHook exit_hook_;
  Spinlock threads_lock_{LockRank::kRecorder};
  Spinlock pages_lock_{LockRank::kStackTable};
  char folder_[4096] = {};
};

extern MALLOW_INTERNAL Process g_process;

}  // namespace mallow::record
