/* -DPLUGIN: a library that keeps its malloc to itself. Else: closes it while a thread lives that was served by it; prints
 * whose malloc that was. */
#define _GNU_SOURCE
#include <stdlib.h>

#ifdef PLUGIN

#include "mallow/mallow.h"

const char* serve(void) {
  free(malloc(100));
  return mallow_version();
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void* use(void* plugin) {
  const char* (*serve)(void) = (const char* (*)(void))dlsym(plugin, "serve");
  if (serve == NULL || serve() == NULL) return NULL;
  dlclose(plugin);
  return "mallow";
}

int main(int count, char** arguments) {
  void* plugin = dlopen(arguments[count - 1], RTLD_NOW);
  pthread_t thread;
  void* whose = NULL;
  if (plugin == NULL || pthread_create(&thread, NULL, use, plugin) != 0 || pthread_join(thread, &whose) != 0)
    return 1;
  puts(whose != NULL ? whose : "not mallow");
  return 0;
}

#endif
