// load_late LIBMALLOW LIBRARY...: libmallow can be dlopened by a process that did not start with it, also when others
// have taken much of the static thread-local storage; dlclose leaves it in place.
#include <dlfcn.h>
#include <pthread.h>

#include "check.h"

static void* (*late_malloc)(size_t);
static void (*late_free)(void*);

static void* Work(void* unused) {
  for (int i = 0; i < 1000; ++i) late_free(late_malloc(i));
  return unused;
}

int main(int argc, char** argv) {
  CHECK(argc > 1);
  for (int i = 2; i < argc; ++i) {
    if (dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL) == NULL) fprintf(stderr, "%s\n", dlerror()), exit(1);
  }
  void* block = NULL;
  for (int i = 0; i < 200; ++i) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fprintf(stderr, "%s\n", dlerror()), exit(1);
    late_malloc = (void* (*)(size_t))dlsym(library, "malloc");
    late_free = (void (*)(void*))dlsym(library, "free");
    CHECK(late_malloc != malloc && late_malloc != NULL);
    // A block outlives the dlclose of the library that made it.
    if (block != NULL) CHECK(strcmp(block, "still here") == 0);
    late_free(block);
    block = strcpy(late_malloc(100), "still here");
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, Work, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(dlclose(library) == 0);
  }
  return 0;
}
