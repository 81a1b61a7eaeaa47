// Compiler and platform: the only file with #if for them.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__linux__) || !defined(__x86_64__)
#error "libmallow knows Linux on x86-64 only: base/, os/ and record/unwind.cc are what a port has to write"
#endif

#define MALLOW_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define MALLOW_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define MALLOW_ALWAYS_INLINE inline __attribute__((always_inline))
#define MALLOW_NOINLINE __attribute__((noinline))
#define MALLOW_COLD __attribute__((cold, noinline))

// A function that may be entered with a stack that is off by a word, as hand-written code has it that gets away with that
// elsewhere: to be on every way from malloc and the like to where the compiler keeps vectors on the stack. Does nothing to
// a template.
#define MALLOW_ALIGNS_STACK __attribute__((force_align_arg_pointer))

// A symbol that libmallow.so shows to the program; everything else is hidden.
#define MALLOW_EXPORT __attribute__((visibility("default")))

// On the declaration of a variable that hit paths use: reached directly, not through the global offset table.
#define MALLOW_INTERNAL __attribute__((visibility("hidden")))

// Thread-local words live in the static TLS block: no call, no allocation on first use.
#define MALLOW_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) __thread

#if defined(MALLOW_CHECKS) && MALLOW_CHECKS
#define MALLOW_CHECKS_ENABLED 1
#else
#define MALLOW_CHECKS_ENABLED 0
#endif

// Set by the extra builds of test/unwind only: deliberate faults (record/mutant.h), and captures compared with
// an independent unwinder (record/oracle_hook.h).
#ifndef MALLOW_MUTANTS
#define MALLOW_MUTANTS 0
#endif
#ifndef MALLOW_ORACLE
#define MALLOW_ORACLE 0
#endif

// Functions that read memory that does not belong to them in the eyes of a sanitizer (the stack walk).
#define MALLOW_NO_SANITIZE __attribute__((no_sanitize("address", "thread", "undefined")))
// The value of a word that another thread may just be storing to, at once. A plain load, which an instruction can have
// as its operand, as an atomic one cannot; the thread sanitizer is shown the latter.
#ifdef __SANITIZE_THREAD__
#define MALLOW_LOAD_SHARED(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#else
#define MALLOW_LOAD_SHARED(word) (word)
#endif

namespace mallow {

inline constexpr size_t kCacheLineBytes = 64;
// User addresses of a process fit into so many bits; above them nothing is ours. (Where the kernel has more it gives them
// to those who ask for such an address, as we never do.)
inline constexpr int kAddressBits = 47;
inline constexpr bool kChecksEnabled = MALLOW_CHECKS_ENABLED != 0;
#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Tells the processor that this is a waiting loop.
MALLOW_ALWAYS_INLINE void SpinPause() { __builtin_ia32_pause(); }

// &words[index], in a register of its own: what is loaded or stored through it is addressed by one register, not by two.
// Processors that hand what was stored to a later load before they know either address (Intel since Golden Cove) do so
// only between a store and a load that are both addressed like that.
template <typename Word>
MALLOW_ALWAYS_INLINE Word* InOneRegister(Word* words, size_t index) {
  static_assert(sizeof(Word) == 8);
  Word* address;
  asm("lea (%1,%2,8), %0" : "=r"(address) : "r"(words), "r"(index));
  return address;
}

// The same pointer, in the register in which a function returns one: a compiler that does not think of it soon enough
// moves it there at the end.
MALLOW_ALWAYS_INLINE void* InResultRegister(void* p) {
  asm("" : "+a"(p));
  return p;
}

// A number that no other live thread has and that fork keeps: the thread pointer. Never 0 and a multiple
// of 16.
MALLOW_ALWAYS_INLINE uintptr_t ThreadIdentity() {
  return reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
}

}  // namespace mallow
