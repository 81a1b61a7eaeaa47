#include "record/dwarf_reader.h"

#include <gtest/gtest.h>

#include <vector>

namespace mallow::record {
namespace {

using Bytes = std::vector<uint8_t>;

DwarfReader Over(const Bytes& bytes) { return DwarfReader(bytes.data(), bytes.data() + bytes.size()); }

TEST(DwarfReaderTest, ReadsLeb128) {
  const Bytes bytes{0x02, 0xe5, 0x8e, 0x26, 0x7f, 0x80, 0x7f, 0x9b, 0xf1, 0x59};
  DwarfReader reader = Over(bytes);
  EXPECT_EQ(reader.Uleb(), 2u);
  EXPECT_EQ(reader.Uleb(), 624485u);
  EXPECT_EQ(reader.Sleb(), -1);
  EXPECT_EQ(reader.Sleb(), -128);
  EXPECT_EQ(reader.Sleb(), -624485);
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE(reader.AtEnd());
}

TEST(DwarfReaderTest, TakesSuperfluousBytesOfLeb128) {
  const Bytes bytes{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
  DwarfReader reader = Over(bytes);
  EXPECT_EQ(reader.Uleb(), ~uint64_t{0});
  EXPECT_TRUE(reader.AtEnd());
}

TEST(DwarfReaderTest, FailsForGoodAtTheEnd) {
  const Bytes bytes{0x80, 0x80, 0x80};
  DwarfReader unfinished = Over(bytes);
  EXPECT_EQ(unfinished.Uleb(), 0u);
  EXPECT_FALSE(unfinished.ok());
  DwarfReader wide = Over(bytes);
  EXPECT_EQ(wide.Fixed<uint32_t>(), 0u);
  EXPECT_FALSE(wide.ok());
  EXPECT_EQ(wide.Fixed<uint8_t>(), 0u);
  DwarfReader skipping = Over(bytes);
  skipping.Skip(~uint64_t{0});
  EXPECT_FALSE(skipping.ok());
}

TEST(DwarfReaderTest, ReadsPointersOfEveryEncoding) {
  const Bytes bytes{0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  const auto here = reinterpret_cast<uintptr_t>(bytes.data());
  const auto read = [&](uint8_t encoding) { return Over(bytes).Pointer(encoding, 1000); };
  EXPECT_EQ(read(0x00), ~uintptr_t{15});
  EXPECT_EQ(read(0x04), ~uintptr_t{15});
  EXPECT_EQ(read(0x02), 0xfff0u);
  EXPECT_EQ(read(0x03), 0xfffffff0u);
  EXPECT_EQ(read(0x0a), ~uintptr_t{15});
  EXPECT_EQ(read(0x0b), ~uintptr_t{15});
  EXPECT_EQ(read(0x1b), here - 16);
  EXPECT_EQ(read(0x3b), 1000u - 16);
  EXPECT_EQ(read(0x9b), here - 16);  // indirect: the address of the word
  EXPECT_EQ(read(kPointerOmitted), 0u);
}

TEST(DwarfReaderTest, NullPointersHaveNoBase) {
  const Bytes bytes{0, 0, 0, 0};
  EXPECT_EQ(Over(bytes).Pointer(0x1b, 0), 0u);
}

TEST(DwarfReaderTest, RefusesUnknownEncodings) {
  const Bytes bytes(16, 1);
  for (const uint8_t encoding : {0x05, 0x0f, 0x23, 0x43, 0x73}) {
    DwarfReader reader = Over(bytes);
    reader.Pointer(encoding, 0);
    EXPECT_FALSE(reader.ok()) << int{encoding};
  }
}

}  // namespace
}  // namespace mallow::record
