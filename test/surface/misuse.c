// misuse WHAT: damage that glibc detects is detected: the process ends by SIGABRT after one sentence on descriptor 2.
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "check.h"

static char global[64] __attribute__((aligned(16)));

static void Misuse(const char* what) {
  char* p = malloc(100);
  char* q = malloc(100);
  char* pages = malloc(1 << 20);
  HIDE(p);
  HIDE(q);
  if (strcmp(what, "double_free") == 0) {
    free(p);
    HIDE(p);
    free(p);
  } else if (strcmp(what, "double_free_with_one_between") == 0) {
    free(p);
    free(q);
    HIDE(p);
    free(p);
  } else if (strcmp(what, "double_free_found_later") == 0) {
    // Enough frees for the block to leave the thread cache twice.
    static void* others[5000];
    for (int i = 0; i < 5000; ++i) others[i] = malloc(100);
    free(p);
    for (int i = 0; i < 2500; ++i) free(others[i]);
    HIDE(p);
    free(p);
    for (int i = 2500; i < 5000; ++i) free(others[i]);
    malloc_trim(0);
  } else if (strcmp(what, "double_free_of_pages") == 0) {
    free(pages);
    HIDE(pages);
    free(pages);
  } else if (strcmp(what, "interior") == 0) {
    p += 16;
    HIDE(p);
    free(p);
  } else if (strcmp(what, "interior_of_pages") == 0) {
    pages += 8192;
    HIDE(pages);
    free(pages);
  } else if (strcmp(what, "stack") == 0) {
    char local[64] __attribute__((aligned(16)));
    p = local;
    HIDE(p);
    free(p);
  } else if (strcmp(what, "global") == 0) {
    p = global;
    HIDE(p);
    free(p);
  } else if (strcmp(what, "foreign") == 0) {
    p = (char*)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 64;
    HIDE(p);
    free(p);
  } else if (strcmp(what, "unmapped") == 0) {
    p = (char*)0x10;
    HIDE(p);
    free(p);
  } else if (strcmp(what, "realloc_global") == 0) {
    p = global;
    HIDE(p);
    q = realloc(p, 10000);
    HIDE(q);
  }
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    Misuse(argv[1]);
    _exit(0);
  }
  close(ends[1]);
  char said[4096];
  ssize_t length = 0, more;
  while ((more = read(ends[0], said + length, sizeof(said) - 1 - length)) > 0) length += more;
  said[length] = 0;
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) {
    fprintf(stderr, "%s: not detected (status %#x)\n", argv[1], status);
    return 1;
  }
  CHECK(length > 10 && strchr(said, '\n') == said + length - 1);
  return 0;
}
