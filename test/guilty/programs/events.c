// An event loop that calls handlers by pointer.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct event {
  struct event* next;
  void (*handle)(struct event* event, long* sum);
  int value;
};

static struct event *first, **last = &first;

static void post(void (*handle)(struct event*, long*), int value) {
  struct event* event = malloc(sizeof *event);
  *event = (struct event){NULL, handle, value};
  *last = event;
  last = &event->next;
}

static void on_tick(struct event* event, long* sum) {
  *sum += event->value;
  if (event->value > 0) post(on_tick, event->value - 1);
}

static void on_message(struct event* event, long* sum) {
  char text[16];
  snprintf(text, sizeof text, "%d", event->value);
  // + char* copy = strdup(text); *sum += copy[0] == 'x'; free(copy);
  *sum += (long)strlen(text);
  if (event->value % 2 == 1) post(on_tick, event->value % 20);
}

int main(void) {
  long sum = 0;
  for (int i = 0; i < 200; i++) post(i % 4 == 0 ? on_tick : on_message, i);
  while (first != NULL) {
    struct event* event = first;
    if ((first = event->next) == NULL) last = &first;
    event->handle(event, &sum);
    free(event);
  }
  printf("%ld\n", sum);
  return 0;
}
