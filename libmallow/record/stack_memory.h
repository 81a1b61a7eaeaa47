// Reading the words of a stack that may be damaged.
//
// A walk over a sound stack reads only words of live frames, which are there. A damaged one may lead anywhere,
// and must not make the program fault. So a word is read plainly only inside the *own range*: pages around
// the present stack pointer that were found readable one after the other, without a gap. Everything else
// (a signal handler's view of the interrupted stack, the resumer of a coroutine, rubbish) is asked about first,
// page by page and anew in every capture.
//
// The own range grows as frames are met and is kept between captures; the ranges of a few other stacks of the thread
// are remembered for the return to them. One per thread; async-signal-unsafe (the owner sees to that).
#pragma once

#include "base/config.h"

namespace mallow::record {

class StackMemory {
 public:
  // Starts a capture at stack pointer `sp`, which is live: the word below it holds a return address.
  MALLOW_ALWAYS_INLINE void Begin(uintptr_t sp) {
    asked_page_ = kNoPage;
    if (MALLOW_UNLIKELY(!InOwnRange(sp - sizeof(uintptr_t)))) SwitchTo(sp - sizeof(uintptr_t));
  }

  MALLOW_ALWAYS_INLINE bool InOwnRange(uintptr_t address) const {
    return address - own_.low < own_.high - own_.low;
  }

  // Whether `address` lies in the own range or a little below it with no gap between: on the same stack.
  bool IsOnOwnStack(uintptr_t address) { return InOwnRange(address) || StretchDownTo(address); }

  // The word at `address`. False if it is not aligned or cannot be read.
  MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE bool Read(uintptr_t address, uintptr_t* value) {
    if (MALLOW_UNLIKELY(address % sizeof(uintptr_t) != 0 || !InOwnRange(address)) && !Ask(address))
      return false;
    *value = *reinterpret_cast<const uintptr_t*>(address);
    return true;
  }

  // Asks, whatever was known: a part of a stack that is not in use any more may be gone.
  bool IsReadableNow(uintptr_t address);

  // Changes whenever another range becomes the own one; never 0 after the first Begin.
  uint32_t home() const { return home_; }

  // Forgets everything, for a thread that takes over from another one.
  void Forget() {
    const uint32_t home = home_;
    *this = StackMemory();
    home_ = home;
  }

 private:
  struct Range {
    uintptr_t low = 0, high = 0;  // page-aligned, [low, high)
  };
  static constexpr unsigned kOthers = 4;
  static constexpr uintptr_t kNoPage = 1;

  void SwitchTo(uintptr_t address);
  bool StretchDownTo(uintptr_t address);
  bool Ask(uintptr_t address);

  Range own_;
  Range others_[kOthers];  // latest first
  uint32_t home_ = 0;
  uintptr_t asked_page_ = kNoPage;  // readable in this capture, outside the own range
};

}  // namespace mallow::record
