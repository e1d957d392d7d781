// Builds the kernels of a group: a custom operator alone in a graph, by which it is estimated and planned.
//
//   std::vector<Kernel> ks = kernels_of(graph, {2, 3, 4}, target, why);
//   ks[0].us                               // estimated by formula, until it is planned
//   ks[0].parts[0].block                   // its block graph
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "plan/rejections.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

/// Suffix of a tensor's name for its partial results, which are stored between two kernels.
constexpr const char* parts_suffix = "_parts";

/// One launch.
struct Part {
  std::shared_ptr<const graph::BlockGraph> block;
  std::vector<int> loads, stores;    // tensors of the graph, then those between the two kernels
  std::vector<graph::Shape> stored;  // their shapes including reduced dimensions
};

struct Kernel {
  std::vector<int> ops;                        // of the graph, in order
  std::vector<Part> parts;                     // one, or two or three if the loop is split over blocks
  std::vector<graph::KernelTensor> between{};  // what a kernel stores for later ones
  double us = 0;                               // estimated, without a program's first launch
  double lower_bound_us = 0;                   // lower limit of `us`, until it is planned
  // Has matmuls whose dot products are each computed by one thread.
  bool one_by_one = false;
};

/// Those of the operators that are concatenations; they stay operators of the graph before the kernel that
/// reads their operands.
std::vector<int> concatenations(const graph::KernelGraph&, const std::vector<int>& ops);

/// The kernels that compute the group, cheapest estimate first. Empty, with the reason in `why`, if no rule
/// makes one block graph of the operators.
std::vector<Kernel> kernels_of(const graph::KernelGraph&, const std::vector<int>& ops, const target::Target&,
                               std::string& why);

/// Why there is no plan.
struct Refusal {
  std::string why{};
  bool rejected = false;  // by the verifier
};
/// Throws Rejected or Error.
[[noreturn]] void raise(const Refusal&);

/// Cache of planned costs in microseconds, keyed by the structure of the planned graph, since layers repeat.
/// Thread-safe.
class CostCache {
 public:
  /// Looks up an earlier result by structure; must be thread-safe.
  using Before = std::function<std::optional<double>(const std::string& structure)>;
  explicit CostCache(Before before = {}) : before_(std::move(before)) {}

  std::optional<double> find(const std::string& structure) const;
  void add(const std::string& structure, double us);
  /// The new entries; call it only when no thread adds any more.
  const std::map<std::string, double>& added() const { return added_; }
  /// Records what the verifier reported about a plan that is dropped.
  void drop(const Rejected&);
  /// Returns what was recorded since the last call.
  plan::Rejections take_rejected();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, double> added_;
  Before before_;
  plan::Rejections rejected_;
};

/// Estimated time from a plan, in microseconds after another kernel. Returns nullopt, with the reason, if it
/// cannot be planned.
std::optional<double> planned_us(const graph::KernelGraph&, const Kernel&, const target::Target&,
                                 CostCache& known, Refusal&);
/// The same for a single unfused operator.
std::optional<double> planned_us(const graph::KernelGraph&, int op, const target::Target&, CostCache& known,
                                 Refusal&);

/// Roofline bound of the kernel's bytes and matmuls.
double floor_us(const graph::KernelGraph&, const std::vector<int>& ops, const target::Target&);

}  // namespace zellige::fuse
