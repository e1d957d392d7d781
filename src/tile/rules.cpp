#include "tile/rules.hpp"

namespace zellige::plan {
namespace {

/// A rule of one node, applied to all nodes of a program.
template <OfNode rule>
bool each(TileProgram& p, const target::Target&) {
  bool changed = false;
  p.rebuild([&](std::size_t, Node n) {
    changed = rule(p, n) || changed;
    return p.add(std::move(n));
  });
  return changed;
}

// What simplifies comes first. `shared value` is last and applied once: what it stores is stored as it is, and is no
// reason to try other rules again.
constexpr TileRule table[] = {
    {"cast twice", "a floating-point value is cast without saturation, and then rounded or stored in the same dtype",
     each<cast_twice>},
    {"mask of scaled", "masked elements are -inf, and the operand is scaled by a positive finite number, in f32",
     each<mask_of_scaled>},
    {"max of scaled",
     "the operand of a maximum, which no iteration carries, is scaled by a positive finite number, in f32",
     each<max_of_scaled>},
    {"precompute A",
     "a matmul of at most 8 rows reads a part of A in each iteration, all of A fits in shared memory, and "
     "all blocks start at once",
     precompute_a},
    {"shared value",
     "an elementwise operator is needed at more than 16 coordinates, or a task would evaluate more than 24 "
     "again",
     share},
};

}  // namespace

std::span<const TileRule> tile_rules() { return table; }

void rewrite(TileProgram& p, const target::Target& target) {
  for (std::size_t at = 0; at < std::size(table);) at = table[at].apply(p, target) ? 0 : at + 1;
}

}  // namespace zellige::plan
