#include "record/eh_frame.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <random>
#include <vector>

#include "os/memory.h"

namespace mallow::record {
namespace {

using Bytes = std::vector<uint8_t>;

// Where the made-up code lies: the tables only speak of it.
constexpr uintptr_t kCode = 0x10000;

template <typename T>
void Put(Bytes* bytes, T value) {
  const auto* raw = reinterpret_cast<const uint8_t*>(&value);
  bytes->insert(bytes->end(), raw, raw + sizeof value);
}
void Put(Bytes* bytes, const Bytes& more) { bytes->insert(bytes->end(), more.begin(), more.end()); }

// An object with a hand-made .eh_frame and, if wanted, its search table.
class MadeObject {
 public:
  static constexpr size_t kHeaderRoom = 256;

  // A CIE with absolute pointers; `augmentation` with its data. Returns its place.
  size_t AddCie(const char* augmentation, const Bytes& data, const Bytes& program, uint8_t version = 1) {
    Bytes body;
    Put<uint32_t>(&body, 0);
    body.push_back(version);
    for (const char* c = augmentation; *c != 0; ++c) body.push_back(static_cast<uint8_t>(*c));
    body.push_back(0);
    if (version == 4) Put(&body, Bytes{8, 0});
    Put(&body, Bytes{1, 0x78, 16});  // code alignment 1, data alignment -8, return address 16
    if (*augmentation == 'z') body.push_back(static_cast<uint8_t>(data.size()));
    Put(&body, data);
    Put(&body, program);
    return AddRecord(body, false);
  }

  size_t AddFde(size_t cie, uintptr_t start, uintptr_t bytes, const Bytes& program, bool augmented,
                bool wide = false) {
    Bytes body;
    const size_t id_field = section_.size() + (wide ? 12 : 4);
    Put<uint32_t>(&body, static_cast<uint32_t>(id_field - cie));
    Put<uint64_t>(&body, start);
    Put<uint64_t>(&body, bytes);
    if (augmented) body.push_back(0);
    Put(&body, program);
    const size_t at = AddRecord(body, wide);
    entries_.push_back({start, at});
    return at;
  }

  // Lays out header and section in memory. The search table is in the order of AddFde.
  LoadedObject Finish(bool search_table) {
    Put<uint32_t>(&section_, 0);
    const size_t words = (kHeaderRoom + section_.size() + 15) / 8;
    memory_.assign(words, 0);
    auto* base = reinterpret_cast<uint8_t*>(memory_.data());
    const auto hdr = reinterpret_cast<uintptr_t>(base);
    Bytes header{1, 0x00, 0x03, static_cast<uint8_t>(search_table ? 0x3b : kPointerOmitted)};
    Put<uint64_t>(&header, hdr + kHeaderRoom);
    Put<uint32_t>(&header, static_cast<uint32_t>(entries_.size()));
    for (const auto& entry : entries_) {
      Put<int32_t>(&header, static_cast<int32_t>(entry.start - hdr));
      Put<int32_t>(&header, static_cast<int32_t>(kHeaderRoom + entry.at));
    }
    memcpy(base, header.data(), header.size());
    memcpy(base + kHeaderRoom, section_.data(), section_.size());
    pages_ = {};
    return {hdr, hdr + words * 8, base, 0, &pages_};
  }

 private:
  struct Entry {
    uintptr_t start;
    size_t at;
  };
  size_t AddRecord(const Bytes& body, bool wide) {
    const size_t at = section_.size();
    if (wide) {
      Put<uint32_t>(&section_, 0xffffffff);
      Put<uint64_t>(&section_, body.size());
    } else {
      Put<uint32_t>(&section_, static_cast<uint32_t>(body.size()));
    }
    Put(&section_, body);
    return at;
  }
  Bytes section_;
  std::vector<Entry> entries_;
  std::vector<uint64_t> memory_;
  os::ReadablePages pages_ = {};
};

// def_cfa rsp, 8; offset of the return address -8.
const Bytes kUsual{0x0c, 7, 8, 0x90, 1};

class EhFrameTest : public ::testing::Test {
 protected:
  // The row at kCode + offset of a function with this program.
  const UnwindRow& Row(const Bytes& program, uintptr_t offset) {
    object_ = std::make_unique<MadeObject>();
    const size_t cie = object_->AddCie("zR", {0}, kUsual);
    object_->AddFde(cie, kCode, 100, program, true);
    const LoadedObject loaded = object_->Finish(false);
    scratch_->progress = {};  // other tables may lie where the last ones did
    found_ = FindFrameEntry(loaded, kCode + offset, &entry_) &&
             FindUnwindRow(loaded, entry_, kCode + offset, scratch_.get());
    return scratch_->row;
  }

  std::unique_ptr<MadeObject> object_;
  FrameEntry entry_;
  std::unique_ptr<UnwindScratch> scratch_ = std::make_unique<UnwindScratch>();
  bool found_ = false;
};

TEST_F(EhFrameTest, FindsEntriesWithAndWithoutASearchTable) {
  // The table holds 32-bit distances: the code has to be near.
  static const char code[300] = {};
  const auto start = reinterpret_cast<uintptr_t>(code);
  for (const bool table : {false, true}) {
    MadeObject object;
    const size_t cie = object.AddCie("zR", {0}, kUsual);
    for (uintptr_t i = 0; i < 3; ++i) object.AddFde(cie, start + i * 100, 90, {}, true);
    LoadedObject loaded = object.Finish(false);
    const auto distance = static_cast<int64_t>(start - loaded.start);
    if (table && distance != static_cast<int32_t>(distance)) continue;
    if (table) loaded = object.Finish(true);
    FrameEntry entry;
    for (uintptr_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(FindFrameEntry(loaded, start + i * 100, &entry));
      EXPECT_EQ(entry.start, start + i * 100);
      ASSERT_TRUE(FindFrameEntry(loaded, start + i * 100 + 89, &entry));
      EXPECT_EQ(entry.start, start + i * 100);
      EXPECT_FALSE(FindFrameEntry(loaded, start + i * 100 + 90, &entry));
    }
    EXPECT_FALSE(FindFrameEntry(loaded, start - 1, &entry));
  }
}

TEST_F(EhFrameTest, ReadsRecordsOf64BitLengthAndOtherVersions) {
  for (const uint8_t version : {1, 3, 4}) {
    MadeObject object;
    const size_t cie = object.AddCie("zR", {0}, kUsual, version);
    object.AddFde(cie, kCode, 50, {}, true, true);
    object.AddFde(cie, kCode + 50, 50, {}, true);
    const LoadedObject loaded = object.Finish(false);
    FrameEntry entry;
    ASSERT_TRUE(FindFrameEntry(loaded, kCode + 10, &entry)) << int{version};
    ASSERT_TRUE(FindFrameEntry(loaded, kCode + 60, &entry)) << int{version};
    EXPECT_EQ(entry.data_alignment, -8);
    EXPECT_FALSE(entry.signal_frame);
  }
}

TEST_F(EhFrameTest, ReadsAugmentations) {
  MadeObject object;
  const size_t all = object.AddCie("zPLRS", {0x00, 1, 2, 3, 4, 5, 6, 7, 8, 0x1b, 0x00}, kUsual);
  object.AddFde(all, kCode, 50, {}, true);
  const size_t none = object.AddCie("", {}, kUsual);
  object.AddFde(none, kCode + 50, 50, {}, false);
  const size_t unknown = object.AddCie("zQ", {1, 2, 3}, kUsual);
  object.AddFde(unknown, kCode + 100, 50, {}, true);
  const LoadedObject loaded = object.Finish(false);
  FrameEntry entry;
  ASSERT_TRUE(FindFrameEntry(loaded, kCode, &entry));
  EXPECT_TRUE(entry.signal_frame);
  ASSERT_TRUE(FindFrameEntry(loaded, kCode + 50, &entry));
  EXPECT_FALSE(entry.signal_frame);
  ASSERT_TRUE(FindFrameEntry(loaded, kCode + 100, &entry));
  ASSERT_TRUE(FindUnwindRow(loaded, entry, kCode + 100, scratch_.get()));
  EXPECT_EQ(scratch_->row.cfa_offset, 8);
}

TEST_F(EhFrameTest, AdvancesToTheRowOfThePc) {
  // At 4: CFA offset 16, rbp at -16. At 8 (by advance1): CFA from rbp. At 300 by advance2 and on by advance4.
  const Bytes program{0x44, 0x0e, 16, 0x86, 2,  0x02, 4, 0x0d, 6,    0x03, 20,
                      0,    0x0e, 24, 0x04, 10, 0,    0, 0,    0x0e, 32};
  EXPECT_EQ(Row(program, 3).cfa_offset, 8);
  EXPECT_EQ(scratch_->row.registers[kRbp].how, Recovery::kUnstated);
  EXPECT_EQ(Row(program, 4).cfa_offset, 16);
  EXPECT_EQ(scratch_->row.registers[kRbp].how, Recovery::kAtOffset);
  EXPECT_EQ(scratch_->row.registers[kRbp].offset, -16);
  EXPECT_EQ(scratch_->row.cfa_register, uint64_t{kRsp});
  EXPECT_EQ(Row(program, 8).cfa_register, uint64_t{kRbp});
  EXPECT_EQ(Row(program, 28).cfa_offset, 24);
  EXPECT_EQ(Row(program, 38).cfa_offset, 32);
}

TEST_F(EhFrameTest, RestoresAndRemembers) {
  // rbp saved; remembered; changed; restored.
  const Bytes program{0x86, 2, 0x0e, 16, 0x41, 0x0a, 0x0e, 99, 0xc6, 0x41, 0x0b};
  EXPECT_EQ(Row(program, 0).cfa_offset, 16);
  EXPECT_EQ(Row(program, 1).cfa_offset, 99);
  EXPECT_EQ(scratch_->row.registers[kRbp].how, Recovery::kUnstated);
  EXPECT_EQ(Row(program, 2).cfa_offset, 16);
  EXPECT_EQ(scratch_->row.registers[kRbp].how, Recovery::kAtOffset);
  EXPECT_TRUE(found_);
}

TEST_F(EhFrameTest, SetsEveryKindOfRegisterRule) {
  const Bytes program{0x05, 3,  2,                 // offset_extended rbx
                      0x11, 12, 0x7e,              // offset_extended_sf r12: -2 * -8
                      0x2f, 13, 3,                 // GNU_negative_offset_extended r13
                      0x07, 14,                    // undefined r14
                      0x08, 15,                    // same_value r15
                      0x09, 6,  3,                 // register rbp in rbx
                      0x14, 7,  1,                 // val_offset rsp
                      0x10, 0,  1,    0x30,        // expression rax
                      0x16, 1,  2,    0x31, 0x32,  // val_expression rdx
                      0x15, 2,  0x7f,              // val_offset_sf rcx
                      0x2e, 16,                    // GNU_args_size
                      0x05, 40, 2,                 // a vector register
                      0x00};
  const UnwindRow& row = Row(program, 0);
  ASSERT_TRUE(found_);
  EXPECT_EQ(row.registers[kRbx].offset, -16);
  EXPECT_EQ(row.registers[kR12].offset, 16);
  EXPECT_EQ(row.registers[kR13].offset, 24);
  EXPECT_EQ(row.registers[kR14].how, Recovery::kUndefined);
  EXPECT_EQ(row.registers[kR15].how, Recovery::kSameValue);
  EXPECT_EQ(row.registers[kRbp].how, Recovery::kInRegister);
  EXPECT_EQ(row.registers[kRbp].other, 3u);
  EXPECT_EQ(row.registers[kRsp].how, Recovery::kIsOffset);
  EXPECT_EQ(row.registers[kRsp].offset, -8);
  EXPECT_EQ(row.registers[0].how, Recovery::kAtExpression);
  EXPECT_EQ(row.registers[0].expression[1], 0x30);
  EXPECT_EQ(row.registers[1].how, Recovery::kIsExpression);
  EXPECT_EQ(row.registers[2].offset, 8);
}

TEST_F(EhFrameTest, DefinesTheCfaEveryWay) {
  EXPECT_EQ(Row({0x12, 6, 0x7e}, 0).cfa_offset, 16);  // def_cfa_sf rbp, -2 * -8
  EXPECT_EQ(scratch_->row.cfa_register, uint64_t{kRbp});
  EXPECT_EQ(Row({0x13, 0x7d}, 0).cfa_offset, 24);  // def_cfa_offset_sf
  const UnwindRow& row = Row({0x0f, 2, 0x77, 0x08}, 0);
  ASSERT_NE(row.cfa_expression, nullptr);
  EXPECT_EQ(row.cfa_expression[0], 2);
  EXPECT_EQ(Row({0x0f, 2, 0x77, 0x08, 0x0c, 7, 40}, 0).cfa_expression, nullptr);
}

TEST_F(EhFrameTest, RefusesProgramsThatMakeNoSense) {
  for (const Bytes& program :
       {Bytes{0x3f}, Bytes{0x0b}, Bytes{0x0e}, Bytes{0x0f, 100, 0x77}, Bytes(40, 0x0a)}) {
    Row(program, 0);
    EXPECT_FALSE(found_) << int{program[0]};
  }
}

// A program of instructions that move, change the row or put an earlier one back; some make no sense.
Bytes RandomProgram(std::mt19937* random) {
  const auto below = [random](unsigned limit) { return static_cast<uint8_t>((*random)() % limit); };
  Bytes program;
  for (unsigned left = below(40); left != 0; --left) {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        program.push_back(static_cast<uint8_t>(0x40 | below(8)));  // advance
        break;
      case 3:
        Put(&program, Bytes{0x02, below(10)});  // advance by a byte
        break;
      case 4:
        Put(&program, Bytes{0x0e, below(100)});  // CFA offset
        break;
      case 5:
        Put(&program, Bytes{0x0d, below(8)});  // CFA register
        break;
      case 6:
        Put(&program, Bytes{static_cast<uint8_t>(0x80 | below(17)), below(20)});  // saved
        break;
      case 7:
        program.push_back(static_cast<uint8_t>(0xc0 | below(17)));  // as at first
        break;
      case 8:
      case 9:
        program.push_back(0x0a);  // remember
        break;
      case 10:
        program.push_back(0x0b);  // as remembered
        break;
      default:
        if (below(4) != 0) break;
        program.push_back(0x01);  // to anywhere, also backwards
        Put<uint64_t>(&program, kCode + below(110));
    }
  }
  return program;
}

bool IsSame(const UnwindRow& a, const UnwindRow& b) {
  if (a.cfa_register != b.cfa_register || a.cfa_offset != b.cfa_offset || a.end != b.end) return false;
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    if (a.registers[i].how != b.registers[i].how || a.registers[i].offset != b.registers[i].offset)
      return false;
  }
  return true;
}

// In whatever order the addresses come, and with two functions by turns, what is kept of the last run changes nothing.
TEST_F(EhFrameTest, RunsOnAsIfFromTheStart) {
  std::mt19937 random(4);
  constexpr uintptr_t kBytes = 100;
  int on = 0, refused = 0;
  for (int round = 0; round < 2'000; ++round) {
    MadeObject object;
    const Bytes moves{0x42, 0x0e, 50};  // which makes the row of the first two bytes another
    for (const uintptr_t start : {kCode, kCode + kBytes}) {
      Bytes initial = kUsual;
      if (random() % 8 == 0) Put(&initial, moves);
      const size_t cie = object.AddCie("zR", {0}, initial);
      object.AddFde(cie, start, kBytes, RandomProgram(&random), true);
    }
    const LoadedObject loaded = object.Finish(false);
    scratch_->progress = {};
    uintptr_t offset = 0;
    for (int i = 0; i < 30; ++i) {
      offset = random() % 4 == 0 ? random() % (2 * kBytes) : (offset + random() % 12) % (2 * kBytes);
      FrameEntry entry;
      ASSERT_TRUE(FindFrameEntry(loaded, kCode + offset, &entry));
      const auto fresh = std::make_unique<UnwindScratch>();
      const bool found = FindUnwindRow(loaded, entry, kCode + offset, fresh.get());
      on += scratch_->progress.entry == entry && scratch_->code.start <= kCode + offset;
      ASSERT_EQ(found, FindUnwindRow(loaded, entry, kCode + offset, scratch_.get())) << round;
      refused += !found;
      if (!found) continue;
      ASSERT_TRUE(IsSame(fresh->row, scratch_->row)) << round;
      const CodeRange code = scratch_->code;
      ASSERT_TRUE(code.Has(kCode + offset));
      ASSERT_TRUE(entry.start <= code.start && code.end <= entry.end);
      for (const uintptr_t address :
           {code.start, code.start + random() % (code.end - code.start), code.end - 1}) {
        *fresh = {};
        ASSERT_TRUE(FindUnwindRow(loaded, entry, address, fresh.get()));
        ASSERT_TRUE(IsSame(fresh->row, scratch_->row)) << round;
      }
    }
  }
  EXPECT_GT(on, 5'000);
  EXPECT_GT(refused, 1'000);
}

TEST_F(EhFrameTest, RefusesTablesThatLieAboutTheirSize) {
  MadeObject object;
  const size_t cie = object.AddCie("zR", {0}, kUsual);
  object.AddFde(cie, kCode, 100, {}, true);
  const LoadedObject whole = object.Finish(false);
  FrameEntry entry;
  // Wherever the object is cut, nothing outside is read (the sanitizer watches) and nothing is found behind the cut.
  for (uintptr_t end = whole.start; end < whole.end; ++end) {
    const Bytes copy(Bytes(whole.eh_frame_hdr, whole.eh_frame_hdr + (end - whole.start)));
    const auto start = reinterpret_cast<uintptr_t>(copy.data());
    os::ReadablePages pages = {};
    const LoadedObject cut = {start, start + copy.size(), copy.data(), 0, &pages};
    if (FindFrameEntry(cut, kCode, &entry)) FindUnwindRow(cut, entry, kCode, scratch_.get());
  }
  EXPECT_FALSE(
      FindFrameEntry({whole.start, whole.start + 8, whole.eh_frame_hdr, 0, whole.pages}, kCode, &entry));
  EXPECT_FALSE(FindFrameEntry({whole.start, whole.end, nullptr, 0, whole.pages}, kCode, &entry));
}

TEST_F(EhFrameTest, ReadsNoTablesOfWhichAnEndIsGone) {
  MadeObject object;
  const size_t cie = object.AddCie("zR", {0}, kUsual);
  object.AddFde(cie, kCode, 100, {}, true);
  LoadedObject whole = object.Finish(false);
  FrameEntry entry;
  for (const uintptr_t end : {whole.end, whole.start + MadeObject::kHeaderRoom}) {
    whole.tables_end = end;
    *whole.pages = {};
    EXPECT_TRUE(FindFrameEntry(whole, kCode, &entry)) << "what lies behind the end is asked about by itself";
  }
  void* const gone = mmap(nullptr, os::PageSize(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(gone, MAP_FAILED);
  whole.tables_end = reinterpret_cast<uintptr_t>(gone) + 1;
  *whole.pages = {};
  EXPECT_EQ(FindFrameEntry(whole, kCode, &entry), whole.tables_end < whole.start);
  munmap(gone, os::PageSize());
}

}  // namespace
}  // namespace mallow::record
