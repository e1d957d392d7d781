// Where the tiles of a kernel lie in the tensors of its program: coordinates in tensors as index expressions of the source, and the
// conditions under which elements are inside. Used only by the emitter.
//
//   position(k, load, iteration, {Index::named("i0"), 0})   // {bx * 128 + i0, it * 64}
//   text(inside(k, load, position(...)))                    // "bx * 128 + i0 < 300"
#pragma once
#include <string>
#include <vector>

#include "emit/kernel_text.hpp"

namespace zellige::emit {

/// Returns the coordinate in its tensor, along a dimension, at which the tile of an iteration begins.
Index global_start(const KernelText&, const tile::Interval&, bool far, const Index& iteration);
Index global_start(const KernelText&, const Node&, int dim, const Index& iteration);
/// Returns the expression for the number of the block's tile. With `far` it has 64 bits.
Index tile_number(const tile::Interval&, bool far = false);
/// Returns the expression for the coordinate at which a view ends.
Index global_end(const KernelText&, const tile::Interval&);
/// Returns the expression for a number that sizes decide, of the kernel's parameters. `wide`: computed in 64 bits.
Index number(const KernelText&, const tile::SymbolicNumber&, bool wide = false);
/// Returns the expression for a bound of a mask: `bound` for the largest value of the size, if there is one.
Index bound(const KernelText&, std::int64_t bound, int size);

/// Adds to a condition that coordinate `at` of the tensor lies inside, along one dimension of a view.
void check(const KernelText&, Condition& inside, const tile::Interval&, const Index& at);
/// Returns the condition that coordinate `at` of the node's tensor lies inside; empty if all coordinates of a tile do.
Condition inside(const KernelText&, const Node&, const std::vector<Index>& at);
/// Returns where the element at coordinate `at` of a tile is in its tensor: its coordinate there. The node is the load or store that
/// accesses the tile, in this iteration of the loop.
std::vector<Index> position(const KernelText&, const Node&, const Index& iteration, const std::vector<Index>& at);
/// Returns where the element at coordinate `at` of a tile is in the view of a load, which it is in its tensor at `from`.
std::vector<Index> in_view(const KernelText&, const Node&, const Index& iteration, const std::vector<Index>& at,
                           std::vector<Index> from);

/// An expression for the number of elements to load; `whole` if it is always the complete chunk.
struct ExistingElements {
  std::string text;
  bool whole;
};
/// Returns the expression for the number of elements of a chunk (those of one copy) that a load reads: at the edge of the tile or
/// tensor not all, and the rest is filled with zeros. The chunk begins at coordinate `at` of the tile and `from` of the view.
/// `padded`: the shape of the tile with its padding; `c`: the thread-value layout of the copy.
ExistingElements existing(const KernelText&, const Node&, const graph::Shape& padded, const Context& c,
                          const std::vector<Index>& at, const std::vector<Index>& from);
/// Returns ", ADDRESS", where ADDRESS is the address at which the tensor of a load ends. The emitted load reads complete words, and gets
/// this address as an additional argument so that it reads nothing beyond the end. Returns an empty string if the load reads nothing
/// within 16 bytes of the end in this iteration.
std::string end_of(const KernelText&, const Node&, const Index& iteration);

// windows_text.cpp
/// Emits the tiles that say where the elements of windows are: in memory, and along each dimension of the source in which some of
/// them are padding.
void declare_windows(const KernelText&, int tensor, const tile::Windows&, bool wide);
/// Adds to a condition that the element at coordinate `at` of the node's tensor is no padding of windows.
void check_windows(const KernelText&, Condition&, const Node&, const std::vector<Index>& at);

}  // namespace zellige::emit
