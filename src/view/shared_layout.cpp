#include "view/shared_layout.hpp"

#include <algorithm>

#include "graph/error.hpp"
#include "view/layout_picture.hpp"

namespace zellige::view {
namespace {

constexpr long long max_elements = 1 << 24;

// Returns the value as a layout whose offsets count elements. A composed layout that is equal to a plain
// layout is replaced by it. Throws Error if the value is no layout, or if it maps to coordinates.
Value checked(const Value& given) {
  Value v = in_elements(given);
  const Value unswizzled = algebra::innermost(v);
  if (!unswizzled.is_layout()) fail("{} is no layout", to_text(given));
  for (const ValueNode& n : unswizzled.nodes)
    if (n.kids < 0 && n.e != 0) fail("{}: its indices are coordinates, not places in shared memory", to_text(given));
  if (!v.is(ValueKind::composed)) return v;
  // Every number counts as static here, so that a composed layout becomes one layout if possible.
  Value known = v;
  for (ValueNode& n : known.nodes) n.s = fixed(n.s.v), n.d = fixed(n.d.v);
  Tape t;
  const algebra::Settled s = algebra::settle(t, known, algebra::Asks::nothing);
  return s.is_simple() ? s.layout : v;
}

}  // namespace

SharedLayout::SharedLayout(const Value& layout, int element_bits)
    : value_(checked(layout)), unswizzled_(algebra::innermost(value_)), bits_(element_bits), indexer_(value_) {
  for (int m = 0; m < unswizzled_.rank(); ++m) {
    double n = 1;
    for (const ValueNode& leaf : leaves_of(unswizzled_[m])) n *= static_cast<double>(leaf.s.v);
    if (n < 1 || n * static_cast<double>(elements_) > static_cast<double>(max_elements))
      fail("{}: {} elements; 1 to {} are possible", text(), n * static_cast<double>(elements_), max_elements);
    extents_.push_back(static_cast<long long>(n));
    elements_ *= extents_.back();
  }
  if (unswizzled_.rank() == 0) fail("{} has no modes", text());
  for (long long i = 0; i < elements_; ++i) {
    const long long x = offset(i);
    if (x < 0) fail("{}: element {} lies at {}, before the start of the memory", text(), i, x);
    if (x > (1LL << 31)) fail("{}: element {} lies at {}, which no shared memory holds", text(), i, x);
    bytes_ = std::max(bytes_, (x + 1) * bits_);
  }
  bytes_ = (bytes_ + 7) / 8;
}

long long SharedLayout::step(int mode) const {
  long long s = 1;
  for (int m = 0; m < mode; ++m) s *= extent(m);
  return s;
}

long long SharedLayout::address(long long index) const {
  const long long at = offset(index) * bits_;
  if (at % 8) fail("{}: element {} of {} bits starts inside a byte", text(), index, bits_);
  return at / 8;
}

}  // namespace zellige::view
