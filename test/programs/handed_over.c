// Three threads allocate 40,000 blocks each, another one, which never allocates, releases them all.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SLOTS 1024
#define BLOCKS 40000

struct Queue {
  void *_Atomic slots[SLOTS];
};
static struct Queue queues[3];

static void *produce(void *to) {
  struct Queue *queue = to;
  for (int i = 0; i < BLOCKS; i++) {
    void *block = malloc(16 + i % 200);
    void *_Atomic *slot = &queue->slots[i % SLOTS];
    while (atomic_load_explicit(slot, memory_order_acquire)) {
    }
    atomic_store_explicit(slot, block, memory_order_release);
  }
  return NULL;
}

static void *consume(void *unused) {
  (void)unused;
  for (int i = 0; i < BLOCKS; i++) {
    for (int from = 0; from < 3; from++) {
      void *_Atomic *slot = &queues[from].slots[i % SLOTS];
      void *block;
      while (!(block = atomic_load_explicit(slot, memory_order_acquire))) {
      }
      atomic_store_explicit(slot, NULL, memory_order_release);
      free(block);
    }
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  if (pthread_create(&threads[3], NULL, consume, NULL) != 0) abort();
  for (int i = 0; i < 3; i++)
    if (pthread_create(&threads[i], NULL, produce, &queues[i]) != 0) abort();
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return 0;
}
