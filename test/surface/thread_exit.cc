// Allocation while threads end: destructors of keys that arm themselves again, of thread_local objects, frees after
// the allocator's own end of the thread, detached threads at the end of the process.
#include <pthread.h>

#include "check.h"

namespace {

constexpr int kRounds = 300;
pthread_key_t keys[3];

void Rearm(void* value) {
  const auto rounds = reinterpret_cast<size_t>(value);
  void* p = malloc(rounds * 100);
  CHECK(p != nullptr);
  free(p);
  for (int i = 0; i < 50; ++i) free(calloc(i, 7));
  if (rounds > 1) {
    for (const pthread_key_t key : keys) pthread_setspecific(key, reinterpret_cast<void*>(rounds - 1));
  }
}

struct Holder {
  char* text = nullptr;
  ~Holder() {
    char* other = strdup("made while the thread ends");
    CHECK(strlen(other) == 26);
    free(other);
    free(text);
    text = nullptr;
  }
};

thread_local Holder holder;

// Freed by the last round of the keys' destructors, after most others.
pthread_key_t late_key;
void FreeLate(void* value) {
  static thread_local int rounds = 0;
  if (++rounds < 4) {
    pthread_setspecific(late_key, value);
    return;
  }
  free(value);
  for (int i = 0; i < 100; ++i) free(malloc(i * 16));
}

void* Work(void* from_other_thread) {
  free(from_other_thread);
  holder.text = strdup("held");
  for (const pthread_key_t key : keys) pthread_setspecific(key, reinterpret_cast<void*>(4));
  pthread_setspecific(late_key, malloc(1000));
  for (int i = 0; i < 200; ++i) free(malloc(i * 33));
  return malloc(500);
}

// Only frees, and never allocates.
void* OnlyFree(void* blocks) {
  auto** each = static_cast<void**>(blocks);
  for (int i = 0; i < 100; ++i) free(each[i]);
  return nullptr;
}

void* Forever(void*) {
  for (;;) free(malloc(64));
}

}  // namespace

int main() {
  for (pthread_key_t& key : keys) CHECK(pthread_key_create(&key, Rearm) == 0);
  CHECK(pthread_key_create(&late_key, FreeLate) == 0);
  for (int i = 0; i < kRounds; ++i) {
    pthread_t thread;
    void* result;
    CHECK(pthread_create(&thread, nullptr, Work, malloc(77)) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result != nullptr);
    free(result);
    void* blocks[100];
    for (void*& block : blocks) block = malloc(48);
    CHECK(pthread_create(&thread, nullptr, OnlyFree, blocks) == 0);
    CHECK(pthread_join(thread, nullptr) == 0);
  }
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    CHECK(pthread_create(&thread, nullptr, Forever, nullptr) == 0);
    CHECK(pthread_detach(thread) == 0);
  }
  usleep(20000);
  return 0;
}
