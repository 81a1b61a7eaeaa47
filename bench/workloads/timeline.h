// The resident size of the process and the live bytes of the program over time, printed for the runner.
#pragma once

#include <algorithm>

#include "support.h"

namespace bench {

class Timeline {
 public:
  // Prints both. `live` is in bytes.
  void Note(uint64_t live) {
    const double seconds = static_cast<double>(Wall() - start_) * 1e-9;
    const double resident = static_cast<double>(Resident());
    Point("rss", seconds, resident);
    Point("live", seconds, static_cast<double>(live));
    last_ = resident / static_cast<double>(live);
    worst_ = std::max(worst_, last_);
  }

  // Prints what the row is judged by, the ratio at the last Note, and beside it the largest one.
  void End() const {
    Metric("rss_over_live", last_);
    Metric("worst_rss_over_live", worst_);
  }

 private:
  const uint64_t start_ = Wall();
  double last_ = 0;
  double worst_ = 0;
};

}  // namespace bench
