// What all threads share of a size class: side by side, so that a program of few classes touches a page less.
#pragma once

#include "heap/central_list.h"
#include "heap/transfer_cache.h"

namespace mallow::heap {

struct SharedLists {
  CentralList central;
  TransferCache transfer;
};
extern SharedLists shared_lists[kClassCount];

}  // namespace mallow::heap
