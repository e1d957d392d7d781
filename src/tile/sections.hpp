// Where a tile program evaluates its nodes: before, inside or after its loop. This is not stored in the nodes, but
// follows from which of them depend on the iteration, and which read results of the whole loop.
//
//   loop: S += (q / rms(q)) K_i     q is loaded once, so that its row norms and q / rms(q) are computed once
#pragma once
#include "tile/program.hpp"

namespace zellige::tile {

/// Where a node is evaluated, relative to the kernel's loop.
enum class Section : std::uint8_t { before, inside, after };
std::string_view name(Section);

/// Returns whether the node combines the values of all iterations, so that its value is complete after the loop.
inline bool over_loop(const Node& n) { return n.carried || n.kind == NodeKind::accumulate; }

/// The sections of a program's nodes. If the program has a loop, a node is evaluated
///
/// - after it, if it is a store, or reads a value that is complete only then;
/// - else inside it, if its tile is another one in each iteration, if it reads a value that is computed inside, if it is
///   a matmul, or if it is a state of the loop (carried, accumulate, running_max or running_diff);
/// - else before it.
///
/// Without a loop all nodes are evaluated `after` it. The program must outlive the object, which does
/// not see nodes that are added or changed later.
class Sections {
 public:
  explicit Sections(const TileProgram&);
  /// Returns where the node is evaluated.
  Section of(int node) const { return sections_[static_cast<std::size_t>(node)]; }
  bool inside(int node) const { return of(node) == Section::inside; }
  /// Requires a node of the program, not a copy.
  bool inside(const Node& n) const { return inside(static_cast<int>(&n - program_->nodes.data())); }
  /// Returns where the value of the node is complete.
  Section complete(int node) const;

 private:
  const TileProgram* program_;
  std::vector<Section> sections_;
};

}  // namespace zellige::tile
