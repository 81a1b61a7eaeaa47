// Reading the words of a stack that may be damaged.
//
// A walk over a sound stack reads only words of live frames, which are there. A damaged one may lead anywhere,
// and must not make the program fault. So a word is read plainly only inside the *own range*: pages of the stack that
// the system gave the thread, from its end down to the lowest that a capture began at, which were found readable one
// after the other, without a gap. That stack stays while the thread does. Everything else (a coroutine's stack, a signal
// handler's, rubbish) is asked about first, page by page and anew in every capture: the program may take it away, whole
// or in part, and what lies beside it. But for the *live page*, where the capture's stack pointer is.
//
// One per thread; async-signal-unsafe (the owner sees to that).
#pragma once

#include "base/config.h"

namespace mallow::record {

class StackMemory {
 public:
  // Starts a capture at stack pointer `sp`, which is live: the word below it holds a return address.
  MALLOW_ALWAYS_INLINE void Begin(uintptr_t sp) {
    live_page_ = PageOf(sp - sizeof(uintptr_t));
    asked_count_ = 0;
    if (MALLOW_UNLIKELY(!InOwnRange(sp - sizeof(uintptr_t))))
      StretchTo(sp - sizeof(uintptr_t), kFarthestLive);
  }

  MALLOW_ALWAYS_INLINE bool InOwnRange(uintptr_t address) const { return address - low_ < high_ - low_; }

  // Whether `address` lies in the own range or a little below it with no gap between.
  bool IsOnOwnStack(uintptr_t address) { return InOwnRange(address) || StretchTo(address, kFarthest); }

  // The word at `address`. False if it is not aligned or cannot be read.
  MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE bool Read(uintptr_t address, uintptr_t* value) {
    if (MALLOW_UNLIKELY(address % sizeof(uintptr_t) != 0 || !InOwnRange(address)) && !Ask(address))
      return false;
    *value = *reinterpret_cast<const uintptr_t*>(address);
    return true;
  }

  // The own range of the thread that has it; changes with Forget, never 0.
  uint32_t home() const { return owners_ | 1; }
  // Where a word lies: home(), or what stands for the live page, or 0. What lies where the word does can be read as
  // well, in this capture and in every other that says the same of the word below its stack pointer.
  uint32_t HomeOf(uintptr_t address) const {
    if (InOwnRange(address)) return home();
    return PageOf(address) == live_page_ ? LiveHome() : 0;
  }
  // Whether all that lies at that home can be read in this capture.
  MALLOW_ALWAYS_INLINE bool IsPlain(uint32_t home) const {
    return MALLOW_LIKELY(home == this->home()) || (home != 0 && home == LiveHome());
  }

  // Forgets everything, for a thread that takes over from another one.
  void Forget() {
    const uint32_t owners = owners_ + 2;
    *this = StackMemory();
    owners_ = owners;
  }

 private:
  static constexpr uintptr_t kPageBits = 12;  // of the smallest page of the platform
  static constexpr uintptr_t kPage = uintptr_t{1} << kPageBits;
  static constexpr unsigned kMostAsked = 4;
  // How far below the own range a stack pointer that is live may lie, and any other address. To ask about a page below all
  // that the first thread has used yet makes its stack grow.
  static constexpr uintptr_t kFarthestLive = uintptr_t{64} << 20, kFarthest = uintptr_t{256} << 10;

  static constexpr uintptr_t PageOf(uintptr_t address) { return address & ~(kPage - 1); }
  // Even; 0 for a page whose number has other upper bits than all that the system gives programs without being told where,
  // so that no two pages have one.
  uint32_t LiveHome() const {
    constexpr unsigned kBits = 31;
    constexpr uintptr_t kUpper = uintptr_t{0x7fff'ffff'ffff} >> kPageBits >> kBits;
    const uintptr_t number = live_page_ >> kPageBits;
    return number >> kBits == kUpper ? static_cast<uint32_t>(number << 1) : 0;
  }

  bool StretchTo(uintptr_t address, uintptr_t farthest);
  bool Ask(uintptr_t address);

  uintptr_t low_ = 0, high_ = 0;  // the own range: page-aligned, [low, high)
  uintptr_t nothing_below_ = 0;   // where the stack was found to begin
  uint32_t owners_ = 0;           // twice as many as there have been
  uintptr_t live_page_ = 0;
  // Found readable in this capture, outside the own range and the live page; the latest take the place of the first.
  uintptr_t asked_pages_[kMostAsked] = {};
  unsigned asked_count_ = 0;
};

}  // namespace mallow::record
