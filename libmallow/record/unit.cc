#include "record/unit.h"

#include <string.h>

#include "base/hash.h"
#include "record/mapped_file.h"
#include "record/process.h"
#include "record/quiet_holder.h"

namespace mallow::record {

void UnitTable::StartIn(MappedFile* file) {
  file_ = file;
  for (std::atomic<UnitItem*>& slot : slots_) slot.store(nullptr, std::memory_order_relaxed);
}

UnitItem* UnitTable::Search(const char* name, size_t bytes, UnitSource source, uint32_t* slot) const {
  for (uint32_t i = HashText(name, bytes);; ++i) {
    *slot = i % kSlots;
    UnitItem* unit = slots_[*slot].load(std::memory_order_acquire);
    if (unit == nullptr) return nullptr;
    if (unit->source == source && unit->name_bytes == bytes && memcmp(unit->name, name, bytes) == 0)
      return unit;
  }
}

UnitItem* UnitTable::Find(const char* name, UnitSource source) const {
  uint32_t slot;
  return Search(name, strnlen(name, sizeof(UnitItem::name)), source, &slot);
}

UnitItem* UnitTable::Add(const char* name, UnitSource source) {
  QuietHolder holder(lock_);
  if (g_process.IsLate()) return nullptr;
  const size_t bytes = strnlen(name, sizeof(UnitItem::name));
  uint32_t slot;
  if (UnitItem* found = Search(name, bytes, source, &slot)) return found;
  const uint64_t item = file_->Used(Section::kUnits);
  if (item >= kMost || !file_->Grow(Section::kUnits, item + 1, kUnitsFull)) {
    file_->header()->incomplete |= kUnitsFull;
    return nullptr;
  }
  UnitItem& unit = file_->Items<UnitItem>(Section::kUnits)[item];
  unit.source = source;
  unit.name_bytes = static_cast<uint32_t>(bytes);
  memcpy(unit.name, name, bytes);
  file_->SetUsed(Section::kUnits, item + 1);
  slots_[slot].store(&unit, std::memory_order_release);
  return &unit;
}

}  // namespace mallow::record
