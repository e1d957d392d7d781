// Keeps faults in kernel code from ending the process: a division by zero, an access out of bounds of the
// kernel's own arrays, a stack overflow, a kernel that never ends. Signal handlers report each of these as a
// finding (an error in the kernel) and end the kernel's cluster.
#pragma once
#include <ctime>

namespace zellige::emulate {

class Cluster;

/// Handles the signals of the calling thread while a cluster runs on it; the destructor restores the previous state.
class SignalWatch {
 public:
  /// Starts handling faults for a cluster that runs on the calling thread. `seconds`: limit of the thread's
  /// CPU time for it; 0: no limit.
  SignalWatch(Cluster&, double seconds);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;

 private:
  Cluster* before_;  // the cluster that was running on this thread before
  timer_t timer_{};
  bool timed_ = false;
};

}  // namespace zellige::emulate
