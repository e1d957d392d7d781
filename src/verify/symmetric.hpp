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
/// Returns how many neighbours a thread publishes at a time: 16 bytes at most, and none beyond the tensor's end.
int published_vector(const kernel::Kernel&, const tile::TilePrograms&);
/// Returns why ranks cannot exchange tiles in this kernel as it says; empty: they can, or do not do so.
std::string refusal_of_symmetric(const kernel::Kernel&, const tile::TilePrograms&);
/// Throws Rejected if there is a refusal_of_symmetric().
void verify_symmetric(const kernel::Kernel&, const tile::TilePrograms&);

}  // namespace zellige::verify
