#include "os/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace mallow::os {
namespace {

std::string Value(const char* name, size_t capacity) {
  std::string value(capacity, '#');
  const long length = ReadEnvironment(name, value.data(), capacity);
  if (length == kNotSet) return "none";
  return length == kTooLong ? "too long" : value.substr(0, static_cast<size_t>(length));
}

TEST(Environment, ReadsWhatIsSet) {
  setenv("MALLOW_TEST_A", "one:two=three", 1);
  setenv("MALLOW_TEST_AB", "other", 1);
  setenv("MALLOW_TEST_EMPTY", "", 1);
  EXPECT_EQ(Value("MALLOW_TEST_A", 100), "one:two=three");
  EXPECT_EQ(Value("MALLOW_TEST_A", 14), "one:two=three");
  EXPECT_EQ(Value("MALLOW_TEST_A", 13), "too long");
  EXPECT_EQ(Value("MALLOW_TEST_AB", 100), "other");
  EXPECT_EQ(Value("MALLOW_TEST_EMPTY", 100), "");
  EXPECT_EQ(Value("MALLOW_TEST_", 100), "none");
}

TEST(Environment, ReadsTheKernelsCopyBeforeLibcIsReady) {
  const char* path = getenv("PATH");
  ASSERT_NE(path, nullptr);
  const std::string expected = path;
  char** const saved = environ;
  environ = nullptr;
  const std::string found = Value("PATH", 65536);
  const std::string short_value = Value("PATH", 2);
  const std::string missing = Value("MALLOW_TEST_NOT_SET", 100);
  environ = saved;
  EXPECT_EQ(found, expected);
  EXPECT_EQ(short_value, "too long");
  EXPECT_EQ(missing, "none");
}

TEST(Environment, TestsRunWithOrdinaryRights) { EXPECT_FALSE(RunsWithRaisedRights()); }

}  // namespace
}  // namespace mallow::os
