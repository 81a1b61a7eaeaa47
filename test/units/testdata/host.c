/* Loads a library that tells of its work; itself it knows nothing of it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  void* library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : 0;
  void (*plugin)(void);
  int i;
  if (library == 0) return 1;
  *(void**)&plugin = dlsym(library, "plugin");
  for (i = 0; i < 4; i++) plugin();
  puts("done");
  return 0;
}
