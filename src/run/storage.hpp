// Converts between the values of a tensor and its bytes in memory, with the manifest's strides and padding; and a manifest's
// tensor maps, by which TMA reads them, to the arguments of make_tma_descriptor, for the GPU and for the emulator.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>
#include <zellige/atom/make_tma_descriptor.hpp>

#include "kernel/tensor_map.hpp"
#include "manifest/manifest.hpp"
#include "reference/inputs.hpp"
#include "reference/region.hpp"

namespace zellige::run {

/// The bytes of a tensor of the manifest.
using Bytes = std::vector<std::byte>;

/// Returns the initial bytes of a tensor: all 0xff, padding included: NaN in floating-point dtypes, -1 in integers.
Bytes poisoned(const manifest::TensorPlace&);

/// Returns a tensor's bytes for the values `values`, in row-major order, which are rounded to the tensor's
/// dtype; padding is 0xff. Throws Error if the number of values is wrong.
Bytes pack(const manifest::TensorPlace&, const std::vector<double>& values);

/// Returns a tensor's bytes for values that are computed row by row, along the last dimension; padding is 0xff.
/// row_values(row, to) writes the values of row number `row` to `to`; it is called in any order, from several threads.
Bytes pack(const manifest::TensorPlace&, const std::function<void(std::int64_t row, double* to)>& row_values);

/// Returns the bytes of each of the manifest's tensors before the first launch: the values of inputs, and
/// poison for all other tensors. Throws Fault if the manifest's inputs are not the graph's.
std::vector<Bytes> starting_storage(const graph::KernelGraph&, const manifest::Manifest&,
                                    const reference::InputChoice&);

/// Calls visit(offset, size), both in bytes, for each element of a tensor; contiguous elements are one call.
void each_element(const manifest::TensorPlace&, const std::function<void(std::size_t, std::size_t)>& visit);

/// Returns the number of elements that no kernel has written: all their bits are set, as in the result of
/// `poisoned`, and no arithmetic produces this NaN. Returns 0 for integer dtypes, in which these bits mean
/// -1.
std::int64_t unwritten(const manifest::TensorPlace&, const Bytes&);

/// Returns all values of a tensor, in row-major order, from its bytes.
std::vector<double> unpack(const manifest::TensorPlace&, const Bytes&);

/// Returns the values of the tensor's elements in a region, in row-major order, from the tensor's bytes.
reference::Array unpack(const manifest::TensorPlace&, const Bytes&, const reference::TensorRegion&);

/// Returns the index of the graph's tensor that a tensor of the manifest stores, in its shape or, named as
/// fuse::stored_name() does, in another one; -1 if the graph has no such tensor, because the program added it.
int graph_tensor(const graph::KernelGraph&, const manifest::TensorPlace&);
/// Returns the tensor as a reshape of it to `shape` sees it; nullopt if no strides express this.
std::optional<manifest::TensorPlace> seen_as(manifest::TensorPlace, const graph::Shape& shape);

/// Throws Fault if the manifest is inconsistent: a kernel names a tensor that does not exist, a tensor exceeds its
/// bytes or the workspace, or two intermediates share bytes of the workspace while both are needed.
void check(const manifest::Manifest&);

/// Returns the tensor, box and swizzle of a manifest's tensor map, for make_tma_descriptor. Throws Error if
/// TMA does not support the element type. `name`: name of the tensor, for error messages; it must outlive the
/// result, which refers to it.
TmaTensor tma_tensor(const kernel::TensorMap&, const std::string& name);

}  // namespace zellige::run
