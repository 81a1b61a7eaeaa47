#include "record/control.h"

#include <string.h>

#include "base/spinlock.h"
#include "base/text.h"
#include "heap/hit_switch.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/memory.h"
#include "os/thread.h"
#include "record/process.h"
#include "record/recorder.h"
#include "record/sampling.h"

namespace mallow::record {
namespace {

constinit const std::atomic<uint32_t> not_started{1};
// In a fork child, until it has a control file of its own.
constinit const std::atomic<uint32_t> forked{1};

// The first page of the control file as format/control.md specifies it; the second is the hit page.
struct ControlPage {
  char magic[8];
  uint32_t version;
  uint32_t file_bytes;
  uint64_t pid;
  uint64_t start_realtime;
  uint32_t table_offset, table_bytes;  // of the table, in the file
  char unused0[24];
  std::atomic<uint32_t> attention;     // written by who gives orders, cleared by the process
  std::atomic<uint32_t> order_number;  // raised when the order below is complete
  std::atomic<uint32_t> order;
  std::atomic<uint32_t> done_number;  // of the last order that was carried out
  std::atomic<uint32_t> result;
  std::atomic<uint32_t> recording;  // 1 while it is
  uint64_t sample;  // argument of the order to start: mean bytes between samples, 0: record every call
  char unused1[32];
  char folder[2048];  // argument of the order, zero-terminated
};
static_assert(offsetof(ControlPage, attention) == 64);
static_assert(offsetof(ControlPage, folder) == 128);
static_assert(sizeof(ControlPage) <= heap::kHitPageBytes);

constexpr char kMagic[8] = {'M', 'A', 'L', 'L', 'O', 'W', 'C', 'T'};
constexpr uint32_t kVersion = 1;
constexpr size_t kFileBytes = 2 * heap::kHitPageBytes;
enum Order : uint32_t { kNone = 0, kStart = 1, kStop = 2 };

class Control {
 public:
  Spinlock& lock() { return lock_; }

  bool Open(const char* folder);
  void Attend();
  void Close();
  void AfterForkInChild();
  void AwaitOrders() {
    g_attention.store(page_ != nullptr ? &page_->attention : &no_orders, std::memory_order_release);
  }
  // With the lock held, after every change.
  void TellState() {
    if (page_ != nullptr) page_->recording.store(g_recording, std::memory_order_relaxed);
  }

 private:
  bool Make();
  int MakeFile(uint64_t now);
  void Obey();
  ControlResult Carry(uint32_t order);
  void MendTable();
  void LeaveHitPage();
  // Not in a vfork child, which shares our memory.
  bool IsForkChild() const { return *alive_ == 0; }

  ControlPage* page_ = nullptr;
  uint64_t* alive_ = nullptr;  // in a page that a fork wipes
  Spinlock lock_{LockRank::kControl};
  // Not on the stack, which may be a small one.
  char folder_[4096] = {};
  uint32_t user_ = 0;  // who made the file
  char path_[4096 + 128] = {};
  char argument_[sizeof(ControlPage::folder)] = {};
};

constinit Control control;
constinit bool to_the_end = false;

bool Control::Open(const char* folder) {
  if (os::PageSize() != heap::kHitPageBytes || strlen(folder) >= sizeof(folder_)) return false;
  strcpy(folder_, folder);
  os::NoteFirstThread();
  alive_ = static_cast<uint64_t*>(os::Map(nullptr, os::PageSize()));
  return alive_ != nullptr && os::WipeOnFork(alive_, os::PageSize()) == 0 && Make();
}

int Control::MakeFile(uint64_t now) {
  int fd = -1;
  for (uint64_t sequence = 0; fd < 0; sequence++) {
    TextWriter text(path_, sizeof(path_));
    text.Append(folder_).Append("/control-").AppendDecimal(static_cast<uint64_t>(os::ProcessId()));
    text.Append("-").AppendDecimal(now).Append("-").AppendDecimal(sequence);
    if (text.truncated()) return -1;
    constexpr int kTaken = -17;  // EEXIST
    fd = os::CreateExclusive(path_, 0600);
    if (fd < 0 && fd != kTaken) return fd;
  }
  return fd;
}

bool Control::Make() {
  const uint64_t now = os::RealtimeNanoseconds();
  if (os::FileSizeLimit() < kFileBytes) return false;
  const int fd = MakeFile(now);
  if (fd < 0) return false;
  void* const memory = os::Truncate(fd, kFileBytes) == 0 ? os::MapShared(fd, kFileBytes) : nullptr;
  bool made = memory != nullptr && os::Populate(memory, kFileBytes) == 0;
  if (made) {
    char* const hit_page = static_cast<char*>(memory) + heap::kHitPageBytes;
    heap::CopyHitPage(hit_page);
    made = os::MapSharedOver(heap::HitPage(), heap::kHitPageBytes, fd, heap::kHitPageBytes);
  }
  os::Close(fd);
  if (!made) {
    if (memory != nullptr) os::UnmapShared(memory, kFileBytes);
    os::Unlink(path_);
    return false;
  }
  auto* const page = static_cast<ControlPage*>(memory);
  const heap::HitTable table = heap::GetHitTable();
  page->version = kVersion;
  page->file_bytes = kFileBytes;
  page->pid = static_cast<uint64_t>(os::ProcessId());
  page->start_realtime = now;
  page->table_offset = static_cast<uint32_t>(heap::kHitPageBytes + table.offset);
  page->table_bytes = static_cast<uint32_t>(table.bytes);
  page->recording.store(g_recording, std::memory_order_relaxed);
  user_ = os::UserId();
  // Last: a file with the magic is a whole one.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  memcpy(page->magic, kMagic, sizeof(kMagic));
  if (page_ != nullptr) os::UnmapShared(page_, kFileBytes);
  page_ = page;
  *alive_ = 1;
  return true;
}

void Control::AfterForkInChild() {
  if (page_ != nullptr && IsForkChild()) g_attention.store(&forked, std::memory_order_release);
}

void Control::Attend() {
  if (page_ == nullptr) return;
  // A handler that interrupted a record: that has to end in its own file first.
  if (IsRecorder(t_recorder) && t_recorder->state.busy) return;
  if (!lock_.TryLock()) return;
  if (!IsForkChild()) {
    Obey();
  } else if (Make()) {
    AwaitOrders();
  } else {
    LeaveHitPage();
    g_attention.store(&no_orders, std::memory_order_release);
  }
  lock_.Unlock();
}

// Who gives an order writes it, then its number, then attention, then zeros into the table. So an order that comes in the
// middle of this is seen either by the look at its number or by the last one at attention.
void Control::Obey() {
  if (static_cast<uint64_t>(os::ProcessId()) != page_->pid) return;  // a vfork child
  do {
    page_->attention.store(0, std::memory_order_seq_cst);
    const uint32_t number = page_->order_number.load(std::memory_order_acquire);
    if (number != page_->done_number.load(std::memory_order_relaxed)) {
      // Taken away, so that who gave the order can take back only what nobody has begun.
      const ControlResult result = Carry(page_->order.exchange(kNone, std::memory_order_relaxed));
      TellState();
      page_->result.store(static_cast<uint32_t>(result), std::memory_order_relaxed);
      page_->done_number.store(number, std::memory_order_release);
    }
    MendTable();
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } while (page_->attention.load(std::memory_order_relaxed) != 0);
}

ControlResult Control::Carry(uint32_t order) {
  if (order == kStop) {
    if (!g_recording) return ControlResult::kNotRecording;
    Leave();
    return ControlResult::kDone;
  }
  if (order != kStart) return ControlResult::kBadOrder;
  if (g_recording) return ControlResult::kRecording;
  memcpy(argument_, page_->folder, sizeof(argument_));
  argument_[sizeof(argument_) - 1] = '\0';
  return argument_[0] == '/' && Join(argument_, page_->sample) ? ControlResult::kDone
                                                               : ControlResult::kCannotRecord;
}

void Control::MendTable() { heap::CopyHitTable(reinterpret_cast<char*>(page_) + page_->table_offset); }

// For a fork child without a file: what orders to the parent write into its page, the parent may not be there to mend.
void Control::LeaveHitPage() {
  char* const page = static_cast<char*>(heap::HitPage());
  if (os::MapCopyOver(page, heap::kHitPageBytes)) heap::CopyHitTable(page + heap::GetHitTable().offset);
}

void Control::Close() {
  if (page_ == nullptr || IsForkChild() || static_cast<uint64_t>(os::ProcessId()) != page_->pid) return;
  // A fork child that has made no slow call yet looks at this file, and nobody will find it: with its next call it makes one.
  memset(reinterpret_cast<char*>(page_) + page_->table_offset, 0, page_->table_bytes);
  // Another user cannot take it away, and a filter of the process may kill it for trying.
  if (os::UserId() == user_) os::Unlink(path_);
}

}  // namespace

constinit const std::atomic<uint32_t> no_orders{0};
constinit std::atomic<const std::atomic<uint32_t>*> g_attention{&not_started};

bool OpenControl(const char* folder) { return control.Open(folder); }
void AwaitOrders() { control.AwaitOrders(); }
void Attend() { control.Attend(); }
void RecordToTheEnd() { to_the_end = true; }
void CloseControl() { control.Close(); }

ControlResult StartRecording(const char* folder) {
  SpinlockHolder holder(control.lock());
  if (g_recording) return ControlResult::kRecording;
  const bool joined = Join(folder, 0);
  control.TellState();
  return joined ? ControlResult::kDone : ControlResult::kCannotRecord;
}

ControlResult StopRecording() {
  SpinlockHolder holder(control.lock());
  if (!g_recording) return ControlResult::kNotRecording;
  if (to_the_end) return ControlResult::kBadOrder;
  Leave();
  control.TellState();
  return ControlResult::kDone;
}

ControlResult Snapshot(const char* folder) {
  SpinlockHolder holder(control.lock());
  if (g_recording) g_process.Current();  // a fork child opens its file first
  if (!g_recording) return ControlResult::kNotRecording;
  return g_process.CopyTo(folder) ? ControlResult::kDone : ControlResult::kCannotRecord;
}

bool TryBeforeFork() {
  if (!control.lock().ForkLock()) return false;
  if (g_process.TryLockAll()) return true;
  control.lock().ForkUnlock(false);
  return false;
}

void AfterFork(bool child) {
  g_process.UnlockAll(child);
  control.lock().ForkUnlock(child);
}

void PartFromParent() {
  g_process.PartFromParent();
  control.AfterForkInChild();
  Sampler::ForgetInChild();
}

}  // namespace mallow::record
