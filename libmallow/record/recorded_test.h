// The process recorded, for tests that share one recording: a process is recorded once.
#pragma once

#include <gtest/gtest.h>

#include "record/process.h"
#include "record/recorder.h"
#include "record/test_folder.h"

namespace mallow::record {

class RecordedProcessTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TestFolder;
    ASSERT_TRUE(g_recording = g_process.Start(folder_->path(), 0));
  }
  static void TearDownTestSuite() { delete folder_; }
  void TearDown() override { EndRegionsTo(0); }

  static RegionId innermost() { return g_process.Current()->regions.innermost(); }

 private:
  static inline TestFolder* folder_;
};

}  // namespace mallow::record
