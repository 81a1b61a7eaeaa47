#include "record/dwarf_expression.h"

#include <gtest/gtest.h>

#include <vector>

namespace mallow::record {
namespace {

using Bytes = std::vector<uint8_t>;

class DwarfExpressionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    memory_.Begin(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
    registers_.Set(kRsp, 1000);
    registers_.Set(kRbp, 2000);
    registers_.Set(kReturnAddress, 3000);
  }

  Interpretation Run(const Bytes& operations, const uintptr_t* initial = nullptr) {
    Bytes bytes{static_cast<uint8_t>(operations.size())};
    bytes.insert(bytes.end(), operations.begin(), operations.end());
    return Evaluate(bytes.data(), bytes.data() + bytes.size(), registers_, initial, &memory_, &log_,
                    &result_);
  }
  uintptr_t Value(const Bytes& operations) {
    EXPECT_EQ(Run(operations), Interpretation::kDone);
    return result_;
  }

  RegisterFile registers_{};
  StackMemory memory_;
  WordLog log_{};
  uintptr_t result_ = 0;
};

TEST_F(DwarfExpressionTest, PushesConstantsAndRegisters) {
  EXPECT_EQ(Value({0x35}), 5u);                                           // lit5
  EXPECT_EQ(Value({0x08, 0xff}), 255u);                                   // const1u
  EXPECT_EQ(Value({0x09, 0xff}), ~uintptr_t{0});                          // const1s
  EXPECT_EQ(Value({0x0a, 0x00, 0x80}), 0x8000u);                          // const2u
  EXPECT_EQ(Value({0x0b, 0x00, 0x80}), ~uintptr_t{0x7fff});               // const2s
  EXPECT_EQ(Value({0x0c, 1, 0, 0, 0x80}), 0x80000001u);                   // const4u
  EXPECT_EQ(Value({0x0d, 1, 0, 0, 0x80}), 0xffffffff80000001u);           // const4s
  EXPECT_EQ(Value({0x0e, 1, 2, 3, 4, 5, 6, 7, 8}), 0x0807060504030201u);  // const8u
  EXPECT_EQ(Value({0x10, 0x80, 0x01}), 128u);                             // constu
  EXPECT_EQ(Value({0x11, 0x7f}), ~uintptr_t{0});                          // consts
  EXPECT_EQ(Value({0x57}), 1000u);                                        // reg7
  EXPECT_EQ(Value({0x77, 0x78}), 992u);                                   // breg7 -8
  EXPECT_EQ(Value({0x92, 0x06, 0x08}), 2008u);                            // bregx 6, 8
  EXPECT_EQ(Value({0x90, 0x10}), 3000u);                                  // regx 16
}

TEST_F(DwarfExpressionTest, MovesWithinItsStack) {
  EXPECT_EQ(Value({0x31, 0x32, 0x13}), 1u);                    // drop
  EXPECT_EQ(Value({0x31, 0x32, 0x14}), 1u);                    // over
  EXPECT_EQ(Value({0x31, 0x32, 0x33, 0x15, 0x02}), 1u);        // pick 2
  EXPECT_EQ(Value({0x31, 0x32, 0x16}), 1u);                    // swap
  EXPECT_EQ(Value({0x31, 0x32, 0x33, 0x17}), 2u);              // rot: third comes up by one
  EXPECT_EQ(Value({0x31, 0x32, 0x33, 0x17, 0x13, 0x13}), 3u);  // and the top went to the bottom
  EXPECT_EQ(Value({0x37, 0x12, 0x22}), 14u);                   // dup plus
}

TEST_F(DwarfExpressionTest, Computes) {
  EXPECT_EQ(Value({0x09, 0xfb, 0x19}), 5u);                   // abs -5
  EXPECT_EQ(Value({0x3c, 0x3a, 0x1a}), 8u);                   // and
  EXPECT_EQ(Value({0x09, 0xf9, 0x32, 0x1b}), ~uintptr_t{2});  // -7 div 2 = -3
  EXPECT_EQ(Value({0x37, 0x39, 0x1c}), ~uintptr_t{1});        // 7 minus 9
  EXPECT_EQ(Value({0x37, 0x35, 0x1d}), 2u);                   // mod
  EXPECT_EQ(Value({0x37, 0x35, 0x1e}), 35u);                  // mul
  EXPECT_EQ(Value({0x37, 0x1f}), ~uintptr_t{6});              // neg
  EXPECT_EQ(Value({0x37, 0x20}), ~uintptr_t{7});              // not
  EXPECT_EQ(Value({0x38, 0x31, 0x21}), 9u);                   // or
  EXPECT_EQ(Value({0x38, 0x23, 0x80, 0x01}), 136u);           // plus_uconst 128
  EXPECT_EQ(Value({0x31, 0x34, 0x24}), 16u);                  // shl
  EXPECT_EQ(Value({0x09, 0xff, 0x08, 63, 0x25}), 1u);         // shr
  EXPECT_EQ(Value({0x09, 0xf0, 0x32, 0x26}), ~uintptr_t{3});  // shra
  EXPECT_EQ(Value({0x3c, 0x3a, 0x27}), 6u);                   // xor
  EXPECT_EQ(Value({0x31, 0x08, 200, 0x24}), 0u);              // shifts beyond the word
}

TEST_F(DwarfExpressionTest, ComparesSigned) {
  EXPECT_EQ(Value({0x09, 0xff, 0x31, 0x2d}), 1u);  // -1 lt 1
  EXPECT_EQ(Value({0x09, 0xff, 0x31, 0x2b}), 0u);  // gt
  EXPECT_EQ(Value({0x32, 0x32, 0x2a}), 1u);        // ge
  EXPECT_EQ(Value({0x32, 0x32, 0x2c}), 1u);        // le
  EXPECT_EQ(Value({0x32, 0x32, 0x29}), 1u);        // eq
  EXPECT_EQ(Value({0x32, 0x32, 0x2e}), 0u);        // ne
}

// What every PLT entry says: rsp + 8 + (rip & 15 >= 11 ? 8 : 0).
TEST_F(DwarfExpressionTest, FindsTheCfaOfAPltEntry) {
  const Bytes plt{0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
  registers_.Set(kReturnAddress, 0x1006);
  EXPECT_EQ(Value(plt), 1008u);
  registers_.Set(kReturnAddress, 0x100b);
  EXPECT_EQ(Value(plt), 1016u);
}

TEST_F(DwarfExpressionTest, Branches) {
  EXPECT_EQ(Value({0x31, 0x28, 0x01, 0x00, 0x39, 0x37}), 7u);            // bra over lit9
  EXPECT_EQ(Value({0x30, 0x28, 0x01, 0x00, 0x39}), 9u);                  // not taken
  EXPECT_EQ(Value({0x2f, 0x01, 0x00, 0x39, 0x37}), 7u);                  // skip
  EXPECT_EQ(Run({0x2f, 0xfd, 0xff}), Interpretation::kMalformed);        // for ever
  EXPECT_EQ(Run({0x31, 0x2f, 0x70, 0xff}), Interpretation::kMalformed);  // out of the expression
}

TEST_F(DwarfExpressionTest, ReadsMemoryAndLogsTheWords) {
  alignas(8) uint8_t bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  const auto address = reinterpret_cast<uintptr_t>(bytes);
  registers_.Set(kRsp, address);
  EXPECT_EQ(Value({0x77, 0x00, 0x06}), 0x0807060504030201u);
  ASSERT_EQ(log_.count, 1u);
  EXPECT_EQ(log_.words[0].address, address);
  EXPECT_EQ(Value({0x77, 0x03, 0x94, 0x02}), 0x0504u);
  EXPECT_EQ(Value({0x77, 0x06, 0x94, 0x04}), 0x0a090807u);  // across two words
  EXPECT_EQ(log_.count, 4u);
}

TEST_F(DwarfExpressionTest, SaysWhatItLacks) {
  EXPECT_EQ(Run({0x70, 0x00}), Interpretation::kUnknownRegister);  // rax
  EXPECT_EQ(Run({0x30, 0x06}), Interpretation::kUnreadable);       // the word at 0
  EXPECT_EQ(Run({0x22}), Interpretation::kMalformed);              // nothing to add
  EXPECT_EQ(Run({0x31, 0x30, 0x1b}), Interpretation::kMalformed);  // division by 0
  EXPECT_EQ(Run({0xe0}), Interpretation::kMalformed);              // unknown operation
  EXPECT_EQ(Run({}), Interpretation::kMalformed);                  // no result
  EXPECT_EQ(Run(Bytes(65, 0x31)), Interpretation::kMalformed);     // too deep
}

TEST_F(DwarfExpressionTest, StartsWithTheCfaOnTheStack) {
  const uintptr_t cfa = 4000;
  EXPECT_EQ(Run({0x38, 0x1c}, &cfa), Interpretation::kDone);
  EXPECT_EQ(result_, 3992u);
}

TEST_F(DwarfExpressionTest, RecoversRegistersByEveryRule) {
  uintptr_t words[8] = {10, 11, 12, 13, 14, 15, 16, 17};
  const auto base = reinterpret_cast<uintptr_t>(words);
  registers_.Set(kRsp, base);
  registers_.Set(kR12, 77);
  UnwindRow row{};
  row.cfa_register = kRsp;
  row.cfa_offset = 64;
  const uint8_t at[] = {2, 0x77, 0x08}, is[] = {3, 0x77, 0x10, 0x06};
  row.end = at + sizeof at;
  row.registers[kReturnAddress] = {Recovery::kAtOffset, {.offset = -8}};
  row.registers[kRbx] = {Recovery::kAtExpression, {.expression = at}};
  row.registers[kRbp] = {Recovery::kInRegister, {.other = kR12}};
  row.registers[kR13] = {Recovery::kIsOffset, {.offset = -24}};
  row.registers[kR14] = {Recovery::kUndefined, {.offset = 0}};
  RegisterFile caller;
  constexpr uint32_t kAll = (1u << kRegisterCount) - 1;
  ASSERT_EQ(RecoverCaller(row, registers_, kAll, &memory_, &log_, &caller), Interpretation::kDone);
  EXPECT_EQ(caller.value[kReturnAddress], 17u);
  EXPECT_EQ(caller.value[kRsp], base + 64);
  EXPECT_EQ(caller.value[kRbx], 11u);
  EXPECT_EQ(caller.value[kRbp], 77u);
  EXPECT_EQ(caller.value[kR12], 77u);
  EXPECT_EQ(caller.value[kR13], base + 40);
  EXPECT_FALSE(caller.Knows(kR14));
  EXPECT_FALSE(caller.Knows(kR15));

  row.end = is + sizeof is;
  row.registers[kRbx] = {Recovery::kIsExpression, {.expression = is}};
  ASSERT_EQ(RecoverCaller(row, registers_, kAll, &memory_, &log_, &caller), Interpretation::kDone);
  EXPECT_EQ(caller.value[kRbx], 12u);

  row.registers[kReturnAddress] = {Recovery::kUndefined, {.offset = 0}};
  EXPECT_EQ(RecoverCaller(row, registers_, kAll, &memory_, &log_, &caller), Interpretation::kOutermost);
}

}  // namespace
}  // namespace mallow::record
