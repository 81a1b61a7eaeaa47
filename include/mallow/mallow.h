/* The C interface of libmallow, beside malloc.h itself.
 *
 * A program need not be linked with libmallow to say what it is doing (regions and units of work, below): the same
 * program runs with libmallow and without it. All functions may be called from any thread at any time and never fail.
 */
#ifndef MALLOW_MALLOW_H
#define MALLOW_MALLOW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "MAJOR.MINOR.PATCH" of the libmallow that serves this process. Static text. */
const char* mallow_version(void);

/* 1 while the allocations of this process are being recorded, else 0. */
int mallow_is_recording(void);

/* Recording, switched by the program itself; `mallow record --pid` does the same from outside. Each returns 0 or an errno
 * value. Not from signal handlers.
 *
 * start: records every call that begins from now on, in all threads, into `folder`, which must exist; a path that is not
 * absolute is one below the present directory. Blocks that are there already are "from before recording". Costs some
 * 100 microseconds, and while it lasts every call of malloc and free is recorded. EALREADY: it is being recorded; EIO: the
 * file could not be made; ENOTSUP: this libmallow has no recorder.
 * stop: ends it, also when it was begun from outside. EALREADY: it is not being recorded; EINVAL: a
 * recording with a log, CPU samples or calls counted from outside goes on to the end. Later calls cost what they did
 * before; recording may begin again, into another folder or the same.
 * snapshot: writes what was recorded so far into a new file in `folder`, another one, which must exist: a recording of its
 * own, each figure of some moment during the call. Writes as many bytes as the recording has. EALREADY: it is not being
 * recorded. */
int mallow_record_start(const char* folder);
int mallow_record_stop(void);
int mallow_record_snapshot(const char* folder);

/* Below, a structure and the function that fills it in have one name, of which g++ warns (-Wshadow). */
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/* What the heap holds, in bytes unless a name says otherwise. Later versions may add fields at the end.
 *
 * Every byte that was mapped from the system for blocks is in exactly one part:
 *   system_bytes = in_use_bytes + thread_cache_bytes + transfer_cache_bytes + central_list_bytes + page_heap_bytes
 *                  + tail_bytes
 * The process's resident set holds at most system_bytes - returned_bytes for blocks (less where memory was never
 * touched; what lies free of a block of 64 MiB or more is estimated by samples), metadata_resident_bytes for our own
 * structures, and what was touched of the library's static data.
 *
 * Large blocks have whole pages of their own: those longer than 256 KiB, those aligned to more than 8 KiB, and some that
 * realloc has grown to 32 KiB or more.
 *
 * Exact while no other thread is inside malloc or free. Otherwise each field is right for some moment during the call:
 * a block that moved meanwhile may be counted twice or not at all. In a child of fork, what waited in the caches of the
 * parent's other threads counts as in use.
 */
struct mallow_statistics {
  uint64_t system_bytes;            /* mapped from the system for blocks */
  uint64_t in_use_bytes;            /* usable bytes (malloc_usable_size) of the live blocks */
  uint64_t thread_cache_bytes;      /* free blocks that wait in the caches of threads */
  uint64_t transfer_cache_bytes;    /* free blocks on their way from thread to thread */
  uint64_t central_list_bytes;      /* free blocks in spans that also hold live or cached ones */
  uint64_t page_heap_bytes;         /* free pages */
  uint64_t tail_bytes;              /* ends of spans, too short for a block */
  uint64_t returned_bytes;          /* of page_heap_bytes: hold no memory at present */
  uint64_t metadata_bytes;          /* address space of our own structures, beside system_bytes */
  uint64_t in_use_blocks;           /* number of live blocks */
  uint64_t large_blocks;            /* of these, whole pages of their own: see above */
  uint64_t large_bytes;             /* of in_use_bytes: in large blocks */
  uint64_t thread_caches;           /* number of threads that have a cache */
  uint64_t map_calls;               /* number of mmap calls so far, failed ones too */
  uint64_t metadata_resident_bytes; /* of our own structures, in memory at present; 0: unknown */
};

/* Fills in *statistics, which has `size` bytes: sizeof(struct mallow_statistics) as the caller was compiled. Fields
 * that this libmallow does not know become 0. Returns how many bytes it knows. Takes each lock of the heap once, for
 * some microseconds in all, and asks the system about the pages of our structures; allocates nothing. */
size_t mallow_statistics(struct mallow_statistics* statistics, size_t size);

/* What the calling thread has allocated while it was recorded; mallow/expect.h holds tests to it. The figures only grow,
 * and may begin with those of threads that have ended: the difference of two is what happened in between. */
struct mallow_thread_statistics {
  uint64_t allocations;      /* calls that returned a block, of the program and its libraries */
  uint64_t bytes;            /* that they asked for */
  uint64_t libc_allocations; /* calls that libc made on its own account */
};

/* Fills in *statistics as mallow_statistics does. Returns 0, and nothing but zeros, where not every call of the thread is
 * recorded: no recording, or only samples, or no room. Costs two system calls, and some nanoseconds for each stack that was
 * recorded. Not from signal handlers. */
size_t mallow_thread_statistics(struct mallow_thread_statistics* statistics, size_t size);

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* Regions and units of work: what the program is doing, so that a report can say what of it allocates.
 *
 * A region is a stretch of a thread's work; regions may lie within each other. A recording then knows of every stack
 * what it allocated within which regions, and of every region what was allocated and released inside. A name of up to
 * 120 bytes says what kind of work it is, as "request"; it is copied. Do not put numbers of single requests into it: up
 * to 4096 regions are told apart, what is more counts for the region around it.
 *
 * A region belongs to the thread that began it and ends with it at the latest. A fork child is inside the regions of
 * the thread that forked. longjmp out of a region does not end it: mallow_region_return_to does.
 *
 * A unit of work is what one would divide by: a request, a row, a byte. mallow_unit("request", 1) counts one.
 *
 * Where nothing records, each costs a few instructions; recorded, some 20 nanoseconds. A call that a signal
 * handler makes while its thread is inside malloc or free may be lost; the report says so then.
 */

/* A function of this header whose address is taken needs a name other than that of the one it calls. */
#if defined(__ELF__)
#define MALLOW_LOCAL_(name) __asm__(#name ".local")
#else
#define MALLOW_LOCAL_(name)
#endif

/* Begins a region; returns in how many the thread was before, for mallow_region_return_to. */
static unsigned mallow_region_begin(const char* name) MALLOW_LOCAL_(mallow_region_begin);

/* Ends the region that the thread began last; nothing when it is in none. */
static void mallow_region_end(void) MALLOW_LOCAL_(mallow_region_end);

/* Ends all regions of the thread but the first `depth`: after longjmp, with what the begin of the region to be left
 * returned. Nothing when it is in no more. */
static void mallow_region_return_to(unsigned depth) MALLOW_LOCAL_(mallow_region_return_to);

/* Counts `amount` units of work: 1 for a request, or the number of bytes. Of a unit whose name is "bytes", or ends with
 * " bytes", a report says how many of them there are to an allocation. Up to 256 names of up to 224 bytes. */
static void mallow_unit(const char* name, uint64_t amount) MALLOW_LOCAL_(mallow_unit);

/* The settings that MALLOW_OPTIONS knows, one line each: name, two blanks, what it does. Static text. */
const char* mallow_options_help(void);

/* How the functions above reach libmallow, or nothing. Through the global offset table, because a linker takes a weak
 * function in a program at a fixed address (-no-pie) for absent, and no library that is preloaded could change that. */
#if defined(__x86_64__) && defined(__ELF__)
#define MALLOW_FIND_(function, symbol)                                                       \
  __asm__(".weak " symbol                                                                    \
          "\n\t"                                                                             \
          "{movq " symbol "@GOTPCREL(%%rip), %0|mov %0, QWORD PTR " symbol "@GOTPCREL[rip]}" \
          : "=r"(function))
#else
#define MALLOW_FIND_(function, symbol) ((function) = 0)
#endif
#define MALLOW_INLINE_ static __inline__ __attribute__((always_inline, unused))

MALLOW_INLINE_ unsigned mallow_region_begin(const char* name) {
  unsigned (*begin)(const char*);
  MALLOW_FIND_(begin, "mallow_region_begin");
  return begin ? begin(name) : 0;
}

MALLOW_INLINE_ void mallow_region_end(void) {
  void (*end)(void);
  MALLOW_FIND_(end, "mallow_region_end");
  if (end) end();
}

MALLOW_INLINE_ void mallow_region_return_to(unsigned depth) {
  void (*return_to)(unsigned);
  MALLOW_FIND_(return_to, "mallow_region_return_to");
  if (return_to) return_to(depth);
}

MALLOW_INLINE_ void mallow_unit(const char* name, uint64_t amount) {
  void (*unit)(const char*, uint64_t);
  MALLOW_FIND_(unit, "mallow_unit");
  if (unit) unit(name, amount);
}

#ifdef __cplusplus
}

namespace mallow {

/* A region as long as the object lives. Ends also those that were begun inside and left by longjmp. */
class Region {
 public:
  explicit Region(const char* name) : depth_(mallow_region_begin(name)) {}
  ~Region() { mallow_region_return_to(depth_); }

 private:
  Region(const Region&);
  Region& operator=(const Region&);

  unsigned depth_;
};

} /* namespace mallow */
#endif

#endif
