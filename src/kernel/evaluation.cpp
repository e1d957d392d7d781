#include "kernel/evaluation.hpp"

#include <algorithm>

#include "graph/reductions.hpp"
#include "kernel/carry.hpp"
#include "kernel/index_width.hpp"
#include "kernel/invariance.hpp"
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
};

/// Lowers the steps of one loop nest to a list of instructions (items); see evaluate().
class Nest {
 public:
  Nest(const Kernel& plan, StepSpan steps)
      : plan_(plan), p_(plan.program), c_(plan.layout_of(steps.front().work)), invariance_(plan, steps) {}

  std::vector<Item> run(StepSpan steps) {
    for (const Step& step : steps) {
      work_ = &step.work;
      if (work_->kind == WorkKind::reduce && !c_.row)
        over_lanes();
      else if (c_.row || c_.of)
        in_fragment();
      else
        sink(own());
    }
    close_guard();
    return std::move(items_);
  }

 private:
  Point own() const {
    Point p;
    for (int d = 0; d < c_.rank(); ++d) p.at.push_back(whole(d) ? TileCoordinate{} : TileCoordinate{d});
    p.limit.assign(p.at.size(), 0);
    p.inner = c_.inner(), p.vector = c_.vector();
    return p;
  }

  /// Returns whether the nest has at most one vector along dimension `d`: its coordinate along `d` is always 0.
  bool whole(int d) const {
    for (int axis = 0; axis < c_.axes(); ++axis) {
      if (c_.row && axis < 2) continue;
      const std::vector<Mode> leaves = modes(values::View(c_.tile)[axis]);
      for (std::size_t i = axis == 0 ? 1 : 0; i < leaves.size(); ++i)
        if (leaves[i].basis == d && leaves[i].extent > 1) return false;
    }
    return !c_.row || d + 2 < c_.rank();
  }

  /// Lowers the part of a reduction in which each lane reduces the summands that it has: products of elements of a
  /// matmul's two operands, or elements of the operand of a reduce node.
  void over_lanes() {
    const tile::Node& n = p_.nodes[work_->node];
    Point p = own();
    if (n.kind == tile::NodeKind::matmul) {
      const int rank = static_cast<int>(n.shape.size());
      const TileCoordinate along = p.at.back();
      p.at.pop_back(), p.limit.pop_back();
      p.inner = rank - 1, p.vector = 1;
      std::vector<int> in;
      for (int side = 0; side < 2; ++side) {
        Point q = p;
        q.at[rank - 1 - side] = along;
        for (int d = 0; d + 2 < rank; ++d)  // an operand that all batches share
          if (p_.nodes[n.in[side]].shape[d] != n.shape[d]) q.at[d] = {}, q.limit[d] = 0;
        in.push_back(value(n.in[side], q));
      }
      leave(in);
      return;
    }
    leave_within(n.in[0], n, p, true);
  }

  void in_fragment() {
    const int rank = c_.rank();
    const Shape& bound = written(plan_, *work_);
    Point p = own();
    // Warps without tiles would read beyond the tile: clamps their rows, too.
    if (c_.row && bound != c_.domain && c_.domain[rank - 2] % c_.row->m != 0) p.limit[rank - 2] = c_.domain[rank - 2];
    if (c_.domain[rank - 1] % p.vector != 0 || bound[rank - 1] != c_.domain[rank - 1])
      p.limit[rank - 1] = c_.domain[rank - 1];
    guard(kernel::guards(plan_, *work_), {});
    sink(p);
  }

  void sink(const Point& p) {
    const tile::Node& n = p_.nodes[work_->node];
    if (!c_.row && !c_.replicated() && work_->kind != WorkKind::to_global) guard({}, {});
    switch (work_->kind) {
      case WorkKind::to_shared:
        return to_shared(n, p);
      case WorkKind::to_global:
        return leave_within(work_->node, n, p, c_.row != nullptr);
      case WorkKind::accumulate:
        return accumulate(n, p);
      case WorkKind::to_lines:
      case WorkKind::to_registers:
        return leave({value(work_->node, p)});
      case WorkKind::rescale:
        return leave({value(rescaled_by(n), narrowed(rescaled_by(n), work_->node, p))});
      default:
        leave({value(n.in[0], p)});
    }
  }

  /// Leaves the operand of `n` within the bounds checks that `checked` needs: if `scoped`, they end with it.
  void leave_within(int checked, const tile::Node& n, const Point& p, bool scoped) {
    const std::vector<Within> edge = within(checked, p);
    const std::size_t outer = order_.size();
    if (scoped)
      open({}, edge);
    else
      guard({}, edge);
    within_end_ = true;
    leave({value(n.in[0], p)});
    within_end_ = false;
    if (scoped && !edge.empty()) add(Kind::guarded), forget(outer);
  }

  void to_shared(const tile::Node& n, const Point& p) {
    const SmemTensor& b = plan_.tensors[work_->buffer];
    const bool stored_in_smem = n.kind != tile::NodeKind::round && n.kind != tile::NodeKind::store;
    Item item{.kind = Kind::leave};
    Point q = p;
    for (std::size_t d = 0; d < b.shape.size(); ++d)
      if (b.padded[d] > b.shape[d]) {
        q.limit[d] = b.shape[d];
        item.zeros.push_back({static_cast<int>(d), b.shape[d]});
      }
    item.in = {stored_in_smem ? in_registers(work_->node, q) : value(n.in[0], q)};
    const bool ragged = c_.row && b.padded[p.inner] % p.vector != 0;
    if (ragged) item.edge = b.padded[p.inner];
    item.width = ragged ? 1 : b.access_width(p.inner, p.vector, p.shift);
    leave(std::move(item));
  }

  void accumulate(const tile::Node& n, const Point& p) {
    Item item{.kind = Kind::leave};
    item.in = {value(n.in[0], p)};
    if (n.kind != tile::NodeKind::running_max && work_->buffer >= 0) {
      const SmemTensor& b = plan_.tensors[work_->buffer];
      item.in.push_back(read_buffer(work_->buffer, n.shape, p));
      item.width = b.access_width(p.inner, p.vector, p.shift);
    }
    if (graph::rescales(n.op)) item.in.push_back(value(n.in[1], narrowed(n.in[1], work_->node, p)));
    leave(std::move(item));
  }

  void leave(std::vector<int> in) { leave(Item{.kind = Kind::leave, .in = std::move(in)}); }
  void leave(Item item) {
    item.work = work_;
    item.node = work_->node, item.buffer = work_->buffer;
    add(std::move(item));
  }

  int add(Item item) {
    // A branch's operands may be out of bounds if another branch is taken, so they are not hoisted from it.
    item.invariant = open_parts_ == 0 && invariance_(item, items_);
    open_parts_ += (item.kind == Kind::part) - (item.kind == Kind::take);
    items_.push_back(std::move(item));
    return static_cast<int>(items_.size()) - 1;
  }
  int add(Kind kind) { return add(Item{.kind = kind}); }
  /// Adds an item that opens the bounds checks `guards` and `within`: the items after it are evaluated only within the
  /// bounds. Adds nothing if both lists are empty.
  void open(const std::vector<Guard>& guards, const std::vector<Within>& within) {
    if (guards.empty() && within.empty()) return;
    add(Item{.kind = Kind::guard, .guards = guards, .within = within});
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
    add(Kind::guarded), forget(guarded_);
    guards_.clear(), within_.clear();
  }

  /// Returns whether every vector of the store `n` along dimension `d` begins inside its tensor, whose end may part the last
  /// one: of columns 0 to 127 in pairs, of which 127 are the tensor's, the last pair begins at 126. Slices may begin before
  /// their tensor.
  bool starts_inside(const tile::Node& n, int d, const Point& p) const {
    const tile::Interval here = n.view.along(d, p_);
    if (d != p.inner || here.size() >= 0 || here.of_part() || here.origin() < 0) return false;
    return n.shape[d] % p.vector == 0 &&
           here.reach() - here.origin() <= tile::ceil_div(here.end() - here.origin(), p.vector) * p.vector;
  }

  /// Returns the bounds checks that are needed to evaluate `node` at coordinate `p`: one for each dimension in which a
  /// store, or a load directly from global memory, may reach beyond its tensor.
  std::vector<Within> within(int node, const Point& p) const {
    std::set<Within> all;
    std::set<int> seen;
    std::vector<int> open{node};
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      if (!seen.insert(i).second) continue;
      const tile::Node& n = p_.nodes[i];
      if (is_in_registers(i)) continue;
      if ((n.kind == tile::NodeKind::load && direct(i)) || n.kind == tile::NodeKind::store)
        for (int d = 0; d < n.view.rank(); ++d)
          if (n.view.predicated(d) && !(n.kind == tile::NodeKind::store && starts_inside(n, d, p)))
            all.insert({n.view.along(d, p_), reach(plan_, n).far(), n.shape[d] == 1 ? TileCoordinate{} : p.at[d]});
      if (n.kind == tile::NodeKind::map || n.kind == tile::NodeKind::store)
        open.insert(open.end(), n.in.begin(), n.in.end());
    }
    return {all.begin(), all.end()};
  }

  bool direct(int node) const { return plan_.in_place(node) != nullptr; }

  /// Returns whether an earlier work than this one left the value of load or map `node` in registers.
  bool is_in_registers(int node) const {
    const tile::NodeKind kind = p_.nodes[node].kind;
    return (kind == tile::NodeKind::map || kind == tile::NodeKind::load) && work_->node != node &&
           plan_.rmem_of(node) >= 0;
  }

  /// Forgets the values that were computed inside a bounds check or branch that closes, so that no later item uses
  /// them. `mark` is what order_.size() was when the check or branch opened.
  void forget(std::size_t mark) {
    for (; order_.size() > mark; order_.pop_back()) known_.erase(order_.back());
  }

  /// Returns the coordinate (Point) at which `node`, evaluated at coordinate `p`, reads its operand node `operand`. The
  /// result is 0 in each dimension in which the operand is broadcast: it has extent 1, and `node` a larger one.
  Point narrowed(int operand, int node, const Point& p) const {
    const Shape &from = p_.nodes[operand].shape, &to = p_.nodes[node].shape;
    Point q = p;
    q.own = kernel::narrowed(p.own, from, to);
    for (std::size_t d = 0; d < q.at.size(); ++d) {
      if (from[d] == to[d]) continue;
      q.at[d] = {}, q.limit[d] = 0;
      if (static_cast<int>(d) == q.inner) q.vector = 1, q.shift = 0;
    }
    return q;
  }

  int value(int node, const Point& p) {
    const tile::Node& n = p_.nodes[node];
    Key key{node, p.at, p.limit, p.vector};
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    int result = -1;
    if (n.kind == tile::NodeKind::map && !is_in_registers(node)) {
      Item item{.kind = Kind::apply, .node = node, .vector = p.vector};
      for (int in : n.in) item.in.push_back(value(in, narrowed(in, node, p)));
      if (n.op == graph::OpKind::mask) item.pieces.push_back(p.at);
      result = add(std::move(item));
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
    } else {
      result = leaf(node, p);
    }
    const auto at = known_.emplace(std::move(key), result).first;
    if (!items_[result].invariant) order_.push_back(at);
    return result;
  }

  /// Adds a branch of the concatenation `choose`; value() adds the items of the branch and returns that of its value.
  template <class Value>
  void branch(int choose, const ConcatPart& part, int vector, const Value& value) {
    const std::size_t before = order_.size();
    add(Item{.kind = Kind::part, .vector = vector, .part = part});
    const int taken = value();
    add(Item{.kind = Kind::take, .in = {choose, taken}, .vector = vector, .part = part});
    forget(before);
  }

  int concat(const tile::Node& n, const Point& p) {
    // Elements of a vector along the concatenated dimension may be in different branches: each has its own.
    bool scalar = n.dim == p.inner && p.vector > 1 && (p.shift % p.vector != 0 || p.limit[n.dim] > 0);
    std::int64_t start = 0;
    if (n.dim == p.inner)
      for (int in : n.in) scalar = scalar || start % p.vector != 0, start += p_.nodes[in].shape[n.dim];
    const int node = static_cast<int>(&n - p_.nodes.data());
    const int choose = add(Item{.kind = Kind::choose, .node = node, .vector = p.vector});
    for (int v = 0; v < (scalar ? p.vector : 1); ++v) {
      Point at = p;
      if (scalar) at.at[p.inner] = at.at[p.inner].moved(v), at.vector = 1, at.shift = 0;
      if (p.limit[n.dim] > 0) at.at[n.dim] = at.at[n.dim].clamped(p.limit[n.dim] - 1), at.limit[n.dim] = 0;
      std::int64_t from = 0;
      for (std::size_t i = 0; i < n.in.size(); ++i) {
        const std::int64_t extent = p_.nodes[n.in[i]].shape[n.dim];
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
    const tile::Node& n = p_.nodes[node];
    Point q = narrowed(n.in[which], node, p);
    q.own = which == 0 ? kernel::rotated(p.own, n, along == itself) : At::elsewhere, q.limit[n.dim] = 0;
    q.at[n.dim] = p.limit[n.dim] > 0 ? p.at[n.dim].clamped(p.limit[n.dim] - 1) : p.at[n.dim];
    q.at[n.dim].layout = along;
    if (n.dim == p.inner) q.vector = vector, q.shift = along == number_of_pair ? p.shift / 2 : p.shift;
    return value(n.in[which], q);
  }

  int rotate(int node, const Point& p) {
    const tile::Node& n = p_.nodes[node];
    const std::int64_t extent = n.shape[n.dim];
    const bool by_element = p_.nodes[n.in[1]].shape[n.dim] == extent;  // a cosine per element, not per pair
    const PairLayout& table = by_element ? itself : number_of_pair;
    const auto one = [&](const Point& q) {
      std::vector<int> in{rotated(node, 0, q, itself, 1), rotated(node, 0, q, neighbour_in_pair, 1),
                          rotated(node, 1, q, table, 1), rotated(node, 2, q, table, 1)};
      return add(Item{.kind = Kind::apply, .node = node, .in = std::move(in), .vector = q.vector, .pieces = {q.at}});
    };
    if (n.dim != p.inner || p.vector == 1) return one(p);
    if (p.vector % 2 == 0 && p.shift % p.vector == 0 && p.limit[n.dim] == 0 && extent % p.vector == 0) {
      const int tables = by_element ? p.vector : p.vector / 2;
      std::vector<int> in{rotated(node, 0, p, itself, p.vector), rotated(node, 1, p, table, tables),
                          rotated(node, 2, p, table, tables)};
      return add(Item{.kind = Kind::apply, .node = node, .in = std::move(in), .vector = p.vector});
    }
    const int choose = add(Item{.kind = Kind::choose, .node = node, .vector = p.vector});
    for (int v = 0; v < p.vector; ++v) {  // each element separately
      Point q = p;
      q.at[n.dim] = q.at[n.dim].moved(v), q.vector = 1, q.shift = 0;
      branch(choose, {v, q.at[n.dim], extent, true, true}, 1, [&] { return one(q); });
    }
    return choose;
  }

  int in_registers(int node, const Point& p, bool other = false) {
    return add(Item{.kind = Kind::in_registers, .node = node, .other = other, .vector = p.vector});
  }
  int leaf(int node, const Point& p) {
    const tile::Node& n = p_.nodes[node];
    if (direct(node) && !is_in_registers(node)) {
      Item item{.kind = Kind::read_global, .node = node};
      const bool several = p.vector > 1 && n.shape[p.inner] > 1;
      // A bounds check tests only the first element of a vector.
      item.zeros_out_of_bounds =
          (!within_end_ || (several && n.view.straddles_end(p.inner, p.vector))) && n.view.predicated();
      int width = 1;
      if (several && p.limit[p.inner] == 0) {
        width = std::min(p.vector, plan_.in_place(node)->vector);
        while (p.shift % width != 0 || n.view.straddles_end(p.inner, width)) width /= 2;
      }
      return read(std::move(item), n.shape, p, 1, width);
    }
    const int evaluated = plan_.rmem_of(node);
    if (evaluated >= 0 && n.kind != tile::NodeKind::round && complete(node)) {
      const bool pair = p.own == At::pair && whole_pairs(c_);
      if (evaluated == work_->context && (p.own == At::own || pair) && n.shape == c_.domain)
        return in_registers(node, p, pair);
      if ((p.own == At::own || p.own == At::row) && lines_of(plan_.rmem[evaluated].layout, c_))
        return add(Item{.kind = Kind::in_lines, .node = node});
    }
    return read_buffer(plan_.tensor_of(node), n.shape, p);
  }

  /// Returns whether the value of `node` is complete where the work is done.
  bool complete(int node) {
    if (!sections_) sections_.emplace(p_);
    return sections_->complete(node) == section_of(*work_, *sections_);
  }

  int read_buffer(int buffer, const Shape& shape, const Point& p) {
    if (buffer < 0)
      reject("{}: '{} %{}' reads a value that lies neither in its registers nor in shared memory", p_.name,
             name(work_->kind), work_->node);
    const bool vector = p.vector > 1 && shape[p.inner] > 1;
    const int width =
        vector && p.limit[p.inner] == 0 ? plan_.tensors[buffer].access_width(p.inner, p.vector, p.shift) : 1;
    return read({.kind = Kind::read_shared, .buffer = buffer}, shape, p, width, width);
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
    return add(std::move(item));
  }

  /// Identifies a computed value: its node, and the coordinates and vector for which it was requested.
  struct Key {
    int node;
    std::vector<TileCoordinate> at;
    std::vector<std::int64_t> limit;
    int vector;
    auto operator<=>(const Key&) const = default;
  };

  const Kernel& plan_;
  const tile::TileProgram& p_;
  const Context& c_;
  const Work* work_ = nullptr;
  std::vector<Item> items_;
  std::map<Key, int> known_;                         // values computed in the open scopes, with their items
  std::vector<std::map<Key, int>::iterator> order_;  // as computed; a scope that closes removes its values
  Invariance invariance_;
  std::optional<tile::Sections> sections_;  // when first needed
  int open_parts_ = 0;
  std::vector<Guard> guards_;  // bounds checks that are open
  std::vector<Within> within_;
  bool within_end_ = false;  // an open bounds check excludes out-of-bounds elements
  std::size_t guarded_ = 0;  // size of `order_` when they were opened
};

}  // namespace

std::vector<Item> evaluate(const Kernel& plan, StepSpan steps) { return Nest(plan, steps).run(steps); }

}  // namespace zellige::kernel
