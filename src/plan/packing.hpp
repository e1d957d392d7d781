// Dynamic storage allocation: assigns an offset to every object so that objects that are alive at the same
// time never overlap, with the smallest peak (the highest end of an object) that a bounded search finds.
//
//   Packing p = pack({{.size = 4, .begin = 0, .end = 2}, {.size = 2, .begin = 1, .end = 3}, {.size = 4,
//   .begin = 2, .end = 4}});
//   // p.offset == {0, 4, 0}, p.peak == 6 == p.lower_bound, p.optimal
//
// Several deterministic heuristics run first. If their best result misses the lower bound, a branch and bound of
// limited effort follows (exhaustive for about 14 objects). `optimal` is true only if the bound was reached or the
// search was exhaustive. More than 2,000 objects are instead placed in one pass over time, each in the lowest gap.
#pragma once
#include <cstdint>
#include <vector>

namespace zellige::plan {

/// An object to be placed, in bytes or any other unit.
struct Lifetime {
  std::int64_t size = 0;
  std::int64_t begin = 0, end = 0;  // alive in the time steps [begin, end)
  std::int64_t alignment = 1;       // of the offset
};

/// The result of pack().
struct Packing {
  std::vector<std::int64_t> offset;  // by object
  std::int64_t peak = 0;             // the largest offset + size
  std::int64_t lower_bound = 0;      // of any packing's peak
  bool optimal = true;
};

/// Returns an offset for every object. An object of size 0 or with an empty lifetime gets offset 0. `effort`
/// limits the branch and bound: with about 14 objects it is the maximum number of search-tree nodes; with
/// more objects each node counts proportionally more. Throws Error if an object has a negative size, an
/// alignment below 1, or ends before it begins.
Packing pack(const std::vector<Lifetime>& objects, std::int64_t effort = 300'000);

}  // namespace zellige::plan
