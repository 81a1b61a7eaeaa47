// A table of counts by name that grows when it is half full.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
  char* name;
  int count;
};

struct table {
  struct entry* entries;
  size_t room, used;
};

static size_t place(const struct table* t, const char* name) {
  size_t at = 5381;
  for (const char* c = name; *c != '\0'; c++) at = at * 33 + (unsigned char)*c;
  at &= t->room - 1;
  while (t->entries[at].name != NULL && strcmp(t->entries[at].name, name) != 0) at = (at + 1) & (t->room - 1);
  return at;
}

static void grow(struct table* t) {
  struct table wider = {calloc(t->room * 2, sizeof *t->entries), t->room * 2, t->used};
  for (size_t i = 0; i < t->room; i++) {
    if (t->entries[i].name == NULL) continue;
    wider.entries[place(&wider, t->entries[i].name)] = t->entries[i];
  }
  free(t->entries);
  *t = wider;
}

static void count(struct table* t, const char* name) {
  struct entry* entry = &t->entries[place(t, name)];
  if (entry->name != NULL) {
    // + free(strndup(name, 4));
    entry->count++;
    return;
  }
  *entry = (struct entry){strdup(name), 1};
  if (++t->used * 2 > t->room) grow(t);
}

int main(void) {
  struct table t = {calloc(8, sizeof *t.entries), 8, 0};
  for (int i = 0; i < 2000; i++) {
    char name[16];
    snprintf(name, sizeof name, "name %d", i * i % 101);
    count(&t, name);
  }
  printf("%zu\n", t.used);
  for (size_t i = 0; i < t.room; i++) free(t.entries[i].name);
  free(t.entries);
  return 0;
}
