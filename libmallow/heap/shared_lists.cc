#include "heap/shared_lists.h"

namespace mallow::heap {

constinit SharedLists shared_lists[kClassCount];

}  // namespace mallow::heap
