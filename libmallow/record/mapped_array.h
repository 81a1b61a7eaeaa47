// An array that grows in pages of its own, without limit. Contents move when it grows.
//
// For plain data; constant-initialised (all zero is empty). Thread-compatible. Growth costs one mapping per
// doubling; a mapping that fails leaves the array as it was.
#pragma once

#include <cstring>
#include <type_traits>

#include "base/config.h"
#include "os/memory.h"

namespace mallow::record {

template <typename T>
class MappedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  size_t size() const { return size_; }
  T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  void Truncate(size_t size) { size_ = size; }

  // Room for `more` items beyond size(). False: no memory. To be asked without MALLOW_UNLIKELY around it: with that GCC 12
  // takes what follows where there is room for the cold part, and puts it far away.
  MALLOW_ALWAYS_INLINE bool Reserve(size_t more) {
    return MALLOW_LIKELY(capacity_ - size_ >= more) || Grow(more);
  }
  // REQUIRES: room.
  MALLOW_ALWAYS_INLINE T* Append() { return &data_[size_++]; }
  // Of many at once: who has room may write from end() on, and then says how far he came.
  T* end() { return data_ + size_; }
  void AppendedTo(const T* end) { size_ = static_cast<size_t>(end - data_); }

  void Unmap() {
    if (data_ != nullptr) os::Unmap(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
  MALLOW_COLD bool Grow(size_t more) {
    const size_t page = os::PageSize();
    size_t bytes = capacity_ == 0 ? page : capacity_ * sizeof(T) * 2;
    while (bytes / sizeof(T) < size_ + more) bytes *= 2;
    void* grown = os::Map(nullptr, bytes);
    if (grown == nullptr) return false;
    if (size_ != 0) memcpy(grown, data_, size_ * sizeof(T));
    if (data_ != nullptr) os::Unmap(data_, capacity_ * sizeof(T));
    data_ = static_cast<T*>(grown);
    capacity_ = bytes / sizeof(T);
    return true;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace mallow::record
