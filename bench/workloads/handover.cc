// One thread allocates N blocks (argument 1) of up to 256 bytes, another one frees them.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>

namespace {

constexpr size_t kSlots = 4096;
std::atomic<void*> slots[kSlots];

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const uint64_t blocks = std::strtoull(arguments[1], nullptr, 10);
  std::thread consumer([blocks] {
    for (uint64_t i = 0; i < blocks; i++) {
      std::atomic<void*>& slot = slots[i % kSlots];
      void* block;
      while ((block = slot.load(std::memory_order_acquire)) == nullptr) std::this_thread::yield();
      slot.store(nullptr, std::memory_order_release);
      std::free(block);
    }
  });
  for (uint64_t i = 0; i < blocks; i++) {
    std::atomic<void*>& slot = slots[i % kSlots];
    while (slot.load(std::memory_order_acquire) != nullptr) std::this_thread::yield();
    slot.store(std::malloc(1 + i % 256), std::memory_order_release);
  }
  consumer.join();
}
