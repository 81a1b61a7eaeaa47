#include "record/rule.h"

#include <link.h>

#include "os/readable.h"
#include "record/loaded_image.h"
#include "record/loaded_object.h"
#include "record/made_context.h"
#include "record/module_generation.h"

namespace mallow::record {

namespace {

// Offsets in rules are whole words; anything else is left to the interpreter, which finds it unreadable.
template <typename T>
bool Fits(int64_t offset) {
  return offset == static_cast<T>(offset) && offset % static_cast<int64_t>(sizeof(uintptr_t)) == 0;
}

// An expression of the form "register + offset", with or without a dereference behind it.
struct SimpleExpression {
  unsigned base;
  int64_t offset;
  bool dereference;
};

bool ReadSimpleExpression(const uint8_t* expression, const uint8_t* end, SimpleExpression* simple) {
  constexpr uint8_t kDereference = 0x06, kBasedRegister0 = 0x70, kBasedRegister31 = 0x8f;
  DwarfReader outer(expression, end);
  const uint64_t bytes = outer.Uleb();
  if (!outer.ok() || bytes > static_cast<uint64_t>(end - outer.at())) return false;
  DwarfReader reader(outer.at(), outer.at() + bytes);
  const uint8_t operation = reader.Fixed<uint8_t>();
  if (operation < kBasedRegister0 || operation > kBasedRegister31) return false;
  simple->base = operation - kBasedRegister0;
  simple->offset = reader.Sleb();
  simple->dereference = false;
  if (!reader.AtEnd()) {
    if (reader.Fixed<uint8_t>() != kDereference) return false;
    simple->dereference = true;
  }
  return reader.ok() && reader.AtEnd();
}

bool IsWordAt(const UnwindRow& row, unsigned number, unsigned base, int64_t offset) {
  SimpleExpression simple;
  const RegisterRule& rule = row.registers[number];
  return rule.how == Recovery::kAtExpression && ReadSimpleExpression(rule.expression, row.end, &simple) &&
         simple.base == base && simple.offset == offset && !simple.dereference;
}

bool ReturnAddressIsBelowCfa(const UnwindRow& row) {
  const RegisterRule& rule = row.registers[kReturnAddress];
  return rule.how == Recovery::kAtOffset && rule.offset == -int64_t{sizeof(uintptr_t)};
}

// Fills the part about rbp where it is kept or saved at an offset from the CFA.
bool SetSavedBp(const UnwindRow& row, Rule* rule) {
  const RegisterRule& bp = row.registers[kRbp];
  if (bp.how == Recovery::kUnstated || bp.how == Recovery::kSameValue) return true;
  if (bp.how != Recovery::kAtOffset || !Fits<int16_t>(bp.offset)) return false;
  rule->bp = static_cast<int16_t>(bp.offset);
  rule->flags |= Rule::kSavesBp;
  return true;
}

bool MakeRegisterRule(const UnwindRow& row, Rule* rule) {
  if (row.cfa_register != kRsp && row.cfa_register != kRbp) return false;
  if (!Fits<int32_t>(row.cfa_offset) || !SetSavedBp(row, rule)) return false;
  rule->cfa = static_cast<int32_t>(row.cfa_offset);
  rule->kind = row.cfa_register == kRsp ? RuleKind::kFromSp : RuleKind::kFromBp;
  return true;
}

bool MakeRealignedRule(const UnwindRow& row, const SimpleExpression& cfa, Rule* rule) {
  SimpleExpression bp;
  const RegisterRule& saved = row.registers[kRbp];
  if (cfa.base != kRbp || saved.how != Recovery::kAtExpression) return false;
  if (!ReadSimpleExpression(saved.expression, row.end, &bp) || bp.base != kRbp || bp.dereference)
    return false;
  if (!Fits<int32_t>(cfa.offset) || !Fits<int16_t>(bp.offset)) return false;
  *rule = {static_cast<int32_t>(cfa.offset), static_cast<int16_t>(bp.offset), RuleKind::kRealigned,
           Rule::kSavesBp};
  return true;
}

constexpr Rule kSignalRule{0, 0, RuleKind::kSignal, Rule::kSavesBp | Rule::kSignalFrame};

bool IsSignalRow(const UnwindRow& row, const SimpleExpression& cfa) {
  return cfa.base == kRsp && cfa.offset == kSignalSp && IsWordAt(row, kRsp, kRsp, kSignalSp) &&
         IsWordAt(row, kReturnAddress, kRsp, kSignalPc) && IsWordAt(row, kRbp, kRsp, kSignalBp);
}

Rule RuleOfRow(const UnwindRow& row, bool signal_frame) {
  Rule rule{};
  if (row.registers[kReturnAddress].how == Recovery::kUndefined) {
    rule.kind = RuleKind::kOutermost;
    return rule;
  }
  SimpleExpression cfa;
  const bool simple_cfa = row.cfa_expression != nullptr &&
                          ReadSimpleExpression(row.cfa_expression, row.end, &cfa) && cfa.dereference;
  if (signal_frame) {
    if (simple_cfa && IsSignalRow(row, cfa)) return kSignalRule;
  } else if (ReturnAddressIsBelowCfa(row) && row.registers[kRsp].how == Recovery::kUnstated) {
    if (row.cfa_expression == nullptr && MakeRegisterRule(row, &rule)) return rule;
    if (simple_cfa && MakeRealignedRule(row, cfa, &rule)) return rule;
  }
  rule = {};
  rule.kind = RuleKind::kInterpreted;
  rule.flags = signal_frame ? Rule::kSignalFrame : 0;
  return rule;
}

// mov $15, %rax; syscall: where a signal handler returns to, in a program that brings its own trampoline.
bool IsSignalTrampoline(uintptr_t pc, StackMemory* memory) {
  constexpr uintptr_t kFirstWord = 0x0f0000000fc0c748;
  constexpr uintptr_t kLastByte = 0x05;
  const uintptr_t aligned = pc & ~uintptr_t{7};
  const unsigned shift = static_cast<unsigned>(pc - aligned) * 8;
  uintptr_t low, high;
  if (!memory->Read(aligned, &low) || !memory->Read(aligned + 8, &high)) return false;
  const uintptr_t first = shift == 0 ? low : low >> shift | high << (64 - shift);
  return first == kFirstWord && (high >> shift & 0xff) == kLastByte;
}

}  // namespace

bool FindRow(uintptr_t pc, UnwindScratch* scratch, FrameEntry* entry, bool* in_object,
             dl_find_object* found) {
  *in_object = FindLoadedObject(pc, found);
  if (!*in_object) return false;
  // The range that the loader names is all of the object, but for one that has gaps.
  const auto is_found = [=](const LoadedObject& object) {
    return FindFrameEntry(object, pc, entry) && FindUnwindRow(object, *entry, pc, scratch);
  };
  LoadedObject object{reinterpret_cast<uintptr_t>(found->dlfo_map_start),
                      reinterpret_cast<uintptr_t>(found->dlfo_map_end),
                      static_cast<const uint8_t*>(found->dlfo_eh_frame),
                      scratch->tables_ends.Of(*found, &scratch->pages), &scratch->pages};
  if (is_found(object)) return true;
  const LoadedImage image = FindLoadedImage(*found, &scratch->pages);
  if (image.start != object.start || image.end != object.end) {
    object.start = image.start;
    object.end = image.end;
    if (is_found(object)) return true;
  }
  // Unmapped by the program itself: the loader still tells of it, but there may be other code by now.
  if (image.headers == nullptr && !HasUnwindTables(object)) *in_object = false;
  return false;
}

// Where ld.so starts the process there is no unwind information, and no caller either: from its entry point on,
// for less than the given number of bytes.
static bool IsStartOfProcess(uintptr_t pc, const dl_find_object& found) {
  constexpr uintptr_t kStartBytes = 256;
  const uintptr_t base = _r_debug.r_ldbase;
  if (base == 0 || found.dlfo_link_map == nullptr || found.dlfo_link_map->l_addr != base) return false;
  if (!os::IsReadable(base)) return false;
  const uintptr_t entry = base + reinterpret_cast<const ElfW(Ehdr)*>(base)->e_entry;
  return pc - entry < kStartBytes;
}

// The last whole word before an entry's program, which holds fields of the entry.
static const uintptr_t* WordBefore(const uint8_t* program) {
  constexpr uintptr_t kWord = sizeof(uintptr_t);
  return reinterpret_cast<const uintptr_t*>((reinterpret_cast<uintptr_t>(program) & ~(kWord - 1)) - kWord);
}

void MakeRule(uintptr_t pc, bool interrupted, UnwindScratch* scratch, StackMemory* memory,
              RuleSource* source) {
  FrameEntry entry;
  const bool found = FindRow(interrupted ? pc : pc - 1, scratch, &entry, &source->in_object, &source->found);
  if (source->in_object) NoteLinkMap(source->found.dlfo_link_map);
  source->code = {};
  if (found) {
    source->rule = RuleOfRow(scratch->row, entry.signal_frame);
    source->code = scratch->code;
    source->tables = WordBefore(entry.program);
  } else if (!interrupted && pc == StartOfMadeContexts(scratch)) {
    source->rule = {0, 0, RuleKind::kOutermost, 0};
  } else if (source->in_object && IsStartOfProcess(pc, source->found)) {
    source->rule = {0, 0, RuleKind::kOutermost, 0};
  } else if (IsSignalTrampoline(pc, memory)) {
    source->rule = kSignalRule;
  } else {
    source->rule = {0, 0, RuleKind::kNoUnwindInfo, 0};
  }
}

}  // namespace mallow::record
