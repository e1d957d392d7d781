// Iterates over all coordinates of a shape, the first mode fastest, with a range-based for loop.
//
//   for (auto crd : make_coord_range(make_shape(2, make_shape(3, 4)))) use(layout(crd));
#pragma once
#include <zellige/layout/coordinate.hpp>

namespace zellige {

/// The end of an iteration over the coordinates of a shape, whichever shape it is.
struct ForwardCoordIteratorSentinel {};
/// Iterator over the coordinates of a shape; it stores the linear index.
template <class S>
class ForwardCoordIterator {
 public:
  ZELLIGE_HOST_DEVICE constexpr ForwardCoordIterator(S const& shape, int at) : shape_(shape), at_(at) {}
  ZELLIGE_HOST_DEVICE constexpr auto operator*() const { return idx2crd(at_, shape_); }
  ZELLIGE_HOST_DEVICE constexpr ForwardCoordIterator& operator++() { return ++at_, *this; }
  ZELLIGE_HOST_DEVICE constexpr bool operator==(ForwardCoordIterator const& o) const { return at_ == o.at_; }
  ZELLIGE_HOST_DEVICE constexpr bool operator==(ForwardCoordIteratorSentinel const&) const {
    return at_ >= int(product(shape_));
  }

 private:
  S shape_;
  int at_;
};
/// The range of all coordinates of a shape, for a range-based for loop.
template <class S>
struct CoordRange {
  S shape;
  ZELLIGE_HOST_DEVICE constexpr ForwardCoordIterator<S> begin() const { return {shape, 0}; }
  ZELLIGE_HOST_DEVICE constexpr ForwardCoordIterator<S> end() const { return {shape, int(product(shape))}; }
};
template <class S>
ZELLIGE_HOST_DEVICE constexpr ForwardCoordIterator<S> make_coord_iterator(S const& shape) {
  return {shape, 0};
}
/// Returns an iterator over the coordinates of `shape` that starts at the coordinate `start`.
template <class Crd, class S>
ZELLIGE_HOST_DEVICE constexpr ForwardCoordIterator<S> make_coord_iterator(Crd const& start, S const& shape) {
  return {shape, int(crd2idx(start, shape))};
}
template <class S>
ZELLIGE_HOST_DEVICE constexpr CoordRange<S> make_coord_range(S const& shape) {
  return {shape};
}

}  // namespace zellige
