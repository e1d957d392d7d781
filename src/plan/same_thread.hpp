// Decides whether two tasks need a barrier between them, by evaluating their thread-value layouts. No barrier
// is needed if every thread reads from a buffer only elements that it wrote itself.
//
//   SameThread same_thread(plan);
//   if (!same_thread(writer, reader, buffer)) ...   // a barrier is needed
#pragma once
#include <map>
#include <tuple>

#include "kernel/kernel.hpp"
#include "selection/task.hpp"

namespace zellige::plan {

/// A function object that remembers its results by pair of thread-value layouts and buffer.
class SameThread {
 public:
  SameThread(const kernel::Kernel& kernel, const selection::Tasks& tasks) : plan_(kernel), tasks_(tasks) {}
  /// Returns true if each thread of task r reads only elements of buffer b that the same thread wrote in task
  /// w. Returns false without evaluating the layouts if r is a matmul, or if one of the two tasks reduces
  /// over lanes or works on accumulators.
  bool operator()(int w, int r, int b);

 private:
  const kernel::Kernel& plan_;
  const selection::Tasks& tasks_;
  std::map<std::tuple<int, int, int>, bool> agreement_;  // by both contexts and the buffer
};

}  // namespace zellige::plan
