#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "heap/block.h"
#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "heap/record_map.h"
#include "heap/thread_cache.h"

namespace mallow::heap {
namespace {

constexpr size_t kRecordBytes = 16;

struct Record {
  void* owner;
  uint64_t check;
};
static_assert(sizeof(Record) == kRecordBytes);

Record* RecordOf(const void* p) { return static_cast<Record*>(Describe<kRecordBytes>(p).record); }

class SideRecordTest : public testing::Test {
 protected:
  // Before the first allocation of this process; a second time changes nothing.
  static void SetUpTestSuite() { Configure(kRecordBytes, true); }
};

TEST_F(SideRecordTest, EveryObjectHasItsOwn) {
  std::mt19937_64 random(1);
  std::map<char*, size_t> live;
  std::set<void*> records;
  for (int step = 0; step < 40000; ++step) {
    if (random() % 2 == 0 && live.size() < 3000) {
      const size_t bytes = random() % (random() % 20 == 0 ? 900000 : 2000);
      char* p = static_cast<char*>(random() % 8 == 0 ? AllocateAligned(size_t{32} << random() % 11, bytes)
                                                     : Allocate(bytes));
      Record* record = RecordOf(p);
      ASSERT_NE(record, nullptr);
      ASSERT_TRUE(records.insert(record).second) << "two live objects share a record";
      *record = {p, bytes};
      memset(p, 0xff, bytes);
      live[p] = bytes;
    } else if (!live.empty()) {
      auto found = std::next(live.begin(), static_cast<long>(random() % live.size()));
      const auto [p, bytes] = *found;
      Record* record = RecordOf(p);
      ASSERT_EQ(record->owner, p);
      ASSERT_EQ(record->check, bytes);
      records.erase(record);
      live.erase(found);
      Free(p);
    }
  }
  for (const auto& [p, bytes] : live) Free(p);
  ExpectValidHeap();
  Trim(0);
  ExpectEmptyHeap();
}

TEST_F(SideRecordTest, OnlyTheStartOfAnObjectHasOne) {
  int local = 0;
  EXPECT_EQ(RecordOf(&local), nullptr);
  EXPECT_EQ(RecordOf(nullptr), nullptr);
  EXPECT_EQ(RecordOf(reinterpret_cast<void*>(UINTPTR_MAX)), nullptr);
  for (size_t bytes : {1, 100, 5000, 60000, 262144, 1000000}) {
    char* p = static_cast<char*>(Allocate(bytes));
    EXPECT_NE(RecordOf(p), nullptr);
    EXPECT_EQ(RecordOf(p + 1), nullptr);
    for (size_t inside = 8; inside < UsableBytes(p); inside += 8 + bytes / 100) {
      ASSERT_EQ(RecordOf(p + inside), nullptr) << inside << " in " << bytes;
    }
    Free(p);
  }
}

TEST_F(SideRecordTest, TheRecordMapSaysTheSame) {
  std::mt19937_64 random(2);
  std::vector<char*> blocks;
  for (int i = 0; i < 3000; ++i) {
    const size_t most = size_t{16} << random() % 16;
    blocks.push_back(static_cast<char*>(Allocate(random() % most)));
  }
  for (char* p : blocks) {
    const Block block = Describe<kRecordBytes>(p);
    const RecordedObject object = RecordMap::At<kRecordBytes>(p);
    if (block.span->state != SpanState::kSmall) {
      ASSERT_EQ(object.size_class, 0u);
      continue;
    }
    ASSERT_EQ(object.size_class, block.span->size_class);
    ASSERT_EQ(object.record, block.record);
    ASSERT_FALSE(RecordMap::HasNone(p));
    ASSERT_EQ(object.bytes(), block.usable_bytes);
    ASSERT_EQ(RecordMap::OfObject<kRecordBytes>(p, object.size_class).record, block.record);
    for (size_t inside : {size_t{1}, size_t{8}, block.usable_bytes / 2, block.usable_bytes - 1}) {
      ASSERT_EQ(RecordMap::At<kRecordBytes>(p + inside).size_class, 0u) << inside;
    }
    // Behind the last object of the span.
    const Span& span = *block.span;
    char* const tail = span.start() + size_t{span.objects} * span.object_bytes;
    if (PageOf(tail) < span.page + span.marked_pages()) {
      ASSERT_EQ(RecordMap::At<kRecordBytes>(tail).size_class, 0u);
    }
  }
  int local = 0;
  for (const void* p : {static_cast<const void*>(&local), static_cast<const void*>(nullptr),
                        reinterpret_cast<const void*>(UINTPTR_MAX)}) {
    EXPECT_EQ(RecordMap::At<kRecordBytes>(p).size_class, 0u);
  }
  for (char* p : blocks) Free(p);
  Trim(0);
  for (char* p : blocks) ASSERT_EQ(RecordMap::At<kRecordBytes>(p).size_class, 0u);
  for (char* p : blocks) ASSERT_EQ(RecordMap::HasNone(p), internal::record_window.Reaches(p));
}

TEST_F(SideRecordTest, AllAreCleared) {
  constexpr size_t kMany = 1000;
  std::vector<char*> blocks;
  for (size_t bytes : {1, 100, 5000, 60000, 262144, 1000000, 70'000'000})
    for (size_t i = 0; i < kMany / (1 + bytes / 1000); ++i)
      blocks.push_back(static_cast<char*>(Allocate(bytes)));
  for (char* p : blocks) *RecordOf(p) = {p, 77};
  ClearRecords();
  for (char* p : blocks) {
    ASSERT_EQ(RecordOf(p)->owner, nullptr) << UsableBytes(p);
    ASSERT_EQ(RecordOf(p)->check, 0u) << UsableBytes(p);
  }
  for (char* p : blocks) Free(p);
  ExpectValidHeap();
}

TEST_F(SideRecordTest, NoHitPathHits) {
  Free(Allocate(64));
  for (size_t bytes : {0, 64, 5000, 200000}) {
    EXPECT_EQ(TryAllocate(bytes), nullptr);
    void* p = Allocate(bytes);
    EXPECT_FALSE(TryFree(p));
    EXPECT_FALSE(TryFreeSized(p, bytes));
    Free(p);
    EXPECT_EQ(TryAllocate(bytes), nullptr);
  }
  std::thread([] {
    void* p = Allocate(64);
    EXPECT_EQ(TryAllocate(64), nullptr);
    Free(p);
  }).join();
}

TEST_F(SideRecordTest, RecordsSurviveResizing) {
  char* p = static_cast<char*>(Allocate(1 << 20));
  RecordOf(p)->check = 77;
  EXPECT_TRUE(ResizeInPlace(p, 500000));
  EXPECT_TRUE(ResizeInPlace(p, 1 << 20));
  EXPECT_EQ(RecordOf(p)->check, 77u);
  Free(p);
}

}  // namespace
}  // namespace mallow::heap
