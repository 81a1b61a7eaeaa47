// The kernel is asked directly: clock_gettime may be the program's own, which allocates, takes locks, or jumps. Only for
// coarse clocks by its vdso, which for others reads the processor's counter: that is a SIGSEGV where the program has
// forbidden itself to (PR_SET_TSC, strict seccomp).
#include "os/clock.h"

#include <link.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>

#include "base/syscall.h"
#include "os/symbol_table.h"

namespace mallow::os {
namespace {

using GetTime = int (*)(clockid_t clock, timespec* now);

int AskKernel(clockid_t clock, timespec* now) {
  return static_cast<int>(SystemCall(SYS_clock_gettime, clock, reinterpret_cast<long>(now)));
}

// AskKernel where the kernel offers no vdso.
GetTime FindGetTime() {
  const auto* elf = reinterpret_cast<const ElfW(Ehdr)*>(getauxval(AT_SYSINFO_EHDR));
  if (elf == nullptr) return &AskKernel;
  const auto start = reinterpret_cast<ElfW(Addr)>(elf);
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(start + elf->e_phoff);
  ElfW(Addr) bias = start;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < elf->e_phnum; ++i) {
    const ElfW(Phdr)& segment = headers[i];
    if (segment.p_type == PT_LOAD) bias = start + segment.p_offset - segment.p_vaddr;
    if (segment.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(start + segment.p_offset);
  }
  if (dynamic == nullptr) return &AskKernel;
  constexpr char kName[] = "__vdso_clock_gettime";
  const void* found = SymbolTable(dynamic, bias).Find(kName, GnuHash(kName));
  return found != nullptr ? reinterpret_cast<GetTime>(const_cast<void*>(found)) : &AskKernel;
}

constinit std::atomic<GetTime> g_get_time{nullptr};

uint64_t Nanoseconds(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t Read(clockid_t clock) {
  timespec now = {};
  AskKernel(clock, &now);
  return Nanoseconds(now);
}

uint64_t ReadCoarse(clockid_t clock) {
  GetTime get_time = g_get_time.load(std::memory_order_relaxed);
  if (MALLOW_UNLIKELY(get_time == nullptr)) {
    get_time = FindGetTime();
    g_get_time.store(get_time, std::memory_order_relaxed);
  }
  timespec now = {};
  get_time(clock, &now);
  return Nanoseconds(now);
}

}  // namespace

MALLOW_ALIGNS_STACK uint64_t MonotonicNanoseconds() { return Read(CLOCK_MONOTONIC); }
MALLOW_ALIGNS_STACK uint64_t CoarseNanoseconds() { return ReadCoarse(CLOCK_MONOTONIC_COARSE); }
MALLOW_ALIGNS_STACK uint64_t RealtimeNanoseconds() { return Read(CLOCK_REALTIME); }
MALLOW_ALIGNS_STACK uint64_t CoarseRealtimeNanoseconds() { return ReadCoarse(CLOCK_REALTIME_COARSE); }

uint64_t TickNanoseconds() {
  constexpr uint64_t kMostCommon = 4'000'000;
  timespec tick = {};
  SystemCall(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, reinterpret_cast<long>(&tick));
  return Nanoseconds(tick) != 0 ? Nanoseconds(tick) : kMostCommon;
}

}  // namespace mallow::os
