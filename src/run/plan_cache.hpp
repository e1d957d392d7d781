// Prices of kernels that earlier runs planned, on disk: a graph like one that was planned before is fused without planning its kernels.
//
//   fuse::Optimized o = as_wished(graph, target, true, wishes, standard_cache());   // reads prices, and keeps new ones
//
//   PlanCache kept(cache, target);           // the same, step by step
//   fuse::optimize(graph, target, kept.prices());
//   kept.keep();                             // what is new; whole or not at all, so that ctrl-C leaves no half of it
//
// One entry of the cache for each target and each build of Zellige (its version, and the size and time of the file that runs): another
// build starts anew. A price only orders ways to fuse; what comes out is planned and proved as ever, so an entry of another build could
// make a program slower, and never wrong. At most `most_prices`, of 24 bytes each: beyond that, those of the last graph are kept alone.
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
  static constexpr std::size_t most_prices = 200'000;

  /// Without a cache, none is read or kept.
  PlanCache(std::optional<Cache>, const target::Target&);
  PlanCache(const PlanCache&) = delete;

  fuse::Prices& prices() { return prices_; }
  /// How many were read.
  std::size_t size() const { return before_.size(); }
  /// Adds the new ones to the file, which other threads may add to. A folder that cannot be written keeps none.
  void keep() const;

 private:
  struct Record {
    std::uint64_t low = 0, high = 0;  // the hash of a structure
    double us = 0;
    bool operator<(const Record& r) const { return std::pair(high, low) < std::pair(r.high, r.low); }
  };
  static Record record(const std::string& structure, double us = 0);
  /// As the file has them now.
  std::vector<Record> read() const;
  std::optional<double> find(const std::string& structure) const;

  std::optional<Cache> cache_;
  Key key_;
  std::vector<Record> before_;  // sorted
  fuse::Prices prices_;
};

/// fuse::as_wished with what the cache keeps for graphs that are fused.
fuse::Optimized as_wished(const graph::KernelGraph&, const target::Target&, bool fused, plan::Wishes&,
                          const std::optional<Cache>&, const fuse::Watch& = {},
                          fuse::Reasons = fuse::Reasons::told);

/// Cache::standard(), or none where the environment names none.
std::optional<Cache> standard_cache();

}  // namespace zellige::run
