// Stores the estimated times of planned kernels on disk. When a similar graph has been fused before, the
// search for the best fusion takes the times from the cache, and need not plan the kernels again.
//
//   PlanCache kept(cache, target);  // run/compile.hpp does this
//   fuse::optimize(graph, target, kept.costs());
//   kept.keep();                    // adds the new times, atomically: ctrl-C leaves no half-written file
//
// There is one cache entry per target and build of Zellige (its version, and the size and time of the running file), so
// another build starts with an empty one. Estimates only rank fusions: the chosen kernels are planned and verified in
// any case, so that a wrong estimate could make a program slower, but never incorrect. An entry has at most `max_costs`
// estimates of 24 bytes; if there would be more, only those of the last graph are kept.
#pragma once
#include <optional>
#include <vector>

#include "candidate/expected_time.hpp"
#include "toolchain/cache.hpp"

namespace zellige::run {

/// The cached expected times of planned kernels, for one target. Safe to use from several processes.
class PlanCache {
 public:
  static constexpr std::size_t max_costs = 200'000;

  /// Reads the expected times of kernels for this target. With nullopt, nothing is read or kept.
  PlanCache(std::optional<toolchain::Cache>, const target::Target&);
  PlanCache(const PlanCache&) = delete;

  /// Returns the expected times of kernels, for fuse::optimize, which looks times up in them and adds new ones.
  candidate::CostCache& costs() { return costs_; }
  /// Returns how many expected times were read from the cache.
  std::size_t size() const { return before_.size(); }
  /// Adds the new expected times to the cache. Does nothing if the cache cannot be written.
  void keep() const;

 private:
  /// A cached expected time of a kernel.
  struct Record {
    toolchain::Hash kernel;  // of its structure (the canonical form of its operators and shapes)
    double us = 0;           // expected time in microseconds
  };
  /// Returns the expected times that the cache has on disk now.
  std::vector<Record> read() const;
  /// Returns the expected time of a kernel, as read from the cache; nullopt if the cache had none.
  /// `structure`: canonical form of the kernel's operators and shapes.
  std::optional<double> find(const std::string& structure) const;

  std::optional<toolchain::Cache> cache_;
  std::string target_;
  std::vector<Record> before_;  // the records that were read, sorted
  candidate::CostCache costs_;
};

/// Returns Cache::standard(); nullopt if none of its environment variables is set.
std::optional<toolchain::Cache> standard_cache();

}  // namespace zellige::run
