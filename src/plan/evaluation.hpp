// What a loop nest evaluates at each coordinate, item by item: what it reads and how wide, what is computed once, which branch is
// taken where, and what the nest leaves behind.
//
//   for (const Item& item : evaluate(plan, tasks)) ...   // tasks of one context, evaluated together
//
// The emitter prints one item after another (expression.cpp, evaluate_text.cpp) and predict counts them (shared_access.cpp): how a
// value comes about is decided here and nowhere else. A value is evaluated once for each coordinate at which it is wanted, and
// again in another scope: behind another guard, or in a branch of a concatenation. What does not change along a nest's loop, as a mean
// or a scale of the row that the loop runs along, is invariant: it is evaluated in front of the loop, by every thread that runs it.
#pragma once
#include <algorithm>
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Along one dimension, from the nest's coordinate: min(at[from] + offset, last), or of that the pair's number or the pair's other
/// one; and `behind`.
struct Place {
  int from = -1;                                   // a dimension of the nest; -1: none, and 0
  std::int64_t offset = 0, last = -1, behind = 0;  // last -1: whatever comes
  enum class Of : std::uint8_t { itself, pair, other } what = Of::itself;
  auto operator<=>(const Place&) const = default;
  std::int64_t of(const Shape& at) const {
    const std::int64_t here = (from < 0 ? 0 : at[static_cast<std::size_t>(from)]) + offset;
    const std::int64_t bound = last >= 0 && here > last ? last : here;
    return (what == Of::pair ? bound / 2 : what == Of::other ? bound ^ 1 : bound) + behind;
  }
  Place moved(std::int64_t by) const {
    Place p = *this;
    (last < 0 && what == Of::itself ? p.offset : p.behind) += by;
    return p;
  }
  Place at_most(std::int64_t bound) const {
    Place p = *this;
    if (from < 0) return {-1, std::min(offset, bound)};
    p.last = bound;
    return p;
  }
};

/// Which of a fragment's items are anybody's: where its tiles pass what the task may write, only those below.
struct Guard {
  int axis;
  std::int64_t below;
  auto operator<=>(const Guard&) const = default;
};

std::vector<Guard> guards(const KernelPlan&, const Task&);

/// Which elements of a tile lie within the tensor that the tile's last one passes.
struct Within {
  Split split;
  bool far = false;  // its coordinates need 64 bits
  Place at;          // in the tile
  auto operator<=>(const Within&) const = default;
};

/// A part of a concatenation: taken where the place is below `end` and no part before it was; the last one everywhere else.
struct Part {
  int alone = -1;  // the neighbour that it is of; -1: of all
  Place at;
  std::int64_t end = 0;
  bool first = false, last = false;
};

struct Item {
  enum class Kind : std::uint8_t {
    read_shared,   // the pieces of `buffer`
    read_global,   // the pieces of what `node` loads
    in_registers,  // what the nest's own context holds of `node`, or, `other`, in the other matrix of its pair
    in_lines,      // what its accumulators' rows do
    apply,  // a map, of the values `in`; a rotate of (x, cos, sin) in whole pairs, else of (x, the other, cos, sin)
    choose,  // opens a concatenation: its value is the part's that is taken
    part,    // opens a part
    take,    // in = {the choose, the part's value}; closes the part
    guard,   // what follows until `guarded` stands under it
    guarded,
    leave,  // what `task` does with the values `in`
  };
  Kind kind{};
  bool invariant = false;  // the same at each step along axis 0: evaluated in front of that loop
  int node = -1, buffer = -1, task = -1;
  std::vector<int> in;                     // items
  bool other = false;                      // in_registers
  int vector = 1;                          // neighbours of the value
  int width = 1;                           // of them an access at most
  std::vector<std::vector<Place>> pieces;  // read_shared: an access each; read_global: a neighbour each;
                                           // apply of a mask or rotate: of the first neighbour
  Part part;                               // part, take
  std::vector<Guard> guards;               // guard, of a fragment
  std::vector<Within> within;              // guard
  bool zeros_past = false;  // read_global: 0 past the tensor's end, since no guard keeps from there
  std::vector<std::pair<int, std::int64_t>>
      zeros;              // leave, to_shared: where a coordinate passes this, a zero is stored
  std::int64_t edge = 0;  // leave, to_shared: from here on along the neighbours nothing is stored; 0: all is
};

/// Of a task of a nest or of a reduction over lanes, whose nest has one dimension more where it is a product's.
std::vector<Item> evaluate(const KernelPlan&, const std::vector<int>& tasks);

/// Elements that one access of a nest moves, which comes to `vector` neighbours along `inner`, from a multiple of it and `shift` on.
int access_width(const Buffer&, int inner, int vector, std::int64_t shift = 0);

}  // namespace zellige::plan
