// Lists what a loop nest evaluates at each coordinate, item by item: what it reads and in which width, what
// is computed once, which branch is taken, and what the nest stores.
//
//   for (const Item& item : evaluate(plan, tasks)) ...   // tasks of one context, evaluated together
//
// The emitter prints one item after another (expression.cpp, evaluate_text.cpp) and predict counts them
// (shared_access.cpp): how a value is computed is decided only here. A value is evaluated once for each
// coordinate at which it is needed, and again in another scope: after another guard, or in a branch of a
// concatenation. A value that is constant along the nest's loop, such as the mean or scale of the row that
// the loop runs along, is invariant: every thread of the loop evaluates it before the loop.
#pragma once
#include <algorithm>
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// A coordinate along one dimension, relative to the nest's: x = min(at[from] + offset, last); x itself, its
/// pair (x / 2) or the other element of its pair (x ^ 1); plus `added`.
struct Place {
  int from = -1;                                  // a dimension of the nest; -1: none, and at[from] is 0
  std::int64_t offset = 0, last = -1, added = 0;  // last -1: no limit
  enum class Of : std::uint8_t { itself, pair, other } what = Of::itself;
  auto operator<=>(const Place&) const = default;
  std::int64_t of(const Shape& at) const {
    const std::int64_t here = (from < 0 ? 0 : at[static_cast<std::size_t>(from)]) + offset;
    const std::int64_t bound = last >= 0 && here > last ? last : here;
    return (what == Of::pair ? bound / 2 : what == Of::other ? bound ^ 1 : bound) + added;
  }
  Place moved(std::int64_t by) const {
    Place p = *this;
    (last < 0 && what == Of::itself ? p.offset : p.added) += by;
    return p;
  }
  Place clamped(std::int64_t bound) const {
    Place p = *this;
    if (from < 0) return {-1, std::min(offset, bound)};
    p.last = bound;
    return p;
  }
};

/// The items of a fragment that exist: if its tiles extend beyond what the task writes, those below this
/// limit.
struct Guard {
  int axis;
  std::int64_t below;
  auto operator<=>(const Guard&) const = default;
};

std::vector<Guard> guards(const KernelPlan&, const Task&);

/// The elements of a partial tile that are within the tensor.
struct Within {
  Split split;
  bool far = false;  // its coordinates need 64 bits
  Place at;          // in the tile
  auto operator<=>(const Within&) const = default;
};

/// A part of a concatenation: taken if the place is below `end` and no earlier part was taken; the last part
/// otherwise.
struct Part {
  int alone = -1;  // the neighbour that it is for; -1: all
  Place at;
  std::int64_t end = 0;
  bool first = false, last = false;
};

struct Item {
  enum class Kind : std::uint8_t {
    read_shared,  // the pieces of `buffer`
    read_global,  // the pieces that `node` loads
    // The nest's own context's registers of `node`, or with `other` those in the other matrix of its pair.
    in_registers,
    in_lines,  // the same for the accumulators' rows
    // A map of the values `in`; a rotate of (x, cos, sin) for whole pairs, else of (x, the other, cos, sin).
    apply,
    choose,  // opens a concatenation, whose value is that of the part taken
    part,    // opens a part
    take,    // in = {the choose, the part's value}; closes the part
    guard,   // a condition on what follows until `guarded`
    guarded,
    leave,  // stores or uses the values `in` as `task` does
  };
  Kind kind{};
  bool invariant = false;  // constant along axis 0: evaluated before that loop
  int node = -1, buffer = -1, task = -1;
  std::vector<int> in;                     // items
  bool other = false;                      // in_registers
  int vector = 1;                          // neighbours of the value
  int width = 1;                           // maximum number of them per access
  std::vector<std::vector<Place>> pieces;  // read_shared: one per access; read_global: one per neighbour;
                                           // apply of a mask or rotate: for the first neighbour
  Part part;                               // part, take
  std::vector<Guard> guards;               // guard, of a fragment
  std::vector<Within> within;              // guard
  bool zeros_out_of_bounds = false;        // read_global: 0 out of bounds, where no guard prevents the access
  // leave, to_shared: out of bounds of this shape a zero is stored.
  std::vector<std::pair<int, std::int64_t>> zeros;
  std::int64_t edge = 0;  // leave, to_shared: end of what is stored along the neighbours; 0: all
};

/// Lists the items of the tasks of a nest, or of a reduction over lanes, whose nest has one more dimension if
/// it is a matmul's.
std::vector<Item> evaluate(const KernelPlan&, const std::vector<int>& tasks);

/// The elements per access of a nest that reads `vector` neighbours along `inner`, at a multiple of `vector`
/// plus `shift`.
int access_width(const Buffer&, int inner, int vector, std::int64_t shift = 0);

}  // namespace zellige::plan
