// Converts between the values of a tensor and its bytes in memory, with the strides and padding that the
// manifest gives it.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "emit/manifest.hpp"
#include "graph/region.hpp"

namespace zellige::run {

/// The bytes of a tensor of the manifest.
using Bytes = std::vector<std::byte>;

/// Returns a tensor's bytes, all 0xff, padding included: NaN in floating-point dtypes, -1 in integers.
Bytes poisoned(const emit::TensorPlace&);

/// Returns a tensor's bytes for row-major values, rounded to its dtype; padding is 0xff. Throws Error if the
/// number of values is wrong.
Bytes pack(const emit::TensorPlace&, const std::vector<double>& values);

/// Returns a tensor's bytes for values that are computed row by row; padding is 0xff. row_values(row, to)
/// writes a row along the last dimension; it is called in any order, from several threads.
Bytes pack(const emit::TensorPlace&, const std::function<void(std::int64_t row, double* to)>& row_values);

/// Calls visit(offset, size), in bytes, for the elements of a tensor; one call for contiguous elements.
void each_element(const emit::TensorPlace&, const std::function<void(std::size_t, std::size_t)>& visit);

/// Returns the number of elements that still have all bits set, as `poisoned` left them; no arithmetic
/// produces this NaN. Returns 0 for integer dtypes, in which the bits mean -1.
std::int64_t unwritten(const emit::TensorPlace&, const Bytes&);

/// Returns all values of a tensor, row-major, from its bytes.
std::vector<double> unpack(const emit::TensorPlace&, const Bytes&);

/// Returns the values of a part of a tensor, row-major.
graph::Array unpack(const emit::TensorPlace&, const Bytes&, const graph::Region&);

/// Returns the index of the graph's tensor that an entry of the manifest stores; -1 if only the program has
/// it.
int graph_tensor(const graph::KernelGraph&, const emit::TensorPlace&);

/// Throws Fault if the manifest is inconsistent: a kernel names a tensor that does not exist, a tensor
/// exceeds its bytes or the workspace, or two intermediates share bytes of the workspace while both are
/// needed.
void check(const emit::Manifest&);

}  // namespace zellige::run
