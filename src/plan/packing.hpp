// Dynamic storage allocation: assigns an offset to every object so that objects alive at the same time never
// overlap.
//
//   Packing p = pack({{.size = 4, .begin = 0, .end = 2}, {.size = 2, .begin = 1, .end = 3}, {.size = 4,
//   .begin = 2, .end = 4}});
//   // p.offset == {0, 4, 0}, p.peak == 6 == p.lower_bound, p.optimal
//
// Several deterministic heuristics run first; if their best misses the lower bound, a branch and bound of
// bounded effort follows (exhaustive for about 14 objects). `optimal` is true only if the bound was reached
// or the search was exhaustive. More than 2,000 objects are instead placed in one pass over time, each in the
// lowest gap.
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
  std::int64_t lower_bound = 0;  // the largest live sum, sizes rounded up as the common alignment requires
  bool optimal = true;
};

/// Objects of size 0, or alive in no step, get offset 0. `effort` bounds the search in nodes of some 14
/// objects; a node of more objects counts proportionally more.
Packing pack(const std::vector<Lifetime>& objects, std::int64_t effort = 300'000);

}  // namespace zellige::plan
