#include "record/loaded_object.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include <atomic>

#include "base/config.h"
#include "os/readable.h"

namespace mallow::record {
namespace {

enum class Linked { kUnknown, kDynamically, kStatically };
constinit std::atomic<Linked> g_linked{Linked::kUnknown};

// The program headers of the executable.
struct Headers {
  const ElfW(Phdr) * first = reinterpret_cast<const ElfW(Phdr) *>(getauxval(AT_PHDR));
  size_t count = getauxval(AT_PHNUM);

  const ElfW(Phdr) * begin() const { return first; }
  const ElfW(Phdr) * end() const { return first + count; }
};

Linked HowLinked(const Headers& headers) {
  // With a loader, unless that was started by hand and given the program: then it wrote down the program's headers.
  if (getauxval(AT_BASE) != 0 || headers.first == nullptr) return Linked::kDynamically;
  for (const ElfW(Phdr) & header : headers) {
    if (header.p_type == PT_INTERP) return Linked::kDynamically;
  }
  return Linked::kStatically;
}

// The headers stand behind the ELF header, where the first segment begins.
uintptr_t BiasOf(const Headers& headers) {
  for (const ElfW(Phdr) & header : headers) {
    if (header.p_type != PT_LOAD || header.p_offset != 0) continue;
    return reinterpret_cast<uintptr_t>(headers.first) - sizeof(ElfW(Ehdr)) - header.p_vaddr;
  }
  return 0;
}

char g_no_name[] = "";
// Of a static program; what is written into it is always the same.
constinit link_map g_static_program{0, g_no_name, nullptr, nullptr, nullptr};

bool FindInStaticProgram(uintptr_t address, dl_find_object* found) {
  const Headers headers;
  if (!os::IsReadable(reinterpret_cast<uintptr_t>(headers.first))) return false;
  const uintptr_t bias = BiasOf(headers);
  uintptr_t start = UINTPTR_MAX, end = 0;
  *found = {};
  for (const ElfW(Phdr) & header : headers) {
    const uintptr_t begin = bias + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME) found->dlfo_eh_frame = reinterpret_cast<void*>(begin);
    if (header.p_type != PT_LOAD) continue;
    if (begin < start) start = begin;
    if (begin + header.p_memsz > end) end = begin + header.p_memsz;
  }
  if (address < start || address >= end) return false;
  __atomic_store_n(&g_static_program.l_addr, bias, __ATOMIC_RELAXED);
  found->dlfo_map_start = reinterpret_cast<void*>(start);
  found->dlfo_map_end = reinterpret_cast<void*>(end);
  found->dlfo_link_map = &g_static_program;
  return true;
}

}  // namespace

bool FindLoadedObject(uintptr_t address, dl_find_object* found) {
  Linked linked = g_linked.load(std::memory_order_relaxed);
  if (MALLOW_UNLIKELY(linked == Linked::kUnknown)) {
    linked = HowLinked(Headers());
    g_linked.store(linked, std::memory_order_relaxed);
  }
  if (MALLOW_UNLIKELY(linked == Linked::kStatically)) return FindInStaticProgram(address, found);
  return _dl_find_object(reinterpret_cast<void*>(address), found) == 0;
}

}  // namespace mallow::record
