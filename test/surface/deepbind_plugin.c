// A plugin that allocates by itself and lets libc allocate for it.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* PluginAllocate(size_t bytes) { return malloc(bytes); }
void PluginFree(void* p) { free(p); }

// Works with blocks of its own malloc, as large as they come.
int PluginWorks(void) {
  for (size_t bytes = 1; bytes < 4 << 20; bytes *= 3) {
    char* p = memset(malloc(bytes), 1, bytes);
    p = realloc(p, 2 * bytes);
    if (p == NULL || p[bytes - 1] != 1) return 0;
    free(p);
  }
  return 1;
}

// Frees what libc allocated for it.
int PluginFreesOfLibc(void) {
  char *line = NULL, *text = NULL;
  size_t room = 0;
  FILE* file = fopen("/proc/self/cmdline", "r");
  if (file == NULL || getdelim(&line, &room, 0, file) < 0 || asprintf(&text, "%s%d", line, 1) < 0) return 0;
  fclose(file);
  free(line);
  free(text);
  return 1;
}

// Linked with libmallow, it finds the dlopen of a library that stands behind libc.
int PluginOpens(void) {
  void* const library = dlopen("libm.so.6", RTLD_NOW | RTLD_DEEPBIND);
  return library != NULL && dlclose(library) == 0 && dlopen("/nowhere.so", RTLD_NOW) == NULL &&
         dlerror() != NULL;
}
