#include "record/eh_frame.h"

#include "base/bits.h"

namespace mallow::record {

namespace {

const uint8_t* Address(uintptr_t address) { return reinterpret_cast<const uint8_t*>(address); }

bool Inside(const LoadedObject& object, const uint8_t* p) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(p);
  return object.start <= address && address < object.end;
}

// Whether it may be read. Whoever unmaps tables leaves no hole amid them: from their header to the end of the segment only
// the ends are asked about.
bool IsReadable(const LoadedObject& object, const uint8_t* p, size_t bytes) {
  const uintptr_t start = reinterpret_cast<uintptr_t>(p);
  const uintptr_t tables = reinterpret_cast<uintptr_t>(object.eh_frame_hdr);
  if (start < tables || start >= object.tables_end || bytes > object.tables_end - start)
    return object.pages->Has(p, bytes);
  return object.pages->Has(object.eh_frame_hdr, 1) && object.pages->Has(Address(object.tables_end - 1), 1);
}

// Every fixed part that is read through it is shorter.
constexpr size_t kFixedPart = 24;

// What follows the fixed part is the caller's to ask for.
DwarfReader ReaderAt(const LoadedObject& object, const uint8_t* p) {
  const bool inside = Inside(object, p);
  const uint8_t* end = inside ? Address(object.end) : p;
  const size_t fixed = Min(kFixedPart, static_cast<size_t>(end - p));
  return DwarfReader(p, IsReadable(object, p, fixed) ? end : p);
}

// A record of .eh_frame: a CIE, an FDE or, with length 0, the end.
struct Record {
  const uint8_t* id_field;  // what the CIE pointer of an FDE is relative to
  uint32_t id;              // 0: a CIE; otherwise distance from id_field back to the CIE
  const uint8_t* body;
  const uint8_t* end;
};

enum class RecordStatus { kRecord, kEndOfTable, kMalformed };

RecordStatus ReadRecord(const LoadedObject& object, const uint8_t* at, Record* record) {
  DwarfReader reader = ReaderAt(object, at);
  uint64_t bytes = reader.Fixed<uint32_t>();
  if (reader.ok() && bytes == 0) return RecordStatus::kEndOfTable;
  if (bytes == 0xffffffff) bytes = reader.Fixed<uint64_t>();
  const uint8_t* start = reader.at();
  reader.Skip(bytes);
  record->end = reader.at();
  if (!reader.ok() || !IsReadable(object, start, bytes)) return RecordStatus::kMalformed;
  DwarfReader body(start, record->end);
  record->id_field = start;
  record->id = body.Fixed<uint32_t>();
  record->body = body.at();
  return body.ok() ? RecordStatus::kRecord : RecordStatus::kMalformed;
}

// An indirect pointer names the word that holds the value; only words of the object itself are believed.
bool Resolve(const LoadedObject& object, uint8_t encoding, uintptr_t* pointer) {
  if (!(encoding & kPointerIndirect) || *pointer == 0) return true;
  DwarfReader word = ReaderAt(object, Address(*pointer));
  *pointer = word.Fixed<uintptr_t>();
  return word.ok();
}

struct CommonEntry {
  FrameEntry values;  // only what the CIE gives
  bool has_augmentation_data;
};

bool ReadCommonEntry(const LoadedObject& object, const uint8_t* at, CommonEntry* cie) {
  Record record;
  if (ReadRecord(object, at, &record) != RecordStatus::kRecord || record.id != 0) return false;
  DwarfReader reader(record.body, record.end);
  FrameEntry& values = cie->values;
  values = {};
  const uint8_t version = reader.Fixed<uint8_t>();
  if (version != 1 && version != 3 && version != 4) return false;
  const char* augmentation = reinterpret_cast<const char*>(reader.at());
  while (reader.ok() && reader.Fixed<uint8_t>() != 0) {
  }
  if (!reader.ok()) return false;
  if (augmentation[0] == 'e' && augmentation[1] == 'h') {
    reader.Skip(sizeof(uintptr_t));
    augmentation += 2;
  }
  if (version == 4) reader.Skip(2);  // sizes of addresses and segments
  values.code_alignment = reader.Uleb();
  values.data_alignment = reader.Sleb();
  values.return_address_register = version == 1 ? reader.Fixed<uint8_t>() : reader.Uleb();
  values.pointer_encoding = 0;
  cie->has_augmentation_data = *augmentation == 'z';
  const uint8_t* program = reader.at();
  if (cie->has_augmentation_data) {
    const uint64_t bytes = reader.Uleb();
    program = reader.at() + bytes;
    if (bytes > static_cast<uint64_t>(record.end - reader.at())) return false;
    ++augmentation;
  }
  for (; *augmentation != 0; ++augmentation) {
    if (*augmentation == 'R') {
      values.pointer_encoding = reader.Fixed<uint8_t>();
    } else if (*augmentation == 'P') {
      const uint8_t encoding = reader.Fixed<uint8_t>();
      reader.Pointer(encoding, 0);
    } else if (*augmentation == 'L') {
      reader.Fixed<uint8_t>();
    } else if (*augmentation == 'S') {
      values.signal_frame = true;
    } else if (cie->has_augmentation_data) {
      break;  // the data's length says where it ends
    } else {
      return false;
    }
  }
  values.initial_program = cie->has_augmentation_data ? program : reader.at();
  values.initial_program_end = record.end;
  return reader.ok() && values.return_address_register == kReturnAddress;
}

bool ReadFrameEntry(const LoadedObject& object, const Record& record, FrameEntry* entry) {
  CommonEntry cie;
  if (!ReadCommonEntry(object, record.id_field - record.id, &cie)) return false;
  *entry = cie.values;
  DwarfReader reader(record.body, record.end);
  const uint8_t encoding = entry->pointer_encoding;
  entry->start = reader.Pointer(encoding, 0);
  if (!Resolve(object, encoding, &entry->start)) return false;
  entry->end = entry->start + reader.Pointer(encoding & kPointerFormatMask, 0);
  if (cie.has_augmentation_data) {
    const uint64_t bytes = reader.Uleb();
    reader.Skip(bytes);
  }
  entry->program = reader.at();
  entry->program_end = record.end;
  return reader.ok();
}

bool ReadFrameEntryAt(const LoadedObject& object, const uint8_t* at, uintptr_t pc, FrameEntry* entry) {
  Record record;
  if (ReadRecord(object, at, &record) != RecordStatus::kRecord || record.id == 0) return false;
  return ReadFrameEntry(object, record, entry) && entry->start <= pc && pc < entry->end;
}

// The search table: pairs of (start of code, FDE), both relative to the header, in order of the first.
struct SearchTableEntry {
  int32_t start;
  int32_t entry;
};
constexpr uint8_t kSearchTableEncoding = 0x3b;

bool FindByTable(const LoadedObject& object, DwarfReader reader, uint64_t count, uintptr_t pc,
                 FrameEntry* entry) {
  const uintptr_t base = reinterpret_cast<uintptr_t>(object.eh_frame_hdr);
  const uint8_t* table = reader.at();
  if (count > static_cast<uint64_t>(reader.end() - table) / sizeof(SearchTableEntry)) return false;
  if (!IsReadable(object, table + (count - 1) * sizeof(SearchTableEntry), sizeof(SearchTableEntry)))
    return false;
  const auto entry_at = [table](uint64_t index) {
    SearchTableEntry item;
    memcpy(&item, table + index * sizeof item, sizeof item);
    return item;
  };
  uint64_t low = 0, high = count;  // the last item that starts at or before pc is in [low - 1, high)
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (base + static_cast<intptr_t>(entry_at(middle).start) <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return false;
  const uintptr_t at = base + static_cast<intptr_t>(entry_at(low - 1).entry);
  return ReadFrameEntryAt(object, Address(at), pc, entry);
}

bool FindByScan(const LoadedObject& object, const uint8_t* eh_frame, uintptr_t pc, FrameEntry* entry) {
  Record record;
  for (const uint8_t* at = eh_frame; ReadRecord(object, at, &record) == RecordStatus::kRecord;
       at = record.end) {
    if (record.id == 0) continue;
    if (ReadFrameEntry(object, record, entry) && entry->start <= pc && pc < entry->end) return true;
  }
  return false;
}

// --- Programs ---------------------------------------------------------------------------------

enum Instruction : uint8_t {
  kNop = 0x00,
  kSetLocation = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefineCfa = 0x0c,
  kDefineCfaRegister = 0x0d,
  kDefineCfaOffset = 0x0e,
  kDefineCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSigned = 0x11,
  kDefineCfaSigned = 0x12,
  kDefineCfaOffsetSigned = 0x13,
  kValueOffset = 0x14,
  kValueOffsetSigned = 0x15,
  kValueExpression = 0x16,
  kAdvance8 = 0x1d,
  kArgumentsSize = 0x2e,
  kNegativeOffsetExtended = 0x2f,
  // The operand is in the low six bits of these.
  kAdvance = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
};

// Runs the program of an entry. The row of `pc` is complete when the next location lies beyond it. What was run so far is
// kept: functions that push arguments have a row for every call, and programs that start come to one call after the other.
class ProgramRun {
 public:
  ProgramRun(const LoadedObject& object, const FrameEntry& entry, uintptr_t pc, UnwindScratch* scratch)
      : object_(object), entry_(entry), pc_(pc), scratch_(scratch), row_(&scratch->row) {}

  bool Run() {
    UnwindScratch::Progress& progress = scratch_->progress;
    CodeRange& code = scratch_->code;
    const bool goes_on = progress.entry == entry_ && code.start <= pc_;
    if (goes_on && pc_ < code.end) return true;
    if (goes_on) {
      location_ = progress.location;
      remembered_ = progress.remembered;
    } else {
      progress.at = entry_.program;
      if (!RunInitially()) return false;
    }
    progress.entry = {};
    DwarfReader reader(progress.at, entry_.program_end);
    // No location before this one was farther, so a run for any address up to the next one comes by here as well: also if
    // a damaged program goes back and forth.
    uintptr_t farthest = entry_.start;
    while (location_ <= pc_) {
      farthest = Max(farthest, location_);
      if (reader.AtEnd()) break;
      if (!Execute(&reader)) return false;
    }
    if (!reader.ok()) return false;
    if (initial_moves_) {
      code = {pc_, pc_ + 1};
      return true;
    }
    code = {farthest, location_ <= pc_ ? entry_.end : Min(location_, entry_.end)};
    progress = {entry_, reader.at(), location_, remembered_};
    return true;
  }

 private:
  // The row that the common entry gives.
  bool RunInitially() {
    *row_ = {};
    row_->end = Address(object_.end);
    initial_ = true;
    location_ = entry_.start;
    DwarfReader reader(entry_.initial_program, entry_.initial_program_end);
    while (!reader.AtEnd() && location_ <= pc_) {
      if (!Execute(&reader)) return false;
    }
    initial_ = false;
    initial_moves_ = location_ != entry_.start;
    location_ = entry_.start;
    scratch_->initial = *row_;
    return reader.ok();
  }

  void Advance(uint64_t delta) { location_ += delta * entry_.code_alignment; }

  int64_t Factored(uint64_t value) const {
    return static_cast<int64_t>(value * static_cast<uint64_t>(entry_.data_alignment));
  }

  // Registers beyond those that an unwind needs (vector registers) are read over.
  void Set(uint64_t number, Recovery how, int64_t offset) {
    if (number >= kRegisterCount) return;
    row_->registers[number].how = how;
    row_->registers[number].offset = offset;
  }

  void SetExpression(uint64_t number, Recovery how, DwarfReader* reader) {
    const uint8_t* expression = SkipExpression(reader);
    if (number >= kRegisterCount) return;
    row_->registers[number].how = how;
    row_->registers[number].expression = expression;
  }

  const uint8_t* SkipExpression(DwarfReader* reader) {
    const uint8_t* expression = reader->at();
    reader->Skip(reader->Uleb());
    return expression;
  }

  bool Restore(uint64_t number) {
    if (initial_) return false;
    if (number < kRegisterCount) row_->registers[number] = scratch_->initial.registers[number];
    return true;
  }

  void SetCfa(uint64_t number, int64_t offset) {
    row_->cfa_register = number;
    row_->cfa_offset = offset;
    row_->cfa_expression = nullptr;
  }

  bool Execute(DwarfReader* reader) {
    const uint8_t byte = reader->Fixed<uint8_t>();
    const uint8_t operand = byte & 0x3f;
    switch (byte & 0xc0) {
      case kAdvance:
        Advance(operand);
        return true;
      case kOffset:
        Set(operand, Recovery::kAtOffset, Factored(reader->Uleb()));
        return true;
      case kRestore:
        return Restore(operand);
    }
    switch (byte) {
      case kNop:
        return true;
      case kSetLocation:
        location_ = reader->Pointer(entry_.pointer_encoding, 0);
        return Resolve(object_, entry_.pointer_encoding, &location_);
      case kAdvance1:
        Advance(reader->Fixed<uint8_t>());
        return true;
      case kAdvance2:
        Advance(reader->Fixed<uint16_t>());
        return true;
      case kAdvance4:
        Advance(reader->Fixed<uint32_t>());
        return true;
      case kAdvance8:
        Advance(reader->Fixed<uint64_t>());
        return true;
      case kOffsetExtended: {
        const uint64_t number = reader->Uleb();
        Set(number, Recovery::kAtOffset, Factored(reader->Uleb()));
        return true;
      }
      case kOffsetExtendedSigned: {
        const uint64_t number = reader->Uleb();
        Set(number, Recovery::kAtOffset, Factored(static_cast<uint64_t>(reader->Sleb())));
        return true;
      }
      case kNegativeOffsetExtended: {
        const uint64_t number = reader->Uleb();
        Set(number, Recovery::kAtOffset, -Factored(reader->Uleb()));
        return true;
      }
      case kValueOffset: {
        const uint64_t number = reader->Uleb();
        Set(number, Recovery::kIsOffset, Factored(reader->Uleb()));
        return true;
      }
      case kValueOffsetSigned: {
        const uint64_t number = reader->Uleb();
        Set(number, Recovery::kIsOffset, Factored(static_cast<uint64_t>(reader->Sleb())));
        return true;
      }
      case kRestoreExtended:
        return Restore(reader->Uleb());
      case kUndefined:
        Set(reader->Uleb(), Recovery::kUndefined, 0);
        return true;
      case kSameValue:
        Set(reader->Uleb(), Recovery::kSameValue, 0);
        return true;
      case kRegister: {
        const uint64_t number = reader->Uleb();
        Set(number, Recovery::kInRegister, static_cast<int64_t>(reader->Uleb()));
        return true;
      }
      case kExpression: {
        const uint64_t number = reader->Uleb();
        SetExpression(number, Recovery::kAtExpression, reader);
        return true;
      }
      case kValueExpression: {
        const uint64_t number = reader->Uleb();
        SetExpression(number, Recovery::kIsExpression, reader);
        return true;
      }
      case kRememberState:
        if (remembered_ == UnwindScratch::kMaxRemembered) return false;
        scratch_->remembered[remembered_++] = *row_;
        return true;
      case kRestoreState:
        if (remembered_ == 0) return false;
        *row_ = scratch_->remembered[--remembered_];
        return true;
      case kDefineCfa: {
        const uint64_t number = reader->Uleb();
        SetCfa(number, static_cast<int64_t>(reader->Uleb()));
        return true;
      }
      case kDefineCfaSigned: {
        const uint64_t number = reader->Uleb();
        SetCfa(number, Factored(static_cast<uint64_t>(reader->Sleb())));
        return true;
      }
      case kDefineCfaRegister:
        SetCfa(reader->Uleb(), row_->cfa_offset);
        return true;
      case kDefineCfaOffset:
        row_->cfa_offset = static_cast<int64_t>(reader->Uleb());
        return true;
      case kDefineCfaOffsetSigned:
        row_->cfa_offset = Factored(static_cast<uint64_t>(reader->Sleb()));
        return true;
      case kDefineCfaExpression:
        row_->cfa_expression = SkipExpression(reader);
        return true;
      case kArgumentsSize:  // matters to landing pads only
        reader->Uleb();
        return true;
      default:
        return false;
    }
  }

  const LoadedObject& object_;
  const FrameEntry& entry_;
  const uintptr_t pc_;
  UnwindScratch* const scratch_;
  UnwindRow* const row_;
  uintptr_t location_ = 0;
  unsigned remembered_ = 0;
  bool initial_ = false;
  bool initial_moves_ = false;  // none does: the row would depend on pc
};

}  // namespace

bool HasUnwindTables(const LoadedObject& object) {
  return object.eh_frame_hdr != nullptr && ReaderAt(object, object.eh_frame_hdr).Fixed<uint8_t>() == 1;
}

bool FindFrameEntry(const LoadedObject& object, uintptr_t pc, FrameEntry* entry) {
  if (object.eh_frame_hdr == nullptr) return false;
  const uintptr_t base = reinterpret_cast<uintptr_t>(object.eh_frame_hdr);
  DwarfReader reader = ReaderAt(object, object.eh_frame_hdr);
  const uint8_t version = reader.Fixed<uint8_t>();
  const uint8_t frame_encoding = reader.Fixed<uint8_t>();
  const uint8_t count_encoding = reader.Fixed<uint8_t>();
  const uint8_t table_encoding = reader.Fixed<uint8_t>();
  const uintptr_t eh_frame = reader.Pointer(frame_encoding, base);
  const uint64_t count = reader.Pointer(count_encoding, base);
  if (!reader.ok() || version != 1) return false;
  if (table_encoding == kSearchTableEncoding && count != 0) {
    return FindByTable(object, reader, count, pc, entry);
  }
  return FindByScan(object, Address(eh_frame), pc, entry);
}

bool FindUnwindRow(const LoadedObject& object, const FrameEntry& entry, uintptr_t pc,
                   UnwindScratch* scratch) {
  return ProgramRun(object, entry, pc, scratch).Run();
}

}  // namespace mallow::record
