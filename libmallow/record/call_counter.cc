#include "record/call_counter.h"

#include <link.h>
#include <string.h>

#include "base/config.h"
#include "os/file.h"
#include "os/memory.h"
#include "record/unit.h"

namespace mallow::record {
namespace {

// As recordings name them; 0: counted.
enum class Refusal : uint32_t { kNone, kNotLoaded, kOtherCode, kNoMemory, kWriting };

constexpr size_t kJumpBytes = 5;
constexpr size_t kMostCode = 96;
constexpr uint32_t kMostFunctions = 32;
constexpr uint8_t kBehindOriginal = 0x80;

struct Bytes {
  uint8_t at[kMostCode];
  size_t count;
};

// One line of what was asked for.
struct CountedFunction {
  uint64_t device, inode, address;
  Bytes original, replacement, fixups;
  char name[sizeof(UnitItem::name) + 1];
};

// Reads a line, field by field; after the first that is not what it should be, nothing.
class Line {
 public:
  Line(const char* start, const char* end) : at_(start), end_(end) {}

  Line& Read(uint64_t* number) {
    *number = 0;
    const char* start = at_;
    for (; at_ < end_ && Digit(*at_) >= 0; ++at_) *number = *number << 4 | static_cast<uint64_t>(Digit(*at_));
    good_ = good_ && at_ > start && at_ - start <= 16;
    return Blank();
  }
  Line& Read(Bytes* bytes) {
    bytes->count = 0;
    if (at_ < end_ && *at_ == '-') return ++at_, Blank();
    for (; at_ + 1 < end_ && Digit(at_[0]) >= 0 && Digit(at_[1]) >= 0; at_ += 2) {
      if (bytes->count == kMostCode) good_ = false;
      if (!good_) break;
      bytes->at[bytes->count++] = static_cast<uint8_t>(Digit(at_[0]) << 4 | Digit(at_[1]));
    }
    return Blank();
  }
  Line& ReadRest(char* text, size_t capacity) {
    size_t bytes = static_cast<size_t>(end_ - at_);
    if (bytes > capacity - 1) bytes = capacity - 1;
    memcpy(text, at_, bytes);
    text[bytes] = 0;
    good_ = good_ && bytes > 0;
    return *this;
  }
  bool good() const { return good_; }

 private:
  static int Digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  }
  Line& Blank() {
    good_ = good_ && at_ < end_ && *at_ == ' ';
    if (at_ < end_) ++at_;
    return *this;
  }

  const char* at_;
  const char* end_;
  bool good_ = true;
};

bool Parse(const char* start, const char* end, CountedFunction* function) {
  Line line(start, end);
  line.Read(&function->device).Read(&function->inode).Read(&function->address);
  line.Read(&function->original).Read(&function->replacement).Read(&function->fixups);
  line.ReadRest(function->name, sizeof(function->name));
  if (!line.good() || function->original.count < kJumpBytes) return false;
  for (size_t i = 0; i < function->fixups.count; ++i) {
    const uint8_t fixup = function->fixups.at[i];
    const size_t bytes = fixup & kBehindOriginal ? sizeof(uint64_t) : sizeof(int32_t);
    if ((fixup & ~kBehindOriginal) + bytes > function->replacement.count) return false;
  }
  return true;
}

// The object that was loaded from the file, and the executable segment of it that holds the address.
struct Place {
  const CountedFunction* function;
  uintptr_t object;  // where it begins; 0: not loaded
  uintptr_t code;    // 0: no code there
};

int FindPlace(dl_phdr_info* object, size_t, void* argument) {
  auto* place = static_cast<Place*>(argument);
  const char* path =
      object->dlpi_name == nullptr || object->dlpi_name[0] == 0 ? "/proc/self/exe" : object->dlpi_name;
  os::FileStatus status;
  if (os::StatusOf(path, &status) != 0 || status.device != place->function->device ||
      status.inode != place->function->inode) {
    return 0;
  }
  const uint64_t address = place->function->address;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    if (place->object == 0) place->object = object->dlpi_addr + segment.p_vaddr;
    if ((segment.p_flags & PF_X) == 0) continue;
    const uint64_t offset = address - segment.p_vaddr;
    if (address < segment.p_vaddr || offset + place->function->original.count > segment.p_memsz) continue;
    place->code = object->dlpi_addr + address;
  }
  return 1;
}

// Counts in the unit that `unit` names and goes on with the function's first instructions:
//   pushfq; push %rax; mov unit(%rip),%rax; lock incq (%rax); pop %rax; popfq
constexpr uint8_t kCount[] = {0x9c, 0x50, 0x48, 0x8b, 0x05, 0, 0, 0, 0, 0xf0, 0x48, 0xff, 0x00, 0x58, 0x9d};
constexpr size_t kUnitDisplacement = 5;
static_assert(offsetof(UnitItem, amount) == 0);

// A place for one such piece of code, and for the word that it reads.
struct Trampoline {
  uint8_t* code;
  UnitItem** unit;
};
constexpr size_t kTrampolineBytes = 128;
static_assert(sizeof(kCount) + kMostCode + kJumpBytes <= kTrampolineBytes);

// Two pages with room for some of them: the first holds code, the second the words.
struct Area {
  uint8_t* code;
  size_t used;

  size_t room() const { return os::PageSize() / kTrampolineBytes; }
  UnitItem** units() const { return reinterpret_cast<UnitItem**>(code + os::PageSize()); }
  Trampoline at(size_t index) const { return {code + index * kTrampolineBytes, units() + index}; }
};
Area g_areas[kMostFunctions];
size_t g_area_count;

bool Reaches(uintptr_t from, uintptr_t to) {
  // Less than the displacement of a jump has room for, by as much as both pieces of code are long.
  constexpr int64_t kReach = (int64_t{1} << 31) - (int64_t{1} << 20);
  const int64_t distance = static_cast<int64_t>(to - from);
  return distance < kReach && distance > -kReach;
}

bool IsNear(const Place& place, const void* memory) {
  const auto at = reinterpret_cast<uintptr_t>(memory);
  return Reaches(at, place.code) && Reaches(place.code, at);
}

// Below the object, where no heap grows, and near enough for what the object's code refers to as well. Null: there is
// no room.
Area* AreaNear(const Place& place) {
  for (size_t i = 0; i < g_area_count; ++i) {
    if (IsNear(place, g_areas[i].code) && g_areas[i].used < g_areas[i].room()) return &g_areas[i];
  }
  const size_t page = os::PageSize();
  for (uintptr_t distance = uintptr_t{1} << 16; distance <= uintptr_t{1} << 30; distance *= 2) {
    if (g_area_count == kMostFunctions || distance + page >= place.object) break;
    void* memory = os::Map(reinterpret_cast<void*>((place.object - distance) / page * page), 2 * page);
    if (memory == nullptr) return nullptr;
    if (IsNear(place, memory)) {
      g_areas[g_area_count] = {static_cast<uint8_t*>(memory), 0};
      return &g_areas[g_area_count++];
    }
    os::Unmap(memory, 2 * page);
  }
  return nullptr;
}

void Write32(uint8_t* at, int64_t value) {
  const auto narrow = static_cast<int32_t>(value);
  memcpy(at, &narrow, sizeof(narrow));
}

// The displacement of what ends at `end` and leads to `target`.
void WriteDisplacement(uint8_t* at, const uint8_t* end, uintptr_t target) {
  Write32(at, static_cast<int64_t>(target - reinterpret_cast<uintptr_t>(end)));
}

// False: a displacement has become too long.
bool Fill(const CountedFunction& function, uintptr_t code, const Trampoline& trampoline) {
  uint8_t* next = trampoline.code;
  memcpy(next, kCount, sizeof(kCount));
  WriteDisplacement(next + kUnitDisplacement, next + kUnitDisplacement + 4,
                    reinterpret_cast<uintptr_t>(trampoline.unit));
  next += sizeof(kCount);
  memcpy(next, function.replacement.at, function.replacement.count);
  const auto moved = static_cast<int64_t>(code - reinterpret_cast<uintptr_t>(next));
  for (size_t i = 0; i < function.fixups.count; ++i) {
    uint8_t* field = next + (function.fixups.at[i] & ~kBehindOriginal);
    if (function.fixups.at[i] & kBehindOriginal) {
      const uint64_t behind = code + function.original.count;
      memcpy(field, &behind, sizeof(behind));
      continue;
    }
    int32_t displacement;
    memcpy(&displacement, field, sizeof(displacement));
    const int64_t sum = displacement + moved;
    if (sum != static_cast<int32_t>(sum)) return false;
    Write32(field, sum);
  }
  next += function.replacement.count;
  next[0] = 0xe9;
  WriteDisplacement(next + 1, next + kJumpBytes, code + function.original.count);
  return true;
}

// At once, where the jump lies within a word: should a thread run there after all, it sees the one or the other.
MALLOW_NO_SANITIZE void WriteJump(uintptr_t code, const uint8_t* target) {
  uint8_t jump[kJumpBytes] = {0xe9};
  auto* at = reinterpret_cast<uint8_t*>(code);
  WriteDisplacement(jump + 1, at + kJumpBytes, reinterpret_cast<uintptr_t>(target));
  const size_t offset = code % sizeof(uint64_t);
  if (offset + kJumpBytes > sizeof(uint64_t)) {
    memcpy(at, jump, kJumpBytes);
    return;
  }
  auto* word = reinterpret_cast<uint64_t*>(code - offset);
  uint64_t value = *word;
  memcpy(reinterpret_cast<uint8_t*>(&value) + offset, jump, kJumpBytes);
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

// Where a word lies that the counting code reads, and the name of what it counts: the unit may be of a file that is not
// there any more.
struct Counted {
  UnitItem** unit;
  char name[sizeof(CountedFunction::name)];
};
Counted g_counted[kMostFunctions];
uint32_t g_counted_functions;

Refusal CountCalls(const CountedFunction& function, UnitItem* unit) {
  Place place{&function, 0, 0};
  dl_iterate_phdr(FindPlace, &place);
  if (place.object == 0) return Refusal::kNotLoaded;
  if (place.code == 0 ||
      memcmp(reinterpret_cast<void*>(place.code), function.original.at, function.original.count) != 0) {
    return Refusal::kOtherCode;
  }
  Area* area = g_counted_functions == kMostFunctions ? nullptr : AreaNear(place);
  if (area == nullptr) return Refusal::kNoMemory;
  const size_t page = os::PageSize();
  const uintptr_t first = place.code / page * page;
  const size_t bytes = (place.code + kJumpBytes - first + page - 1) / page * page;
  auto* pages = reinterpret_cast<void*>(first);
  const Trampoline trampoline = area->at(area->used);
  if (!os::OpenCode(area->code, page) || !os::OpenCode(pages, bytes)) return Refusal::kWriting;
  *trampoline.unit = unit;
  const bool filled = Fill(function, place.code, trampoline);
  if (filled) WriteJump(place.code, trampoline.code);
  os::ProtectCode(area->code, page);
  os::ProtectCode(pages, bytes);
  if (!filled) return Refusal::kNoMemory;
  area->used++;
  Counted& counted = g_counted[g_counted_functions++];
  counted.unit = trampoline.unit;
  memcpy(counted.name, function.name, sizeof(counted.name));
  return Refusal::kNone;
}

}  // namespace

void CountCallsOf(const char* functions, UnitTable* units) {
  for (const char* start = functions; *start != 0;) {
    const char* end = start + strcspn(start, "\n");
    CountedFunction function;
    if (Parse(start, end, &function)) {
      UnitItem* unit = units->Add(function.name, UnitSource::kFunction);
      if (unit != nullptr) {
        const Refusal refusal = CountCalls(function, unit);
        if (refusal != Refusal::kNone) unit->refusal = static_cast<uint32_t>(refusal);
      }
    }
    start = *end == 0 ? end : end + 1;
  }
}

void CountCallsIn(UnitTable* units) {
  static UnitItem uncounted;  // no room for more
  for (uint32_t i = 0; i < g_counted_functions; ++i) {
    UnitItem* const own = units->Add(g_counted[i].name, UnitSource::kFunction);
    __atomic_store_n(g_counted[i].unit, own != nullptr ? own : &uncounted, __ATOMIC_RELEASE);
  }
}

}  // namespace mallow::record
