// Functions like xmalloc, from each of which allocations of many callers start: where their return address lies. Who looks for
// a leaf entry that starts there begins with that word, which tells nearly all of them apart.
//
// A pc stays once it is in, and the next one with its place stays out: entries lie where a search finds them only as long as
// it begins as it did. Thread-compatible; all zero is empty.
#pragma once

#include "base/config.h"
#include "base/hash.h"
#include "record/rule_cache.h"

namespace mallow::record {

class Wrappers {
 public:
  // What Add was given for this pc, else 0.
  MALLOW_ALWAYS_INLINE uint32_t PlaceAt(FrameKey key) const {
    const Wrapper& wrapper = wrappers_[SlotOf(key)];
    return wrapper.key == key ? wrapper.place : 0;
  }

  // The return address lies `place` words above the one below sp. False: nothing has changed.
  bool Add(FrameKey key, uint32_t place) {
    Wrapper& wrapper = wrappers_[SlotOf(key)];
    if (wrapper.key != 0) return false;
    wrapper = {key, place};
    return true;
  }

 private:
  static constexpr unsigned kBits = 6;
  struct Wrapper {
    FrameKey key;
    uint32_t place;
  };

  static MALLOW_ALWAYS_INLINE size_t SlotOf(FrameKey key) { return HashToTop(key) >> (64 - kBits); }

  Wrapper wrappers_[1 << kBits] = {};
};

}  // namespace mallow::record
