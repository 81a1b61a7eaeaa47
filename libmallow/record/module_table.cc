#include "record/module_table.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "base/bits.h"
#include "os/file.h"
#include "os/memory.h"
#include "os/readable.h"
#include "record/loaded_image.h"
#include "record/loaded_object.h"
#include "record/mapped_file.h"
#include "record/module_generation.h"
#include "record/quiet_holder.h"
#include "record/stack_table.h"

namespace mallow::record {
namespace {

struct Notes {
  const uint8_t* build_id = nullptr;
  size_t build_id_bytes = 0;
};

// The build id out of the loaded notes. Only what the program headers declare as loaded is read.
Notes FindBuildId(const LoadedImage& image, os::ReadablePages* pages) {
  Notes result;
  for (size_t i = 0; i < image.header_count; i++) {
    const ElfW(Phdr)& header = image.headers[i];
    if (header.p_type != PT_NOTE) continue;
    uintptr_t at = image.bias + header.p_vaddr;
    const uintptr_t limit = at + header.p_memsz;
    if (at < image.start || limit > image.end || limit < at) continue;
    if (!pages->Has(reinterpret_cast<const void*>(at), header.p_memsz)) continue;
    const uintptr_t align = header.p_align == 8 ? 8 : 4;
    while (at + sizeof(ElfW(Nhdr)) <= limit) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const uintptr_t name = at + sizeof(*note);
      const uintptr_t data = name + ((note->n_namesz + align - 1) & ~(align - 1));
      if (data < name || data + note->n_descsz > limit || data + note->n_descsz < data) break;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
          memcmp(reinterpret_cast<const void*>(name), "GNU", 4) == 0) {
        result.build_id = reinterpret_cast<const uint8_t*>(data);
        result.build_id_bytes = note->n_descsz < 32 ? note->n_descsz : 32;
        return result;
      }
      at = data + ((note->n_descsz + align - 1) & ~(align - 1));
    }
  }
  return result;
}

bool StartsWith(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

ModuleKind KindOf(const char* path, bool is_executable) {
  if (is_executable) return ModuleKind::kExecutable;
  const char* slash = strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  if (StartsWith(name, "linux-vdso.") || StartsWith(name, "linux-gate.")) return ModuleKind::kVdso;
  static constexpr const char* kLibcParts[] = {
      "libc.so.",  "libc-2.",   "ld-linux",      "ld-2.",   "libm.so.",   "libpthread.so.",
      "libdl.so.", "librt.so.", "libresolv.so.", "libnss_", "libanl.so.", "libutil.so."};
  for (const char* part : kLibcParts) {
    if (StartsWith(name, part)) return ModuleKind::kLibc;
  }
  return ModuleKind::kLibrary;
}

uint64_t Mix(uint64_t hash, const uint8_t* bytes, size_t count) {
  for (size_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 0x100'0000'01b3;
  return hash;
}

}  // namespace

void ModuleTable::Init(MappedFile* file) {
  file_ = file;
  // What the header has room for it has already asked for.
  const char* const known = file->header()->executable;
  const size_t bytes = strnlen(known, sizeof(Header::executable)) + 1;
  if (bytes < sizeof(Header::executable)) {
    memcpy(executable_, known, bytes);
  } else {
    os::ExecutablePath(executable_, sizeof(executable_));
  }
  if (known_ == nullptr) known_ = static_cast<Known*>(os::Map(nullptr, kMaxModules * sizeof(Known)));
  count_ = first_ = first_string_ = string_end_ = remembered_count_ = 0;
  remembered_.Truncate(0);
  for (Answer& answer : answers_) answer.Become(0, nullptr, 0, 0);
}

void ModuleTable::ContinueIn(MappedFile* file) {
  lock_.ResetInChild();
  for (Answer& answer : answers_) answer = {};  // a fork by clone may have come while one was written
  file_ = file;
  first_ = count_;
  first_string_ = string_end_;
  file->SetUsed(Section::kStrings, first_string_);
}

void ModuleTable::Remember(const ModuleEntry& entry, const char* path) {
  if (remembered_count_ != count_ || !remembered_.Reserve(sizeof(entry) + entry.path_bytes)) return;
  char* const end = remembered_.end();
  memcpy(end, &entry, sizeof(entry));
  memcpy(end + sizeof(entry), path, entry.path_bytes);
  remembered_.AppendedTo(end + sizeof(entry) + entry.path_bytes);
  ++remembered_count_;
}

template <typename F>
void ModuleTable::EachInherited(F take) {
  QuietHolder holder(lock_);
  const char* next = remembered_.data();
  for (uint32_t i = 0; i < Min(first_, remembered_count_); ++i) {
    ModuleEntry entry;
    memcpy(&entry, next, sizeof(entry));
    next += sizeof(entry);
    take(i, entry, next);
    next += entry.path_bytes;
  }
}

void ModuleTable::InheritedModules(ModuleEntry* modules) {
  EachInherited([=](uint32_t i, const ModuleEntry& entry, const char*) { modules[i] = entry; });
}

void ModuleTable::InheritedStrings(char* strings) {
  EachInherited([=](uint32_t, const ModuleEntry& entry, const char* path) {
    memcpy(strings + entry.path, path, entry.path_bytes);
  });
}

uint32_t ModuleTable::IdOf(const dl_find_object& found) {
  const link_map* map = found.dlfo_link_map;
  if (map == nullptr) return 0;
  if (MALLOW_UNLIKELY(known_ == nullptr)) {
    file_->header()->incomplete |= kModulesFull;
    return 0;
  }
  const auto start = reinterpret_cast<uintptr_t>(found.dlfo_map_start);
  const uint64_t generation = ModuleGeneration();
  if (const uint32_t id = Remembered(start, map, generation)) return id;
  QuietHolder holder(lock_);
  const uint32_t id = Search(found);
  AnswerAbout(map).Become(start, map, generation, id);
  return id;
}

// No load moves before an acquire one, no store behind a release one.
uint32_t ModuleTable::Remembered(uintptr_t start, const void* link_map, uint64_t generation) {
  const Answer& answer = AnswerAbout(link_map);
  const uint32_t version = __atomic_load_n(&answer.version, __ATOMIC_ACQUIRE);
  if (version % 2 != 0 || __atomic_load_n(&answer.start, __ATOMIC_ACQUIRE) != start ||
      __atomic_load_n(&answer.link_map, __ATOMIC_ACQUIRE) != link_map ||
      __atomic_load_n(&answer.generation, __ATOMIC_ACQUIRE) != generation)
    return 0;
  const uint32_t id = __atomic_load_n(&answer.id, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&answer.version, __ATOMIC_RELAXED) == version ? id : 0;
}

void ModuleTable::Answer::Become(uintptr_t start_now, const void* link_map_now, uint64_t generation_now,
                                 uint32_t id_now) {
  __atomic_store_n(&version, version + 1, __ATOMIC_RELAXED);
  __atomic_store_n(&start, start_now, __ATOMIC_RELEASE);
  __atomic_store_n(&link_map, link_map_now, __ATOMIC_RELEASE);
  __atomic_store_n(&generation, generation_now, __ATOMIC_RELEASE);
  __atomic_store_n(&id, id_now, __ATOMIC_RELEASE);
  __atomic_store_n(&version, version + 1, __ATOMIC_RELEASE);
}

uint32_t ModuleTable::Search(const dl_find_object& found) {
  const link_map* map = found.dlfo_link_map;
  os::ReadablePages pages = {};
  const LoadedImage image = FindLoadedImage(found, &pages);
  // The executable is the one object without a name; ld.so and the vdso have theirs.
  const bool is_executable = map->l_name == nullptr || map->l_name[0] == 0;
  const char* path = is_executable ? executable_ : map->l_name;
  const Notes notes = FindBuildId(image, &pages);

  Known known{image.start, image.end, 0, KindOf(path, is_executable)};
  known.identity = Mix(0xcbf2'9ce4'8422'2325, reinterpret_cast<const uint8_t*>(path), strlen(path));
  known.identity = Mix(known.identity, notes.build_id, notes.build_id_bytes);
  // Without one, where the segments lie tells that the file was built anew.
  if (notes.build_id_bytes == 0) {
    known.identity = Mix(known.identity, reinterpret_cast<const uint8_t*>(image.headers),
                         image.header_count * sizeof(*image.headers));
  }

  for (uint32_t i = count_; i-- > 0;) {
    const Known& other = known_[i];
    if (other.start == known.start && other.end == known.end && other.identity == known.identity)
      return i + 1;
  }
  if (!Add(known, found, path, notes.build_id, notes.build_id_bytes)) return 0;
  return count_;
}

bool ModuleTable::Add(const Known& known, const dl_find_object& found, const char* path,
                      const uint8_t* build_id, size_t build_id_bytes) {
  if (count_ == kMaxModules) {
    file_->header()->incomplete |= kModulesFull;
    return false;
  }
  const uint32_t item = count_ - first_;
  if (!file_->Grow(Section::kModules, item + 1, kModulesFull)) return false;

  // A path relative to a directory that the program may leave is made absolute now.
  char* absolute = path_;
  size_t length = 0;
  if (path[0] != '/' && known.kind != ModuleKind::kVdso) {
    length = os::CurrentDirectory(absolute, 4096);
    if (length > 0) absolute[length++] = '/';
  }
  const size_t path_length = strnlen(path, 4095);
  memcpy(absolute + length, path, path_length);
  length += path_length;
  absolute[length] = 0;

  ModuleEntry entry = {};
  entry.start = known.start;
  entry.end = known.end;
  entry.bias = found.dlfo_link_map->l_addr;
  entry.kind = static_cast<uint32_t>(known.kind);
  entry.build_id_bytes = static_cast<uint32_t>(build_id_bytes);
  if (build_id_bytes > 0) memcpy(entry.build_id, build_id, build_id_bytes);
  const uint64_t text = file_->AppendString(absolute, length);
  if (text != ~uint64_t{0}) {
    entry.path = static_cast<uint32_t>(text);
    entry.path_bytes = static_cast<uint32_t>(length);
    string_end_ = entry.path + entry.path_bytes;
  }
  os::FileStatus status;
  if (known.kind != ModuleKind::kVdso && os::StatusOf(absolute, &status) == 0) {
    entry.device = status.device;
    entry.inode = status.inode;
    entry.size = status.size_bytes;
    entry.modification_ns = status.modification_ns;
  }
  file_->Items<ModuleEntry>(Section::kModules)[item] = entry;
  file_->SetUsed(Section::kModules, item + 1);
  Remember(entry, absolute);
  known_[count_++] = known;
  return true;
}

uint32_t ModuleTable::IdAt(uintptr_t address) {
  dl_find_object found;
  return FindLoadedObject(address, &found) ? IdOf(found) : 0;
}

bool ModuleTable::IsLibc(uintptr_t address, uint32_t id) {
  if (id == 0) id = IdAt(address);
  return id != 0 && known_[id - 1].kind == ModuleKind::kLibc;
}

}  // namespace mallow::record
