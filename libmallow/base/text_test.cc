#include "base/text.h"

#include <gtest/gtest.h>

#include <string>

namespace mallow {
namespace {

std::string Decimal(uint64_t value) { return TextBuffer().AppendDecimal(value).data(); }
std::string Hex(uint64_t value) { return TextBuffer().AppendHex(value).data(); }

TEST(Text, Numbers) {
  EXPECT_EQ(Decimal(0), "0");
  EXPECT_EQ(Decimal(1234567890), "1234567890");
  EXPECT_EQ(Decimal(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(Hex(0), "0x0");
  EXPECT_EQ(Hex(0xdeadbeef), "0xdeadbeef");
  EXPECT_EQ(Hex(UINT64_MAX), "0xffffffffffffffff");
}

TEST(Text, CutsWhatDoesNotFitAtEveryCapacity) {
  const std::string whole = "abc 0xffff 123";
  for (size_t capacity = 1; capacity <= whole.size() + 3; ++capacity) {
    std::string memory(capacity + 1, '#');
    TextWriter writer(memory.data(), capacity);
    writer.Append("abc ").AppendHex(0xffff).Append(" ").AppendDecimal(123);
    const size_t expected = std::min(whole.size(), capacity - 1);
    EXPECT_EQ(std::string(writer.data()), whole.substr(0, expected));
    EXPECT_EQ(writer.size(), expected);
    EXPECT_EQ(writer.truncated(), expected < whole.size());
    EXPECT_EQ(memory[capacity], '#') << "written beyond the end at capacity " << capacity;
  }
}

}  // namespace
}  // namespace mallow
