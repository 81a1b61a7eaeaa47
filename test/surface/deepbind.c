// deepbind PLUGIN linked|unlinked: a plugin that looks for its symbols in its own libraries first, before the program's.
//
//   linked    the plugin is linked with libmallow: it takes its memory there, whatever the program runs on, and blocks
//             of libc that it frees go to libc
//   unlinked  the plugin takes its memory from libc, whatever the program runs on: blocks that it keeps to itself are
//             no business of libmallow, one that comes to libmallow's free ends the process
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

#include "check.h"

static void* (*plugin_allocate)(size_t);
static void (*plugin_free)(void*);

static int DiesOfSentence(void (*misuse)(void)) {
  int ends[2], status;
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    misuse();
    _exit(0);
  }
  close(ends[1]);
  char said[500] = "";
  CHECK(read(ends[0], said, sizeof(said) - 1) >= 0 && waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strncmp(said, "mallow: free(): ", 16) == 0;
}

static void FreeOfPlugin(void) { free(plugin_allocate(100)); }

int main(int argc, char** argv) {
  CHECK(argc == 3);
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (plugin == NULL) fprintf(stderr, "%s\n", dlerror());
  CHECK(plugin != NULL);
  plugin_allocate = (void* (*)(size_t))dlsym(plugin, "PluginAllocate");
  plugin_free = (void (*)(void*))dlsym(plugin, "PluginFree");
  int (*works)(void) = (int (*)(void))dlsym(plugin, "PluginWorks");
  int (*frees_of_libc)(void) = (int (*)(void))dlsym(plugin, "PluginFreesOfLibc");
  const int on_mallow = HasMallow();
  CHECK(works());
  if (strcmp(argv[2], "linked") == 0) {
    CHECK(frees_of_libc());
    plugin_free(strdup("a block of the program"));
    plugin_free(malloc(1 << 20));
    if (on_mallow) free(plugin_allocate(100));
  } else if (on_mallow) {
    CHECK(DiesOfSentence(FreeOfPlugin));
  }
  return 0;
}
