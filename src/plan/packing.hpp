// Dynamic storage allocation: an offset for every object, so that objects alive at the same time never
// overlap.
//
//   Packing p = pack({{.size = 4, .begin = 0, .end = 2}, {.size = 2, .begin = 1, .end = 3}, {.size = 4,
//   .begin = 2, .end = 4}});
//   // p.offset == {0, 4, 0}, p.peak == 6 == p.lower_bound, p.optimal
//
// Several deterministic heuristics come first; where their best misses the lower bound, a branch and bound of
// bounded effort follows (exhaustive for about 14 objects). `optimal` is true only when the bound was met or
// the search ended. More than 2,000 objects are placed in one walk over time instead, each in the lowest gap.
#pragma once
#include <cstdint>
#include <vector>

namespace zellige::plan {

struct Lifetime {
  std::int64_t size = 0;
  std::int64_t begin = 0, end = 0;  // alive in the steps [begin, end)
  std::int64_t alignment = 1;       // of the offset
};

struct Packing {
  std::vector<std::int64_t> offset;
  std::int64_t peak = 0;         // the largest offset + size
  std::int64_t lower_bound = 0;  // the largest live sum, sizes rounded as the common alignment forces
  bool optimal = true;
};

/// Objects of size 0, or alive in no step, get offset 0. `effort` bounds the nodes of the search among some 14 objects; a node of
/// many looks at more of them, and counts for as much more.
Packing pack(const std::vector<Lifetime>& objects, std::int64_t effort = 300'000);

}  // namespace zellige::plan
