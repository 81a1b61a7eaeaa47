#include "record/frame_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "record/mapped_file.h"
#include "record/test_folder.h"

namespace mallow::record {
namespace {

class FrameTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(file_.Create(folder_.path()));
    ASSERT_TRUE(table_.Init(&file_));
  }
  static FrameItem Recorded(const MappedFile& file, FrameId id) {
    EXPECT_LT(id, file.Used(Section::kFrames));
    return file.Items<FrameItem>(Section::kFrames)[id];
  }

  TestFolder folder_;
  MappedFile file_;
  FrameTable table_;
};

TEST_F(FrameTableTest, AgreesWithAMap) {
  std::mt19937_64 random(3);
  std::map<uint64_t, FrameId> model;
  for (int i = 0; i < 400'000; i++) {
    const FrameItem frame = FrameItem::Of(random() % 4 << 56 | (0x5500'0000'0000 + random() % 50'000),
                                          static_cast<uint32_t>(random() % 3));
    const auto known = model.find(frame.word);
    ASSERT_EQ(known == model.end() ? 0 : known->second, table_.Find(frame));
    const FrameId id = table_.Add(frame);
    ASSERT_NE(0u, id);
    ASSERT_EQ(id, model.try_emplace(frame.word, id).first->second);
  }
  EXPECT_EQ(model.size() + 1, file_.Used(Section::kFrames));
  for (const auto& [word, id] : model) {
    ASSERT_EQ(word, table_.At(id).word);
    ASSERT_EQ(word, Recorded(file_, id).word);
  }
}

TEST_F(FrameTableTest, KeepsWhatAFrameIs) {
  const uint64_t signal = kTagSignalFrame << 56 | 0x7fff'ffff'f123;
  const FrameItem frame = table_.At(table_.Add(FrameItem::Of(signal, kMaxModules)));
  EXPECT_EQ(signal, frame.frame());
  EXPECT_EQ(kMaxModules, frame.module());
}

TEST_F(FrameTableTest, AForkChildIsGivenAll) {
  const FrameItem before = FrameItem::Of(0x400100, 1), after = FrameItem::Of(0x400200, 1);
  const FrameId id = table_.Add(before);
  TestFolder folder;
  MappedFile own;
  ASSERT_TRUE(own.Create(folder.path()));
  table_.ContinueIn(&own);
  EXPECT_EQ(id, table_.Find(before));
  EXPECT_EQ(before.word, Recorded(own, id).word);
  EXPECT_EQ(after.word, Recorded(own, table_.Add(after)).word);
}

TEST_F(FrameTableTest, BeginsAnewInALaterSession) {
  const FrameItem frame = FrameItem::Of(0x400100, 1);
  table_.Add(FrameItem::Of(0x400200, 1));
  table_.Add(frame);
  TestFolder folder;
  MappedFile later;
  ASSERT_TRUE(later.Create(folder.path()));
  ASSERT_TRUE(table_.Init(&later));
  EXPECT_EQ(0u, table_.Find(frame));
  EXPECT_EQ(frame.word, Recorded(later, table_.Add(frame)).word);
  EXPECT_EQ(2u, later.Used(Section::kFrames));
}

}  // namespace
}  // namespace mallow::record
