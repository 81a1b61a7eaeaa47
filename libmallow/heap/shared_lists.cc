#include "heap/shared_lists.h"

namespace mallow::heap {

constinit SharedLists shared_lists[kClassCount];
constinit std::atomic<unsigned> further_transfer_caches_used{0};

}  // namespace mallow::heap
