// first_call WHEN FUNCTION: the function is the very first that this process calls of the allocator's.
// WHEN: resolver (an IFUNC resolver, while the program is being relocated), preinit (before all constructors), main.
#include <malloc.h>
#include <wchar.h>

#include "check.h"

void* _Znwm(size_t) __attribute__((weak));
void _ZdlPv(void*) __attribute__((weak));

static const char* Argument(int index);

static void CallFirst(const char* function) {
  void* p = NULL;
#define FUNCTION(name, call)         \
  if (strcmp(function, name) == 0) { \
    call;                            \
  }
  FUNCTION("malloc", p = malloc(100))
  FUNCTION("free", free(NULL))
  FUNCTION("calloc", p = calloc(10, 10))
  FUNCTION("realloc", p = realloc(NULL, 100))
  FUNCTION("reallocarray", p = reallocarray(NULL, 10, 10))
  FUNCTION("memalign", p = memalign(64, 100))
  FUNCTION("aligned_alloc", p = aligned_alloc(64, 128))
  FUNCTION("posix_memalign", if (posix_memalign(&p, 64, 100) != 0) abort())
  FUNCTION("valloc", p = valloc(100))
  FUNCTION("pvalloc", p = pvalloc(100))
  FUNCTION("strdup", p = strdup("x"))
  FUNCTION("strndup", p = strndup("xyz", 2))
  FUNCTION("wcsdup", p = wcsdup(L"x"))
  FUNCTION("malloc_usable_size", if (malloc_usable_size(NULL) != 0) abort())
  FUNCTION("malloc_trim", malloc_trim(0))
  FUNCTION("mallinfo2", mallinfo2())
  FUNCTION("mallopt", mallopt(M_MXFAST, 0))
  FUNCTION("new", if (_Znwm != NULL) p = _Znwm(100))
  FUNCTION("delete", if (_ZdlPv != NULL) _ZdlPv(NULL))
  free(p);
}

// Arguments of the process where libc has not yet been told of them: behind the stack pointer of its start.
extern void* __libc_stack_end;
static const char* Argument(int index) {
  char** arguments = (char**)__libc_stack_end + 1;
  return arguments[index];
}

static void CallIn(const char* when) {
  if (strcmp(Argument(1), when) == 0) CallFirst(Argument(2));
}

static int One(void) { return 1; }
static int (*Resolve(void))(void) {
  CallIn("resolver");
  return One;
}
int Resolved(void) __attribute__((ifunc("Resolve")));

static void BeforeConstructors(void) { CallIn("preinit"); }
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = BeforeConstructors;

int main(int argc, char** argv) {
  CHECK(argc == 3 && argv[1] == Argument(1));
  CallIn("main");
  CHECK(Resolved() == 1);
  for (int i = 0; i < 1000; ++i) {
    void* p = malloc(i);
    CHECK(p != NULL);
    free(p);
  }
  return 0;
}
