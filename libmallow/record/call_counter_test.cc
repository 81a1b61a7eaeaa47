#include "record/call_counter.h"

#include <gtest/gtest.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstring>
#include <string>

#include "record/loaded_object.h"
#include "record/process.h"
#include "record/recorder.h"
#include "record/test_folder.h"

// Functions with beginnings that are known: push rbp; mov rsp, rbp; push rbx; lea 1(rdi), eax; ...
asm(R"(
  .text
  .balign 64
counted: .cfi_startproc
  push %rbp
  mov %rsp, %rbp
  push %rbx
  lea 1(%rdi), %eax
  pop %rbx
  pop %rbp
  ret
  .cfi_endproc
  .balign 64
across: .fill 59, 1, 0x90
at_edge: .cfi_startproc
  push %rbp
  mov %rsp, %rbp
  push %rbx
  lea 2(%rdi), %eax
  pop %rbx
  pop %rbp
  ret
  .cfi_endproc
)");
extern "C" int counted(int) asm("counted");
extern "C" int at_edge(int) asm("at_edge");

namespace mallow::record {
namespace {

constexpr char kStart[] = "554889e553";

class CallCounterTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TestFolder;
    ASSERT_TRUE(g_process.file().Create(folder_->path()));
    g_process.units().StartIn(&g_process.file());
    dl_find_object found;
    ASSERT_TRUE(FindLoadedObject(reinterpret_cast<uintptr_t>(&counted), &found));
    bias_ = found.dlfo_link_map->l_addr;
    ASSERT_EQ(stat("/proc/self/exe", &self_), 0);
    CountCallsOf(
        (Line(&counted, kStart, "counted") + Line(&at_edge, kStart, "at the edge of a word")).c_str(),
        &g_process.units());
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string Line(int (*function)(int), const std::string& code, const std::string& name) {
    char text[256];
    snprintf(text, sizeof(text), "%lx %lx %lx ",
             static_cast<unsigned long>(uint64_t{major(self_.st_dev)} << 32 | minor(self_.st_dev)),
             static_cast<unsigned long>(self_.st_ino),
             static_cast<unsigned long>(reinterpret_cast<uintptr_t>(function) - bias_));
    return text + code + " " + code + " - " + name + "\n";
  }
  static const UnitItem* Unit(const char* name) {
    return g_process.units().Find(name, UnitSource::kFunction);
  }

  static TestFolder* folder_;
  static uintptr_t bias_;
  static struct stat self_;
};

TestFolder* CallCounterTest::folder_;
uintptr_t CallCounterTest::bias_;
struct stat CallCounterTest::self_;

TEST_F(CallCounterTest, CountsAndDoesWhatWasDone) {
  ASSERT_NE(Unit("counted"), nullptr);
  const uint64_t before = Unit("counted")->amount;
  int (*volatile function)(int) = &counted;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(function(i), i + 1);
  function = &at_edge;
  for (int i = 0; i < 50; ++i) EXPECT_EQ(function(i), i + 2);
  EXPECT_EQ(Unit("counted")->amount, before + 100);
  EXPECT_EQ(Unit("counted")->refusal, 0u);
  EXPECT_EQ(Unit("at the edge of a word")->amount, 50u);
}

TEST_F(CallCounterTest, LeavesOtherCodeAlone) {
  CountCallsOf(Line(&at_edge, "554889e55390", "other").c_str(), &g_process.units());
  EXPECT_EQ(Unit("other")->refusal, 2u);
  std::string elsewhere = Line(&counted, kStart, "elsewhere");
  elsewhere.replace(0, elsewhere.find(' '), "ffffffff");
  CountCallsOf(elsewhere.c_str(), &g_process.units());
  EXPECT_EQ(Unit("elsewhere")->refusal, 1u);
  EXPECT_EQ(counted(1), 2);
}

TEST_F(CallCounterTest, IgnoresWhatIsNoLine) {
  const std::string good = Line(&counted, kStart, "name");
  for (const std::string& line :
       {std::string("\n\n\n"), std::string("x"), std::string(5000, 'f'),
        std::string("1 2 3 554889e553 554889e553"), std::string("1 2 3 55 55 - name"),
        std::string("1 2 3 554889e553 554889e553 ff name"), std::string("1 2 3 - - - name"),
        std::string("11111111111111111 2 3 554889e553 554889e553 - name"),
        "1 2 3 " + std::string(1000, 'f') + " 554889e553 - name",
        "1 2 3 554889e553 " + std::string(1000, 'f') + " - name", good.substr(0, good.size() / 2),
        std::string("1 2 3 554889e553 554889e553 - ")}) {
    CountCallsOf(line.c_str(), &g_process.units());
  }
  EXPECT_EQ(Unit("name"), nullptr);
}

// Where a handler forked within a record, what the file held is gone before the child has another.
TEST_F(CallCounterTest, UnitsKeepTheirNamesWithoutTheFile) {
  const UnitItem* const unit = Unit("counted");
  ASSERT_NE(nullptr, unit);
  UnitItem kept = *unit;
  memset(const_cast<UnitItem*>(unit), 0, sizeof(*unit));
  TestFolder folder;
  MappedFile file;
  UnitTable units;
  ASSERT_TRUE(file.Create(folder.path()));
  units.StartIn(&file);
  CountCallsIn(&units);
  EXPECT_NE(nullptr, units.Find("counted", UnitSource::kFunction));
  *const_cast<UnitItem*>(unit) = kept;
  CountCallsIn(&g_process.units());
  MappedFile::Unmap(file.mapping());
}

TEST_F(CallCounterTest, MoreThanThereIsRoomForIsRefused) {
  for (int i = 0; i < 100; ++i) {
    CountCallsOf(Line(&counted, kStart, "many").c_str(), &g_process.units());  // its code is another by now
  }
  EXPECT_EQ(Unit("many")->refusal, 2u);
}

}  // namespace
}  // namespace mallow::record
