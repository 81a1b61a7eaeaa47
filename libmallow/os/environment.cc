#include "os/environment.h"

#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "os/file.h"

namespace mallow::os {
namespace {

// The value in "name=value", or null.
const char* ValueIn(const char* entry, const char* name, size_t name_length) {
  if (strncmp(entry, name, name_length) != 0 || entry[name_length] != '=') return nullptr;
  return entry + name_length + 1;
}

long CopyValue(const char* found, char* value, size_t capacity) {
  const size_t length = strlen(found);
  if (length >= capacity) return kTooLong;
  memcpy(value, found, length + 1);
  return static_cast<long>(length);
}

// Reads "name=value\0name=value\0..." a byte at a time out of a small window: entries may be of any length.
class EntryReader {
 public:
  explicit EntryReader(int descriptor) : descriptor_(descriptor) {}

  // The next byte, or -1 at the end.
  int Next() {
    if (position_ == filled_) {
      filled_ = Read(descriptor_, window_, sizeof(window_));
      position_ = 0;
      if (filled_ <= 0) return filled_ = 0, -1;
    }
    return static_cast<unsigned char>(window_[position_++]);
  }

 private:
  int descriptor_;
  long position_ = 0;
  long filled_ = 0;
  char window_[1024];
};

long FindInEntries(EntryReader& reader, const char* name, char* value, size_t capacity) {
  for (;;) {
    const char* expected = name;
    int byte = reader.Next();
    if (byte < 0) return kNotSet;
    while (*expected != 0 && byte == *expected) {
      ++expected;
      byte = reader.Next();
    }
    if (*expected == 0 && byte == '=') {
      size_t length = 0;
      while ((byte = reader.Next()) > 0) {
        if (length + 1 >= capacity) return kTooLong;
        value[length++] = static_cast<char>(byte);
      }
      value[length] = 0;
      return static_cast<long>(length);
    }
    while (byte > 0) byte = reader.Next();
  }
}

// REQUIRES: libc has an environment.
const char* FindInLibc(const char* name) {
  const size_t name_length = strlen(name);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (const char* const value = ValueIn(*entry, name, name_length)) return value;
  }
  return nullptr;
}

long ReadFromKernel(const char* name, char* value, size_t capacity) {
  const int descriptor = OpenForReading("/proc/self/environ");
  if (descriptor < 0) return kNotSet;
  EntryReader reader(descriptor);
  const long length = FindInEntries(reader, name, value, capacity);
  Close(descriptor);
  return length;
}

}  // namespace

long ReadEnvironment(const char* name, char* value, size_t capacity) {
  if (environ == nullptr) return ReadFromKernel(name, value, capacity);
  const char* const found = FindInLibc(name);
  return found == nullptr ? kNotSet : CopyValue(found, value, capacity);
}

bool MayBeInEnvironment(const char* name) { return environ == nullptr || FindInLibc(name) != nullptr; }

bool RunsWithRaisedRights() { return getauxval(AT_SECURE) != 0; }

}  // namespace mallow::os
