// Writes a role's part of a modulo schedule as a loop with the iterations before and after it in which some items have no
// iteration to work on, and derives where the role waits for what it has started, and where its threads meet.
//
//   PeeledLoop loop = peel(g, body_of(g, s, 0, 1));
//   loop.body        // scores(i), product(i-1), wait for scores with 1 group pending, softmax(i) ...
//   loop.before      // iteration 0: scores(0), wait with none pending, softmax(0)
//   barriers_between(4, {{0, 2}, {3, 1}})   // {1}: one barrier, before the second of four items, separates both pairs
#pragma once
#include "schedule/modulo_schedule.hpp"

namespace zellige::schedule {

/// A wait until item `item`, or all that a role started before it and that completes in the same way, is complete.
struct GroupWait {
  int item = 0;
  int pending = 0;  // groups that may be incomplete: those that were closed after the item's own
  bool operator==(const GroupWait&) const = default;
};
/// An item of a role's loop, and the waits before it.
struct LoopEntry {
  PlacedItem placed;
  std::vector<GroupWait> waits = {};
  bool operator==(const LoopEntry&) const = default;
};

/// A role's loop over `from` <= i < n - fewer, for a loop of n iterations. Iterations outside of this range are written one
/// by one, with the items whose iteration exists: `before` are those up to `from` - 1, `after` those from n - fewer on.
struct PeeledLoop {
  std::vector<std::vector<LoopEntry>> before, after;
  std::vector<LoopEntry> body;
  std::int64_t from = 0, fewer = 0;
};

/// Returns the loop of a role whose body is `body`. Its items that complete in groups have a group each. Requires n > from + fewer of the result where the loop runs; otherwise the body runs for no iteration.
PeeledLoop peel(const LoopGraph&, const std::vector<PlacedItem>& body);

/// Returns the body with its waits for a loop in which each iteration closes the groups of all of its items, also of those whose
/// iteration does not exist: then the same number of groups is pending in all of them. A guard skips the items, but not the group.
std::vector<LoopEntry> every_iteration(const LoopGraph&, const std::vector<PlacedItem>& body);

/// An item, by place in a loop's body, and one after it of which other threads depend on it: the next occurrence of `to`
/// follows the occurrence of `from`, in the same iteration if it has a higher place, otherwise in the next one.
struct ThreadCrossing {
  int from = 0, to = 0;
};

/// Returns the places before which the fewest barriers in a loop's body are that separate all these pairs, in order.
std::vector<int> barriers_between(int items, const std::vector<ThreadCrossing>&);

}  // namespace zellige::schedule
