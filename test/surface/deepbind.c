// deepbind PLUGIN linked|unlinked: a plugin that looks for its symbols in its own libraries first, before the program's.
//
//   linked    the plugin is linked with libmallow: it takes its memory there, whatever the program runs on, and blocks
//             of libc that it frees go to libc
//   unlinked  the plugin asks libc for malloc, which is told what the program uses: blocks may go either way
//
// So may those of who looks up names in libc itself. Libraries are looked for where the caller's RUNPATH says.
#include <dlfcn.h>

#include "check.h"

static void* (*plugin_allocate)(size_t);
static void (*plugin_free)(void*);

// As a foreign function interface does.
static void FreeByLibc(void) {
  void* const libc = dlopen("libc.so.6", RTLD_NOW);
  CHECK(libc != NULL);
  char* (*duplicate)(const char*) = (char* (*)(const char*))dlsym(libc, "strdup");
  void (*release)(void*) = (void (*)(void*))dlsym(libc, "free");
  void* (*reallocate)(void*, size_t) = (void* (*)(void*, size_t))dlsym(libc, "realloc");
  release(duplicate("by libc"));
  release(malloc(1 << 20));
  free(reallocate(malloc(100), 100000));
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  if (strcmp(argv[2], "unlinked") == 0) FreeByLibc();
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (plugin == NULL) fprintf(stderr, "%s\n", dlerror());
  CHECK(plugin != NULL);
  plugin_allocate = (void* (*)(size_t))dlsym(plugin, "PluginAllocate");
  plugin_free = (void (*)(void*))dlsym(plugin, "PluginFree");
  int (*works)(void) = (int (*)(void))dlsym(plugin, "PluginWorks");
  int (*frees_of_libc)(void) = (int (*)(void))dlsym(plugin, "PluginFreesOfLibc");
  int (*opens)(void) = (int (*)(void))dlsym(plugin, "PluginOpens");
  CHECK(works());
  CHECK(opens());
  CHECK(dlopen(strrchr(argv[1], '/') + 1, RTLD_NOW | RTLD_DEEPBIND) == plugin);
  CHECK(frees_of_libc());
  plugin_free(strdup("a block of the program"));
  plugin_free(malloc(1 << 20));
  if (HasMallow() || strcmp(argv[2], "unlinked") == 0) free(plugin_allocate(100));
  return 0;
}
