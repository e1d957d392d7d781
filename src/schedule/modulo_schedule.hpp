// Finds when each item of a loop starts, so that iterations follow each other as soon as possible (modulo scheduling): in
// every `interval` cycles an iteration begins, and its items start at fixed times after that, possibly when later
// iterations have begun.
//
//   LoopSchedule s = modulo_schedule(g);
//   s.interval                    // 1412: cycles from one iteration to the next, the least possible
//   s.start[1]                    // 512: cycles from an iteration's beginning to its softmax
//   body_of(g, s, 0, 1)           // what role 0 does in one iteration of its loop, and how many iterations ahead
#pragma once
#include <optional>

#include "schedule/loop_graph.hpp"

namespace zellige::schedule {

/// A schedule of a loop: item v of iteration i starts at start[v] + i * interval.
struct LoopSchedule {
  std::int64_t interval = 1;
  std::vector<std::int64_t> start;  // by item, in cycles
};

/// Returns the start of each item in a schedule of this interval, the earliest with the fewest iterations in flight that
/// was found. Returns nullopt if there is no schedule of the interval.
std::optional<std::vector<std::int64_t>> start_times(const LoopGraph&, std::int64_t interval);

/// Returns the schedule of least interval. Throws Error if the dependences of an iteration have a cycle, if there are more than 16 items, if an item's
/// number does not exist, or if cycles or a distance are out of range.
LoopSchedule modulo_schedule(const LoopGraph&);

/// What a role does at a place in its loop's body: in the loop's iteration i, item `item` of iteration i + ahead.
struct PlacedItem {
  int item = 0;
  std::int64_t ahead = 0;
  bool operator==(const PlacedItem&) const = default;
};

/// Returns the body of a role's loop, in order, from the role's first item on that does not start early (at least one is
/// needed). The loop counts the iterations of item `counter`. Of what begins at the same
/// time, a role first starts what it does not carry out itself, then signals, and then goes on with its own work.
std::vector<PlacedItem> body_of(const LoopGraph&, const LoopSchedule&, int role, int counter);

}  // namespace zellige::schedule
