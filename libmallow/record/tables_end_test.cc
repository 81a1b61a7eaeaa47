#include "record/tables_end.h"

#include <gtest/gtest.h>
#include <link.h>
#include <stdlib.h>

#include "record/loaded_object.h"

namespace mallow::record {
namespace {

struct Wanted {
  uintptr_t tables, end;
};

// Of the object with these tables, as the loader lists its segments.
int FindEnd(dl_phdr_info* info, size_t, void* argument) {
  auto* const wanted = static_cast<Wanted*>(argument);
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && start <= wanted->tables && wanted->tables < start + header.p_filesz)
      wanted->end = start + header.p_filesz;
  }
  return 0;
}

TEST(TablesEnds, AreThoseOfTheSegments) {
  TablesEnds ends = {};
  os::ReadablePages pages = {};
  for (const uintptr_t address :
       {reinterpret_cast<uintptr_t>(&FindEnd), reinterpret_cast<uintptr_t>(&abort)}) {
    dl_find_object found;
    ASSERT_TRUE(FindLoadedObject(address, &found));
    Wanted wanted = {reinterpret_cast<uintptr_t>(found.dlfo_eh_frame), 0};
    dl_iterate_phdr(FindEnd, &wanted);
    EXPECT_NE(wanted.end, 0u);
    EXPECT_EQ(ends.Of(found, &pages), wanted.end);
    EXPECT_EQ(ends.Of(found, &pages), wanted.end) << "known by now";
  }
}

TEST(TablesEnds, AreUnknownWithoutHeaders) {
  TablesEnds ends = {};
  os::ReadablePages pages = {};
  dl_find_object found = {};
  EXPECT_EQ(ends.Of(found, &pages), 0u);
}

}  // namespace
}  // namespace mallow::record
