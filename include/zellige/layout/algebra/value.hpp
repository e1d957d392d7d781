// Represents a layout, tuple, swizzle, tensor or number as a tree of nodes: the operand and result of the
// algebra, at compile time and at run time.
//
// A Value is a tree in preorder. `((_4, n), _8):((_1, _4), n4)` is five nodes:
//
//   node   0: layout, 2 modes    1: layout, 2 modes    2: _4:_1    3: n:_4    4: _8:n4
//
// Here n and n4 are numbers that are known at run time. A leaf of a layout has a shape and a stride; a leaf of a tuple
// has a number. A number is static (known by its type, printed `_4`) or dynamic (known at run time, printed `4`).
#pragma once
#include <zellige/layout/config.hpp>

namespace zellige {

// In a separate namespace, so that argument-dependent lookup of calls with these types does not instantiate
// the templates of namespace zellige.
namespace values {

/// A growing array that is usable in constant expressions. Every call costs compile time, so bodies have few
/// calls, and hot loops access `data` directly.
template <class T>
struct List {
  T* data = nullptr;
  int count = 0;
  int room = 0;

  ZELLIGE_ALGEBRA constexpr List() {}
  ZELLIGE_ALGEBRA constexpr List(T const* from, int n) : data(n > 0 ? new T[size_t(n)] : nullptr), count(n), room(n) {
    for (int i = 0; i < n; ++i) data[i] = from[i];
  }
  /// Constructs a list of one element, with capacity for `more` elements in total.
  ZELLIGE_ALGEBRA constexpr List(T const& one, int more) : data(new T[size_t(more)]), count(1), room(more) {
    data[0] = one;
  }
  ZELLIGE_ALGEBRA constexpr List(List const& o)
      : data(o.count > 0 ? new T[size_t(o.count)] : nullptr), count(o.count), room(o.count) {
    for (int i = 0; i < count; ++i) data[i] = o.data[i];
  }
  ZELLIGE_ALGEBRA constexpr List(List&& o) noexcept : data(o.data), count(o.count), room(o.room) {
    o.data = nullptr;
    o.count = o.room = 0;
  }
  ZELLIGE_ALGEBRA constexpr List& operator=(List const& o) {
    if (this != &o) {
      count = 0;
      append(o.data, o.count);
    }
    return *this;
  }
  ZELLIGE_ALGEBRA constexpr List& operator=(List&& o) noexcept {
    if (this != &o) {
      delete[] data;
      data = o.data, count = o.count, room = o.room;
      o.data = nullptr;
      o.count = o.room = 0;
    }
    return *this;
  }
  ZELLIGE_ALGEBRA constexpr ~List() { delete[] data; }

  ZELLIGE_ALGEBRA constexpr int size() const { return count; }
  ZELLIGE_ALGEBRA constexpr bool empty() const { return count == 0; }
  ZELLIGE_ALGEBRA constexpr T& operator[](int i) { return data[i]; }
  ZELLIGE_ALGEBRA constexpr T const& operator[](int i) const { return data[i]; }
  ZELLIGE_ALGEBRA constexpr T* begin() { return data; }
  ZELLIGE_ALGEBRA constexpr T* end() { return data + count; }
  ZELLIGE_ALGEBRA constexpr T const* begin() const { return data; }
  ZELLIGE_ALGEBRA constexpr T const* end() const { return data + count; }
  ZELLIGE_ALGEBRA constexpr T const& back() const { return data[count - 1]; }
  ZELLIGE_ALGEBRA constexpr T& back() { return data[count - 1]; }

  ZELLIGE_ALGEBRA constexpr void reserve(int n) {
    if (n <= room) return;
    int const more = room * 2 > n ? room * 2 : n;
    T* grown = new T[size_t(more)];
    for (int i = 0; i < count; ++i) grown[i] = static_cast<T&&>(data[i]);
    delete[] data;
    data = grown;
    room = more;
  }
  ZELLIGE_ALGEBRA constexpr void push_back(T const& t) {
    if (count < room) {
      data[count++] = t;
    } else {
      T const kept = t;
      reserve(count < 8 ? 8 : count + 1);
      data[count++] = kept;
    }
  }
  ZELLIGE_ALGEBRA constexpr void push_back(T&& t) {
    if (count == room) {
      T kept = static_cast<T&&>(t);
      reserve(count < 8 ? 8 : count + 1);
      data[count++] = static_cast<T&&>(kept);
    } else {
      data[count++] = static_cast<T&&>(t);
    }
  }
  ZELLIGE_ALGEBRA constexpr void append(List const& o) { append(o.data, o.count); }
  /// Appends n elements; `from` must not point into this list.
  ZELLIGE_ALGEBRA constexpr void append(T const* from, int n) {
    if (count + n > room) reserve(count + n < 8 ? 8 : count + n);
    for (int i = 0; i < n; ++i) data[count + i] = from[i];
    count += n;
  }
  ZELLIGE_ALGEBRA constexpr void erase(int at) {
    for (int i = at; i + 1 < count; ++i) data[i] = data[i + 1];
    --count;
  }
};

/// A number, static if id is 0, else dynamic. The value of a dynamic number is v (with id 1) at run time; at
/// compile time it is the result of step id - 1 of a Tape (the record of the arithmetic that is left for run
/// time). Num{} is the static 0.
struct Num {
  long long v;
  int id;
  ZELLIGE_ALGEBRA constexpr bool is_static() const { return id == 0; }
  /// Returns true if this is the static number n; false if it is a dynamic number, whatever its value.
  ZELLIGE_ALGEBRA constexpr bool is(long long n) const { return id == 0 && v == n; }
};
/// Returns v as a static number.
ZELLIGE_ALGEBRA constexpr Num fixed(long long v) { return {v, 0}; }
/// Returns v as a dynamic number, for the run-time API, where the values of dynamic numbers are known.
ZELLIGE_ALGEBRA constexpr Num dynamic(long long v) { return {v, 1}; }
/// Returns the dynamic number that is the result of step i of a Tape: a run-time input or an expression.
ZELLIGE_ALGEBRA constexpr Num expression(int i) { return {0, i + 1}; }
/// Returns true if both numbers are static and equal; false if one of them is dynamic.
ZELLIGE_ALGEBRA constexpr bool same(Num a, Num b) { return a.id == 0 && b.id == 0 && a.v == b.v; }

/// The basis element of a stride as a number: 0 for an integer stride, else one byte per mode index, index +
/// 1, the outermost in the highest byte. E<0, 1> is 0x0102.
using Path = long long;
/// Returns the path `outer` with the mode index `inner` appended.
ZELLIGE_ALGEBRA constexpr Path extend(Path outer, int inner) { return outer * 256 + inner + 1; }
/// Returns the number of mode indices in a path.
ZELLIGE_ALGEBRA constexpr int path_length(Path e) {
  int n = 0;
  for (; e != 0; e /= 256) ++n;
  return n;
}
/// Returns the i-th mode index of a path, where i = 0 is the outermost mode.
ZELLIGE_ALGEBRA constexpr int path_index(Path e, int i) {
  for (int n = path_length(e) - 1 - i; n > 0; --n) e /= 256;
  return int(e % 256) - 1;
}

/// What a node is. The comments say which fields of ValueNode it uses.
enum class ValueKind : signed char {
  number,   // s: the number, times the basis element e
  boolean,  // s: 0 or 1
  underscore,
  tuple,        // of any elements
  arithmetic,   // a tuple that is an element of the integer-module: an ArithmeticTuple
  layout,       // leaf: shape s, stride d times e; inner node: its modes
  swizzle,      // s.v, d.v, e: bits, base, shift
  composed,     // three children: swizzle or layout, offset, layout
  counting,     // one child: an iterator over the integers, which starts at the child
  coordinates,  // one child: an iterator over coordinates, which starts at the child
  tensor,       // two children: iterator, layout
  /// s.v: the element size in bits of a smem_ptr_flag, the offset of a layout whose swizzle is of addresses
  flag,
  nothing,  // the result of a refused operation
};

/// A node of a value's tree: number of children, kind, and the fields s, d, e whose meaning depends on the
/// kind.
struct ValueNode {
  int kids;  // number of children, which follow in preorder; -1: a leaf
  ValueKind kind;
  Num s;
  Num d;
  Path e;
};

/// A number times a basis element: a stride.
struct ScaledStride {
  Num n;
  Path e = 0;
};

/// A non-owning view of a subtree. Algorithms pass views without copying nodes; the viewed Value must outlive
/// them.
struct View {
  ValueNode const* node;

  ZELLIGE_ALGEBRA constexpr ValueNode const& root() const { return *node; }
  ZELLIGE_ALGEBRA constexpr ValueKind kind() const { return node->kind; }
  ZELLIGE_ALGEBRA constexpr bool is_leaf() const { return node->kids < 0; }
  ZELLIGE_ALGEBRA constexpr bool is(ValueKind k) const { return node->kind == k; }
  ZELLIGE_ALGEBRA constexpr bool is_layout() const { return node->kind == ValueKind::layout; }
  ZELLIGE_ALGEBRA constexpr bool is_number() const { return node->kind == ValueKind::number; }
  ZELLIGE_ALGEBRA constexpr bool is_tuple() const {
    return node->kind == ValueKind::tuple || node->kind == ValueKind::arithmetic;
  }
  /// Returns the number of modes; 1 for a leaf, whose only mode is the leaf itself.
  ZELLIGE_ALGEBRA constexpr int rank() const { return node->kids < 0 ? 1 : node->kids; }
  ZELLIGE_ALGEBRA constexpr ValueNode const* begin() const { return node; }
  ZELLIGE_ALGEBRA constexpr ValueNode const* end() const { return after(node); }
  ZELLIGE_ALGEBRA constexpr int node_count() const { return int(after(node) - node); }
  /// Returns mode i; mode 0 of a leaf is the leaf itself.
  ZELLIGE_ALGEBRA constexpr View operator[](int mode) const {
    if (node->kids < 0) return *this;
    ValueNode const* at = node + 1;
    for (; mode > 0; --mode) at = after(at);
    return {at};
  }
  /// Returns the address of the node that follows, in preorder, the subtree of `node`.
  ZELLIGE_ALGEBRA static constexpr ValueNode const* after(ValueNode const* node) {
    for (int open = 1; open > 0; ++node) open += (node->kids > 0 ? node->kids : 0) - 1;
    return node;
  }
};

/// An owned tree of nodes in preorder; the root is node 0.
struct Value {
  List<ValueNode> nodes;

  ZELLIGE_ALGEBRA constexpr Value() {}
  ZELLIGE_ALGEBRA constexpr explicit Value(ValueNode const& root, int room = 1) : nodes(root, room) {}
  ZELLIGE_ALGEBRA constexpr Value(View v) : nodes(v.node, v.node_count()) {}
  ZELLIGE_ALGEBRA constexpr operator View() const { return {nodes.data}; }

  ZELLIGE_ALGEBRA constexpr ValueNode const& root() const { return nodes.data[0]; }
  ZELLIGE_ALGEBRA constexpr ValueKind kind() const { return nodes.data[0].kind; }
  ZELLIGE_ALGEBRA constexpr bool is_leaf() const { return nodes.data[0].kids < 0; }
  ZELLIGE_ALGEBRA constexpr bool is(ValueKind k) const { return nodes.data[0].kind == k; }
  ZELLIGE_ALGEBRA constexpr bool is_layout() const { return is(ValueKind::layout); }
  ZELLIGE_ALGEBRA constexpr bool is_number() const { return is(ValueKind::number); }
  ZELLIGE_ALGEBRA constexpr bool is_tuple() const { return is(ValueKind::tuple) || is(ValueKind::arithmetic); }
  ZELLIGE_ALGEBRA constexpr int rank() const { return nodes.data[0].kids < 0 ? 1 : nodes.data[0].kids; }
  /// Returns a copy of a mode; View::operator[] returns a view of it.
  ZELLIGE_ALGEBRA constexpr Value operator[](int mode) const { return Value(View{nodes.data}[mode]); }
  /// Appends a mode to the root node, which must not be a leaf.
  ZELLIGE_ALGEBRA constexpr void add(View mode) {
    ++nodes.data[0].kids;
    nodes.append(mode.node, mode.node_count());
  }
  ZELLIGE_ALGEBRA constexpr void add(ValueNode const& leaf) {
    ++nodes.data[0].kids;
    nodes.push_back(leaf);
  }
};

ZELLIGE_ALGEBRA constexpr Value leaf(ValueNode const& n) { return Value(n); }
ZELLIGE_ALGEBRA constexpr ValueNode number_node(Num n, Path e = 0) { return {-1, ValueKind::number, n, {}, e}; }
ZELLIGE_ALGEBRA constexpr ValueNode mode_node(Num shape, ScaledStride stride) {
  return {-1, ValueKind::layout, shape, stride.n, stride.e};
}
ZELLIGE_ALGEBRA constexpr Value number(Num n, Path e = 0) { return Value({-1, ValueKind::number, n, {}, e}); }
ZELLIGE_ALGEBRA constexpr Value number(long long n) { return Value({-1, ValueKind::number, {n, 0}, {}, 0}); }
ZELLIGE_ALGEBRA constexpr Value boolean(Num n) { return Value({-1, ValueKind::boolean, n, {}, 0}); }
ZELLIGE_ALGEBRA constexpr Value underscore() { return Value({-1, ValueKind::underscore, {}, {}, 0}); }
ZELLIGE_ALGEBRA constexpr Value nothing() { return Value({-1, ValueKind::nothing, {}, {}, 0}); }
/// Returns the layout shape:stride, which has one mode.
ZELLIGE_ALGEBRA constexpr Value mode(Num shape, ScaledStride stride) {
  return Value({-1, ValueKind::layout, shape, stride.n, stride.e});
}
/// Returns the layout _1:_0, which has one element.
ZELLIGE_ALGEBRA constexpr Value unit() { return Value({-1, ValueKind::layout, {1, 0}, {}, 0}); }
/// Returns a node of the given kind without children, to which add() appends modes.
ZELLIGE_ALGEBRA constexpr Value empty(ValueKind kind) { return Value({0, kind, {}, {}, 0}, 8); }
/// Returns a node of the given kind whose children are copies of the given trees.
ZELLIGE_ALGEBRA constexpr Value bundle(ValueKind kind, View a) {
  Value v({0, kind, {}, {}, 0}, 8);
  v.add(a);
  return v;
}
ZELLIGE_ALGEBRA constexpr Value bundle(ValueKind kind, View a, View b) {
  Value v({0, kind, {}, {}, 0}, 8);
  v.add(a);
  v.add(b);
  return v;
}
ZELLIGE_ALGEBRA constexpr Value bundle(ValueKind kind, View a, View b, View c) {
  Value v({0, kind, {}, {}, 0}, 8);
  v.add(a);
  v.add(b);
  v.add(c);
  return v;
}
/// Returns a copy of a if `first`, else of b. A conditional expression would do, but GCC 12 destroys its
/// temporary too early in constant expressions.
ZELLIGE_ALGEBRA constexpr Value choose(bool first, View a, View b) {
  if (first) return a;
  return b;
}
/// Returns v with `kind` as the kind of its root node, for example a tuple of layouts as a layout.
ZELLIGE_ALGEBRA constexpr Value retag(Value v, ValueKind kind) {
  v.nodes.data[0].kind = kind;
  return v;
}

/// Returns true if the two trees have the same nesting.
ZELLIGE_ALGEBRA constexpr bool same_profile(View a, View b) {
  ValueNode const* p = a.node;
  ValueNode const* q = b.node;
  for (int open = 1; open > 0; ++p, ++q) {
    if (p->kids != q->kids) return false;
    open += (p->kids > 0 ? p->kids : 0) - 1;
  }
  return true;
}

/// Returns the shape of a layout: a tuple of numbers with the layout's nesting.
ZELLIGE_ALGEBRA constexpr Value shape_of(View l) {
  Value v = l;
  for (ValueNode& n : v.nodes) {
    if (n.kind == ValueKind::layout) n = {n.kids, n.kids < 0 ? ValueKind::number : ValueKind::tuple, n.s, {}, 0};
  }
  return v;
}
/// Returns the strides of a layout: a tuple of numbers with the layout's nesting.
ZELLIGE_ALGEBRA constexpr Value stride_of(View l) {
  Value v = l;
  for (ValueNode& n : v.nodes) n = {n.kids, n.kids < 0 ? ValueKind::number : ValueKind::tuple, n.d, {}, n.e};
  return v;
}
/// Returns the layout shape:stride; the two tuples must have the same nesting.
ZELLIGE_ALGEBRA constexpr Value pair_up(View shape, View stride) {
  Value v = shape;
  ValueNode const* d = stride.node;
  for (ValueNode& n : v.nodes) {
    n.kind = ValueKind::layout;
    if (n.kids < 0) n.d = d->s, n.e = d->e;
    ++d;
  }
  return v;
}

/// Appends the leaves of v to `flat`, in order.
ZELLIGE_ALGEBRA constexpr void append_leaves(List<ValueNode>& flat, View v) {
  ValueNode const* n = v.node;
  for (int open = 1; open > 0; ++n) {
    if (n->kids < 0) flat.push_back(*n);
    open += (n->kids > 0 ? n->kids : 0) - 1;
  }
}
ZELLIGE_ALGEBRA constexpr List<ValueNode> leaves_of(View v) {
  List<ValueNode> flat;
  append_leaves(flat, v);
  return flat;
}
/// Returns the layout or tuple whose modes are the leaves of v; a single leaf is returned unchanged.
ZELLIGE_ALGEBRA constexpr Value flatten_value(View v) {
  if (v.is_leaf()) return v;
  Value r = empty(v.kind());
  for (ValueNode const& n : v) {
    if (n.kids < 0) r.add(n);
  }
  return r;
}
/// Appends to `out` the flat layout whose modes are `flat`: _1:_0 if there are no modes, a leaf if there is
/// one.
ZELLIGE_ALGEBRA constexpr void append_layout(List<ValueNode>& out, List<ValueNode> const& flat) {
  if (flat.count == 0) return out.push_back({-1, ValueKind::layout, {1, 0}, {}, 0});
  if (flat.count > 1) out.push_back({flat.count, ValueKind::layout, {}, {}, 0});
  out.append(flat.data, flat.count);
}
ZELLIGE_ALGEBRA constexpr Value layout_of(List<ValueNode> const& flat) {
  Value r;
  append_layout(r.nodes, flat);
  return r;
}

}  // namespace values

using namespace values;

}  // namespace zellige
