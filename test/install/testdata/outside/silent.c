/* Calls nothing of malloc's surface by itself, but libc does: prints whose malloc that is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  char* line = NULL;
  size_t room = 0;
  Dl_info where;
  if (getline(&line, &room, stdin) < 0 || dladdr(dlsym(RTLD_DEFAULT, "malloc"), &where) == 0) return 1;
  puts(strstr(where.dli_fname, "libc.so") == NULL ? "mallow" : "not mallow");
  return 0;
}
