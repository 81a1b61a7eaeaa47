#include "heap/page_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "os/memory.h"

namespace mallow::heap {
namespace {

const PageId kSomewhere = PageId{0x12345} << internal::kLeafBits;

TEST(PageMap, EverythingIsForeignAtFirst) {
  int local = 0;
  const void* addresses[] = {nullptr, &local, reinterpret_cast<void*>(UINTPTR_MAX),
                             reinterpret_cast<void*>(uintptr_t{1} << kAddressBits),
                             reinterpret_cast<void*>((uintptr_t{1} << kAddressBits) - 1)};
  for (const void* p : addresses) {
    EXPECT_EQ(PageMap::ClassOf(p), 0u) << p;
    EXPECT_EQ(PageMap::StateOf(PageOf(p)), PageState::kForeign) << p;
    EXPECT_EQ(PageMap::SpanOf(PageOf(p)), nullptr) << p;
  }
}

TEST(PageMap, AddressesBeyondItsRangeCannotBeReserved) {
  EXPECT_FALSE(PageMap::Reserve(uintptr_t{1} << (kAddressBits - kPageShift), 1));
  EXPECT_FALSE(PageMap::Reserve((uintptr_t{1} << (kAddressBits - kPageShift)) - 1, 2));
}

TEST(PageMap, AFailedLeafChangesNothing) {
  static const os::MemoryFunctions kNoMemory = {[](void*, size_t) -> void* { return nullptr; },
                                                os::SystemMemoryFunctions().unmap,
                                                os::SystemMemoryFunctions().release};
  const PageId page = kSomewhere + 5 * internal::kLeafPages;
  os::ReplaceMemoryFunctions(&kNoMemory);
  EXPECT_FALSE(PageMap::Reserve(page, 1));
  os::ReplaceMemoryFunctions(nullptr);
  EXPECT_EQ(PageMap::StateOf(page), PageState::kForeign);
  EXPECT_TRUE(PageMap::Reserve(page, 1));
}

// Ranges across the border of two leaves, against plain arrays.
TEST(PageMap, AgreesWithAModel) {
  constexpr Pages kPages = 3000;
  const PageId first = kSomewhere + 9 * internal::kLeafPages - kPages / 2;
  ASSERT_TRUE(PageMap::Reserve(first, kPages));
  std::vector<uint8_t> classes(kPages), states(kPages);
  std::vector<Span*> spans(kPages);
  std::mt19937 random(1);
  for (int step = 0; step < 3000; ++step) {
    const Pages start = random() % kPages;
    const Pages count = 1 + random() % std::min<Pages>(kPages - start, 300);
    switch (random() % 3) {
      case 0: {
        const SizeClass c = random() % kClassCount;
        PageMap::SetClass(first + start, count, c);
        std::fill_n(classes.begin() + static_cast<long>(start), count, c);
        break;
      }
      case 1: {
        const PageState state = static_cast<PageState>(random() % 3);
        PageMap::SetState(first + start, count, state);
        std::fill_n(states.begin() + static_cast<long>(start), count, static_cast<uint8_t>(state));
        break;
      }
      default: {
        Span* span = reinterpret_cast<Span*>(uintptr_t{random()} * 64);
        PageMap::SetSpan(first + start, span);
        spans[start] = span;
      }
    }
    const auto from = states.begin() + static_cast<long>(start);
    const auto to = from + static_cast<long>(count);
    ASSERT_EQ(PageMap::CountResident(first + start, count), static_cast<Pages>(std::count(from, to, 2)));
    const auto other = std::find_if(from, to, [&](uint8_t state) { return state != *from; });
    ASSERT_EQ(PageMap::RunLength(first + start, count), static_cast<Pages>(other - from));
  }
  for (Pages i = 0; i < kPages; ++i) {
    const char* inside = AddressOf(first + i) + (i * 37) % kPageBytes;
    ASSERT_EQ(PageMap::ClassOf(inside), classes[i]);
    ASSERT_EQ(static_cast<uint8_t>(PageMap::StateOf(first + i)), states[i]);
    ASSERT_EQ(PageMap::SpanOf(first + i), spans[i]);
  }
}

}  // namespace
}  // namespace mallow::heap
