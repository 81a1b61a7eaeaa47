// Text in a fixed buffer, without printf and without allocation.
//
// What does not fit is cut, never written beyond the end; the text is always terminated by a zero byte.
#pragma once

#include "base/config.h"

namespace mallow {

// Appends to memory of the caller.
class TextWriter {
 public:
  // `capacity` counts the terminating zero and must be at least 1.
  TextWriter(char* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) { buffer_[0] = 0; }

  TextWriter& Append(const char* text);
  TextWriter& Append(const char* text, size_t length);
  TextWriter& AppendDecimal(uint64_t value);
  // With 0x in front.
  TextWriter& AppendHex(uint64_t value);

  const char* data() const { return buffer_; }
  size_t size() const { return size_; }
  // True when something had to be cut.
  bool truncated() const { return truncated_; }

 private:
  char* buffer_;
  size_t capacity_;
  size_t size_ = 0;
  bool truncated_ = false;
};

// A TextWriter with its own memory, enough for one sentence.
class TextBuffer : public TextWriter {
 public:
  TextBuffer() : TextWriter(storage_, sizeof(storage_)) {}
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

  TextBuffer& Append(const char* text) { return TextWriter::Append(text), *this; }
  TextBuffer& AppendDecimal(uint64_t value) { return TextWriter::AppendDecimal(value), *this; }
  TextBuffer& AppendHex(uint64_t value) { return TextWriter::AppendHex(value), *this; }

 private:
  char storage_[512];
};

}  // namespace mallow
