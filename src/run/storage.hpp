// The bytes of a program's kernel-level tensors, as the manifest lays them out.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "emit/manifest.hpp"
#include "graph/region.hpp"

namespace zellige::run {

using Bytes = std::vector<std::byte>;

/// A tensor's storage with every byte 0xff: NaN in every floating-point dtype, -1 in integers, padding included.
Bytes poisoned(const emit::TensorPlace&);

/// The storage of row-major values, which are rounded to the tensor's dtype; padding is NaN.
Bytes pack(const emit::TensorPlace&, const std::vector<double>& values);

/// The same of values that come by rows: `row_values(row, to)` writes one row, along the last dimension; in any order, in several
/// threads.
Bytes pack(const emit::TensorPlace&, const std::function<void(std::int64_t row, double* to)>& row_values);

/// Calls visit(byte offset, bytes) for each element; neighbours in one call.
void each_element(const emit::TensorPlace&, const std::function<void(std::size_t, std::size_t)>& visit);

/// How many elements still are as `poisoned` left them: NaN with every bit set, which no arithmetic makes. Of integers it
/// cannot be told: 0.
std::int64_t unwritten(const emit::TensorPlace&, const Bytes&);

/// The row-major values of a storage.
std::vector<double> unpack(const emit::TensorPlace&, const Bytes&);

/// A part of them.
graph::Array unpack(const emit::TensorPlace&, const Bytes&, const graph::Region&);

/// Which tensor of the graph a place of its manifest holds; -1 for a workspace that only the plan knows.
int graph_tensor(const graph::KernelGraph&, const emit::TensorPlace&);

/// Fails where the manifest contradicts itself: a kernel names a tensor that does not exist, a tensor does
/// not fit into its bytes, or two intermediates share bytes of the workspace while both are needed.
void check(const emit::Manifest&);

}  // namespace zellige::run
