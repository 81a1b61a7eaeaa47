#include "record/process.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <string.h>

#include "base/bits.h"
#include "base/config.h"
#include "base/fork_locks.h"
#include "heap/heap.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/memory.h"
#include "os/thread.h"
#include "record/call_counter.h"
#include "record/counting.h"
#include "record/cpu_sampler.h"
#include "record/event_log.h"
#include "record/loaded_object.h"
#include "record/module_generation.h"
#include "record/quiet_holder.h"
#include "record/recorder.h"
#include "record/sampling.h"

namespace mallow::record {

constinit AliveWord g_alive;
constinit Process g_process;
constinit bool g_recording = false;
constinit bool g_recording_all = false;
MALLOW_THREAD_LOCAL ThreadRecorder* t_recorder;

namespace {

ThreadRecorder* const kEnded = reinterpret_cast<ThreadRecorder*>(1);
// There was no shard for the thread in that session: it does not ask again.
ThreadRecorder* RefusedIn(uint64_t session) {
  return reinterpret_cast<ThreadRecorder*>(2 + session % (kLeastRecorder - 2));
}

uint32_t ModuleOfRule(void*, const void* found) {
  return g_process.modules().IdOf(*static_cast<const dl_find_object*>(found));
}

FrameId FrameOf(void*, uint64_t frame, uint32_t module) { return g_process.stacks().Frame(frame, module); }

NodeId PathOf(void*, NodeId parent, PathStep* steps, size_t count) {
  if (MALLOW_UNLIKELY(g_process.IsLate())) return kRoot;
  return g_process.stacks().Path(parent, steps, count);
}

size_t FramesOf(void*, NodeId below, NodeId last, PathStep* steps, size_t most) {
  return g_process.stacks().Frames(below, last, steps, most);
}

bool IsExecutable(const dl_find_object& found) {
  return found.dlfo_link_map == nullptr || found.dlfo_link_map->l_name[0] == 0;
}

// False where the address lies in the executable: what is linked into that cannot be told from the program.
bool RangeOf(const void* address, uintptr_t* start, uintptr_t* bytes) {
  dl_find_object found;
  if (!FindLoadedObject(reinterpret_cast<uintptr_t>(address), &found) || IsExecutable(found)) return false;
  *start = reinterpret_cast<uintptr_t>(found.dlfo_map_start);
  *bytes = reinterpret_cast<uintptr_t>(found.dlfo_map_end) - *start;
  return true;
}

// Makes room for item `at`; what was there stays. False: no memory.
bool Widen(ThreadRecorder::Table& table, size_t at) {
  constexpr size_t kItemBytes = sizeof(*table.items);
  size_t capacity = table.capacity;
  while (capacity <= at) capacity *= 2;
  if (capacity == table.capacity) return true;
  void* memory = os::Map(nullptr, capacity * kItemBytes);
  if (memory == nullptr) return false;
  memcpy(memory, table.items, table.capacity * kItemBytes);
  if (table.capacity > ThreadRecorder::Table::kFirstCapacity)
    os::Unmap(table.items, table.capacity * kItemBytes);
  table = {static_cast<char**>(memory), capacity};
  return true;
}

// Does not write where nothing is: in a fork child that would copy pages.
void Forget(ThreadRecorder::Table& table) {
  for (size_t i = 0; i < table.capacity; i++)
    if (table.items[i] != nullptr) table.items[i] = nullptr;
}

}  // namespace

bool Process::SetFolder(const char* folder) {
  size_t length = 0;
  if (folder[0] != '/') {
    length = os::CurrentDirectory(folder_, sizeof(folder_));
    if (length == 0 || length + 1 >= sizeof(folder_)) return false;
    folder_[length++] = '/';
  }
  if (length + strlen(folder) >= sizeof(folder_)) return false;
  strcpy(folder_ + length, folder);
  return true;
}

bool Process::Start(const char* folder, uint64_t joined) {
  HideOwnFrames();
  os::NoteFirstThread();
  if (!SetFolder(folder)) return false;
  if (os::WipeOnFork(&g_alive, sizeof(g_alive)) != 0) {
    if (joined == 0) file_.LeaveWord(folder_);
    return false;
  }
  if (session_ != 0) {
    // In a fork child the other threads are not there.
    if (IsForkChild()) {
      ForgetThreads();
      for (size_t i = 0; i < kLocks; ++i) LockAt(i).ResetInChild();
    }
    // Calls that a thread began in a session before may only now come to be counted.
    __atomic_store_n(&g_alive.session, kBetween, __ATOMIC_SEQ_CST);
    WaitForRecords();
  }
  while (!TryLockAll()) os::Nap();
  const bool begun = Begin(joined);
  // From the beginning of the process on the file is the word that it is not recorded.
  if (!begun && joined != 0) file_.Unlink();
  UnlockAll(false);
  __atomic_store_n(&g_alive.session, begun ? session_ : kNoSession, __ATOMIC_RELEASE);
  if (!begun) return false;
  // Without a shard, for want of room, every call is counted as lost: the recording says what it lacks.
  Current();
  return true;
}

// While nobody else is in any of the tables.
bool Process::Begin(uint64_t joined) {
  if (!file_.Create(folder_)) return false;
  os::SetSpare([] { return g_process.GiveBackRoom(); });
  if (g_event_log.wanted()) header().log = g_event_log.Create(folder_, file_.name()) ? kLogKept : kLogRefused;
  ForgetLastSession(joined != 0 || g_sampler.on());
  from_beginning_ = joined == 0 && !g_sampler.on();
  ++session_;
  __atomic_store_n(&begun_, begun_ + 1, __ATOMIC_RELEASE);
  header().parent_shards = first_shard_;
  header().joined = joined;
  g_sampler.StartIn(&file_, session_);
  modules_.Init(&file_);
  regions_.StartIn(&file_);
  units_.StartIn(&file_);
  CountCallsIn(&units_);  // after an earlier session
  timeline_.StartIn(&header());
  node_table_ = {this, &FrameOf, &PathOf, &FramesOf, &ModuleOfRule};
  RememberLibc();
  if (!stacks_.Init(&file_)) {
    if (joined != 0) LetGoOfFile();
    return false;
  }
  return true;
}

// Numbers are not given twice: a side record from before tells by its owner's that it is not of this session, and 0, which
// cleared ones have, is of none that joined. So where half of them are gone all side records are cleared, and the numbers
// begin again.
void Process::ForgetLastSession(bool joins) {
  first_shard_ = session_ == 0 ? joins : first_shard_ + shard_count_;
  first_owner_ = session_ == 0 ? joins : first_owner_ + owner_count_;
  if (first_owner_ >= kNoOwner / 2) {
    heap::ClearRecords();
    first_owner_ = 1;
  }
  shard_count_ = owner_count_ = 0;
  live_threads_ = 0;
}

// A record takes a microsecond, unless its thread has to wait for a processor, or a handler has left it for good.
void Process::WaitForRecords() {
  constexpr int kMostNaps = 1000;
  for (int naps = 0; naps < kMostNaps; ++naps) {
    // First this: who has not seen by then that it should not begin is seen to be busy.
    os::Nap();
    bool busy = false;
    {
      QuietHolder holder(threads_lock_);
      for (ThreadRecorder* recorder = all_threads_; recorder != nullptr; recorder = recorder->next_of_all)
        busy = busy || __atomic_load_n(&recorder->state.busy, __ATOMIC_RELAXED);
    }
    if (!busy) return;
  }
}

void Process::Stop() {
  // In a fork child that has not recorded anything yet the file is still the parent's.
  Current();
  if (IsForkChild()) return;
  // Calls that a thread began before may only now come to be counted.
  __atomic_store_n(&g_alive.session, kNoSession, __ATOMIC_SEQ_CST);
  WaitForRecords();
  header().stopped_realtime = os::RealtimeNanoseconds();
  LetGoOfFile();
}

void Process::LetGoOfFile() {
  MappedFile::Mapping& oldest = kept_[session_ % kKeptMappings];
  if (oldest.base != nullptr) MappedFile::Unmap(oldest);
  file_.Detach(&oldest);
}

// Linked into the executable, our text cannot be told from the program's; then our frames stay in the stacks.
void Process::HideOwnFrames() {
  dl_find_object own;
  if (!FindLoadedObject(reinterpret_cast<uintptr_t>(&RangeOf), &own) || IsExecutable(own)) return;
  SetOwnText(reinterpret_cast<uintptr_t>(own.dlfo_map_start), reinterpret_cast<uintptr_t>(own.dlfo_map_end));
}

void Process::RememberLibc() {
  // _dl_find_object itself is libc's.
  RangeOf(reinterpret_cast<const void*>(_r_debug.r_ldbase), &ldso_start_, &ldso_bytes_);
  RangeOf(reinterpret_cast<const void*>(&gnu_get_libc_version), &libc_start_, &libc_bytes_);
  around_libc_start_ = ldso_bytes_ == 0 ? libc_start_ : Min(ldso_start_, libc_start_);
  around_libc_bytes_ = Max(ldso_start_ + ldso_bytes_, libc_start_ + libc_bytes_) - around_libc_start_;
}

ThreadRecorder* Process::CurrentSlow() {
  const auto has_none = [this] { return t_recorder == kEnded || t_recorder == RefusedIn(session_); };
  if (has_none() && !IsForkChild()) return nullptr;
  ThreadRecorder* recorder;
  {
    // A handler that allocates here would give the thread a second recorder, and one that forks would let its child go
    // on with the parent's.
    const os::SignalsBlocked quiet;
    // Held by this thread: the handler of a system call that a sandbox refused allocates.
    if (threads_lock_.InUseByThisThread() || !ContinuesInOwnFile() || has_none()) return nullptr;
    recorder = IsRecorder(t_recorder) ? t_recorder : nullptr;
    if (recorder == nullptr || !IsOfThisSession(recorder)) {
      if (recorder != nullptr && recorder->state.busy) return nullptr;
      recorder = Adopt(recorder);
    }
  }
  if (recorder == nullptr) return nullptr;
  // May allocate, and is recorded then: the thread has its recorder by now.
  if (exit_hook_.Create(&OnThreadExit)) exit_hook_.Arm(recorder);
  g_cpu_sampler.BeginThread();
  return recorder;
}

// The first thread to come here opens the file, and need not be the one that forked; who comes meanwhile waits for it.
bool Process::ContinuesInOwnFile() {
  while (IsBetweenSessions()) os::Nap();
  if (HasEnded()) return false;
  if (MALLOW_LIKELY(!IsForkChild())) return true;
  // The fork was made by a signal handler within a record: that one has to end first, see PartFromParent.
  if (IsRecorder(t_recorder) && t_recorder->state.busy) return false;
  uint64_t wiped = 0;
  if (__atomic_compare_exchange_n(&g_alive.session, &wiped, kParting, false, __ATOMIC_ACQUIRE,
                                  __ATOMIC_ACQUIRE)) {
    ContinueInChild();
  } else {
    while (IsForkChild()) os::Nap();
  }
  return g_recording;
}

ThreadRecorder* Process::Adopt(ThreadRecorder* own) {
  ThreadRecorder* recorder = Take(own);
  if (recorder != nullptr && recorder->shard->threads++ != 0) NameNextOwner(recorder);
  t_recorder = recorder != nullptr ? recorder : RefusedIn(session_);
  return recorder;
}

void Process::NameOwner(ThreadRecorder* recorder) {
  recorder->owner = first_owner_ + owner_count_++;
  recorder->origin = Tag::OriginOf(recorder->owner);
}

// The blocks of the one before are another thread's. Half of the numbers are kept for new shards: where so many threads
// have come and gone, the next ones go on under the name of the one before.
void Process::NameNextOwner(ThreadRecorder* recorder) {
  SpinlockHolder holder(threads_lock_);
  if (first_owner_ + owner_count_ < kNoOwner / 2) NameOwner(recorder);
}

ThreadRecorder* Process::Borrow() { return t_recorder == kEnded ? Lend(Loan::kToEnded) : nullptr; }

ThreadRecorder* Process::BorrowFirst() { return t_recorder == nullptr ? Lend(Loan::kToNew) : nullptr; }

ThreadRecorder* Process::Lend(Loan loan) {
  if (threads_lock_.InUseByThisThread()) return nullptr;
  const os::SignalsBlocked quiet;
  if (!ContinuesInOwnFile()) return nullptr;
  ThreadRecorder* recorder = Take(nullptr);
  if (recorder == nullptr) return nullptr;
  recorder->state.borrowed = loan;
  recorder->state.busy = true;
  return t_recorder = recorder;
}

void Process::GiveBackBorrowed() {
  const os::SignalsBlocked quiet;
  ThreadRecorder* const recorder = t_recorder;
  t_recorder = recorder->state.borrowed == Loan::kToEnded ? kEnded : nullptr;
  recorder->state.borrowed = Loan::kNone;
  recorder->state.busy = false;
  GiveBack(recorder);
}

ThreadRecorder* Process::Take(ThreadRecorder* own) {
  ThreadRecorder* recorder;
  {
    SpinlockHolder holder(threads_lock_);
    recorder = free_threads_;
    if (own != nullptr) {
      recorder = Renew(own) ? own : nullptr;
    } else if (recorder != nullptr) {
      free_threads_ = recorder->next_free;
      if (!IsOfThisSession(recorder) && !Renew(recorder)) recorder = nullptr;
    } else {
      recorder = NewThreadRecorder();
    }
    if (recorder != nullptr) {
      List(recorder);
      live_threads_++;
      if (live_threads_ > header().most_threads) header().most_threads = live_threads_;
    }
  }
  if (recorder == nullptr) return nullptr;
  recorder->shard->state = kShardOwned;
  recorder->shard->tid = os::ThreadId();
  if (recorder->log != nullptr) recorder->log->SetThread(recorder->shard->tid);
  recorder->newest_block = nullptr;
  recorder->last_born = recorder->run = recorder->last_freed = recorder->now_ms = 0;
  recorder->events_at_sample = recorder->shard->events;
  recorder->changes.Clear();
  recorder->stack_cache.Forget();
  return recorder;
}

ThreadRecorder* Process::NewThreadRecorder() {
  const size_t bytes = (sizeof(ThreadRecorder) + os::PageSize() - 1) / os::PageSize() * os::PageSize();
  auto* recorder = static_cast<ThreadRecorder*>(os::Map(nullptr, bytes));
  if (recorder == nullptr) return nullptr;
  char*(*items)[ThreadRecorder::Table::kFirstCapacity] = recorder->first_items;
  for (ThreadRecorder::Table* table : recorder->Tables())
    *table = {*items++, ThreadRecorder::Table::kFirstCapacity};
  if (GiveShard(recorder)) {
    return recorder;
  }
  os::Unmap(recorder, bytes);
  return nullptr;
}

void Process::List(ThreadRecorder* recorder) {
  if (recorder->list == list_) return;
  recorder->list = list_;
  recorder->next_of_all = all_threads_;
  all_threads_ = recorder;
}

void Process::ForgetThreads() {
  free_threads_ = all_threads_ = nullptr;
  ++list_;
}

// For a fork child, or in a later session: the counters start from nothing, in another file. In a child the numbers of
// stacks and modules go on, in a session they are others.
bool Process::Renew(ThreadRecorder* recorder) {
  if (!IsOfThisSession(recorder)) {
    recorder->stack_cache.Unmap();
    recorder->regions = {};
    memset(recorder->caller_slots, 0, sizeof(recorder->caller_slots));
  }
  for (ThreadRecorder::Table* table : recorder->Tables()) Forget(*table);
  recorder->wide_count = recorder->realloc_count = 0;
  memset(recorder->recent_reallocs, 0, sizeof(recorder->recent_reallocs));
  if (!GiveShard(recorder)) return false;
  recorder->regions.ContinueIn(*recorder);
  return true;
}

// A shard comes with the pages of stack 0, so that from then on every call of the thread can be counted.
bool Process::GiveShard(ThreadRecorder* recorder) {
  if (!file_.Grow(Section::kShards, shard_count_ + 1, kShardsFull)) return false;
  if (first_owner_ + owner_count_ >= kNoOwner) {
    header().incomplete |= kShardsFull;
    return false;
  }
  const uint32_t number = first_shard_ + shard_count_;
  char* const counts = NewCounterPage(session_, number, CounterKind::kCounts, 0);
  if (counts == nullptr) {
    header().incomplete |= kShardsFull;
    return false;
  }
  recorder->full = false;
  recorder->counts_pages.items[0] = counts;
  recorder->number = number;
  NameOwner(recorder);
  recorder->session = session_;
  recorder->header = &header();
  if (shard_count_ == 0) first_recorder_ = recorder;
  recorder->first = first_recorder_;
  recorder->shard = file_.Items<Shard>(Section::kShards) + shard_count_;
  Counting(*recorder).Start();
  __atomic_store_n(&shard_count_, shard_count_ + 1, __ATOMIC_RELEASE);
  file_.SetUsed(Section::kShards, shard_count_);
  g_event_log.Follow(recorder);
  return true;
}

// The figures of the others change meanwhile. An event is a birth or a death, of a block of ours or of another.
// A thread's events and live blocks are read while it goes on, and this one may be put to sleep in between: so both are
// read again, but not for ever. Of an event that is half counted, events go first.
MALLOW_NO_SANITIZE void Process::AddUp(const Shard& shard, int64_t* events, Sums* sums) {
  int64_t own_events, live;
  int tries = 4;
  do {
    own_events = static_cast<int64_t>(__atomic_load_n(&shard.events, __ATOMIC_ACQUIRE));
    live = __atomic_load_n(&shard.live_blocks, __ATOMIC_ACQUIRE);
  } while (own_events != static_cast<int64_t>(__atomic_load_n(&shard.events, __ATOMIC_RELAXED)) &&
           --tries > 0);
  own_events -= static_cast<int64_t>(__atomic_load_n(&shard.inherited_frees, __ATOMIC_RELAXED));
  if ((own_events + live) % 2 != 0) own_events--;
  *events += own_events;
  sums->live_blocks += live;
  sums->live_bytes += __atomic_load_n(&shard.live_bytes, __ATOMIC_RELAXED);
}

Process::Sums Process::SumUp() {
  Sums sums = {};
  int64_t events = 0;
  const Shard* const shards = file_.Items<Shard>(Section::kShards);
  const uint32_t count = __atomic_load_n(&shard_count_, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++) AddUp(shards[i], &events, &sums);
  sums.births = static_cast<uint64_t>(events + sums.live_blocks) / 2;
  return sums;
}

char* Process::NewCounterPage(uint64_t session, uint32_t number, CounterKind kind, uint32_t stack_index) {
  QuietHolder holder(pages_lock_);
  if (session != session_) return nullptr;
  const uint64_t page = file_.Used(Section::kCounterPages), end = page + 1;
  if (!file_.Grow(Section::kPageDirectory, end, kStacksFull)) return nullptr;
  if (!file_.Grow(Section::kCounterPages, end, kStacksFull)) return nullptr;
  file_.Items<PageDirectoryEntry>(Section::kPageDirectory)[page] = {
      (number - first_shard_) | static_cast<uint32_t>(kind) << 24,
      stack_index / static_cast<uint32_t>(kCountersPerPage)};
  // The directory names pages that are there.
  file_.SetUsed(Section::kCounterPages, end);
  file_.SetUsed(Section::kPageDirectory, end);
  return file_.Items<char>(Section::kCounterPages) + page * kCounterPageBytes;
}

// The node is kRoot when there is no room for it, and in a session that has ended.
ThreadRecorder::CallerSlot& ThreadRecorder::NewCaller(uintptr_t pc) {
  if (const uint64_t generation = ModuleGeneration(); callers_generation != generation) {
    // Those of a new thread are zero, and in memory only where it has asked.
    if (callers_generation != 0) memset(caller_slots, 0, sizeof(caller_slots));
    callers_generation = generation;
  }
  if (++callers == kCallersOfFewPages && is_first()) PopulateCallers();
  CallerSlot* const place = PlaceOfCaller(pc);
  place[1] = place[0];
  CallerSlot& slot = place[0];
  slot = {pc, kRoot, kNoStack};
  if (session != g_process.session()) return slot;
  const uint32_t module = g_process.modules().IdAt(pc - 1);
  slot.node = g_process.stacks().Child(kRoot, kTagReturnAddress << 56 | pc, module);
  return slot;
}

// Callers come to lie all over the slots, and each page would be read before it is written: two faults. Of other threads there
// may be many, with few callers each.
void ThreadRecorder::PopulateCallers() {
  const uintptr_t start = reinterpret_cast<uintptr_t>(caller_slots);
  const uintptr_t first = RoundDown(start, os::PageSize());
  os::Populate(reinterpret_cast<void*>(first), RoundUp(start + sizeof(caller_slots), os::PageSize()) - first);
}

char* ThreadRecorder::NewPageFor(Table& table, CounterKind kind, uint32_t index) {
  if (!Widen(table, index / kCountersPerPage)) return nullptr;
  return g_process.NewCounterPage(session, number, kind, index);
}

char* ThreadRecorder::NewExtraPage(Table& table, CounterKind kind, uint32_t index) {
  char* const page = NewPageFor(table, kind, index);
  if (page == nullptr) {
    shard->lost_growth++;
  } else {
    table.items[index / kCountersPerPage] = page;
  }
  return page;
}

Counts& ThreadRecorder::NewCounts(uint32_t index) {
  Counts* const counts = ExtraRecord<Counts>(counts_pages, CounterKind::kCounts, index);
  return counts == nullptr ? *KnownCountsOf(kNoStack) : *counts;
}

char* ThreadRecorder::NewRarerPage(Table& table, CounterKind kind, uint32_t index) {
  char* const page = full ? nullptr : NewPageFor(table, kind, index);
  if (page == nullptr) {
    full = true;
  } else {
    table.items[index / kCountersPerPage] = page;
  }
  return page;
}

void* ThreadRecorder::NewRarerRecord(Table& table, CounterKind kind, uint32_t index) {
  char* const page = NewRarerPage(table, kind, index);
  return page == nullptr ? nullptr : page + index % kCountersPerPage * kRecordBytes;
}

WideTraits* ThreadRecorder::WideTraitsAt(uint32_t number) {
  const uint32_t at = number / kWideTraitsPerPage;
  char* page = at < wide_pages.capacity ? wide_pages.items[at] : nullptr;
  if (page == nullptr) page = NewRarerPage(wide_pages, CounterKind::kWideTraits, at * kCountersPerPage);
  return page == nullptr ? nullptr : reinterpret_cast<WideTraits*>(page) + number % kWideTraitsPerPage;
}

Reallocs* ThreadRecorder::FindReallocs(StackId stack) {
  Traits* const traits = TraitsOf(stack);
  if (MALLOW_UNLIKELY(traits == nullptr)) return nullptr;
  uint32_t after = 0;
  memcpy(&after, traits->reallocs, sizeof(traits->reallocs));
  Reallocs* const reallocs = MALLOW_LIKELY(after != 0) ? KnownRecord<Reallocs>(realloc_pages, after - 1)
                                                       : NewReallocs(*traits, stack);
  if (MALLOW_LIKELY(reallocs != nullptr)) RecentReallocs(stack) = reallocs;
  return reallocs;
}

Reallocs* ThreadRecorder::NewReallocs(Traits& traits, StackId stack) {
  auto* const reallocs = RarerRecord<Reallocs>(realloc_pages, CounterKind::kReallocs, realloc_count);
  if (reallocs == nullptr) return nullptr;
  reallocs->stack = StackIndex(stack);
  // A file has no room for so many pages that this would not fit.
  const uint32_t after = ++realloc_count;
  memcpy(traits.reallocs, &after, sizeof(traits.reallocs));
  return reallocs;
}

void Process::OnThreadExit(void* argument) {
  auto* recorder = static_cast<ThreadRecorder*>(argument);
  const os::SignalsBlocked quiet;
  // After a fork the child's first thread may end with a recorder that it was not given here, or that is its parent's
  // still.
  if (t_recorder != recorder || g_process.IsForkChild()) return;
  g_cpu_sampler.EndThread();
  t_recorder = kEnded;
  g_process.GiveBack(recorder);
}

void Process::GiveBack(ThreadRecorder* recorder) {
  if (IsForkChild()) return;
  if (IsOfThisSession(recorder)) {
    recorder->regions.ReturnTo(*recorder, 0);
    if (!recorder->is_first()) Counting(*recorder).Flush();
    recorder->shard->state = kShardFree;
  }
  // A thread may end within a call, in a handler that has interrupted it.
  recorder->state.busy = false;
  recorder->state.wrapped = Function::kNone;
  SpinlockHolder holder(threads_lock_);
  recorder->next_free = free_threads_;
  free_threads_ = recorder;
  // Asked again: a session that has begun meanwhile counts from none.
  if (IsOfThisSession(recorder)) live_threads_--;
}

// A handler that interrupted a record has forked, and the record ends here too. It is the parent's: here it counts in
// memory that nobody reads.
void Process::PartFromParent() {
  if (!IsRecorder(t_recorder) || !t_recorder->state.busy) return;
  file_.Detach();
  g_event_log.Detach();
}

// What the calling thread's recorder, if it has one, has learned of stacks still holds. From here on it is another
// session: a recorder that is not the caller's counts in the parent's file until its thread, which forked and is not the
// first to record, is given a shard of this one. Those of the parent's other threads are left where they are: their memory
// is the child's copy, their threads are not here.
void Process::ContinueInChild() {
  threads_lock_.ResetInChild();
  MappedFile::Mapping parent;
  const bool made = MakeFileInChild(&parent);
  ThreadRecorder* const own = t_recorder;
  t_recorder = nullptr;
  if (made && IsRecorder(own)) own->session = session_;
  __atomic_store_n(&g_alive.session, session_, __ATOMIC_RELEASE);
  if (!made) return;
  if (IsRecorder(own)) Adopt(own);
  // No record is under way, but a unit may be, in which a handler has forked or which another thread of the child counts.
  parent.LeaveZeros(Section::kUnits);
  MappedFile::Unmap(parent);
}

bool Process::MakeFileInChild(MappedFile::Mapping* parent) {
  // A system call that a sandbox refuses may come to allocate.
  const SpinlockHolder holder(threads_lock_);
  ++session_;
  pages_lock_.ResetInChild();
  timeline_.lock().ResetInChild();
  file_.ResetLock();
  // Two of them may be more than a limit allows.
  GiveBackRoom();
  const uint64_t joined = header().joined;
  char parent_name[sizeof(Header::parent_file)];
  strcpy(parent_name, file_.name());
  if (!file_.Create(folder_, parent)) {
    __atomic_fetch_add(&header().unrecorded_children, 1, __ATOMIC_RELAXED);
    g_recording = g_recording_all = false;
    // The rest is not the parent's: what a record under way loses, say.
    file_.Detach();
    return false;
  }
  Header& child = header();
  if (g_event_log.wanted()) {
    const SpinlockHolder room(file_.room_lock());
    child.log = g_event_log.CreateInChild(folder_, file_.name()) ? kLogKept : kLogRefused;
  }
  strcpy(child.parent_file, parent_name);
  first_shard_ += shard_count_;
  first_owner_ += owner_count_;
  shard_count_ = owner_count_ = 0;
  child.parent_shards = first_shard_;
  child.parent_nodes = stacks_.node_count();
  child.parent_stacks = stacks_.stack_count();
  child.parent_modules = modules_.count();
  child.joined = joined;
  g_sampler.StartIn(&file_, session_);
  stacks_.ContinueIn(&file_);
  modules_.ContinueIn(&file_);
  regions_.ContinueIn(&file_);
  units_.StartIn(&file_);
  timeline_.StartIn(&header());
  ForgetThreads();
  live_threads_ = 0;
  g_cpu_sampler.ContinueInChild();
  CountCallsIn(&units_);
  return true;
}

bool Process::CopyTo(const char* folder) {
  const MappedFile::Inherited inherited[] = {
      {Section::kSteps, stacks_.first_node(),
       [](void* items) { g_process.stacks_.InheritedSteps(static_cast<Step*>(items)); }, false},
      {Section::kStacks, stacks_.first_stack(),
       [](void* items) { g_process.stacks_.InheritedStacks(static_cast<uint32_t*>(items)); }, false},
      {Section::kModules, modules_.first(),
       [](void* items) { g_process.modules_.InheritedModules(static_cast<ModuleEntry*>(items)); }, false},
      {Section::kStrings, modules_.first_string(),
       [](void* items) { g_process.modules_.InheritedStrings(static_cast<char*>(items)); }, true},
      {Section::kRegions, regions_.first() - 1,
       [](void* items) {
         const RegionTable& regions = g_process.regions_;
         for (RegionId region = 1; region < regions.first(); ++region)
           static_cast<RegionItem*>(items)[region - 1] = regions.At(region);
       },
       false},
  };
  return file_.CopyTo(folder, inherited);
}

// In rank order.
Spinlock& Process::LockAt(size_t index) {
  Spinlock* const all[kLocks] = {&threads_lock_,   &timeline_.lock(), &stacks_.lock(), &modules_.lock(),
                                 &regions_.lock(), &units_.lock(),    &pages_lock_,    &file_.grow_lock()};
  return *all[index];
}

bool Process::TryLockAll() {
  return TryLockForFork(kLocks, [this](size_t index) -> Spinlock& { return LockAt(index); });
}

void Process::UnlockAll(bool child) {
  UnlockAfterFork(kLocks, child, [this](size_t index) -> Spinlock& { return LockAt(index); });
}

bool Process::HoldsLock() {
  for (size_t i = 0; i < kLocks; ++i) {
    if (LockAt(i).HeldByThisThread()) return true;
  }
  return false;
}

bool Process::GiveBackRoom() {
  const os::SignalsBlocked quiet;
  if (!file_.TryLockRoom()) return false;
  const bool given = file_.GiveBackRoom();
  const bool given_by_log = g_event_log.GiveBackRoom();
  file_.room_lock().Unlock();
  return given || given_by_log;
}

void KeepLog(uint64_t limit_bytes) { g_event_log.SetLimit(limit_bytes); }
void CountCalls(const char* functions) { CountCallsOf(functions, &g_process.units()); }

}  // namespace mallow::record
