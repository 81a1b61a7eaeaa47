#include "record/frame_table.h"

#include "record/mapped_file.h"

namespace mallow::record {

bool FrameTable::Init(MappedFile* file) {
  file_ = file;
  words_.Clear();
  index_.Clear();
  if (!file->Grow(Section::kFrames, 1, kNodesFull)) return false;
  file->SetUsed(Section::kFrames, 1);  // none: all zero, as a sparse file is
  count_ = 1;
  return true;
}

// Where there is no room for them the file says so, and its nodes name frames that it lacks.
void FrameTable::ContinueIn(MappedFile* file) {
  file_ = file;
  if (!file->Grow(Section::kFrames, count_, kNodesFull)) return;
  FrameItem* const frames = file->Items<FrameItem>(Section::kFrames);
  for (FrameId id = 1; id < count_; ++id) frames[id] = At(id);
  file->SetUsed(Section::kFrames, count_);
}

FrameId FrameTable::Add(FrameItem frame) {
  if (const FrameId found = Find(frame); found != 0) return found;
  if (!words_.MakeRoom(count_) || !index_.MakeRoom()) {
    file_->header()->incomplete |= kNodesFull;
    return 0;
  }
  if (!file_->Grow(Section::kFrames, count_ + 1, kNodesFull)) return 0;
  file_->Items<FrameItem>(Section::kFrames)[count_] = frame;
  file_->SetUsed(Section::kFrames, count_ + 1);
  words_.At(count_).store(frame.word, std::memory_order_relaxed);
  index_.Put(Hash(frame), count_);
  return count_++;
}

}  // namespace mallow::record
