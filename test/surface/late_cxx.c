// late_cxx PLUGIN: operator new fails in a C++ library that a C program loaded late, and so that nobody else
// sees its C++ runtime.
#include <dlfcn.h>
#include <stdint.h>

#include "check.h"

int main(int argc, char** argv) {
  CHECK(argc == 2 && dlsym(RTLD_DEFAULT, "__cxa_throw") == NULL);
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) fprintf(stderr, "%s\n", dlerror());
  CHECK(plugin != NULL && dlsym(RTLD_DEFAULT, "__cxa_throw") == NULL);
  int (*catches)(unsigned long) = (int (*)(unsigned long))dlsym(plugin, "CatchesBadAlloc");
  int (*asks)(unsigned long) = (int (*)(unsigned long))dlsym(plugin, "AsksHandler");
  CHECK(catches(SIZE_MAX) && catches(SIZE_MAX / 4));
  CHECK(asks(SIZE_MAX) && catches(SIZE_MAX / 4));
  return 0;
}
