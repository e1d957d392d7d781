// Boxes of coordinates of a tensor in device memory, and whether some of them cover another one.
#pragma once
#include <optional>
#include <span>

#include "verify/words.hpp"

namespace zellige::verify {

/// The coordinates from `low` to `high`, which is not among them, along each dimension.
struct CoordinateBox {
  Shape low, high;
  bool operator==(const CoordinateBox&) const = default;
};

/// Returns the box of all coordinates.
CoordinateBox whole(const Shape&);
/// Returns the number of coordinates in the box.
std::int64_t size(const CoordinateBox&);
/// Returns whether a coordinate is in both boxes.
bool intersect(const CoordinateBox&, const CoordinateBox&);
/// Returns whether each coordinate of the box is in one of the others.
bool covered(CoordinateBox, std::span<const CoordinateBox> others);

/// Returns the coordinates in the tensor `base` of the elements that a box of tensor `of` has, where both begin at the same
/// address and these are a box, too; std::nullopt if they are none, or if one of the elements is none of the base.
std::optional<CoordinateBox> in_base(const CoordinateBox&, const KernelTensor& of, const KernelTensor& base);

/// Returns whether each element that a box of tensor `of` has is one of the tensor `base`, where both begin at the same address. False is
/// inconclusive where a dimension of `of` goes through several of the base that do not continue each other.
bool lies_in(const CoordinateBox&, const KernelTensor& of, const KernelTensor& base);

/// Returns whether no element that a box of tensor `of` has is one that a box of `other_of` has, where both tensors and `base` begin at
/// the same address, and elements of `other_of` have addresses of their own. False is inconclusive unless both are one tensor.
bool disjoint(const CoordinateBox&, const KernelTensor& of, const CoordinateBox& other, const KernelTensor& other_of,
              const KernelTensor& base);

}  // namespace zellige::verify
