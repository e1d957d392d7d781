// The expected times of kernels: those of their plans, which a cache keeps, and the roofline bound of a group.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "candidate/kernel.hpp"
#include "graph/refused.hpp"
#include "kernel/rejections.hpp"
#include "predict/cost_estimate.hpp"

namespace zellige::candidate {

/// Why a graph has no plan.
struct NoPlan {
  std::string why{};      // a sentence for the user
  bool rejected = false;  // the verifier rejected its plan
};
/// Throws Rejected if the verifier rejected the plan, otherwise Error, with the reason as the message.
[[noreturn]] void raise(const NoPlan&);

/// Cache of the expected times of planned kernels, in microseconds. The key is the planned graph's structure,
/// without names (reference/structure.hpp), because layers repeat. Thread-safe.
class CostCache {
 public:
  /// Returns the time that an earlier run found for a structure, for example from a file; nullopt if it is
  /// not known. Must be thread-safe.
  using Before = std::function<std::optional<double>(const std::string& structure)>;
  explicit CostCache(Before before = {}) : before_(std::move(before)) {}

  /// Returns the time of a structure from this cache or, if it has none, from Before; nullopt if it is not known.
  std::optional<double> find(const std::string& structure) const;
  void add(const std::string& structure, double us);
  /// Returns the times added to this cache, by structure. Must not be called while another thread may add one.
  const std::map<std::string, double>& added() const { return added_; }
  /// Records the verifier's message about a plan that is not used. In debug builds throws Rejected, because
  /// no plan should be rejected.
  void drop(const Rejected&);
  /// Returns the verifier's messages that drop() has recorded, and clears them.
  kernel::Rejections take_rejected();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, double> added_;
  Before before_;
  kernel::Rejections rejected_;
};

/// Calls `work`, which plans something, and returns true. If that throws Error, sets `refusal` to the reason and
/// returns false; if the verifier has rejected the plan, also records its message in `known`. Throws the other faults.
template <class Work>
bool tried(CostCache& known, NoPlan& refusal, Work work) {
  try {
    const std::optional<Error> why = refused(work);
    if (why) refusal = {why->what()};
    return !why;
  } catch (const Rejected& e) {
    known.drop(e);
    refusal = {e.what(), true};
    return false;
  }
}

/// Returns the expected time, in microseconds, of a graph that consists of one kernel, if it is launched right after another
/// kernel. `cost` is that of its plan or sketch.
double us_after_another(const predict::CostEstimate& cost, const target::Target&);

/// Plans a kernel, and returns its expected time in microseconds, assuming that it is launched right after
/// another kernel. Returns nullopt and sets the Refusal if it cannot be planned.
std::optional<double> planned_us(const graph::KernelGraph&, const GroupKernel&, const target::Target&, CostCache& known,
                                 NoPlan&);
/// Plans operator `op` of the graph unfused, and returns its expected time in microseconds, assuming that it
/// is launched right after another kernel. Returns nullopt and sets the Refusal if it cannot be planned.
std::optional<double> planned_us(const graph::KernelGraph&, int op, const target::Target&, CostCache& known, NoPlan&);

/// Returns the roofline bound of a group in microseconds: the larger of the time to move its bytes at the
/// memory bandwidth, and the time of its matmuls at the tensor cores' peak.
double floor_us(const graph::KernelGraph&, const std::vector<int>& ops, const target::Target&);

}  // namespace zellige::candidate
