#include "heap/size_class.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace mallow::heap {
namespace {

// Waste in percent: `tail` of the span behind its last object; `worst` of a request that just missed the class below.
std::string Table() {
  std::string table = "class    bytes  pages  objects  tail%  worst%  cached\n";
  for (SizeClass c = 1; c < kClassCount; ++c) {
    const SizeClassInfo& info = Info(c);
    const double span = static_cast<double>(info.pages * kPageBytes);
    const double tail = 100 * (span - info.objects * static_cast<double>(info.bytes)) / span;
    const double worst = 100.0 * (info.bytes - (c == 1 ? 1.0 : Info(c - 1).bytes + 1.0)) / info.bytes;
    char row[128];
    snprintf(row, sizeof(row), "%5zu %8u  %5u  %7u  %5.2f  %6.2f  %3u..%u\n", c, info.bytes, info.pages,
             info.objects, tail, worst, info.first_cached, info.max_cached);
    table += row;
  }
  return table;
}

std::string GoldenPath() {
  const std::string self = __FILE__;
  return self.substr(0, self.rfind('/')) + "/size_class.golden";
}

TEST(SizeClass, TableIsTheGoldenOne) {
  std::ifstream file(GoldenPath());
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(Table(), golden.str()) << "if the change is meant, put the left side into " << GoldenPath();
}

TEST(SizeClass, EveryRequestGetsTheSmallestClassThatHoldsIt) {
  for (size_t bytes = 0; bytes <= kMaxSmallBytes; ++bytes) {
    const SizeClass c = SizeClassOf(bytes);
    ASSERT_GE(c, 1u);
    ASSERT_LT(c, kClassCount);
    ASSERT_GE(Info(c).bytes, bytes);
    if (c > 1) {
      ASSERT_LT(Info(c - 1).bytes, bytes);
    }
  }
  EXPECT_EQ(Info(kClassCount - 1).bytes, kMaxSmallBytes);
}

TEST(SizeClass, WasteIsBounded) {
  for (SizeClass c = 1; c < kClassCount; ++c) {
    const SizeClassInfo& info = Info(c);
    EXPECT_EQ(info.bytes % kMinAlignment, 0u);
    if (info.bytes > kFirstDoubling) {
      EXPECT_LE((info.bytes - Info(c - 1).bytes) * kFineSteps, info.bytes) << "class " << c;
    }
    const size_t span = info.pages * kPageBytes;
    EXPECT_EQ(info.objects, span / info.bytes);
    EXPECT_LE(info.objects, kMaxObjectsPerSpan);
    EXPECT_LE((span - info.objects * info.bytes) * 32, span) << "class " << c;
  }
}

TEST(SizeClass, ReciprocalFindsEveryObject) {
  for (SizeClass c = 1; c < kClassCount; ++c) {
    const SizeClassInfo& info = Info(c);
    for (uint64_t index = 0; index < info.objects; ++index) {
      ASSERT_EQ((index * info.bytes * info.reciprocal) >> 32, index) << "class " << c;
    }
  }
}

TEST(SizeClass, AlignedClassesAreMultiplesOfTheAlignment) {
  for (size_t alignment = kMinAlignment; alignment <= kPageBytes; alignment *= 2) {
    for (size_t bytes = 0; bytes <= kMaxSmallBytes; bytes += 13) {
      const SizeClass c = AlignedSizeClassOf(alignment, bytes);
      ASSERT_NE(c, 0u);
      ASSERT_GE(Info(c).bytes, bytes);
      ASSERT_EQ(Info(c).bytes % alignment, 0u);
    }
  }
  EXPECT_EQ(AlignedSizeClassOf(2 * kPageBytes, 16), 0u);
  EXPECT_EQ(AlignedSizeClassOf(16, kMaxSmallBytes + 1), 0u);
}

}  // namespace
}  // namespace mallow::heap
