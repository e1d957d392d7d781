// Handles kernel code that divides by zero, accesses its own arrays out of bounds, or never ends. While a
// cluster runs on a worker, such a thread is stopped and its block aborted with a finding, instead of the
// whole process.
#pragma once
#include <ctime>

namespace zellige::emulate {

class Cluster;

class Watch {
 public:
  /// `seconds`: limit of the worker's CPU time for the cluster; 0: none.
  Watch(Cluster&, double seconds);
  ~Watch();
  Watch(const Watch&) = delete;

 private:
  Cluster* before_;
  timer_t timer_{};
  bool timed_ = false;
};

}  // namespace zellige::emulate
