// Proves the exchange of ranks at the start or the end of a kernel (kernel::SymmetricExchange): that blocks read in the windows only what
// the blocks of the same number have published, and that no two blocks publish the same element.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::verify {

/// Returns the load whose tile, in all iterations, a block publishes, or the store of a window, if the exchange is at the end.
/// Precondition: the kernel has an exchange, and such a load or store.
int published_tile(const kernel::Kernel&);
/// Returns the dimension of a tensor along which neighbours in memory lie.
int neighbours_along(const graph::KernelTensor&);
/// Returns the elements from one half of a window to the next: those of the published tensor, up to a multiple of 128 bytes.
std::int64_t half_window(const graph::KernelTensor& published);
/// The same of a window into which rows are gathered, a half of which is the tensor that the kernel reads.
std::int64_t half_of_gathered(const graph::KernelTensor&);
/// How the tiles of rows that a kernel gathers are numbered: by a digit of the block's index along a grid axis.
struct GatheredRows {
  int axis = -1;
  std::int64_t run = 1;       // blocks in a row along the axis with the same tile
  std::int64_t tiles = 1;     // on each rank
  std::int64_t same = 1;      // blocks that have one tile
  std::int64_t elements = 1;  // of a tile, in all columns
  std::int64_t step = 1;      // elements in memory from one tile of the gathered tensor to the next
  int vector = 1;             // neighbours that a thread stores at a time: 16 bytes at most
  std::int64_t blocks() const { return tiles * same; }  // that have a rank's own rows
};
/// Returns the rows that the kernel gathers. Precondition: the kernel gathers rows, and there is no refusal_of_symmetric().
GatheredRows gathered_rows(const kernel::Kernel&, const tile::TilePrograms&);
/// Returns how many neighbours a thread publishes at a time: 16 bytes at most, and none beyond the tensor's end.
int published_vector(const kernel::Kernel&, const tile::TilePrograms&);
/// Returns why ranks cannot exchange tiles in this kernel as it says; empty: they can, or do not do so.
std::string refusal_of_symmetric(const kernel::Kernel&, const tile::TilePrograms&);
/// Throws Rejected if there is a refusal_of_symmetric().
void verify_symmetric(const kernel::Kernel&, const tile::TilePrograms&);

}  // namespace zellige::verify
