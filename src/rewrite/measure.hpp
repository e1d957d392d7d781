// The measure that falls with each application of a rule of graphs, so that rewriting ends, and the runner that checks it.
//
//   Measure left(graph);         // of one level, which begins with this graph
//   left.falls_to(made)          // false: rules have made the graph before, or it is too large
//
// The measure of a level is the number of graphs that its rules may still make: graphs that differ in more than names, have
// at most `most_operators` operators, and have not been made at this level. It is finite, and each application that
// makes one of them lowers it by one, whichever rules apply and in whatever order. An application that makes a graph which
// was there before undoes others, and one that makes too large a graph repeats itself: these do not lower the measure. The
// runner takes them back and says so, as a fault of the table.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "rewrite/graph_words.hpp"
#include "rewrite/watch.hpp"
#include "rules/rule.hpp"

namespace zellige::rewrite {

class Measure {
 public:
  explicit Measure(const KernelGraph& first);
  /// Returns whether the step to this graph lowers the measure. If so, the graph counts as made.
  bool falls_to(const KernelGraph& made);
  /// Returns the number of operators, those of block graphs included, that a made graph may have.
  std::size_t max_operators() const { return max_operators_; }

 private:
  std::size_t max_operators_;
  std::set<std::string> made_;  // structures of graphs, numbered in one order
};

/// Applies the rules of a level to a graph until none of them applies, or `watch` ends it. Returns whether one has applied.
/// An application that does not lower the measure is taken back, and a sentence that names its rule added to `faults`. The
/// graph computes the same at any time. `applied` receives the names of the rules, each once, in the order of their first application.
bool rewrite(rules::Level, KernelGraph&, const Watch&, std::vector<std::string>& faults,
             std::vector<std::string>* applied = nullptr);

}  // namespace zellige::rewrite
