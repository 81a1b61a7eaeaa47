#include "record/dwarf_expression.h"

namespace mallow::record {

namespace {

enum Operation : uint8_t {
  kAddress = 0x03,
  kDereference = 0x06,
  kConstant1u = 0x08,
  kConstant1s = 0x09,
  kConstant2u = 0x0a,
  kConstant2s = 0x0b,
  kConstant4u = 0x0c,
  kConstant4s = 0x0d,
  kConstant8u = 0x0e,
  kConstant8s = 0x0f,
  kConstantU = 0x10,
  kConstantS = 0x11,
  kDuplicate = 0x12,
  kDrop = 0x13,
  kOver = 0x14,
  kPick = 0x15,
  kSwap = 0x16,
  kRotate = 0x17,
  kAbs = 0x19,
  kAnd = 0x1a,
  kDivide = 0x1b,
  kMinus = 0x1c,
  kModulo = 0x1d,
  kMultiply = 0x1e,
  kNegate = 0x1f,
  kNot = 0x20,
  kOr = 0x21,
  kPlus = 0x22,
  kPlusConstant = 0x23,
  kShiftLeft = 0x24,
  kShiftRight = 0x25,
  kShiftRightSigned = 0x26,
  kXor = 0x27,
  kBranch = 0x28,
  kEqual = 0x29,
  kGreaterOrEqual = 0x2a,
  kGreater = 0x2b,
  kLessOrEqual = 0x2c,
  kLess = 0x2d,
  kNotEqual = 0x2e,
  kSkip = 0x2f,
  kLiteral0 = 0x30,
  kLiteral31 = 0x4f,
  kRegister0 = 0x50,
  kRegister31 = 0x6f,
  kBasedRegister0 = 0x70,
  kBasedRegister31 = 0x8f,
  kRegisterX = 0x90,
  kBasedRegisterX = 0x92,
  kDereferenceSize = 0x94,
  kNoOperation = 0x96,
};

constexpr unsigned kStackDepth = 64;
// A branch backwards may make an expression run for ever.
constexpr unsigned kMaxOperations = 4096;

class Evaluation {
 public:
  Evaluation(DwarfReader reader, const RegisterFile& registers, StackMemory* memory, WordLog* log)
      : reader_(reader), begin_(reader.at()), registers_(registers), memory_(memory), log_(log) {}

  void Push(uintptr_t value) {
    if (depth_ == kStackDepth) return Stop(Interpretation::kMalformed);
    stack_[depth_++] = value;
  }

  Interpretation Run(uintptr_t* result) {
    for (unsigned operations = 0; !reader_.AtEnd() && status_ == Interpretation::kDone; ++operations) {
      if (operations == kMaxOperations) return Interpretation::kMalformed;
      Execute(reader_.Fixed<uint8_t>());
    }
    if (status_ != Interpretation::kDone) return status_;
    if (!reader_.ok() || depth_ == 0) return Interpretation::kMalformed;
    *result = stack_[depth_ - 1];
    return Interpretation::kDone;
  }

 private:
  void Stop(Interpretation why) {
    if (status_ == Interpretation::kDone) status_ = why;
  }

  uintptr_t Pop() {
    if (depth_ != 0) return stack_[--depth_];
    Stop(Interpretation::kMalformed);
    return 0;
  }

  uintptr_t Peek(uint64_t below) {
    if (below < depth_) return stack_[depth_ - 1 - below];
    Stop(Interpretation::kMalformed);
    return 0;
  }

  uintptr_t RegisterValue(uint64_t number) {
    if (registers_.Knows(number)) return registers_.value[number];
    Stop(Interpretation::kUnknownRegister);
    return 0;
  }

  // Loads may be of any width and at any address; the words that contain them are what the read set names.
  uintptr_t Load(uintptr_t address, unsigned bytes) {
    const uintptr_t first = address & ~uintptr_t{7};
    const unsigned shift = static_cast<unsigned>(address - first) * 8;
    uintptr_t value = LoadWord(first) >> shift;
    if (shift != 0 && bytes * 8 + shift > 64) value |= LoadWord(first + 8) << (64 - shift);
    return bytes >= 8 ? value : value & ((uintptr_t{1} << (bytes * 8)) - 1);
  }

  uintptr_t LoadWord(uintptr_t address) {
    uintptr_t value = 0;
    if (!memory_->Read(address, &value)) {
      Stop(Interpretation::kUnreadable);
      return 0;
    }
    log_->Add(address, value);
    return value;
  }

  void Jump(int16_t distance) { reader_.JumpTo(begin_, reader_.at() + distance); }

  template <typename Operator>
  void Binary(Operator combine) {
    const uintptr_t right = Pop();
    const uintptr_t left = Pop();
    Push(combine(left, right));
  }

  template <typename Operator>
  void Compare(Operator holds) {
    const auto right = static_cast<intptr_t>(Pop());
    const auto left = static_cast<intptr_t>(Pop());
    Push(holds(left, right) ? 1 : 0);
  }

  void Execute(uint8_t operation) {
    if (kLiteral0 <= operation && operation <= kLiteral31) return Push(operation - kLiteral0);
    if (kRegister0 <= operation && operation <= kRegister31)
      return Push(RegisterValue(operation - kRegister0));
    if (kBasedRegister0 <= operation && operation <= kBasedRegister31) {
      const int64_t offset = reader_.Sleb();
      return Push(RegisterValue(operation - kBasedRegister0) + static_cast<uintptr_t>(offset));
    }
    switch (operation) {
      case kAddress:
      case kConstant8u:
      case kConstant8s:
        return Push(reader_.Fixed<uint64_t>());
      case kConstant1u:
        return Push(reader_.Fixed<uint8_t>());
      case kConstant1s:
        return Push(static_cast<uintptr_t>(intptr_t{reader_.Fixed<int8_t>()}));
      case kConstant2u:
        return Push(reader_.Fixed<uint16_t>());
      case kConstant2s:
        return Push(static_cast<uintptr_t>(intptr_t{reader_.Fixed<int16_t>()}));
      case kConstant4u:
        return Push(reader_.Fixed<uint32_t>());
      case kConstant4s:
        return Push(static_cast<uintptr_t>(intptr_t{reader_.Fixed<int32_t>()}));
      case kConstantU:
        return Push(reader_.Uleb());
      case kConstantS:
        return Push(static_cast<uintptr_t>(reader_.Sleb()));
      case kDereference:
        return Push(Load(Pop(), 8));
      case kDereferenceSize: {
        const unsigned bytes = reader_.Fixed<uint8_t>();
        if (bytes == 0 || bytes > 8) return Stop(Interpretation::kMalformed);
        return Push(Load(Pop(), bytes));
      }
      case kDuplicate:
        return Push(Peek(0));
      case kDrop:
        Pop();
        return;
      case kOver:
        return Push(Peek(1));
      case kPick:
        return Push(Peek(reader_.Fixed<uint8_t>()));
      case kSwap: {
        const uintptr_t top = Pop(), second = Pop();
        Push(top);
        return Push(second);
      }
      case kRotate: {
        const uintptr_t top = Pop(), second = Pop(), third = Pop();
        Push(top);
        Push(third);
        return Push(second);
      }
      case kAbs: {
        const uintptr_t value = Pop();
        return Push(static_cast<intptr_t>(value) < 0 ? -value : value);
      }
      case kNegate:
        return Push(-Pop());
      case kNot:
        return Push(~Pop());
      case kPlusConstant: {
        const uint64_t addend = reader_.Uleb();
        return Push(Pop() + addend);
      }
      case kAnd:
        return Binary([](uintptr_t a, uintptr_t b) { return a & b; });
      case kOr:
        return Binary([](uintptr_t a, uintptr_t b) { return a | b; });
      case kXor:
        return Binary([](uintptr_t a, uintptr_t b) { return a ^ b; });
      case kPlus:
        return Binary([](uintptr_t a, uintptr_t b) { return a + b; });
      case kMinus:
        return Binary([](uintptr_t a, uintptr_t b) { return a - b; });
      case kMultiply:
        return Binary([](uintptr_t a, uintptr_t b) { return a * b; });
      case kDivide:
      case kModulo:
        return Divide(operation);
      case kShiftLeft:
        return Binary([](uintptr_t a, uintptr_t b) { return b < 64 ? a << b : 0; });
      case kShiftRight:
        return Binary([](uintptr_t a, uintptr_t b) { return b < 64 ? a >> b : 0; });
      case kShiftRightSigned:
        return Binary([](uintptr_t a, uintptr_t b) {
          return static_cast<uintptr_t>(static_cast<intptr_t>(a) >> (b < 64 ? b : 63));
        });
      case kEqual:
        return Compare([](intptr_t a, intptr_t b) { return a == b; });
      case kNotEqual:
        return Compare([](intptr_t a, intptr_t b) { return a != b; });
      case kGreaterOrEqual:
        return Compare([](intptr_t a, intptr_t b) { return a >= b; });
      case kGreater:
        return Compare([](intptr_t a, intptr_t b) { return a > b; });
      case kLessOrEqual:
        return Compare([](intptr_t a, intptr_t b) { return a <= b; });
      case kLess:
        return Compare([](intptr_t a, intptr_t b) { return a < b; });
      case kSkip:
        return Jump(reader_.Fixed<int16_t>());
      case kBranch: {
        const int16_t distance = reader_.Fixed<int16_t>();
        if (Pop() != 0) Jump(distance);
        return;
      }
      case kRegisterX:
        return Push(RegisterValue(reader_.Uleb()));
      case kBasedRegisterX: {
        const uint64_t number = reader_.Uleb();
        const int64_t offset = reader_.Sleb();
        return Push(RegisterValue(number) + static_cast<uintptr_t>(offset));
      }
      case kNoOperation:
        return;
      default:
        return Stop(Interpretation::kMalformed);
    }
  }

  // Division is signed, the remainder is not.
  void Divide(uint8_t operation) {
    const uintptr_t right = Pop();
    const uintptr_t left = Pop();
    if (right == 0) return Stop(Interpretation::kMalformed);
    if (operation == kModulo) return Push(left % right);
    const auto divisor = static_cast<intptr_t>(right);
    Push(divisor == -1 ? -left : static_cast<uintptr_t>(static_cast<intptr_t>(left) / divisor));
  }

  DwarfReader reader_;
  const uint8_t* const begin_;
  const RegisterFile& registers_;
  StackMemory* const memory_;
  WordLog* const log_;
  Interpretation status_ = Interpretation::kDone;
  unsigned depth_ = 0;
  uintptr_t stack_[kStackDepth];
};

Interpretation FindCfa(const UnwindRow& row, const RegisterFile& registers, StackMemory* memory, WordLog* log,
                       uintptr_t* cfa) {
  if (row.cfa_expression != nullptr) {
    return Evaluate(row.cfa_expression, row.end, registers, nullptr, memory, log, cfa);
  }
  if (!registers.Knows(row.cfa_register)) return Interpretation::kUnknownRegister;
  *cfa = registers.value[row.cfa_register] + static_cast<uintptr_t>(row.cfa_offset);
  return Interpretation::kDone;
}

}  // namespace

Interpretation Evaluate(const uint8_t* expression, const uint8_t* end, const RegisterFile& registers,
                        const uintptr_t* initial, StackMemory* memory, WordLog* log, uintptr_t* result) {
  DwarfReader reader(expression, end);
  const uint64_t bytes = reader.Uleb();
  if (!reader.ok() || bytes > static_cast<uint64_t>(end - reader.at())) return Interpretation::kMalformed;
  Evaluation evaluation(DwarfReader(reader.at(), reader.at() + bytes), registers, memory, log);
  if (initial != nullptr) evaluation.Push(*initial);
  return evaluation.Run(result);
}

Interpretation RecoverCaller(const UnwindRow& row, const RegisterFile& registers, uint32_t wanted,
                             StackMemory* memory, WordLog* log, RegisterFile* caller) {
  caller->known = 0;
  if (row.registers[kReturnAddress].how == Recovery::kUndefined) return Interpretation::kOutermost;
  uintptr_t cfa;
  Interpretation status = FindCfa(row, registers, memory, log, &cfa);
  if (status != Interpretation::kDone) return status;

  for (unsigned number = 0; number < kRegisterCount; ++number) {
    if (!(wanted >> number & 1)) continue;
    const RegisterRule& rule = row.registers[number];
    uintptr_t value = cfa + static_cast<uintptr_t>(rule.offset);
    switch (rule.how) {
      case Recovery::kUnstated:
        if (number == kRsp) {
          caller->Set(kRsp, cfa);
          continue;
        }
        [[fallthrough]];
      case Recovery::kSameValue:
        if (registers.Knows(number)) caller->Set(number, registers.value[number]);
        continue;
      case Recovery::kUndefined:
        continue;
      case Recovery::kInRegister:
        if (registers.Knows(rule.other)) caller->Set(number, registers.value[rule.other]);
        continue;
      case Recovery::kIsOffset:
        break;
      case Recovery::kAtOffset:
        if (!memory->Read(value, &value)) return Interpretation::kUnreadable;
        log->Add(cfa + static_cast<uintptr_t>(rule.offset), value);
        break;
      case Recovery::kAtExpression:
      case Recovery::kIsExpression:
        status = Evaluate(rule.expression, row.end, registers, &cfa, memory, log, &value);
        if (status != Interpretation::kDone) return status;
        if (rule.how == Recovery::kAtExpression) {
          const uintptr_t address = value;
          if (!memory->Read(address, &value)) return Interpretation::kUnreadable;
          log->Add(address, value);
        }
        break;
    }
    caller->Set(number, value);
  }
  // Without these two there is no caller to speak of.
  if (!caller->Knows(kRsp) || !caller->Knows(kReturnAddress)) return Interpretation::kUnknownRegister;
  return Interpretation::kDone;
}

}  // namespace mallow::record
