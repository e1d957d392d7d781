// A layout, tuple or number as a *value*: what the algebra computes on, at compile time and at run time.
//
// A Value is a tree in preorder. `((_4, n), _8):((_1, _4), n4)` is five nodes:
//
//   node   0: layout, 2 modes    1: layout, 2 modes    2: _4:_1    3: n:_4    4: _8:n4
//
// A leaf of a layout carries its shape and its stride; a leaf of a tuple carries a number. Every number is
// static (known by its type, printed `_4`) or dynamic (printed `4`).
#pragma once
#include <zellige/layout/config.hpp>

namespace zellige {

/// A growing array, usable in constant expressions.
template <class T>
class List {
 public:
  ZELLIGE_ALGEBRA constexpr List() {}
  ZELLIGE_ALGEBRA constexpr List(List const& o) { append(o); }
  ZELLIGE_ALGEBRA constexpr List(List&& o) noexcept : data_(o.data_), size_(o.size_), room_(o.room_) {
    o.data_ = nullptr;
    o.size_ = o.room_ = 0;
  }
  ZELLIGE_ALGEBRA constexpr List& operator=(List const& o) {
    if (this != &o) {
      size_ = 0;
      append(o);
    }
    return *this;
  }
  ZELLIGE_ALGEBRA constexpr List& operator=(List&& o) noexcept {
    if (this != &o) {
      delete[] data_;
      data_ = o.data_, size_ = o.size_, room_ = o.room_;
      o.data_ = nullptr;
      o.size_ = o.room_ = 0;
    }
    return *this;
  }
  ZELLIGE_ALGEBRA constexpr ~List() { delete[] data_; }

  ZELLIGE_ALGEBRA constexpr int size() const { return size_; }
  ZELLIGE_ALGEBRA constexpr bool empty() const { return size_ == 0; }
  ZELLIGE_ALGEBRA constexpr T& operator[](int i) { return data_[i]; }
  ZELLIGE_ALGEBRA constexpr T const& operator[](int i) const { return data_[i]; }
  ZELLIGE_ALGEBRA constexpr T* begin() { return data_; }
  ZELLIGE_ALGEBRA constexpr T* end() { return data_ + size_; }
  ZELLIGE_ALGEBRA constexpr T const* begin() const { return data_; }
  ZELLIGE_ALGEBRA constexpr T const* end() const { return data_ + size_; }
  ZELLIGE_ALGEBRA constexpr T const& back() const { return data_[size_ - 1]; }
  ZELLIGE_ALGEBRA constexpr T& back() { return data_[size_ - 1]; }

  ZELLIGE_ALGEBRA constexpr void reserve(int room) {
    if (room <= room_) return;
    int const more = room_ * 2 > room ? room_ * 2 : room;
    T* grown = new T[static_cast<size_t>(more)]{};
    for (int i = 0; i < size_; ++i) grown[i] = static_cast<T&&>(data_[i]);
    delete[] data_;
    data_ = grown;
    room_ = more;
  }
  ZELLIGE_ALGEBRA constexpr void push_back(T const& t) {
    if (size_ == room_) {
      T const kept = t;
      reserve(size_ < 4 ? 4 : size_ + 1);
      data_[size_++] = kept;
    } else {
      data_[size_++] = t;
    }
  }
  ZELLIGE_ALGEBRA constexpr void append(List const& o) { append(o, 0, o.size_); }
  ZELLIGE_ALGEBRA constexpr void append(List const& o, int begin, int end) {
    reserve(size_ + end - begin);
    for (int i = begin; i < end; ++i) data_[size_++] = o.data_[i];
  }
  ZELLIGE_ALGEBRA constexpr void erase(int at) {
    for (int i = at; i + 1 < size_; ++i) data_[i] = data_[i + 1];
    --size_;
  }

 private:
  T* data_ = nullptr;
  int size_ = 0;
  int room_ = 0;
};

/// A number: static when id < 0. A dynamic number has its value at run time (id 0), and at compile time,
/// where nobody knows it, the id of the expression that will compute it.
struct Num {
  long long v = 0;
  int id = -1;
  ZELLIGE_ALGEBRA constexpr bool is_static() const { return id < 0; }
  /// The static number n. A dynamic number is never known to be anything.
  ZELLIGE_ALGEBRA constexpr bool is(long long n) const { return id < 0 && v == n; }
};
ZELLIGE_ALGEBRA constexpr Num fixed(long long v) { return Num{v, -1}; }
ZELLIGE_ALGEBRA constexpr Num dynamic(long long v) { return Num{v, 0}; }
/// Surely equal: both static and the same.
ZELLIGE_ALGEBRA constexpr bool same(Num a, Num b) { return a.id < 0 && b.id < 0 && a.v == b.v; }

/// Which basis element a stride is a multiple of: 0 for a plain number, else the mode indices + 1 as bytes,
/// the outermost highest. E<0, 1> is 0x0102.
using Path = long long;
ZELLIGE_ALGEBRA constexpr Path extend(Path outer, int inner) { return outer * 256 + inner + 1; }
ZELLIGE_ALGEBRA constexpr int path_length(Path e) {
  int n = 0;
  for (; e != 0; e /= 256) ++n;
  return n;
}
/// The i-th mode index, outermost first.
ZELLIGE_ALGEBRA constexpr int path_index(Path e, int i) {
  for (int n = path_length(e) - 1 - i; n > 0; --n) e /= 256;
  return int(e % 256) - 1;
}

enum class ValueKind : signed char {
  number,   // s: the number, times the basis element e
  boolean,  // s: 0 or 1
  underscore,
  tuple,        // of anything
  arithmetic,   // a tuple that is an element of the integer-module: an ArithmeticTuple
  layout,       // leaf: shape s, stride d times e; inner node: its modes
  swizzle,      // s.v, d.v, e: bits, base, shift
  composed,     // three children: swizzle or layout, offset, layout
  counting,     // one child: the iterator over the integers that starts there
  coordinates,  // one child: the iterator over coordinates that starts there
  tensor,       // two children: iterator, layout
  flag,         // s.v: smem_ptr_flag_bits
  nothing,      // the result of a refused operation
};

struct ValueNode {
  int kids = -1;  // -1: a leaf
  ValueKind kind = ValueKind::number;
  Num s;
  Num d;
  Path e = 0;
};

/// A number times a basis element: what a stride is.
struct ScaledStride {
  Num n;
  Path e = 0;
};

struct Value {
  List<ValueNode> nodes;

  ZELLIGE_ALGEBRA constexpr ValueNode const& root() const { return nodes[0]; }
  ZELLIGE_ALGEBRA constexpr ValueKind kind() const { return nodes[0].kind; }
  ZELLIGE_ALGEBRA constexpr bool is_leaf() const { return nodes[0].kids < 0; }
  ZELLIGE_ALGEBRA constexpr bool is(ValueKind k) const { return nodes[0].kind == k; }
  ZELLIGE_ALGEBRA constexpr bool is_layout() const { return is(ValueKind::layout); }
  ZELLIGE_ALGEBRA constexpr bool is_number() const { return is(ValueKind::number); }
  ZELLIGE_ALGEBRA constexpr bool is_tuple() const {
    return is(ValueKind::tuple) || is(ValueKind::arithmetic);
  }
  /// The number of modes; a leaf has one, itself.
  ZELLIGE_ALGEBRA constexpr int rank() const { return nodes[0].kids < 0 ? 1 : nodes[0].kids; }

  /// One past the subtree that starts at a node.
  ZELLIGE_ALGEBRA constexpr int end_of(int node) const {
    int open = 1;
    while (open > 0) {
      open += (nodes[node].kids > 0 ? nodes[node].kids : 0) - 1;
      ++node;
    }
    return node;
  }
  /// The node at which mode i starts.
  ZELLIGE_ALGEBRA constexpr int start_of(int mode) const {
    int node = 1;
    for (; mode > 0; --mode) node = end_of(node);
    return node;
  }
  ZELLIGE_ALGEBRA constexpr Value subtree(int node) const {
    Value v;
    v.nodes.append(nodes, node, end_of(node));
    return v;
  }
  /// Mode i; mode 0 of a leaf is the leaf.
  ZELLIGE_ALGEBRA constexpr Value operator[](int mode) const {
    if (is_leaf()) return *this;  // not a conditional expression: GCC 12 frees its copy too early
    return subtree(start_of(mode));
  }
  /// Adds a mode at the end of an inner node.
  ZELLIGE_ALGEBRA constexpr void add(Value const& mode) {
    ++nodes[0].kids;
    nodes.append(mode.nodes);
  }
};

ZELLIGE_ALGEBRA constexpr Value leaf(ValueNode const& n) {
  Value v;
  v.nodes.reserve(1);
  v.nodes.push_back(n);
  return v;
}
ZELLIGE_ALGEBRA constexpr Value number(Num n, Path e = 0) { return leaf({-1, ValueKind::number, n, {}, e}); }
ZELLIGE_ALGEBRA constexpr Value number(long long n) { return number(fixed(n)); }
ZELLIGE_ALGEBRA constexpr Value boolean(Num n) { return leaf({-1, ValueKind::boolean, n, {}, 0}); }
ZELLIGE_ALGEBRA constexpr Value underscore() { return leaf({-1, ValueKind::underscore, {}, {}, 0}); }
ZELLIGE_ALGEBRA constexpr Value nothing() { return leaf({-1, ValueKind::nothing, {}, {}, 0}); }
/// shape:stride, a layout of one mode.
ZELLIGE_ALGEBRA constexpr Value mode(Num shape, ScaledStride stride) {
  return leaf({-1, ValueKind::layout, shape, stride.n, stride.e});
}
ZELLIGE_ALGEBRA constexpr Value unit() { return mode(fixed(1), {fixed(0)}); }
/// An inner node without children yet.
ZELLIGE_ALGEBRA constexpr Value empty(ValueKind kind) { return leaf({0, kind, {}, {}, 0}); }
// Room for all at once: in constant expressions every growth is paid node by node.
ZELLIGE_ALGEBRA constexpr Value inner_node(ValueKind kind, int kids, int room) {
  Value v;
  v.nodes.reserve(1 + room);
  v.nodes.push_back({kids, kind, {}, {}, 0});
  return v;
}
ZELLIGE_ALGEBRA constexpr Value bundle(ValueKind kind, Value const& a) {
  Value v = inner_node(kind, 1, a.nodes.size());
  v.nodes.append(a.nodes);
  return v;
}
ZELLIGE_ALGEBRA constexpr Value bundle(ValueKind kind, Value const& a, Value const& b) {
  Value v = inner_node(kind, 2, a.nodes.size() + b.nodes.size());
  v.nodes.append(a.nodes);
  v.nodes.append(b.nodes);
  return v;
}
ZELLIGE_ALGEBRA constexpr Value bundle(ValueKind kind, Value const& a, Value const& b, Value const& c) {
  Value v = inner_node(kind, 3, a.nodes.size() + b.nodes.size() + c.nodes.size());
  v.nodes.append(a.nodes);
  v.nodes.append(b.nodes);
  v.nodes.append(c.nodes);
  return v;
}
/// One or the other. A conditional expression would do, but GCC 12 frees its copy too early in constant
/// expressions.
ZELLIGE_ALGEBRA constexpr Value choose(bool first, Value const& a, Value const& b) {
  if (first) return a;
  return b;
}
/// The same tree under another name: a tuple of layouts as a layout, for one.
ZELLIGE_ALGEBRA constexpr Value retag(Value v, ValueKind kind) {
  v.nodes[0].kind = kind;
  return v;
}

ZELLIGE_ALGEBRA constexpr bool same_profile(Value const& a, int i, Value const& b, int j) {
  if (a.end_of(i) - i != b.end_of(j) - j) return false;
  for (int n = a.end_of(i) - i; n > 0; --n, ++i, ++j) {
    if (a.nodes[i].kids != b.nodes[j].kids) return false;
  }
  return true;
}
ZELLIGE_ALGEBRA constexpr bool same_profile(Value const& a, Value const& b) {
  return same_profile(a, 0, b, 0);
}

/// The shape of a layout, as a tuple.
ZELLIGE_ALGEBRA constexpr Value shape_of(Value const& l) {
  Value v = l;
  for (ValueNode& n : v.nodes) {
    if (n.kind == ValueKind::layout)
      n = {n.kids, n.kids < 0 ? ValueKind::number : ValueKind::tuple, n.s, {}, 0};
  }
  return v;
}
ZELLIGE_ALGEBRA constexpr Value stride_of(Value const& l) {
  Value v = l;
  for (ValueNode& n : v.nodes) n = {n.kids, n.kids < 0 ? ValueKind::number : ValueKind::tuple, n.d, {}, n.e};
  return v;
}
/// shape:stride, of congruent tuples.
ZELLIGE_ALGEBRA constexpr Value pair_up(Value const& shape, Value const& stride) {
  Value v = shape;
  for (int i = 0; i < v.nodes.size(); ++i) {
    ValueNode& n = v.nodes[i];
    n.kind = ValueKind::layout;
    if (n.kids < 0) n.d = stride.nodes[i].s, n.e = stride.nodes[i].e;
  }
  return v;
}

/// The leaves, in order.
ZELLIGE_ALGEBRA constexpr List<ValueNode> leaves_of(Value const& v) {
  List<ValueNode> flat;
  flat.reserve(v.nodes.size());
  for (ValueNode const& n : v.nodes) {
    if (n.kids < 0) flat.push_back(n);
  }
  return flat;
}
/// The leaves as the modes of one layout or tuple; a leaf stays a leaf.
ZELLIGE_ALGEBRA constexpr Value flatten_value(Value const& v) {
  if (v.is_leaf()) return v;
  List<ValueNode> const flat = leaves_of(v);
  Value r = empty(v.kind());
  r.nodes[0].kids = flat.size();
  r.nodes.append(flat);
  return r;
}
/// Leaves as a layout: none is _1:_0, one is itself.
ZELLIGE_ALGEBRA constexpr Value layout_of(List<ValueNode> const& flat) {
  if (flat.empty()) return unit();
  if (flat.size() == 1) return leaf(flat[0]);
  Value r = empty(ValueKind::layout);
  r.nodes[0].kids = flat.size();
  r.nodes.append(flat);
  return r;
}

}  // namespace zellige
