// Unmaps what an unwinder would read, allocates after it, and prints how often it did. Ends with status 5.
//
//   vanishing WAY PASSAGE
//
// WAY: headers, tables (of the library PASSAGE, whose code stays), hidden (its tables, by mprotect), library (all of it by
// munmap, and other code in its place), closed (the same by dlclose), generated (code without tables, by turns at one
// place), stack (of coroutines, longer and shorter ones at one place).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

typedef void (*passage)(void (*callback)(void));

static int made;
static size_t page;

static void expect(int condition) {
  if (!condition) exit(3);
}

__attribute__((noinline)) static void allocate(void) {
  char *block = malloc(40);
  expect(block != NULL);
  memset(block, 1, 40);
  made++;
  free(block);
}

static void allocate_often(void) {
  for (int i = 0; i < 10; i++) allocate();
}

static uintptr_t page_of(uintptr_t address) { return address & ~(uintptr_t)(page - 1); }

static void unmap(uintptr_t start, uintptr_t end) {
  expect(munmap((void *)page_of(start), end - page_of(start)) == 0);
}

static passage function_at(void *memory) {
  passage function;
  *(void **)&function = memory;
  return function;
}

// sub $FRAME, %rsp; call *%rdi; add $FRAME, %rsp; ret
static passage generate(void *place, unsigned char frame) {
  const unsigned char code[] = {0x48, 0x83, 0xec, frame, 0xff, 0xd7, 0x48, 0x83, 0xc4, frame, 0xc3};
  void *memory = mmap(place, page, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS | (place != NULL ? MAP_FIXED : 0), -1, 0);
  expect(memory != MAP_FAILED);
  memcpy(memory, code, sizeof code);
  return function_at(memory);
}

// By turns with a frame of 8 and of 24 bytes.
static void generate_often(void *place) {
  for (int i = 0; i < 100; i++) {
    passage generated = generate(place, i % 2 ? 8 : 24);
    generated(allocate_often);
    place = *(void **)&generated;
    expect(munmap(place, page) == 0);
  }
}

struct object {
  uintptr_t code, start, end, tables, tables_end;
};

static int is_object(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size;
  struct object *wanted = argument, found = {wanted->code, UINTPTR_MAX, 0, 0, 0};
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
    if (header->p_type == PT_GNU_EH_FRAME) found.tables = start, found.tables_end = end;
    if (header->p_type != PT_LOAD) continue;
    if (start < found.start) found.start = start;
    if (end > found.end) found.end = end;
  }
  if (found.code < found.start || found.code >= found.end) return 0;
  *wanted = found;
  return 1;
}

static ucontext_t resumer, coroutine;

static void descend(int depth) {
  char room[512];
  __asm__ volatile("" ::"r"(room) : "memory");
  allocate();
  if (depth > 0) descend(depth - 1);
  __asm__ volatile("" ::"r"(room) : "memory");
}

static void run(void) {
  descend(20);
  swapcontext(&coroutine, &resumer);
}

static void run_on(char *stack, size_t bytes) {
  expect(mprotect(stack, bytes, PROT_READ | PROT_WRITE) == 0 && getcontext(&coroutine) == 0);
  coroutine.uc_stack.ss_sp = stack;
  coroutine.uc_stack.ss_size = bytes;
  coroutine.uc_link = NULL;
  makecontext(&coroutine, run, 0);
  swapcontext(&resumer, &coroutine);
}

// At one place as long as malloc maps nothing there while it is free.
static void run_on_vanishing_stacks(void) {
  const size_t bytes = 64 * page;
  char *place = NULL;
  for (size_t i = 0; i < 100; i++) {
    const size_t less = i % 3 * 8 * page;
    place = mmap(place, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(place != MAP_FAILED);
    run_on(place + less, bytes - 2 * less);
    expect(munmap(place, bytes) == 0);
    allocate_often();
  }
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  const char *way = arguments[1];
  page = (size_t)sysconf(_SC_PAGESIZE);
  void *library = dlopen(arguments[2], RTLD_NOW);
  expect(library != NULL);
  void *code = dlsym(library, "through");
  const passage through = function_at(code), other = function_at(dlsym(library, "through_other"));
  struct object object = {.code = (uintptr_t)code};
  expect(dl_iterate_phdr(is_object, &object) == 1);
  through(allocate_often);
  if (!strcmp(way, "headers")) {
    unmap(object.start, object.start + page);
    other(allocate_often);
  } else if (!strcmp(way, "tables")) {
    unmap(object.tables, object.tables_end);
    other(allocate_often);
  } else if (!strcmp(way, "hidden")) {
    expect(mprotect((void *)page_of(object.tables), object.tables_end - page_of(object.tables), PROT_NONE) ==
           0);
    other(allocate_often);
  } else if (!strcmp(way, "library")) {
    unmap(object.start, object.end);
    generate_often((void *)page_of(object.code));
  } else if (!strcmp(way, "closed")) {
    dlclose(library);
    generate_often((void *)page_of(object.code));
  } else if (!strcmp(way, "generated")) {
    generate_often(NULL);
  } else if (!strcmp(way, "stack")) {
    run_on_vanishing_stacks();
  } else {
    return 2;
  }
  printf("%s: %d\n", way, made);
  fflush(stdout);
  _exit(5);  // the loader would look for what is gone
}
