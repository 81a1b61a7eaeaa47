#include "heap/thread_cache.h"

#include <string.h>

#include "base/check.h"
#include "heap/large.h"
#include "heap/page_heap.h"
#include "heap/reclaim.h"
#include "heap/shared_lists.h"
#include "heap/statistics.h"
#include "heap/thread_registry.h"
#include "os/clock.h"
#include "os/memory.h"

namespace mallow::heap {
namespace internal {
namespace {

constexpr EmptyCache MakeEmptyCache() {
  EmptyCache cache = {};
  cache.cursors.large = LargeCache::Full();
  cache.classes = kSizeClasses.by_size;
  return cache;
}

}  // namespace

constinit EmptyCache empty_cache = MakeEmptyCache();

}  // namespace internal

namespace {

constexpr size_t kFirstBudget = 1024 * 1024;
// A collection looks at every bin, so it must be rare beside the fetching that it follows: a fetch of long
// objects counts no more than this.
constexpr size_t kBytesPerCollection = 1024 * 1024;
constexpr size_t kMostBytesPerFetch = 16 * 1024;
// The first objects that a thread frees of a class of which it has never been given any are another thread's. The rest of
// their cache lines is that thread's still, or a third one's: who kept them would go on in these lines.
constexpr uint8_t kStrangers = 4;
// A bin that is full again and was not empty in between takes in what other threads allocate. Each object that it keeps is one
// that they have to take elsewhere, and cold when its turn comes: with so much room it grows no more, and keeps little.
constexpr size_t kRoomToTakeIn = 32;
constexpr size_t kShareTakenIn = 8;
// Together the first objects of longer classes may take so many budgets.
constexpr size_t kLongestBeyondBudget = kPageBytes;
constexpr size_t kFirstOfLong = 2;
// The longest objects that stay for the next thread, when they are few and when they are more.
constexpr size_t kFewBytes = 1024 * 1024;
constexpr size_t kLongestOfFew = kPageBytes;
constexpr size_t kLongestOfMany = 256;

// At most once per interval, however many threads come by: what goes back is half of what was idle since the last time.
void ReleaseIdleEverywhere(uint64_t now_nanoseconds) {
  static constinit uint64_t last = 0;
  if (now_nanoseconds - __atomic_load_n(&last, __ATOMIC_RELAXED) < page_heap.release_interval()) return;
  __atomic_store_n(&last, now_nanoseconds, __ATOMIC_RELAXED);
  thread_registry.ReleaseWarm();
  for (SizeClass c = 1; c < kClassCount; ++c) {
    ForTransferCaches(c, [c](TransferCache& cache) { cache.ReleaseIdle(c); });
    shared_lists[c].central.GiveBackUnused();
  }
  thread_registry.ReleaseIdleSpares();
}

// Fresh pages are taken: what becomes whole now serves later requests, of other classes too, before more of them do. Of
// other spans goes back what lies in whole pages.
void MakeSpansWhole() {
  EmptySharedCaches();
  if (page_heap.release_interval() == 0) return;
  for (SizeClass c = 1; c < kClassCount; ++c) shared_lists[c].central.GiveBackUnused();
}

}  // namespace

// The bins it leaves untouched: most of them in a small program for ever.
void ThreadCache::Begin() {
  capacity_bytes_ = fetched_ = 0;
  short_of_room_ = false;
  budget_ = Min(kFirstBudget, thread_registry.BudgetPerThread());
  cursors_.large.SetMost(thread_registry.LargePagesPerThread());
  watch_.Stop();
}

void ThreadCache::Reset() {
  for (SizeClass c = 0; c < kClassCount; ++c) {
    cursors_.SetCursor(c, nullptr);
    cursors_.newest(c) = nullptr;
    StoreCapacity(c, 0);
    bins_[c].hidden = 0;
    bins_[c].left = 0;
    bins_[c].active = false;
    bins_[c].moving = false;
    bins_[c].overflowed = false;
    bins_[c].strangers = 0;
  }
  Begin();
}

size_t ThreadCache::Length(SizeClass size_class) const {
  void** const cursor = cursors_.cursor(size_class);
  // Of a bin that was never used nothing else is touched.
  if (cursor == nullptr) return 0;
  const size_t capacity = Capacity(size_class);
  if (capacity == 0) return 0;
  return static_cast<size_t>(cursor - const_cast<ThreadCache*>(this)->BottomAt(size_class, capacity));
}

void ThreadCache::Hide(SizeClass size_class) {
  const size_t length = Length(size_class);
  if (length == 0) return;
  Bin& bin = bins_[size_class];
  SetMoving(size_class, true);
  bin.hidden = static_cast<uint16_t>(DivideUp(length, 2));
  void*& slot = Slot(size_class, bin.hidden - 1u);
  *Bottom(size_class) = slot;
  slot = nullptr;
  SetMoving(size_class, false);
}

void ThreadCache::Unhide(SizeClass size_class) {
  Bin& bin = bins_[size_class];
  if (bin.hidden == 0) return;
  SetMoving(size_class, true);
  void** const bottom = Bottom(size_class);
  Slot(size_class, bin.hidden - 1u) = *bottom;
  *bottom = nullptr;
  bin.hidden = 0;
  SetMoving(size_class, false);
}

// REQUIRES: nothing hidden, length <= capacity.
void ThreadCache::SetCapacity(SizeClass size_class, size_t capacity) {
  Bin& bin = bins_[size_class];
  const size_t length = Length(size_class);
  void** const bottom = BottomAt(size_class, capacity);
  SetMoving(size_class, true);
  memmove(bottom, Bottom(size_class), length * sizeof(void*));
  capacity_bytes_ += (capacity - bin.capacity) * Info(size_class).bytes;
  StoreCapacity(size_class, capacity);
  cursors_.SetCursor(size_class, bottom + length);
  SetMoving(size_class, false);
}

// The first few of a class are beyond the budget; of long classes those of all would be 6 MiB in each of many threads.
bool ThreadCache::MayGrow(SizeClass size_class, size_t capacity) const {
  const SizeClassInfo& info = Info(size_class);
  const size_t wished = capacity_bytes_ + (capacity - bins_[size_class].capacity) * info.bytes;
  if (capacity > info.first_cached) return wished <= budget_;
  return info.bytes <= kLongestBeyondBudget || wished <= kFirstOfLong * thread_registry.BudgetPerThread();
}

void ThreadCache::CountFetched(size_t bytes, bool large) {
  fetched_ += Min(bytes, kMostBytesPerFetch);
  const bool took_fresh = page_heap.TakeFreshSign();
  if (MALLOW_UNLIKELY(fetched_ >= kBytesPerCollection || (took_fresh && bytes >= kPageBytes)))
    CollectInPassing();
  else if (large)  // What is kept is of no use to a program that goes on with other lengths.
    cursors_.large.Collect();
  if (MALLOW_UNLIKELY(took_fresh)) MakeSpansWhole();
  if (MALLOW_UNLIKELY(page_heap.TakeTick())) ReleaseIdleEverywhere(os::CoarseNanoseconds());
  WatchIdle();
}

void ThreadCache::CollectInPassing() {
  Collect();
  const uint64_t now = os::CoarseNanoseconds();
  if (page_heap.IntervalIsOver(now)) page_heap.ReleaseDue(now);
  thread_registry.LetOthersWatch(now, page_heap.release_interval(), page_heap.wants_visits_of_all());
}

void ThreadCache::WatchIdle() {
  if (MALLOW_LIKELY(!page_heap.wants_visits())) return;
  // A watch over open hit paths is one that another thread opened meanwhile: it would see no call.
  if (!watching() || HitPathsAreOpen()) {
    watch_.Start(os::CoarseNanoseconds());
    CloseHitPaths();
  }
  if (page_heap.wants_visits_of_all())
    thread_registry.LetOthersWatch(os::CoarseNanoseconds(), page_heap.release_interval(), true);
}

void ThreadCache::Look() {
  const uint64_t now = os::CoarseNanoseconds();
  switch (watch_.Look(now, page_heap.release_interval(), page_heap.wants_visits())) {
    case IdleWatch::Step::kGoOn:
      return;
    case IdleWatch::Step::kCollect:
      page_heap.ReleaseDue(now);
      Collect();
      return ReleaseIdleEverywhere(now);
    case IdleWatch::Step::kStop:
      return thread_registry.EndWatch(this);
  }
}

void* ThreadCache::Refill(SizeClass size_class) {
  Bin& bin = bins_[size_class];
  bin.active = true;
  bin.overflowed = false;
  if (bin.hidden != 0) {
    Unhide(size_class);
    return Pop(size_class);
  }
  const SizeClassInfo& info = Info(size_class);
  const bool begins = bin.capacity == 0;
  const size_t wish = begins ? info.first_cached : Min<size_t>(bin.capacity * 2, info.max_cached);
  if (wish > bin.capacity && MayGrow(size_class, wish)) SetCapacity(size_class, wish);
  if (MALLOW_UNLIKELY(bin.capacity == 0)) return FetchOne(size_class);
  // Half full: the next calls may be of either kind.
  void** const bottom = Bottom(size_class);
  const size_t half = DivideUp(bin.capacity, 2);
  const size_t fetched =
      begins ? FetchFirstObjects(size_class, bottom + 1, half) : FetchObjects(size_class, bottom + 1, half);
  if (fetched == 0) return nullptr;
  bottom[0] = nullptr;
  void* const object = bottom[fetched];
  cursors_.newest(size_class) = bottom[fetched - 1];
  cursors_.SetCursor(size_class, bottom + fetched - 1);
  CountFetched(fetched * info.bytes);
  return object;
}

void* ThreadCache::FetchOne(SizeClass size_class) {
  short_of_room_ = true;
  void* object = nullptr;
  if (FetchObjects(size_class, &object, 1) == 1) CountFetched(Info(size_class).bytes);
  return object;
}

// REQUIRES: nothing hidden.
void ThreadCache::ReleaseOldest(SizeClass size_class, size_t count) {
  void** const bottom = Bottom(size_class);
  const size_t length = Length(size_class);
  if (count == 0) return;
  SetMoving(size_class, true);
  if (count == length) {
    bottom[0] = cursors_.newest(size_class);
    cursors_.newest(size_class) = nullptr;
    ReleaseObjects(size_class, bottom, count);
  } else {
    ReleaseObjects(size_class, bottom + 1, count);
    memmove(bottom + 1, bottom + 1 + count, (length - count - 1) * sizeof(void*));
  }
  cursors_.SetCursor(size_class, bottom + length - count);
  SetMoving(size_class, false);
}

// REQUIRES: the bin is not full.
void ThreadCache::Place(SizeClass size_class, void* object) {
  void** const cursor = cursors_.cursor(size_class);
  *cursor = cursors_.newest(size_class);
  cursors_.newest(size_class) = object;
  cursors_.SetCursor(size_class, cursor + 1);
}

void ThreadCache::Push(SizeClass size_class, void* object) {
  if (TryPush(size_class, object)) return;
  Bin& bin = bins_[size_class];
  // At a multiple of kBinBytes inside a long bin.
  if (Length(size_class) < bin.capacity) return Place(size_class, object);
  const SizeClassInfo& info = Info(size_class);
  if (bin.capacity == 0 && bin.strangers < kStrangers && SharesLines(size_class)) {
    ++bin.strangers;
    return shared_lists[size_class].central.Release(&object, 1);
  }
  const bool takes_in = bin.overflowed && bin.capacity >= kRoomToTakeIn;
  bin.active = bin.overflowed = true;
  Unhide(size_class);
  const size_t wish = bin.capacity == 0 ? info.first_cached : Min<size_t>(bin.capacity * 2, info.max_cached);
  if (wish > bin.capacity && !takes_in && MayGrow(size_class, wish)) {
    SetCapacity(size_class, wish);
  } else if (bin.capacity == 0) {
    short_of_room_ = true;
    ReleaseObjects(size_class, &object, 1);
    return CountFetched(info.bytes);
  } else {
    const size_t kept = bin.capacity / (takes_in ? kShareTakenIn : 2);
    const size_t released = bin.capacity - kept;
    ReleaseOldest(size_class, released);
    CountFetched(released * info.bytes);
  }
  Place(size_class, object);
}

// Room goes with time where nobody used the bin, not where all calls were hits: such a bin is as long as it has to be.
void ThreadCache::CollectBin(SizeClass size_class) {
  Bin& bin = bins_[size_class];
  if (bin.capacity == 0) return;
  const bool unused = !bin.active && Length(size_class) == bin.left;
  if (bin.hidden != 0) {
    const size_t idle = bin.hidden;
    Unhide(size_class);
    ReleaseOldest(size_class, DivideUp(idle, 2));
  }
  if (unused) {
    const SizeClassInfo& info = Info(size_class);
    if (info.bytes > kLongestBeyondBudget && short_of_room_) return FlushBin(size_class);
    const size_t least = info.first_cached;
    SetCapacity(size_class, Max(Length(size_class), Clamp<size_t>(bin.capacity / 2, least, bin.capacity)));
  }
  bin.active = false;
  bin.left = static_cast<uint16_t>(Length(size_class));
  Hide(size_class);
}

void ThreadCache::Collect() {
  fetched_ = 0;
  budget_ = thread_registry.BudgetPerThread();
  for (SizeClass c = 1; c < kClassCount; ++c) CollectBin(c);
  cursors_.large.Collect();
  cursors_.large.SetMost(thread_registry.LargePagesPerThread());
  short_of_room_ = false;
}

void ThreadCache::FlushBin(SizeClass size_class) {
  if (bins_[size_class].capacity == 0) return;
  Unhide(size_class);
  ReleaseOldest(size_class, Length(size_class));
  SetCapacity(size_class, 0);
}

void ThreadCache::Flush() {
  for (SizeClass c = 1; c < kClassCount; ++c) FlushBin(c);
  cursors_.large.Flush();
  Reset();
}

void ThreadCache::ReleaseBins() {
  const uintptr_t start = RoundUp(reinterpret_cast<uintptr_t>(slots_), os::PageSize());
  const uintptr_t end = RoundDown(reinterpret_cast<uintptr_t>(this + 1), os::PageSize());
  if (start < end) os::Release(reinterpret_cast<void*>(start), end - start);
}

void ThreadCache::FlushLong() {
  const size_t longest = SmallBytes() <= kFewBytes ? kLongestOfFew : kLongestOfMany;
  for (SizeClass c = SizeClassOf(longest) + 1; c < kClassCount; ++c) FlushBin(c);
  cursors_.large.Flush();
  watch_.Stop();
}

size_t ThreadCache::SmallBytes() const {
  size_t bytes = 0;
  for (SizeClass c = 1; c < kClassCount; ++c) bytes += Length(c) * Info(c).bytes;
  return bytes;
}

void ThreadCache::AddTo(Statistics& total) const {
  total.kept_large_blocks += cursors_.large.count();
  total.kept_large_bytes += cursors_.large.pages() * kPageBytes;
  // A bin that its thread is just changing may look longer than it can be.
  for (SizeClass c = 1; c < kClassCount; ++c)
    total.classes[c].in_thread_caches += Min(Length(c), Capacity(c));
}

size_t ThreadCache::CopyObjects(SizeClass size_class, void** to, size_t most) const {
  const Bin& bin = bins_[size_class];
  const size_t length = Length(size_class);
  if (length == 0 || length > most || bin.moving) return 0;
  memcpy(to, Bottom(size_class) + 1, (length - 1) * sizeof(void*));
  to[length - 1] = cursors_.newest(size_class);
  if (bin.hidden != 0) to[bin.hidden - 1] = *Bottom(size_class);
  return length;
}

bool ThreadCache::IsValid() const {
  size_t capacity_bytes = 0;
  for (SizeClass c = 1; c < kClassCount; ++c) {
    const Bin& bin = bins_[c];
    if (bin.capacity == 0) continue;
    capacity_bytes += bin.capacity * Info(c).bytes;
    const size_t length = Length(c);
    void* const* const bottom = Bottom(c);
    if (bin.capacity > Info(c).max_cached || length > bin.capacity) return false;
    if (bin.hidden > length) return false;
    if (bin.hidden == 0 && (length == 0 ? cursors_.newest(c) : bottom[0]) != nullptr) return false;
    for (size_t i = 0; i < length; ++i) {
      const void* object = i + 1 == length ? cursors_.newest(c) : bottom[1 + i];
      if (i + 1 == bin.hidden) object = bottom[0];
      if (object == nullptr || PageMap::ClassOf(object) != c) return false;
    }
  }
  return capacity_bytes == capacity_bytes_ && cursors_.large.IsValid();
}

namespace {

void* AllocateSmall(SizeClass size_class) {
  ThreadCache* cache = CurrentCache();
  if (MALLOW_LIKELY(cache != nullptr)) {
    void* const object = cache->Pop(size_class);
    if (MALLOW_UNLIKELY(object == nullptr)) return cache->Refill(size_class);
    cache->Visit();
    return object;
  }
  void* object = nullptr;
  return FetchObjects(size_class, &object, 1) == 1 ? object : nullptr;
}

}  // namespace

void* AllocateSlow(size_t bytes) {
  if (MALLOW_UNLIKELY(bytes > kMaxSmallBytes)) return AllocateLarge(bytes);
  const SizeClass size_class = SizeClassOf(bytes);
  void* const object = AllocateSmall(size_class);
  if (MALLOW_LIKELY(object != nullptr) || !Reclaim(Info(size_class).pages)) return object;
  return AllocateSmall(size_class);
}

bool FreeSlow(void* p) {
  if (Span* span = LargeSpanAt(p)) {
    FreeLarge(span);
    return true;
  }
  const SizeClass size_class = PageMap::ClassOf(p);
  if (MALLOW_UNLIKELY(size_class == 0)) return p == nullptr || RefuseToFree(p);
  FreeOfClass(p, size_class);
  return true;
}

void FreeOfClass(void* p, SizeClass size_class) {
  ThreadCache* cache = CurrentCache();
  if (MALLOW_LIKELY(cache != nullptr)) {
    if (MALLOW_UNLIKELY(!cache->TryPush(size_class, p))) return cache->Push(size_class, p);
    cache->Visit();
    return;
  }
  ReleaseObjects(size_class, &p, 1);
}

}  // namespace mallow::heap
