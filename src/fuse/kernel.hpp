// A group as a custom operator, alone in a graph: what it is estimated and planned by.
//
//   std::vector<Kernel> ks = kernels_of(graph, {2, 3, 4}, target, why);
//   ks[0].us                               // by estimate, until somebody plans it
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

/// What follows a tensor's name in those of its parts, which lie between two kernels.
constexpr const char* parts_suffix = "_parts";

/// One launch.
struct Part {
  std::shared_ptr<const graph::BlockGraph> block;
  std::vector<int> loads, stores;    // tensors of the graph, and behind them those in between
  std::vector<graph::Shape> stored;  // their shapes with every dimension that a sum left out
};

struct Kernel {
  std::vector<int> ops;                        // of the graph, in order
  std::vector<Part> parts;                     // one, or two where a loop is split among blocks
  std::vector<graph::KernelTensor> between{};  // what the first leaves for the second
  double us = 0;                               // without a program's first launch
  double least = 0;                            // what it may be of that, until it is planned
  bool one_by_one = false;                     // are there products of which each sum is one thread's?
};

/// Those of the operators that are concatenations, which stay operators of the graph in front of the kernel that reads their operands.
std::vector<int> concatenations(const graph::KernelGraph&, const std::vector<int>& ops);

/// Its tilings by estimate, the least first; none, with the reason, where no rule makes one block graph of the operators.
std::vector<Kernel> kernels_of(const graph::KernelGraph&, const std::vector<int>& ops, const target::Target&,
                               std::string& why);

/// Why there is no plan.
struct Refusal {
  std::string why{};
  bool rejected = false;  // by the proof
};
/// As Rejected, or as Error.
[[noreturn]] void raise(const Refusal&);

/// What plans came to, in microseconds, by the structure of what was planned: layers repeat. Many threads may ask.
class Prices {
 public:
  /// What was found before, by a structure; many threads ask.
  using Before = std::function<std::optional<double>(const std::string& structure)>;
  explicit Prices(Before before = {}) : before_(std::move(before)) {}

  std::optional<double> find(const std::string& structure) const;
  void add(const std::string& structure, double us);
  /// What was added, once nobody adds any more.
  const std::map<std::string, double>& added() const { return added_; }
  /// Keeps what the proof said of a plan that is dropped.
  void drop(const Rejected&);
  /// What it said since the last time.
  plan::Rejections take_rejected();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, double> added_;
  Before before_;
  plan::Rejections rejected_;
};

/// By a plan, in microseconds behind another kernel; none where the planner refuses it, with its reason.
std::optional<double> planned_us(const graph::KernelGraph&, const Kernel&, const target::Target&,
                                 Prices& known, Refusal&);
/// The same of a plain operator as it is.
std::optional<double> planned_us(const graph::KernelGraph&, int op, const target::Target&, Prices& known,
                                 Refusal&);

/// What the kernel's bytes or its products take at least.
double floor_us(const graph::KernelGraph&, const std::vector<int>& ops, const target::Target&);

}  // namespace zellige::fuse
