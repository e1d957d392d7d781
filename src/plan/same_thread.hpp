// Proves that threads read from a buffer only what they wrote themselves, so that no barrier is required
// between two tasks, by evaluating both contexts.
#pragma once
#include <map>
#include <tuple>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

class SameThread {
 public:
  explicit SameThread(const KernelPlan& plan) : plan_(plan) {}
  /// Returns whether every element of buffer b that task r reads was written by task w in the same thread.
  bool operator()(int w, int r, int b);

 private:
  std::vector<int> operands_of(const Task&) const;

  const KernelPlan& plan_;
  std::map<std::tuple<int, int, int>, bool> agreement_;  // by both contexts and the buffer
};

}  // namespace zellige::plan
