// Code that the program makes: with unwind tables registered for it and without, other code at the same addresses, and
// libraries that come to where it was. The tables that __register_frame is given are found by nobody but the C++ runtime: such a
// stack ends at that frame, marked, and never goes on by a guess.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "capture_here.h"
#include "node_map.h"
#include "oracle.h"

extern "C" void __register_frame(void*);
extern "C" void __deregister_frame(void*);

namespace {

using namespace mallow::unwind_test;
using Callback = void (*)();
using Through = void (*)(Callback);

constexpr size_t kPage = 4096;
int g_failures = 0;

void Expect(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "generated code: %s\n", what);
  ++g_failures;
}

void CaptureTwice() {
  CaptureHere();
  CaptureHere();
}

// sub $frame, %rsp; call *%rdi; add $frame, %rsp; ret: byte for byte as long as the code of reload_library.cc.
Through Generate(uintptr_t at, uint32_t frame) {
  uint8_t code[] = {0x48, 0x81, 0xec, 0, 0, 0, 0, 0xff, 0xd7, 0x48, 0x81, 0xc4, 0, 0, 0, 0, 0xc3};
  memcpy(code + 3, &frame, sizeof frame);
  memcpy(code + 12, &frame, sizeof frame);
  memcpy(reinterpret_cast<void*>(at), code, sizeof code);
  __builtin___clear_cache(reinterpret_cast<char*>(at), reinterpret_cast<char*>(at + sizeof code));
  return reinterpret_cast<Through>(at);
}

// A CIE, an FDE and an end for it.
struct Tables {
  uint32_t cie_bytes = 20, cie_id = 0;
  uint8_t cie[16] = {1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1};
  uint32_t fde_bytes = 28, cie_pointer = 28;
  uint64_t start, bytes = 17;
  uint8_t fde[8] = {0x47, 0x0e};  // after 7 bytes: CFA = rsp + frame + 8, in ULEB128
  uint32_t end = 0;
};

Tables TablesFor(Through code, uint32_t frame) {
  Tables tables;
  tables.start = reinterpret_cast<uint64_t>(code);
  const uint32_t offset = frame + 8;
  tables.fde[2] = static_cast<uint8_t>(offset | 0x80);
  tables.fde[3] = static_cast<uint8_t>(offset >> 7);
  return tables;
}

void ExpectTruncated(Through code, const char* what) {
  for (int i = 0; i < 3; ++i) {
    const uint64_t before = GetTotals().truncated;
    code(CaptureTwice);
    Expect(GetTotals().truncated - before == 2, what);
  }
}

bool Throws(Through code) {
  try {
    code([] { throw 1; });
  } catch (int) {
    return true;
  }
  return false;
}

void Registered(uintptr_t page) {
  for (uint32_t frame = 136; frame < 4000; frame += 1008) {
    const Through code = Generate(page, frame);
    static Tables tables;  // has to stay
    tables = TablesFor(code, frame);
    ExpectTruncated(code, "a stack through code without tables is called whole");
    __register_frame(&tables.cie_bytes);
    Expect(Throws(code), "the registered tables are wrong");
    ExpectTruncated(code, "a stack through registered code is called whole");
    __deregister_frame(&tables.cie_bytes);
    ExpectTruncated(code, "a stack through code whose tables are gone is called whole");
    CaptureHere();
  }
}

// Where the library's function lies, which is loaded and unloaded.
uintptr_t CallLibrary(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 0;
  const auto through = reinterpret_cast<Through>(dlsym(library, "ReloadThrough"));
  const uint64_t before = GetTotals().truncated;
  through(CaptureTwice);
  Expect(GetTotals().truncated == before, "a stack through a library is cut where code without tables was");
  dlclose(library);
  // The handle is the link map, which the dynamic linker has just freed.
  mallow::record::LoaderFreed(library);
  FlushOracle();
  return reinterpret_cast<uintptr_t>(through);
}

int Alternate(char** paths) {
  int shared = 0;
  uintptr_t place = CallLibrary(paths[0]);
  for (int round = 0; round < 10 && place != 0; ++round) {
    void* const page = reinterpret_cast<void*>(place / kPage * kPage);
    if (mmap(page, kPage, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != page) {
      continue;
    }
    ExpectTruncated(Generate(place, 1096), "a stack through code where a library was is called whole");
    munmap(page, kPage);
    const uintptr_t next = CallLibrary(paths[round % 2]);
    shared += next == place;
    place = next;
  }
  return shared;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  void* const page =
      mmap(nullptr, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Registered(reinterpret_cast<uintptr_t>(page));
  const int shared = Alternate(arguments + 1);
  printf("a library came %d times to where code was\n", shared);
  Expect(shared > 0, "vacuous, no library came to where code was");
  return Report("generated code") | (g_failures != 0);
}
