// Builds the kernels that can compute a group of operators, one per tiling, and determines their expected times: by
// formula or, more exactly, by planning the kernel. A kernel is one custom operator (an operator with a block graph),
// or several if its loop is split over blocks.
//
//   std::string why;                                                      // the reason, if there is no kernel
//   std::vector<Kernel> ks = kernels_of(graph, /*ops=*/{2, 3, 4}, target, why);
//   ks[0].us                               // expected time in microseconds, estimated by formula
//   ks[0].parts[0].block                   // the block graph of its first launch
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "kernel/rejections.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

/// Suffix of a tensor's name for its partial results, which are stored between two kernels.
constexpr const char* parts_suffix = "_parts";

/// One launch of a kernel: a custom operator.
struct Part {
  std::shared_ptr<const graph::BlockGraph> block;
  // Tensors of the graph; numbers beyond its last one are tensors of Kernel::between.
  std::vector<int> loads, stores;
  // By loaded and by stored tensor: its shape in the block graph, with contiguous dimensions merged (coalesce.hpp) and
  // reduced dimensions kept as 1. Reshapes before and after the operator make the difference.
  std::vector<graph::Shape> loaded, stored;
};

/// One way to compute a group of operators, as one to three launches.
struct Kernel {
  std::vector<int> ops;                        // of the graph, in order
  std::vector<Part> parts;                     // one, or two or three if the loop is split over blocks
  std::vector<graph::KernelTensor> between{};  // what one part stores for later parts
  // Expected time in microseconds, by formula, if it is launched right after another kernel.
  double us = 0;
  // The time in microseconds that its plan is expected to take at least, a fraction of `us`; decides whether the
  // kernel is planned.
  double lower_bound_us = 0;
  // It has integer matmuls, each of whose dot products one thread computes.
  bool one_by_one = false;
};

/// Returns the concatenations among the operators `ops`. A concatenation stays an operator of the graph in
/// front of the fused kernel, and the kernel reads the concatenation's operands.
std::vector<int> concatenations(const graph::KernelGraph&, const std::vector<int>& ops);

/// Returns the kernels that can compute the operators `ops` together, in order of estimated time. If no rule
/// makes one block graph of the operators, returns no kernel and sets `why` to the reason.
std::vector<Kernel> kernels_of(const graph::KernelGraph&, const std::vector<int>& ops, const target::Target&,
                               std::string& why);

/// Why a graph has no plan.
struct Refusal {
  std::string why{};      // a sentence for the user
  bool rejected = false;  // the verifier rejected its plan
};
/// Throws Rejected if the verifier rejected the plan, otherwise Error, with the reason as the message.
[[noreturn]] void raise(const Refusal&);

/// Cache of the expected times of planned kernels, in microseconds. The key is the planned graph's structure,
/// without names (reference/structure.hpp), because layers repeat. Thread-safe.
class CostCache {
 public:
  /// Returns the time that an earlier run found for a structure, for example from a file; nullopt if it is
  /// not known. Must be thread-safe.
  using Before = std::function<std::optional<double>(const std::string& structure)>;
  explicit CostCache(Before before = {}) : before_(std::move(before)) {}

  /// Returns the expected time, in microseconds, of a planned graph. `structure` is a string that describes the graph
  /// without names (reference/structure.hpp). Looks in this cache, and then asks the function Before, which knows the
  /// times of earlier runs. Returns nullopt if the time is not known.
  std::optional<double> find(const std::string& structure) const;
  void add(const std::string& structure, double us);
  /// Returns the times added to this cache, by structure (a string that describes a graph without names). Must not be
  /// called while another thread may add one.
  const std::map<std::string, double>& added() const { return added_; }
  /// Records the verifier's message about a plan that is not used. In debug builds throws Rejected, because
  /// no plan should be rejected.
  void drop(const Rejected&);
  /// Returns the verifier's messages that drop() has recorded, and clears them.
  plan::Rejections take_rejected();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, double> added_;
  Before before_;
  plan::Rejections rejected_;
};

/// Calls `work`, which plans something, and returns true. If that throws Error, sets `refusal` to the reason and
/// returns false; if the verifier has rejected the plan, also records its message in `known`. Throws the other faults.
template <class Work>
bool tried(CostCache& known, Refusal& refusal, Work work) {
  try {
    work();
    return true;
  } catch (const Rejected& e) {
    known.drop(e);
    refusal = {e.what(), true};
  } catch (const Fault&) {
    throw;
  } catch (const Error& e) {
    refusal = {e.what()};
  }
  return false;
}

/// Plans a kernel, and returns its expected time in microseconds, assuming that it is launched right after
/// another kernel. Returns nullopt and sets the Refusal if it cannot be planned.
std::optional<double> planned_us(const graph::KernelGraph&, const Kernel&, const target::Target&,
                                 CostCache& known, Refusal&);
/// Plans operator `op` of the graph unfused, and returns its expected time in microseconds, assuming that it
/// is launched right after another kernel. Returns nullopt and sets the Refusal if it cannot be planned.
std::optional<double> planned_us(const graph::KernelGraph&, int op, const target::Target&, CostCache& known,
                                 Refusal&);

/// Returns the roofline bound of a group in microseconds: the larger of the time to move its bytes at the
/// memory bandwidth, and the time of its matmuls at the tensor cores' peak.
double floor_us(const graph::KernelGraph&, const std::vector<int>& ops, const target::Target&);

}  // namespace zellige::fuse
