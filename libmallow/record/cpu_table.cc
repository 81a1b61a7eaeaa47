#include "record/cpu_table.h"

#include "base/config.h"
#include "base/hash.h"
#include "os/memory.h"
#include "record/mapped_file.h"

namespace mallow::record {
namespace {

constexpr uint64_t kFirstSlots = 256;

}  // namespace

bool CpuTable::StartIn(MappedFile* file) {
  lock_.ResetInChild();
  if (slots_ != nullptr) os::Unmap(slots_, capacity_ * sizeof(Slot));
  slots_ = nullptr;
  file_ = nullptr;
  capacity_ = count_ = 0;
  if (!MakeRoom()) {
    file->header()->incomplete |= kCpuSamplesFull;
    return false;
  }
  if (!file->Grow(Section::kCpuSamples, 1, kCpuSamplesFull)) return false;
  file_ = file;
  NewSample(kRoot, CpuPart::kNoRoom);  // item 0: what finds no other has it at least
  // A sample within a lock of the recorder, perhaps that of the file, must find its item.
  NewSample(kRoot, CpuPart::kRecorder);
  NewSample(kRoot, CpuPart::kSampler);
  return true;
}

CpuTable::Slot& CpuTable::Find(uint64_t key) const {
  for (uint64_t i = HashWord(key);; ++i) {
    Slot& slot = slots_[i & (capacity_ - 1)];
    if (slot.key_plus_one == key + 1 || slot.key_plus_one == 0) return slot;
  }
}

void CpuTable::AddTo(uint64_t item, uint64_t nanoseconds, uint64_t samples) {
  if (file_ == nullptr) return;
  CpuSample& sample = file_->Items<CpuSample>(Section::kCpuSamples)[item];
  __atomic_fetch_add(&sample.nanoseconds, nanoseconds, __ATOMIC_RELAXED);
  __atomic_fetch_add(&sample.samples, samples, __ATOMIC_RELAXED);
}

void CpuTable::Add(NodeId node, CpuPart part, uint64_t nanoseconds, uint64_t samples) {
  // Who has the lock may wait for that of the file, and who is sampled may have that one: a fork holds it.
  if (node == kRoot && part == CpuPart::kRecorder) return AddTo(1, nanoseconds, samples);
  if (node == kRoot && part == CpuPart::kSampler) return AddTo(2, nanoseconds, samples);
  SpinlockHolder holder(lock_);
  if (file_ == nullptr) return;
  const Slot& slot = Find(Key(node, part));
  CpuSample* sample = slot.key_plus_one != 0 ? file_->Items<CpuSample>(Section::kCpuSamples) + slot.item
                                             : NewSample(node, part);
  if (sample == nullptr) sample = file_->Items<CpuSample>(Section::kCpuSamples);
  sample->nanoseconds += nanoseconds;
  sample->samples += samples;
}

CpuSample* CpuTable::NewSample(NodeId node, CpuPart part) {
  if ((count_ + 1) * 2 > capacity_ && !MakeRoom()) return nullptr;
  if (!file_->Grow(Section::kCpuSamples, count_ + 1, kCpuSamplesFull)) return nullptr;
  CpuSample* sample = file_->Items<CpuSample>(Section::kCpuSamples) + count_;
  *sample = {node, static_cast<uint32_t>(part), 0, 0, 0};
  Find(Key(node, part)) = {Key(node, part) + 1, count_};
  file_->SetUsed(Section::kCpuSamples, ++count_);
  return sample;
}

bool CpuTable::MakeRoom() {
  Slot* const old = slots_;
  const uint64_t old_capacity = capacity_;
  const uint64_t wider = old == nullptr ? kFirstSlots : old_capacity * 2;
  void* memory = os::Map(nullptr, wider * sizeof(Slot));
  if (memory == nullptr) return false;
  slots_ = static_cast<Slot*>(memory);
  capacity_ = wider;
  for (uint64_t i = 0; i < old_capacity; ++i) {
    if (old[i].key_plus_one != 0) Find(old[i].key_plus_one - 1) = old[i];
  }
  if (old != nullptr) os::Unmap(old, old_capacity * sizeof(Slot));
  return true;
}

}  // namespace mallow::record
