#include "kernel/evaluation.hpp"

#include <algorithm>

#include "graph/dtype.hpp"
#include "graph/reductions.hpp"
#include "kernel/index_width.hpp"
#include "kernel/leaves.hpp"

namespace zellige::kernel {
namespace {

using Kind = Item::Kind;

/// The coordinate at which a value is needed, for `vector` adjacent elements along `inner`.
struct Point {
  std::vector<TileCoordinate> at;   // of the first element
  std::vector<std::int64_t> limit;  // > 0: reads in this dimension are clamped below it; the nest exceeds it
  int inner = 0, vector = 1;
  std::int64_t shift = 0;  // at[inner] modulo `vector`, due to slices and concatenations
  At own = At::own;        // relative to the nest's coordinate: decides whether registers hold the value
  bool checked = false;    // an open bounds check excludes out-of-bounds elements
};

/// Returns whether the nest has at most one vector along dimension `d`: its coordinate along `d` is always 0.
bool whole(const Context& c, int d) {
  for (int axis = 0; axis < c.axes(); ++axis) {
    if (c.row && axis < 2) continue;
    const std::vector<Mode> leaves = modes(values::View(c.tile)[axis]);
    for (std::size_t i = axis == 0 ? 1 : 0; i < leaves.size(); ++i)
      if (leaves[i].basis == d && leaves[i].extent > 1) return false;
  }
  return !c.row || d + 2 < c.rank();
}

/// Returns the coordinate of a thread's elements in the layout of the nest.
Point own(const Context& c) {
  Point p;
  for (int d = 0; d < c.rank(); ++d) p.at.push_back(whole(c, d) ? TileCoordinate{} : TileCoordinate{d});
  p.limit.assign(p.at.size(), 0);
  p.inner = c.inner(), p.vector = c.vector();
  return p;
}

/// Returns whether every vector of the store `n` along dimension `d` begins inside its tensor, whose end may part the last
/// one: of columns 0 to 127 in pairs, of which 127 are the tensor's, the last pair begins at 126. Slices may begin before
/// their tensor.
bool starts_inside(const tile::TileProgram& program, const tile::Node& n, int d, const Point& p) {
  const tile::Interval here = n.view.along(d, program);
  if (d != p.inner || here.size() >= 0 || here.of_part() || here.origin() < 0) return false;
  return n.shape[d] % p.vector == 0 &&
         here.reach() - here.origin() <= tile::ceil_div(here.end() - here.origin(), p.vector) * p.vector;
}

/// Returns whether an earlier work than `work` left the value of load or map `node` in registers.
bool is_in_registers(const Kernel& kernel, const Work& work, int node) {
  const tile::NodeKind kind = kernel.program.nodes[node].kind;
  return (kind == tile::NodeKind::map || kind == tile::NodeKind::load) && work.node != node &&
         kernel.rmem_of(node) >= 0;
}

/// Returns the coordinate (Point) at which `node`, evaluated at coordinate `p`, reads its operand node `operand`. The
/// result is 0 in each dimension in which the operand is broadcast: it has extent 1, and `node` a larger one.
Point narrowed(const tile::TileProgram& program, int operand, int node, const Point& p) {
  const Shape &from = program.nodes[operand].shape, &to = program.nodes[node].shape;
  Point q = p;
  q.own = kernel::narrowed(p.own, from, to);
  for (std::size_t d = 0; d < q.at.size(); ++d) {
    if (from[d] == to[d]) continue;
    q.at[d] = {}, q.limit[d] = 0;
    if (static_cast<int>(d) == q.inner) q.vector = 1, q.shift = 0;
  }
  return q;
}

/// A loop nest: its layout, the items so far, the values that they yield, and the bounds checks that are open.
class Nest {
 public:
  Nest(const Kernel& k, StepSpan steps)
      : kernel(k),
        p(k.program),
        c(k.layout_of(steps.front().work)),
        loops_(!c.row && !c.replicated() && c.steps(0) > 1) {
    for (const Mode& m : modes(values::View(c.tile)[0]))
      if (m.extent > 1) moves_.insert(m.basis);
    for (const Step& step : steps) written_.insert(step.work.tensor);
  }

  const Kernel& kernel;
  const tile::TileProgram& p;
  const Context& c;

  /// Identifies a computed value: its node, and the coordinates, limits and vector for which it was requested.
  using Key = std::tuple<int, std::vector<TileCoordinate>, std::vector<std::int64_t>, int>;
  /// Returns the item that yields the value; -1 if the open scopes have none.
  int find(const Key& key) const {
    const auto found = known_.find(key);
    return found == known_.end() ? -1 : found->second;
  }
  int remember(Key key, int item) {
    const auto at = known_.emplace(std::move(key), item).first;
    if (!items_[item].invariant) order_.push_back(at);
    return item;
  }
  std::size_t mark() const { return order_.size(); }
  /// Forgets the values that were computed inside a bounds check or branch that closes, so that no later item uses
  /// them. `mark` is what mark() was when the check or branch opened.
  void forget(std::size_t mark) {
    for (; order_.size() > mark; order_.pop_back()) known_.erase(order_.back());
  }

  int add(Item item) {
    // A branch's operands may be out of bounds if another branch is taken, so they are not hoisted from it.
    item.invariant = open_parts_ == 0 && is_invariant(item);
    open_parts_ += (item.kind == Kind::part) - (item.kind == Kind::take);
    items_.push_back(std::move(item));
    return static_cast<int>(items_.size()) - 1;
  }
  /// Adds an item that opens the bounds checks `guards` and `within`: the items after it are evaluated only within the
  /// bounds. Adds nothing if both lists are empty.
  void open(const std::vector<Guard>& guards, const std::vector<Within>& within) {
    if (guards.empty() && within.empty()) return;
    add({.kind = Kind::guard, .guards = guards, .within = within});
  }
  /// Makes the items that are added next depend on the bounds checks `guards` and `within`: closes the checks that are
  /// open, and opens the given ones. Does nothing if these are open already.
  void guard(const std::vector<Guard>& guards, const std::vector<Within>& within) {
    if (guards == guards_ && within == within_) return;
    close_guard();
    guards_ = guards, within_ = within, guarded_ = order_.size();
    open(guards, within);
  }
  void close_guard() {
    if (guards_.empty() && within_.empty()) return;
    add({.kind = Kind::guarded}), forget(guarded_);
    guards_.clear(), within_.clear();
  }
  /// Returns whether the value of `node` is complete where `work` is done.
  bool complete(const Work& work, int node) {
    if (!sections_) sections_.emplace(p);
    return sections_->complete(node) == section_of(work, *sections_);
  }
  /// Makes the read `item` yield bytes as they are.
  void keep_bytes(int item) { items_[item].raw = true; }
  std::vector<Item> take() { return std::move(items_); }

 private:
  /// Returns whether the value of an item is constant along the nest's loop, which is along axis 0 of the layout: a read of
  /// one element, in whose dimensions the axis does not move, unless the nest writes the buffer itself; or an elementwise
  /// operator of such elements. A nest of one iteration, or over an instruction's accumulators, has no such value.
  bool is_invariant(const Item& item) const {
    const auto fixed = [&](const std::vector<TileCoordinate>& at) {
      return std::ranges::none_of(at, [&](const TileCoordinate& of) { return moves_.contains(of.from); });
    };
    if (!loops_ || item.vector > 1 || !std::ranges::all_of(item.pieces, fixed)) return false;
    switch (item.kind) {
      case Kind::read_shared:
        return !written_.contains(item.buffer);
      case Kind::read_global:  // only a guard within the loop prevents out-of-bounds reads
        return !p.nodes[item.node].view.predicated();
      case Kind::in_lines:
        return true;
      case Kind::apply:
        return p.nodes[item.node].kind == tile::NodeKind::map &&
               std::ranges::all_of(item.in, [&](int i) { return items_[i].invariant; });
      default:
        return false;
    }
  }

  bool loops_;             // the nest has a loop of more than one iteration
  std::set<int> moves_;    // the dimensions along which the loop moves
  std::set<int> written_;  // the buffers that the nest writes
  std::vector<Item> items_;
  std::map<Key, int> known_;                         // values computed in the open scopes, with their items
  std::vector<std::map<Key, int>::iterator> order_;  // as computed; a scope that closes removes its values
  std::optional<tile::Sections> sections_;           // when first needed
  int open_parts_ = 0;
  std::vector<Guard> guards_;  // bounds checks that are open
  std::vector<Within> within_;
  std::size_t guarded_ = 0;  // size of `order_` when they were opened
};

/// Adds the items that evaluate nodes for one work of a nest.
struct NestValues {
  Nest& nest;
  const Work& work;

  /// Returns the item that yields the value of `node` at coordinate `p`, and adds it if there is none.
  int value(int node, const Point& p) {
    const tile::Node& n = nest.p.nodes[node];
    Nest::Key key{node, p.at, p.limit, p.vector};
    if (const int known = nest.find(key); known >= 0) return known;
    int result = -1;
    if (n.kind == tile::NodeKind::map && !is_in_registers(nest.kernel, work, node)) {
      Item item{.kind = Kind::apply, .node = node, .vector = p.vector};
      for (int in : n.in) item.in.push_back(value(in, narrowed(nest.p, in, node, p)));
      if (n.op == graph::OpKind::mask) item.pieces.push_back(p.at);
      result = nest.add(std::move(item));
    } else if (n.kind == tile::NodeKind::slice) {
      Point q = p;
      q.at[n.dim] = q.at[n.dim].moved(n.start);
      if (q.limit[n.dim] > 0) q.limit[n.dim] += n.start;
      if (n.dim == q.inner) q.shift += n.start;
      q.own = At::elsewhere;
      result = value(n.in[0], q);
    } else if (n.kind == tile::NodeKind::permute) {
      Point q = p;
      for (std::size_t d = 0; d < n.order.size(); ++d) q.at[n.order[d]] = p.at[d], q.limit[n.order[d]] = p.limit[d];
      q.inner = n.order[p.inner], q.own = At::elsewhere;
      result = value(n.in[0], q);
    } else if (n.kind == tile::NodeKind::concat) {
      result = concat(n, p);
    } else if (n.kind == tile::NodeKind::rotate) {
      result = rotate(node, p);
    } else if (n.kind == tile::NodeKind::unpack) {
      result = unpack(node, p);
    } else if (n.kind == tile::NodeKind::repeat) {
      result = repeat(node, p);
    } else {
      result = leaf(node, p);
    }
    return nest.remember(std::move(key), result);
  }

  int read_buffer(int buffer, const Shape& shape, const Point& p) {
    if (buffer < 0)
      reject("{}: '{} %{}' reads a value that lies neither in its registers nor in shared memory", nest.p.name,
             name(work.kind), work.node);
    const bool vector = p.vector > 1 && shape[p.inner] > 1;
    const int width =
        vector && p.limit[p.inner] == 0 ? nest.kernel.tensors[buffer].access_width(p.inner, p.vector, p.shift) : 1;
    return read({.kind = Kind::read_shared, .buffer = buffer}, shape, p, width, width);
  }

 private:
  /// Adds a branch of the concatenation `choose`; value() adds the items of the branch and returns that of its value.
  template <class Value>
  void branch(int choose, const ConcatPart& part, int vector, const Value& value) {
    const std::size_t before = nest.mark();
    nest.add({.kind = Kind::part, .vector = vector, .part = part});
    const int taken = value();
    nest.add({.kind = Kind::take, .in = {choose, taken}, .vector = vector, .part = part});
    nest.forget(before);
  }

  int concat(const tile::Node& n, const Point& p) {
    // Elements of a vector along the concatenated dimension may be in different branches: each has its own.
    bool scalar = n.dim == p.inner && p.vector > 1 && (p.shift % p.vector != 0 || p.limit[n.dim] > 0);
    std::int64_t start = 0;
    if (n.dim == p.inner)
      for (int in : n.in) scalar = scalar || start % p.vector != 0, start += nest.p.nodes[in].shape[n.dim];
    const int node = static_cast<int>(&n - nest.p.nodes.data());
    const int choose = nest.add({.kind = Kind::choose, .node = node, .vector = p.vector});
    for (int v = 0; v < (scalar ? p.vector : 1); ++v) {
      Point at = p;
      if (scalar) at.at[p.inner] = at.at[p.inner].moved(v), at.vector = 1, at.shift = 0;
      if (p.limit[n.dim] > 0) at.at[n.dim] = at.at[n.dim].clamped(p.limit[n.dim] - 1), at.limit[n.dim] = 0;
      std::int64_t from = 0;
      for (std::size_t i = 0; i < n.in.size(); ++i) {
        const std::int64_t extent = nest.p.nodes[n.in[i]].shape[n.dim];
        Point q = at;
        if (n.dim == q.inner) q.shift -= from;
        q.own = At::elsewhere;
        q.at[n.dim] = at.at[n.dim].moved(-from);
        const ConcatPart part{scalar ? v : -1, at.at[n.dim], from + extent, i == 0, i + 1 == n.in.size()};
        branch(choose, part, at.vector, [&] { return value(n.in[i], q); });
        from += extent;
      }
    }
    return choose;
  }

  /// Returns the item that yields `vector` adjacent elements of operand number `which` of the rotary embedding `node`,
  /// which is evaluated at coordinate `p`. `along` gives the operand's coordinate along the rotated dimension: that of
  /// the element itself, the number of its pair, or that of the other element of its pair.
  int rotated(int node, int which, const Point& p, const PairLayout& along, int vector) {
    const tile::Node& n = nest.p.nodes[node];
    Point q = narrowed(nest.p, n.in[which], node, p);
    q.own = which == 0 ? kernel::rotated(p.own, n, along == itself) : At::elsewhere, q.limit[n.dim] = 0;
    q.at[n.dim] = p.limit[n.dim] > 0 ? p.at[n.dim].clamped(p.limit[n.dim] - 1) : p.at[n.dim];
    q.at[n.dim].layout = along;
    if (n.dim == p.inner) q.vector = vector, q.shift = along == number_of_pair ? p.shift / 2 : p.shift;
    return value(n.in[which], q);
  }

  int rotate(int node, const Point& p) {
    const tile::Node& n = nest.p.nodes[node];
    const std::int64_t extent = n.shape[n.dim];
    const bool by_element = nest.p.nodes[n.in[1]].shape[n.dim] == extent;  // a cosine per element, not per pair
    const PairLayout& table = by_element ? itself : number_of_pair;
    const auto one = [&](const Point& q) {
      std::vector<int> in{rotated(node, 0, q, itself, 1), rotated(node, 0, q, neighbour_in_pair, 1),
                          rotated(node, 1, q, table, 1), rotated(node, 2, q, table, 1)};
      return nest.add(
          Item{.kind = Kind::apply, .node = node, .in = std::move(in), .vector = q.vector, .pieces = {q.at}});
    };
    if (n.dim != p.inner || p.vector == 1) return one(p);
    if (p.vector % 2 == 0 && p.shift % p.vector == 0 && p.limit[n.dim] == 0 && extent % p.vector == 0) {
      const int tables = by_element ? p.vector : p.vector / 2;
      std::vector<int> in{rotated(node, 0, p, itself, p.vector), rotated(node, 1, p, table, tables),
                          rotated(node, 2, p, table, tables)};
      return nest.add({.kind = Kind::apply, .node = node, .in = std::move(in), .vector = p.vector});
    }
    const int choose = nest.add({.kind = Kind::choose, .node = node, .vector = p.vector});
    for (int v = 0; v < p.vector; ++v) {  // each element separately
      Point q = p;
      q.at[n.dim] = q.at[n.dim].moved(v), q.vector = 1, q.shift = 0;
      branch(choose, {v, q.at[n.dim], extent, true, true}, 1, [&] { return one(q); });
    }
    return choose;
  }

  /// Returns the item that yields the bytes of the elements at coordinate `p` of the unpack `node`: `vector` bytes.
  int bytes(int node, const Point& p, int vector) {
    const tile::Node& n = nest.p.nodes[node];
    Point q = p;
    q.own = At::elsewhere, q.vector = vector;
    if (8 / graph::bits(n.to_dtype) > 1) {
      q.limit[n.dim] = 0;
      if (p.limit[n.dim] > 0) q.at[n.dim] = p.at[n.dim].clamped(p.limit[n.dim] - 1);
      q.at[n.dim].layout = number_of_pair;
      if (n.dim == p.inner) q.shift = p.shift / 2;
    }
    const int read = value(n.in[0], q);
    nest.keep_bytes(read);
    return read;
  }

  int unpack(int node, const Point& p) {
    const tile::Node& n = nest.p.nodes[node];
    const int per = 8 / graph::bits(n.to_dtype);
    const auto one = [&](const Point& q) {
      return nest.add(
          {.kind = Kind::apply, .node = node, .in = {bytes(node, q, q.vector)}, .vector = q.vector, .pieces = {q.at}});
    };
    if (n.dim != p.inner || p.vector == 1) return one(p);
    if (per == 1 ||
        (p.vector % per == 0 && p.shift % p.vector == 0 && p.limit[n.dim] == 0 && n.shape[n.dim] % p.vector == 0))
      return nest.add({.kind = Kind::apply, .node = node, .in = {bytes(node, p, p.vector / per)}, .vector = p.vector});
    const int choose = nest.add({.kind = Kind::choose, .node = node, .vector = p.vector});
    for (int v = 0; v < p.vector; ++v) {  // each element separately
      Point q = p;
      q.at[n.dim] = q.at[n.dim].moved(v), q.vector = 1, q.shift = 0;
      branch(choose, {v, q.at[n.dim], n.shape[n.dim], true, true}, 1, [&] { return one(q); });
    }
    return choose;
  }

  int repeat(int node, const Point& p) {
    const tile::Node& n = nest.p.nodes[node];
    const auto from = [&](const Point& at) {
      Point q = at;
      q.own = At::elsewhere, q.limit[n.dim] = 0;
      if (at.limit[n.dim] > 0) q.at[n.dim] = at.at[n.dim].clamped(at.limit[n.dim] - 1);
      q.at[n.dim].layout = {0, 1, 0, n.to};
      if (n.dim == at.inner) q.vector = 1, q.shift = 0;
      return value(n.in[0], q);
    };
    const bool one = n.dim != p.inner || p.vector == 1 ||
                     (n.to % p.vector == 0 && p.shift % p.vector == 0 && p.limit[n.dim] == 0);  // all of the vector
    if (one) return from(p);
    const int choose = nest.add({.kind = Kind::choose, .node = node, .vector = p.vector});
    for (int v = 0; v < p.vector; ++v) {
      Point q = p;
      q.at[n.dim] = q.at[n.dim].moved(v), q.vector = 1, q.shift = 0;
      branch(choose, {v, q.at[n.dim], n.shape[n.dim], true, true}, 1, [&] { return from(q); });
    }
    return choose;
  }

  int leaf(int node, const Point& p) {
    const tile::Node& n = nest.p.nodes[node];
    if (nest.kernel.in_place(node) && !is_in_registers(nest.kernel, work, node)) {
      Item item{.kind = Kind::read_global, .node = node};
      const bool several = p.vector > 1 && n.shape[p.inner] > 1;
      // A bounds check tests only the first element of a vector.
      item.zeros_out_of_bounds =
          (!p.checked || (several && n.view.straddles_end(p.inner, p.vector))) && n.view.predicated();
      int width = 1;
      if (several && p.limit[p.inner] == 0) {
        width = std::min(p.vector, nest.kernel.in_place(node)->vector);
        while (p.shift % width != 0 || n.view.straddles_end(p.inner, width)) width /= 2;
      }
      return read(std::move(item), n.shape, p, 1, width);
    }
    const int evaluated = nest.kernel.rmem_of(node);
    if (evaluated >= 0 && n.kind != tile::NodeKind::round && nest.complete(work, node)) {
      const bool pair = p.own == At::pair && whole_pairs(nest.c);
      if (evaluated == work.context && (p.own == At::own || pair) && n.shape == nest.c.domain)
        return nest.add({.kind = Kind::in_registers, .node = node, .other = pair, .vector = p.vector});
      if ((p.own == At::own || p.own == At::row) && lines_of(nest.kernel.rmem[evaluated].layout, nest.c))
        return nest.add({.kind = Kind::in_lines, .node = node});
    }
    return read_buffer(nest.kernel.tensor_of(node), n.shape, p);
  }

  /// Completes `item` as a read of the vector at coordinate `p` in a tile of shape `shape`, adds it and returns its
  /// index. The item gets one coordinate per `step` elements, and accesses at most `width` elements at a time.
  int read(Item item, const Shape& shape, const Point& p, int step, int width) {
    item.vector = p.vector > 1 && shape[p.inner] > 1 ? p.vector : 1;
    item.width = width;
    for (int v = 0; v < item.vector; v += step) {
      std::vector<TileCoordinate> at = p.at;
      at[p.inner] = at[p.inner].moved(v);
      for (std::size_t d = 0; d < shape.size(); ++d)
        at[d] = shape[d] == 1 ? TileCoordinate{} : p.limit[d] > 0 ? at[d].clamped(p.limit[d] - 1) : at[d];
      item.pieces.push_back(std::move(at));
    }
    return nest.add(std::move(item));
  }
};

/// Adds the items of one work of a nest; see evaluate().
struct NestWork {
  Nest& nest;
  const Work& work;
  NestValues values{nest, work};

  void run() {
    Point p = own(nest.c);
    if (work.kind == WorkKind::reduce && !nest.c.row) return over_lanes(p);
    if (nest.c.row || nest.c.of) in_fragment(p);
    sink(p);
  }

 private:
  /// Lowers the part of a reduction in which each lane reduces the summands that it has: products of elements of a
  /// matmul's two operands, or elements of the operand of a reduce node.
  void over_lanes(Point p) {
    const tile::Node& n = nest.p.nodes[work.node];
    if (n.kind != tile::NodeKind::matmul) return leave_within(n.in[0], n, p, true);
    const int rank = static_cast<int>(n.shape.size());
    const TileCoordinate along = p.at.back();
    p.at.pop_back(), p.limit.pop_back();
    p.inner = rank - 1, p.vector = 1;
    std::vector<int> in;
    for (int side = 0; side < 2; ++side) {
      Point q = p;
      q.at[rank - 1 - side] = along;
      for (int d = 0; d + 2 < rank; ++d)  // an operand that all batches share
        if (nest.p.nodes[n.in[side]].shape[d] != n.shape[d]) q.at[d] = {}, q.limit[d] = 0;
      in.push_back(values.value(n.in[side], q));
    }
    leave(in);
  }

  /// Limits `p`, the coordinate of accumulators, to what the work writes, and opens the bounds checks that this needs.
  void in_fragment(Point& p) {
    const int rank = nest.c.rank();
    const Shape& bound = written(nest.kernel, work);
    // Warps without tiles would read beyond the tile: clamps their rows, too.
    if (nest.c.row && bound != nest.c.domain && nest.c.domain[rank - 2] % nest.c.row->m != 0)
      p.limit[rank - 2] = nest.c.domain[rank - 2];
    if (nest.c.domain[rank - 1] % p.vector != 0 || bound[rank - 1] != nest.c.domain[rank - 1])
      p.limit[rank - 1] = nest.c.domain[rank - 1];
    nest.guard(guards(nest.kernel, work), {});
  }

  void sink(const Point& p) {
    const tile::Node& n = nest.p.nodes[work.node];
    if (!nest.c.row && !nest.c.replicated() && work.kind != WorkKind::to_global) nest.guard({}, {});
    switch (work.kind) {
      case WorkKind::to_shared:
        return to_shared(n, p);
      case WorkKind::to_global:
        return leave_within(work.node, n, p, nest.c.row != nullptr);
      case WorkKind::accumulate:
        return accumulate(n, p);
      case WorkKind::to_lines:
      case WorkKind::to_registers:
        return leave({values.value(work.node, p)});
      case WorkKind::rescale:
        return leave({values.value(rescaled_by(n), narrowed(nest.p, rescaled_by(n), work.node, p))});
      default:
        leave({values.value(n.in[0], p)});
    }
  }

  /// Leaves the operand of `n` within the bounds checks that `checked` needs: if `scoped`, they end with it.
  void leave_within(int checked, const tile::Node& n, const Point& p, bool scoped) {
    const std::vector<Within> edge = within(checked, p);
    const std::size_t outer = nest.mark();
    scoped ? nest.open({}, edge) : nest.guard({}, edge);
    Point q = p;
    q.checked = true;
    leave({values.value(n.in[0], q)});
    if (scoped && !edge.empty()) nest.add({.kind = Kind::guarded}), nest.forget(outer);
  }

  void to_shared(const tile::Node& n, const Point& p) {
    const SmemTensor& b = nest.kernel.tensors[work.tensor];
    const bool stored_in_smem = n.kind != tile::NodeKind::round && n.kind != tile::NodeKind::store;
    Item item{.kind = Kind::leave};
    Point q = p;
    for (std::size_t d = 0; d < b.shape.size(); ++d)
      if (b.padded[d] > b.shape[d]) {
        q.limit[d] = b.shape[d];
        item.zeros.push_back({static_cast<int>(d), b.shape[d]});
      }
    item.in = {stored_in_smem ? nest.add({.kind = Kind::in_registers, .node = work.node, .vector = q.vector})
                              : values.value(n.in[0], q)};
    const bool ragged = nest.c.row && b.padded[p.inner] % p.vector != 0;
    if (ragged) item.edge = b.padded[p.inner];
    item.width = ragged ? 1 : b.access_width(p.inner, p.vector, p.shift);
    leave(std::move(item));
  }

  void accumulate(const tile::Node& n, const Point& p) {
    Item item{.kind = Kind::leave};
    item.in = {values.value(n.in[0], p)};
    if (n.kind != tile::NodeKind::running_max && work.tensor >= 0) {
      const SmemTensor& b = nest.kernel.tensors[work.tensor];
      item.in.push_back(values.read_buffer(work.tensor, n.shape, p));
      item.width = b.access_width(p.inner, p.vector, p.shift);
    }
    if (graph::rescales(n.op)) item.in.push_back(values.value(n.in[1], narrowed(nest.p, n.in[1], work.node, p)));
    leave(std::move(item));
  }

  void leave(std::vector<int> in) { leave(Item{.kind = Kind::leave, .in = std::move(in)}); }
  void leave(Item item) {
    item.work = &work;
    item.node = work.node, item.buffer = work.tensor;
    nest.add(std::move(item));
  }

  /// Returns the bounds checks that are needed to evaluate `node` at coordinate `p`: one for each dimension in which a
  /// store, or a load directly from global memory, may reach beyond its tensor.
  std::vector<Within> within(int node, const Point& p) const {
    std::set<Within> all;
    nest.p.visit_from({node}, [&](int i) {
      const tile::Node& n = nest.p.nodes[i];
      if (is_in_registers(nest.kernel, work, i)) return false;
      if ((n.kind == tile::NodeKind::load && nest.kernel.in_place(i)) || n.kind == tile::NodeKind::store)
        for (int d = 0; d < n.view.rank(); ++d)
          if (n.view.predicated(d) && !(n.kind == tile::NodeKind::store && starts_inside(nest.p, n, d, p)))
            all.insert(
                {n.view.along(d, nest.p), reach(nest.kernel, n).far(), n.shape[d] == 1 ? TileCoordinate{} : p.at[d]});
      return n.kind == tile::NodeKind::map || n.kind == tile::NodeKind::store;
    });
    return {all.begin(), all.end()};
  }
};

}  // namespace

std::vector<Item> evaluate(const Kernel& kernel, StepSpan steps) {
  Nest nest(kernel, steps);
  for (const Step& step : steps) NestWork{nest, step.work}.run();
  nest.close_guard();
  return nest.take();
}

}  // namespace zellige::kernel
