// Loads and unloads two libraries in turn, 50 times each; both usually come to lie at the same address.
// Arguments: the paths of plugin_a.so and plugin_b.so.
#include <dlfcn.h>
#include <stdlib.h>

static void call(const char *path, const char *name, int calls) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library) abort();
  void (*function)(int);
  *(void **)&function = dlsym(library, name);
  function(calls);
  dlclose(library);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  for (int i = 0; i < 50; i++) {
    call(arguments[1], "plugin_a", 10);
    call(arguments[2], "plugin_b", 7);
  }
  return 0;
}
