// The exported functions of a loaded object, by its dynamic section.
//
// By hand, because dlsym may allocate. Thread-safe (reads only); the object must stay loaded.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstdint>

namespace mallow::os {

// As the tables hash names.
uint32_t GnuHash(const char* name);

class SymbolTable {
 public:
  SymbolTable(const ElfW(Dyn) * dynamic, ElfW(Addr) bias);

  // The default version of a function of that name and GnuHash, or null. Cost: a hash look-up.
  const void* Find(const char* name, uint32_t hash) const;
  // Its entry in the table, or null; what an entry says of the address is relative to the bias.
  const ElfW(Sym) * FindEntry(const char* name, uint32_t hash) const;

 private:
  template <typename T>
  const T* At(const ElfW(Dyn) * entry) const;
  bool IsDefinition(uint32_t index, const char* name) const;

  // Null where the object has none.
  ElfW(Addr) bias_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  const ElfW(Half) * versions_ = nullptr;
  const uint32_t* gnu_hash_ = nullptr;
};

}  // namespace mallow::os
