#include "record/region.h"

#include <string.h>

#include "base/hash.h"
#include "os/memory.h"
#include "record/mapped_file.h"
#include "record/process.h"
#include "record/quiet_holder.h"
#include "record/thread_recorder.h"

namespace mallow::record {
namespace {

constexpr size_t kMostNameBytes = sizeof(RegionItem::name);

}  // namespace

void RegionTable::StartIn(MappedFile* file) {
  count_ = 1;
  if (Slot* slots = slots_.load(std::memory_order_relaxed))
    memset(static_cast<void*>(slots), 0, kSlots * sizeof(Slot));
  ContinueIn(file);
}

void RegionTable::ContinueIn(MappedFile* file) {
  file_ = file;
  first_ = count_;
  file->header()->first_region = first_;
}

RegionTable::Name RegionTable::NameOf(const char* text) {
  const auto bytes = static_cast<uint32_t>(strnlen(text, kMostNameBytes));
  return {text, bytes, HashText(text, bytes)};
}

bool RegionTable::Is(RegionId region, const Name& name) const {
  const RegionItem& item = known_[region];
  return item.name_bytes == name.bytes && memcmp(item.name, name.text, name.bytes) == 0;
}

// `*slot`: where the search ended.
RegionId RegionTable::Find(RegionId outer, const Name& name, uint32_t* slot) const {
  Slot* slots = slots_.load(std::memory_order_acquire);
  if (slots == nullptr) return kNoRegion;
  for (uint64_t i = HashWords(outer, name.hash);; ++i) {
    *slot = static_cast<uint32_t>(i % kSlots);
    const RegionId region = slots[*slot].region.load(std::memory_order_acquire);
    if (region == kNoRegion) return kNoRegion;
    if (slots[*slot].hash == name.hash && known_[region].outer == outer && Is(region, name)) return region;
  }
}

RegionId RegionTable::Around(RegionId region, const Name& name) const {
  while (region != kNoRegion && !Is(region, name)) region = known_[region].outer;
  return region;
}

RegionTable::Entered RegionTable::Enter(RegionId outer, const char* text) {
  const Name name = NameOf(text);
  uint32_t slot;
  if (RegionId found = Find(outer, name, &slot)) return {found, found};
  if (RegionId named = Around(outer, name)) return {outer, named};
  if (RegionId added = Add(outer, name)) return {added, added};
  return {outer, kNoRegion};
}

RegionId RegionTable::Add(RegionId outer, const Name& name) {
  QuietHolder holder(lock_);
  if (g_process.IsLate()) return kNoRegion;
  const bool has_room = MakeRoom();
  uint32_t slot;
  if (RegionId found = Find(outer, name, &slot)) return found;
  const uint32_t item = count_ - first_;
  if (!has_room || count_ >= kMost || !file_->Grow(Section::kRegions, item + 1, kRegionsFull)) {
    file_->header()->incomplete |= kRegionsFull;
    return kNoRegion;
  }
  RegionItem& known = known_[count_];
  known.outer = outer;
  known.name_bytes = name.bytes;
  memcpy(known.name, name.text, name.bytes);
  file_->Items<RegionItem>(Section::kRegions)[item] = known;
  file_->SetUsed(Section::kRegions, item + 1);
  Slot& free = slots_.load(std::memory_order_relaxed)[slot];
  free.hash = name.hash;
  free.region.store(count_, std::memory_order_release);
  return count_++;
}

bool RegionTable::MakeRoom() {
  if (slots_.load(std::memory_order_relaxed) != nullptr) return true;
  void* memory = os::Map(nullptr, kMost * sizeof(RegionItem) + kSlots * sizeof(Slot));
  if (memory == nullptr) return false;
  known_ = static_cast<RegionItem*>(memory);
  slots_.store(reinterpret_cast<Slot*>(known_ + kMost), std::memory_order_release);
  return true;
}

namespace {

void Open(ThreadRecorder& thread, RegionId region, uint64_t entries) {
  RegionFigures* figures = thread.FiguresOf(region);
  if (figures == nullptr) return;
  figures->entries += entries;
  figures->frees_at_entry = static_cast<int64_t>(thread.shard->frees);
  figures->live_blocks_at_entry = thread.shard->live_blocks;
  figures->live_bytes_at_entry = thread.shard->live_bytes;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  figures->open = 1;
}

void Close(ThreadRecorder& thread, RegionId region) {
  RegionFigures* figures = thread.FiguresOf(region);
  if (figures == nullptr || figures->open == 0) return;
  figures->open = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  figures->frees += static_cast<int64_t>(thread.shard->frees) - figures->frees_at_entry;
  figures->live_blocks += thread.shard->live_blocks - figures->live_blocks_at_entry;
  figures->live_bytes += thread.shard->live_bytes - figures->live_bytes_at_entry;
}

}  // namespace

void OpenRegions::Begin(ThreadRecorder& thread, const char* name) {
  const uint32_t level = depth_++;
  if (level >= kDeepest) {
    RegionFigures* figures = thread.FiguresOf(g_process.regions().Around(innermost_, name));
    if (figures != nullptr) {
      figures->entries++;
    } else {
      thread.header->incomplete |= kRegionsFull;
    }
    return;
  }
  outer_[level] = innermost_;
  const RegionTable::Entered entered = g_process.regions().Enter(innermost_, name);
  if (entered.innermost != innermost_) {
    innermost_ = entered.innermost;
    Open(thread, innermost_, 1);
  } else if (RegionFigures* figures = thread.FiguresOf(entered.named)) {
    figures->entries++;
  }
}

void OpenRegions::ReturnTo(ThreadRecorder& thread, uint32_t depth) {
  while (depth_ > depth) {
    if (--depth_ >= kDeepest) continue;
    const RegionId outer = outer_[depth_];
    if (outer == innermost_) continue;
    Close(thread, innermost_);
    innermost_ = outer;
  }
}

void OpenRegions::ContinueIn(ThreadRecorder& thread) {
  for (RegionId region = innermost_; region != kNoRegion; region = g_process.regions().OuterOf(region)) {
    Open(thread, region, 0);
  }
}

}  // namespace mallow::record
