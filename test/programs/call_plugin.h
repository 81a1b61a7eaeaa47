// Loads a library, calls a function of it once, and unloads it.
#include <dlfcn.h>
#include <stdlib.h>

static void call_plugin(const char *path, const char *name, int calls) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library) abort();
  void (*function)(int);
  *(void **)&function = dlsym(library, name);
  function(calls);
  dlclose(library);
}
