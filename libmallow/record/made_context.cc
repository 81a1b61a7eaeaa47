#include "record/made_context.h"

#include <ucontext.h>

#include <atomic>
#include <cstddef>

namespace mallow::record {

uintptr_t StartOfMadeContexts(UnwindScratch* scratch) {
  static std::atomic<uintptr_t> start{0};
  const uintptr_t known = start.load(std::memory_order_relaxed);
  if (known != 0) return known;

  struct Made {
    ucontext_t context;
    alignas(16) char stack[512];
  };
  static_assert(sizeof(Made) + alignof(Made) <= offsetof(UnwindScratch, code));
  scratch->progress = {};  // its rows make room
  const uintptr_t room = reinterpret_cast<uintptr_t>(scratch);
  Made* made = reinterpret_cast<Made*>((room + alignof(Made) - 1) & ~(alignof(Made) - 1));
  getcontext(&made->context);
  made->context.uc_stack.ss_sp = made->stack;
  made->context.uc_stack.ss_size = sizeof made->stack;
  made->context.uc_link = nullptr;
  makecontext(
      &made->context, [] {}, 0);
  const auto sp = static_cast<uintptr_t>(made->context.uc_mcontext.gregs[REG_RSP]);
  const uintptr_t found = *reinterpret_cast<const uintptr_t*>(sp);
  start.store(found, std::memory_order_relaxed);
  return found;
}

}  // namespace mallow::record
