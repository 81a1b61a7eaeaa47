// All frames of the process, each once: what the nodes of the stack table are made of. So a node names its frame in few bits,
// and a frame that lies in a hundred thousand paths is written once.
//
// Thread safety: Find and At without a lock, the latter for any id that the reader was given by an acquire; Add under the lock
// of the stack table.
#pragma once

#include "base/hash.h"
#include "record/block_array.h"
#include "record/id_index.h"
#include "record/image_format.h"

namespace mallow::record {

class MappedFile;

class FrameTable {
 public:
  // For the first process, and for each later session. False: no room.
  bool Init(MappedFile* file);
  // For a fork child: ids go on, and `file` is given all that there are.
  void ContinueIn(MappedFile* file);

  // 0: there is none, or none that was published yet.
  FrameId Find(FrameItem frame) const {
    return index_.Find(Hash(frame), [&](FrameId id) { return At(id).word == frame.word; });
  }
  // The same, made if it is new; 0: no room.
  FrameId Add(FrameItem frame);
  FrameItem At(FrameId id) const { return {words_.At(id).load(std::memory_order_relaxed)}; }

 private:
  static constexpr uint32_t kMost = 1u << kFrameIdBits;

  static uint32_t Hash(FrameItem frame) { return static_cast<uint32_t>(HashWord(frame.word) >> 32); }

  BlockArray<std::atomic<uint64_t>, kMost> words_;
  IdIndex index_;
  uint32_t count_ = 0;  // next id
  MappedFile* file_ = nullptr;
};

}  // namespace mallow::record
