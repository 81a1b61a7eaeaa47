// For tests: threads on processors of their choice.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <vector>

namespace mallow::heap {

// Those on which the calling thread may run, in order.
inline std::vector<unsigned> ProcessorsAllowed() {
  cpu_set_t all;
  std::vector<unsigned> allowed;
  if (sched_getaffinity(0, sizeof(all), &all) != 0) return allowed;
  for (unsigned i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &all)) allowed.push_back(i);
  }
  return allowed;
}

inline void RunOn(unsigned processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
}

}  // namespace mallow::heap
