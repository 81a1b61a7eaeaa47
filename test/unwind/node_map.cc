#include "node_map.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>

namespace mallow::unwind_test {

namespace {

using record::kRoot;
using record::NodeId;

constexpr uint32_t kSlots = kNodeCapacity * 2;

MapNode* g_nodes;
uint32_t* g_slots;
std::atomic<uint32_t> g_count{1};
uint32_t g_limit = kNodeCapacity;
std::atomic_flag g_lock = ATOMIC_FLAG_INIT;

class Holder {
 public:
  Holder() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
    while (g_lock.test_and_set(std::memory_order_acquire)) {
    }
    if (g_nodes == nullptr) {
      g_nodes = static_cast<MapNode*>(Pages(kNodeCapacity * sizeof(MapNode)));
      g_slots = static_cast<uint32_t*>(Pages(kSlots * sizeof(uint32_t)));
    }
  }
  ~Holder() {
    g_lock.clear(std::memory_order_release);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  static void* Pages(size_t bytes) {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  sigset_t before_;
};

NodeId Child(NodeId parent, uint64_t frame, uint32_t module) {
  Holder holder;
  uint64_t hash = (frame * 31 + parent) * 0x9e3779b97f4a7c15u;
  for (uint32_t slot = static_cast<uint32_t>(hash >> 41);; ++slot) {
    uint32_t& id = g_slots[slot % kSlots];
    if (id == 0) {
      if (g_count.load() >= g_limit) return kRoot;
      id = g_count.load();
      g_nodes[id] = {parent, module, frame};
      g_count.store(id + 1);
      return id;
    }
    const MapNode& node = g_nodes[id];
    if (node.parent == parent && node.frame == frame && node.module == module) return id;
  }
}

// A frame is called as what it is below no node.
constexpr NodeId kNowhere = ~NodeId{0};

record::FrameId Frame(void*, uint64_t frame, uint32_t module) { return Child(kNowhere, frame, module); }

NodeId Path(void*, NodeId parent, record::PathStep* steps, size_t count) {
  for (size_t i = 0; i < count && (i == 0 || parent != kRoot); ++i) {
    const MapNode& frame = g_nodes[steps[i].frame];
    parent = steps[i].node = Child(parent, frame.frame, frame.module);
  }
  return parent;
}

size_t Frames(void*, NodeId below, NodeId last, record::PathStep* steps, size_t most) {
  size_t count = 0;
  for (NodeId node = last; node != below; node = g_nodes[node].parent) {
    if (count == most) return 0;
    steps[count++].frame = Frame(nullptr, g_nodes[node].frame, g_nodes[node].module);
  }
  std::reverse(steps, steps + count);
  return count;
}

uint32_t Module(void*, const void*) { return 1; }

record::NodeTable g_table{nullptr, Frame, Path, Frames, Module};

}  // namespace

record::NodeTable& Table() { return g_table; }
const MapNode& NodeAt(NodeId id) { return g_nodes[id]; }
uint32_t NodeCount() { return g_count.load(); }
void LimitNodes(uint32_t nodes) { g_limit = nodes; }

}  // namespace mallow::unwind_test
