// Calls whose log is known by construction: the program prints what a log of it must say, line by line, as
// FILE:LINE and the call; in front of them the thread.
//
//   logged_cxx each              every function once, in one thread
//   logged_cxx threads T N       T threads at the same time, N rounds each: the order within each thread
//   logged_cxx turns T N         T threads in turns, N turns in all: the order of all
//   logged_cxx swap T N          T threads that hand blocks to each other: prints nothing
//   logged_cxx fork N            N calls, a child that frees them and makes N calls, N calls again
// Addresses are noted after their blocks are gone.
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wuse-after-free"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include <atomic>
#include <new>

namespace {

constexpr size_t kLineBytes = 120;

// What a thread, or all of them, have called. Not from malloc.
struct Lines {
  explicit Lines(size_t most)
      : text(static_cast<char (*)[kLineBytes]>(
            mmap(nullptr, most * kLineBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}

  void Add(int line, const char* format, ...) __attribute__((format(printf, 3, 4))) {
    char* const out = text[count++];
    const int begun = snprintf(out, kLineBytes, "%ld logged.cc:%d ", syscall(SYS_gettid), line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out + begun, kLineBytes - static_cast<size_t>(begun), format, arguments);
    va_end(arguments);
  }
  void Print() const {
    for (size_t i = 0; i < count; i++) puts(text[i]);
  }

  char (*text)[kLineBytes];
  size_t count = 0;
};

struct alignas(64) Wide {
  char bytes[128];
};

// Here and below the call and its note stand in one line, which both name.
// clang-format off
void Each() {
  Lines lines(100);
  void* p = malloc(24); lines.Add(__LINE__, "malloc(24) = %p", p);
  void* old = p;
  p = realloc(old, 24); lines.Add(__LINE__, "realloc(%p, 24) = %p", old, p);
  old = p;
  p = realloc(old, 5000); lines.Add(__LINE__, "realloc(%p, 5000) = %p", old, p);
  free(p); lines.Add(__LINE__, "free(%p)", p);
  p = calloc(7, 9); lines.Add(__LINE__, "calloc(7,9) = %p", p);
  free(p); lines.Add(__LINE__, "free(%p)", p);
  p = calloc(1, 40); lines.Add(__LINE__, "calloc(1,40) = %p", p);
  free(p); lines.Add(__LINE__, "free(%p)", p);
  p = realloc(nullptr, 10); lines.Add(__LINE__, "realloc((nil), 10) = %p", p);
  old = p;
  p = reallocarray(old, 20, 30); lines.Add(__LINE__, "reallocarray(%p, 600) = %p", old, p);
  old = p;
  p = realloc(old, 0); lines.Add(__LINE__, "free(%p)", old);
  char text[] = "a text";
  p = strdup(text); lines.Add(__LINE__, "strdup(%p) (7) = %p", text, p);
  free(p); lines.Add(__LINE__, "free(%p)", p);
  p = strndup(text, 3); lines.Add(__LINE__, "strndup(%p) (4) = %p", text, p);
  free(p); lines.Add(__LINE__, "free(%p)", p);
  wchar_t wide[] = L"wide";
  p = wcsdup(wide); lines.Add(__LINE__, "wcsdup(%p) (20) = %p", static_cast<void*>(wide), p);
  free(p); lines.Add(__LINE__, "free(%p)", p);
  p = memalign(256, 100); lines.Add(__LINE__, "memalign(256, 100) = %p", p);
  free(p); lines.Add(__LINE__, "free(%p)", p);
  p = aligned_alloc(32, 64); lines.Add(__LINE__, "aligned_alloc(32, 64) = %p", p);
  free(p); lines.Add(__LINE__, "free(%p)", p);
  if (posix_memalign(&p, 4096, 10) == 0) lines.Add(__LINE__, "posix_memalign(4096, 10) = %p", p);
  free(p); lines.Add(__LINE__, "free(%p)", p);
  p = valloc(11); lines.Add(__LINE__, "valloc(11) = %p", p);
  free(p); lines.Add(__LINE__, "free(%p)", p);
  p = pvalloc(12); lines.Add(__LINE__, "pvalloc(12) = %p", p);
  free(p); lines.Add(__LINE__, "free(%p)", p);
  p = operator new(33); lines.Add(__LINE__, "new(33) = %p", p);
  operator delete(p); lines.Add(__LINE__, "free(%p)", p);
  p = operator new[](34); lines.Add(__LINE__, "new[](34) = %p", p);
  operator delete[](p); lines.Add(__LINE__, "free(%p)", p);
  p = operator new(35, std::nothrow); lines.Add(__LINE__, "new nothrow(35) = %p", p);
  operator delete(p); lines.Add(__LINE__, "free(%p)", p);
  p = new Wide; lines.Add(__LINE__, "new aligned(64, 128) = %p", p);
  delete static_cast<Wide*>(p); lines.Add(__LINE__, "free(%p)", p);
  p = malloc(SIZE_MAX / 8); lines.Add(__LINE__, "malloc(%zu) = (nil)", SIZE_MAX / 8);
  volatile size_t most = SIZE_MAX;
  p = malloc(most); lines.Add(__LINE__, "malloc(?) = (nil)");
  const size_t huge = most / 8;
  p = calloc(3, huge / 3); lines.Add(__LINE__, "calloc(%zu) = (nil)", huge / 3 * 3);
  p = memalign(64, huge); lines.Add(__LINE__, "memalign(%zu) = (nil)", huge);
  if (posix_memalign(&p, 64, huge) != 0) lines.Add(__LINE__, "posix_memalign(%zu) = (nil)", huge);
  p = valloc(huge); lines.Add(__LINE__, "valloc(%zu) = (nil)", huge);
  p = realloc(nullptr, huge); lines.Add(__LINE__, "realloc(?, %zu) = (nil)", huge);
  old = malloc(8); lines.Add(__LINE__, "malloc(8) = %p", old);
  p = realloc(old, huge); lines.Add(__LINE__, "realloc(?, %zu) = (nil)", huge);
  free(old); lines.Add(__LINE__, "free(%p)", old);
  p = operator new(huge, std::align_val_t(64), std::nothrow); lines.Add(__LINE__, "new aligned nothrow(%zu) = (nil)", huge);
  free(nullptr); lines.Add(__LINE__, "free((nil))");
  p = malloc(70000); lines.Add(__LINE__, "malloc(70000) = %p", p);
  p = malloc(100 << 20); lines.Add(__LINE__, "malloc(104857600) = %p", p);
  free(p); lines.Add(__LINE__, "free(%p)", p);
  p = malloc(0); lines.Add(__LINE__, "malloc(0) = %p", p);
  lines.Print();
}

size_t g_threads, g_rounds;

void InThreads(void* (*body)(void*)) {
  pthread_t threads[64];
  for (size_t i = 0; i < g_threads; i++) pthread_create(&threads[i], nullptr, body, reinterpret_cast<void*>(i));
  for (size_t i = 0; i < g_threads; i++) pthread_join(threads[i], nullptr);
}

Lines* g_lines[64];

void* CallOften(void* number) {
  const auto thread = reinterpret_cast<size_t>(number);
  Lines& lines = *g_lines[thread];
  void* kept[16] = {};
  uint64_t random = thread + 1;
  for (size_t i = 0; i < g_rounds; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    void*& slot = kept[random >> 60];
    if (slot == nullptr) {
      slot = malloc(thread * 100000 + i); lines.Add(__LINE__, "malloc(%zu) = %p", thread * 100000 + i, slot);
    } else if ((random >> 59 & 1) != 0) {
      free(slot); lines.Add(__LINE__, "free(%p)", slot);
      slot = nullptr;
    } else {
      void* const old = slot;
      slot = realloc(old, i + 1); lines.Add(__LINE__, "realloc(%p, %zu) = %p", old, i + 1, slot);
    }
  }
  return nullptr;
}

void Threads() {
  for (size_t i = 0; i < g_threads; i++) g_lines[i] = new (mmap(nullptr, sizeof(Lines), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) Lines(g_rounds);
  InThreads(&CallOften);
  for (size_t i = 0; i < g_threads; i++) g_lines[i]->Print();
}

std::atomic<size_t> g_turn;

void* TakeTurns(void* number) {
  const auto thread = reinterpret_cast<size_t>(number);
  static void* kept[3];
  Lines& lines = *g_lines[0];
  for (size_t turn = thread; turn < g_rounds; turn += g_threads) {
    while (g_turn.load(std::memory_order_acquire) != turn) sched_yield();
    void*& slot = kept[turn % 3];
    free(slot); if (slot != nullptr) lines.Add(__LINE__, "free(%p)", slot); else lines.Add(__LINE__, "free((nil))");
    slot = malloc(turn); lines.Add(__LINE__, "malloc(%zu) = %p", turn, slot);
    g_turn.store(turn + 1, std::memory_order_release);
  }
  return nullptr;
}

void Turns() {
  Lines lines(2 * g_rounds);
  g_lines[0] = &lines;
  InThreads(&TakeTurns);
  lines.Print();
}

std::atomic<void*> g_slots[8];

void* Swap(void* number) {
  uint64_t random = reinterpret_cast<size_t>(number) + 1;
  for (size_t i = 0; i < g_rounds; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    void* const mine = (random >> 63) != 0 ? malloc(16 + (random >> 40) % 64) : nullptr;
    free(g_slots[random >> 33 & 7].exchange(mine));
  }
  return nullptr;
}

void Fork() {
  Lines lines(4 * g_rounds);
  void** const kept = static_cast<void**>(mmap(nullptr, g_rounds * sizeof(void*), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (size_t i = 0; i < g_rounds; i++) {
    kept[i] = malloc(100 + i); lines.Add(__LINE__, "malloc(%zu) = %p", 100 + i, kept[i]);
  }
  const pid_t child = fork();
  if (child == 0) {
    lines.count = 0;
    for (size_t i = 0; i < g_rounds; i++) {
      free(kept[i]); lines.Add(__LINE__, "free(%p)", kept[i]);
      kept[i] = malloc(200 + i); lines.Add(__LINE__, "malloc(%zu) = %p", 200 + i, kept[i]);
    }
    lines.Print();
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  for (size_t i = 0; i < g_rounds; i++) {
    free(kept[i]); lines.Add(__LINE__, "free(%p)", kept[i]);
  }
  lines.Print();
}

}  // namespace
// clang-format on

int main(int count, char** arguments) {
  if (count > 2) g_rounds = g_threads = strtoul(arguments[2], nullptr, 10);
  if (count > 3) g_rounds = strtoul(arguments[3], nullptr, 10);
  const char* const what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "each") == 0)
    Each();
  else if (strcmp(what, "threads") == 0 && count > 3)
    Threads();
  else if (strcmp(what, "turns") == 0 && count > 3)
    Turns();
  else if (strcmp(what, "swap") == 0 && count > 3)
    InThreads(&Swap);
  else if (strcmp(what, "fork") == 0 && count > 2)
    Fork();
  else
    return 2;
}
