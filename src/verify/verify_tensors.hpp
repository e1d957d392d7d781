// Proves what a program's kernels take for granted of its tensors in device memory: that each element has an address of its
// own, that views lie in their base, that a tensor shares memory as its graph says, that kernels write each element once,
// and that what is read, by a kernel or by the caller, has been written.
#pragma once
#include "tile/program.hpp"

namespace zellige::verify {

/// Throws Rejected, with the tensor and both numbers, if
///
/// - the strides of a tensor are not those of distinct elements, or reach too far;
/// - a view is no part of the tensor whose memory it lies in, or has another dtype;
/// - a tensor takes the memory of another one and is no view of it, or the other one is no input or is constant;
/// - a kernel stores to an input whose memory no tensor takes;
/// - two stores write the same element, unless all of the memory is written before the later one's kernel, which changes it;
/// - a kernel reads what no kernel before it has stored, or the program ends before all of an output is stored.
///
/// Of a store by indices nothing is known but that it changes memory that is written already.
void verify_tensors(const tile::TilePrograms&);

}  // namespace zellige::verify
