// A disk cache of estimated costs of planned kernels: a graph like one that was planned before is fused
// without planning its kernels again.
//
//   fuse::Optimized o = optimize_with_options(graph, target, true, options, standard_cache());
//
//   PlanCache kept(cache, target);  // the same, step by step
//   fuse::optimize(graph, target, kept.costs());
//   kept.keep();                    // adds the new ones, atomically: ctrl-C leaves no half-written file
//
// One entry of the cache per target and build of Zellige (version, and size and time of the running file):
// another build starts empty. An estimate only ranks ways to fuse; the result is planned and verified as
// always, so a wrong estimate could make a program slower, but never incorrect. Holds at most `max_costs`,
// of 24 bytes each: beyond that, only those of the last graph are kept.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fuse/custom.hpp"
#include "fuse/kernel.hpp"
#include "run/cache.hpp"

namespace zellige::run {

class PlanCache {
 public:
  static constexpr std::size_t max_costs = 200'000;

  /// Without a cache, nothing is read or kept.
  PlanCache(std::optional<Cache>, const target::Target&);
  PlanCache(const PlanCache&) = delete;

  fuse::CostCache& costs() { return costs_; }
  /// Number of estimates that were read.
  std::size_t size() const { return before_.size(); }
  /// Adds the new ones to the file, which other threads may be adding to. Does nothing if the folder is not
  /// writable.
  void keep() const;

 private:
  struct Record {
    std::uint64_t low = 0, high = 0;  // the hash of a structure
    double us = 0;
    bool operator<(const Record& r) const { return std::pair(high, low) < std::pair(r.high, r.low); }
  };
  static Record record(const std::string& structure, double us = 0);
  /// Reads the file again.
  std::vector<Record> read() const;
  std::optional<double> find(const std::string& structure) const;

  std::optional<Cache> cache_;
  Key key_;
  std::vector<Record> before_;  // sorted
  fuse::CostCache costs_;
};

/// fuse::optimize_with_options with the estimates of the cache, for graphs that are fused.
fuse::Optimized optimize_with_options(const graph::KernelGraph&, const target::Target&, bool fused,
                                      plan::PlanOptions&, const std::optional<Cache>&,
                                      const fuse::Watch& = {}, fuse::Reasons = fuse::Reasons::told);

/// Cache::standard(), or nothing if the environment defines none.
std::optional<Cache> standard_cache();

}  // namespace zellige::run
