#include "record/loaded_image.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "os/readable.h"

namespace mallow::record {
namespace {

constexpr uintptr_t kHeaderPage = 4096;

// The executable's headers are where the kernel says; those of other objects begin behind their ELF header.
bool FindHeaders(const dl_find_object& found, os::ReadablePages* pages, LoadedImage* image) {
  const link_map* map = found.dlfo_link_map;
  if (map != nullptr && (map->l_name == nullptr || map->l_name[0] == 0)) {
    image->headers = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
    image->header_count = getauxval(AT_PHNUM);
    return getauxval(AT_PHENT) == sizeof(ElfW(Phdr)) && pages->HasWord(getauxval(AT_PHDR));
  }
  if (!pages->HasWord(image->start)) return false;
  const auto* elf = reinterpret_cast<const ElfW(Ehdr)*>(image->start);
  if (image->end - image->start < sizeof(*elf) || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (elf->e_phoff + elf->e_phnum * sizeof(ElfW(Phdr)) > kHeaderPage) return false;
  image->headers = reinterpret_cast<const ElfW(Phdr)*>(image->start + elf->e_phoff);
  image->header_count = elf->e_phnum;
  return true;
}

}  // namespace

LoadedImage FindLoadedImage(const dl_find_object& found, os::ReadablePages* pages) {
  LoadedImage image = {reinterpret_cast<uintptr_t>(found.dlfo_map_start),
                       reinterpret_cast<uintptr_t>(found.dlfo_map_end),
                       found.dlfo_link_map != nullptr ? found.dlfo_link_map->l_addr : 0, nullptr, 0};
  if (!FindHeaders(found, pages, &image)) {
    image.headers = nullptr;
    image.header_count = 0;
  }
  for (size_t i = 0; i < image.header_count; i++) {
    const ElfW(Phdr)& header = image.headers[i];
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t start = image.bias + header.p_vaddr, end = start + header.p_memsz;
    if (start < image.start) image.start = start;
    if (end > image.end) image.end = end;
  }
  return image;
}

uintptr_t FindTablesEnd(const dl_find_object& found, os::ReadablePages* pages) {
  const LoadedImage image = FindLoadedImage(found, pages);
  const uintptr_t tables = reinterpret_cast<uintptr_t>(found.dlfo_eh_frame);
  for (size_t i = 0; i < image.header_count; i++) {
    const ElfW(Phdr)& header = image.headers[i];
    const uintptr_t start = image.bias + header.p_vaddr;
    if (header.p_type == PT_LOAD && tables - start < header.p_filesz) return start + header.p_filesz;
  }
  return 0;
}

}  // namespace mallow::record
