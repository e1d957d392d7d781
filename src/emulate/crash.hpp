// A kernel's own code can divide by zero, run out of an array of its own, or never end. While a cluster runs
// on a worker, such a thread is stopped and its block given up with a finding instead of the program.
#pragma once
#include <ctime>

namespace zellige::emulate {

class Cluster;

class Watch {
 public:
  /// `seconds` of the worker's CPU time for the cluster; 0: any.
  Watch(Cluster&, double seconds);
  ~Watch();
  Watch(const Watch&) = delete;

 private:
  Cluster* before_;
  timer_t timer_{};
  bool timed_ = false;
};

}  // namespace zellige::emulate
