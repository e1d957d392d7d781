// The names of extents. Dimensions that an operator combines are one extent, with one name from the graph to its kernels: the
// expression of its sizes if it depends on some, else the first input's dimension that has it, or the first result's.
//
//   const ExtentNames names = name_extents(g);   // y = relu(x) @ w, of x(16, 4096) and w(4096, 64)
//   names.at("y")                                // {"x.0", "w.1"}
//   to_string(names, g)                          // "x.0 = 16 of x, t2, y\nx.1 = 4096 of x, t2, w\nw.1 = 64 of w, y\n"
//   name_extents(fused, names)                   // a later form of the graph: tensors that it has in common keep their names
#pragma once
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "graph/where.hpp"

namespace zellige::graph {

/// The names of the extents of tensors, by the tensor's name and by dimension. An extent of 1 has the name "1".
using ExtentNames = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Returns the names of the extents of all tensors of a valid graph. Those of tensors in `known` are known.
ExtentNames name_extents(const KernelGraph&, const ExtentNames& known = {});

/// Returns a line for each extent of more than 1, with its value and the tensors that have it, and one for each custom operator, with the
/// extents that its grid and its loop divide.
std::string to_string(const ExtentNames&, const KernelGraph&);

/// Sets of dimensions that are one extent, by number.
class ExtentSets {
 public:
  int add(std::int64_t value);
  int root(int set) const;
  /// Makes two sets one, if they have the same value.
  void join(int a, int b);
  std::int64_t value(int set) const { return values_[static_cast<std::size_t>(set)]; }

 private:
  std::vector<int> same_;
  std::vector<std::int64_t> values_;
};

/// An extent, or a part of one in a tile, as the rules of infer.hpp compare it. They compare what an operator combines, so two that are
/// compared and equal are one extent.
class NamedExtent {
 public:
  NamedExtent(std::int64_t value = 1) : value_(value) {}
  NamedExtent(std::int64_t value, ExtentSets& sets, int set)
      : value_(value), sets_(value == 1 ? nullptr : &sets), set_(set) {}
  std::int64_t value() const { return value_; }
  /// Returns its set; -1 if it is in none, as a sum of extents is.
  int set() const { return sets_ ? sets_->root(set_) : -1; }

  friend bool operator==(const NamedExtent& a, const NamedExtent& b) {
    if (a.value_ == b.value_ && a.sets_ && b.sets_) a.sets_->join(a.set_, b.set_);
    return a.value_ == b.value_;
  }
  friend NamedExtent operator+(const NamedExtent& a, const NamedExtent& b) { return a.value_ + b.value_; }
  friend NamedExtent operator-(const NamedExtent& a, const NamedExtent& b) { return a.value_ - b.value_; }
  friend NamedExtent operator*(const NamedExtent& a, const NamedExtent& b) { return a.value_ * b.value_; }
  friend NamedExtent operator/(const NamedExtent& a, std::int64_t b) { return a.value_ / b; }

 private:
  std::int64_t value_;
  ExtentSets* sets_ = nullptr;
  int set_ = -1;
};

/// A shape whose extents are in sets.
struct NamedShape : std::vector<NamedExtent> {
  using vector::vector;
  NamedShape(const std::vector<std::int64_t>& shape) : vector(shape.begin(), shape.end()) {}
  Shape values() const;
};

// What the rules of shapes ask of extents, and of shapes.
inline bool always_less_equal(const NamedExtent& a, const NamedExtent& b) { return a.value() <= b.value(); }
inline bool divides(std::int64_t a, const NamedExtent& b) { return b.value() % a == 0; }
inline void check_shape(const Where&, std::string_view, const NamedShape&) {}  // of a valid graph
inline std::string to_string(const NamedShape& shape) { return to_string(shape.values()); }

/// The rules of infer.hpp for extents in sets.
std::vector<NamedShape> infer_shapes(const Where&, OpKind, const Attributes&, const std::vector<NamedShape>& operands);

}  // namespace zellige::graph

template <>
struct fmt::formatter<zellige::graph::NamedExtent> : fmt::formatter<std::int64_t> {
  auto format(const zellige::graph::NamedExtent& e, fmt::format_context& to) const {
    return fmt::formatter<std::int64_t>::format(e.value(), to);
  }
};
