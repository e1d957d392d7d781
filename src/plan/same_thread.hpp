// Decides whether two tasks need a barrier between them: none is needed if every thread reads from a buffer
// only elements that it wrote itself. Both thread-value layouts are evaluated.
//
//   SameThread same_thread(plan);
//   if (!same_thread(writer, reader, buffer)) ...   // a barrier is needed
#pragma once
#include <map>
#include <tuple>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// A function object that remembers its results by pair of thread-value layouts and buffer.
class SameThread {
 public:
  explicit SameThread(const KernelPlan& plan) : plan_(plan) {}
  /// Returns whether every element of buffer b that task r reads was written by task w in the same thread.
  /// False, without a proof, for matmuls, for reductions over lanes and for accumulators.
  bool operator()(int w, int r, int b);

 private:
  std::vector<int> operands_of(const Task&) const;

  const KernelPlan& plan_;
  std::map<std::tuple<int, int, int>, bool> agreement_;  // by both contexts and the buffer
};

}  // namespace zellige::plan
