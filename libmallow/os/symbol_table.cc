#include "os/symbol_table.h"

#include <cstring>

namespace mallow::os {

uint32_t GnuHash(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

SymbolTable::SymbolTable(const ElfW(Dyn) * dynamic, ElfW(Addr) bias) : bias_(bias) {
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_SYMTAB) symbols_ = At<ElfW(Sym)>(dynamic);
    if (dynamic->d_tag == DT_STRTAB) strings_ = At<char>(dynamic);
    if (dynamic->d_tag == DT_VERSYM) versions_ = At<ElfW(Half)>(dynamic);
    if (dynamic->d_tag == DT_GNU_HASH) gnu_hash_ = At<uint32_t>(dynamic);
  }
}

const void* SymbolTable::Find(const char* name, uint32_t hash) const {
  const ElfW(Sym)* const entry = FindEntry(name, hash);
  return entry == nullptr ? nullptr : reinterpret_cast<const void*>(bias_ + entry->st_value);
}

const ElfW(Sym) * SymbolTable::FindEntry(const char* name, uint32_t hash) const {
  if (symbols_ == nullptr || strings_ == nullptr || gnu_hash_ == nullptr) return nullptr;
  // bucket count, first hashed symbol, Bloom words, Bloom shift; then Bloom filter, buckets, chains.
  const uint32_t bucket_count = gnu_hash_[0], first = gnu_hash_[1], bloom_words = gnu_hash_[2];
  if (bucket_count == 0) return nullptr;
  const uint32_t* buckets = gnu_hash_ + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chains = buckets + bucket_count;
  uint32_t index = buckets[hash % bucket_count];
  if (index < first) return nullptr;
  for (;; ++index) {
    const uint32_t entry = chains[index - first];
    if ((entry | 1) == (hash | 1) && IsDefinition(index, name)) return &symbols_[index];
    if (entry & 1) return nullptr;
  }
}

// ld.so writes addresses into the dynamic section of what it loads; the vdso's keeps offsets.
template <typename T>
const T* SymbolTable::At(const ElfW(Dyn) * entry) const {
  ElfW(Addr) address = entry->d_un.d_ptr;
  if (address < bias_) address += bias_;
  return reinterpret_cast<const T*>(address);
}

bool SymbolTable::IsDefinition(uint32_t index, const char* name) const {
  constexpr ElfW(Half) kHiddenVersion = 0x8000;
  const ElfW(Sym)& symbol = symbols_[index];
  return symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
         (versions_ == nullptr || (versions_[index] & kHiddenVersion) == 0) &&
         strcmp(strings_ + symbol.st_name, name) == 0;
}

}  // namespace mallow::os
