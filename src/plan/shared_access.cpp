#include "plan/shared_access.hpp"

#include <algorithm>

namespace zellige::plan {

int access_width(const Buffer& b, int inner, int vector, std::int64_t shift) {
  if (b.inner != inner || b.padded[inner] == 1) return 1;
  const auto fits = [&](int w) {
    for (int d = 0; d < static_cast<int>(b.strides.size()); ++d)
      if (d != inner && b.padded[d] > 1 && b.strides[d] % w != 0) return false;
    if (b.partials > 1 && b.partial_stride % w != 0) return false;
    if (b.stages > 1 && b.stage_stride % w != 0) return false;
    if (b.swizzle.B > 0 && (1 << b.swizzle.M) < w) return false;
    return shift % w == 0 && (b.padded[inner] % w == 0 || b.padded[inner] >= vector);
  };
  int width = std::min(vector, 16 / graph::bytes(b.dtype));
  while (width > 1 && !fits(width)) width /= 2;
  return width;
}

const Shape& written(const KernelPlan& plan, const Task& t) {
  const bool operand = t.kind == TaskKind::to_shared && plan.program.nodes[t.node].kind == NodeKind::round;
  return operand ? plan.buffers[t.buffer].padded : plan.contexts[t.context].domain;
}

std::vector<Guard> guards(const KernelPlan& plan, const Task& t) {
  const Context& c = plan.contexts[t.context];
  const Shape& bound = written(plan, t);
  const std::size_t rank = bound.size();
  std::vector<Guard> result;
  const auto need = [&](int axis, std::int64_t below) {
    if (c.items(axis) > below) result.push_back({axis, below});
  };
  need(2, graph::size(Shape(c.domain.begin(), c.domain.end() - 2)));
  need(1, bound[rank - 2]);
  // Accumulators past the tile may land in the padding between its rows.
  bool room = false;
  if (t.kind == TaskKind::to_shared && plan.program.nodes[t.node].kind == NodeKind::matmul) {
    const Buffer& b = plan.buffers[t.buffer];
    room = b.inner == static_cast<int>(rank) - 1 && b.swizzle.B == 0 &&
           b.padded[rank - 1] % c.vector() == 0 && b.strides[rank - 2] >= c.items(0);
  }
  if (!room) need(0, bound[rank - 1]);
  return result;
}

namespace {

Place moved(Place p, std::int64_t by) {
  (p.last < 0 ? p.offset : p.behind) += by;
  return p;
}
Place at_most(Place p, std::int64_t last) {
  if (p.from < 0) return {-1, std::min(p.offset, last)};
  p.last = last;
  return p;
}

/// The coordinate at which the nest evaluates: emit's Point, in places.
struct Point {
  std::vector<Place> at;
  std::vector<std::int64_t> limit;
  int inner = 0, vector = 1;
  std::int64_t shift = 0;
  bool own = true;
};

class Nest {
 public:
  Nest(const KernelPlan& plan, const Context& c) : plan_(plan), p_(plan.program), c_(c) {}

  std::optional<std::vector<SharedAccess>> run(const std::vector<int>& tasks) {
    for (int t : tasks) {
      task_ = &plan_.tasks[t];
      const Node& n = p_.nodes[task_->node];
      if (task_->kind == TaskKind::reduce && n.kind == NodeKind::matmul)
        product(n);
      else if (c_.row)
        in_fragment();
      else
        sink(own());
    }
    if (past_edge_) return {};
    return std::move(accesses_);
  }

 private:
  Point own() const {
    Point p;
    for (int d = 0; d < c_.rank(); ++d) p.at.push_back(whole(d) ? Place{} : Place{d});
    p.limit.assign(p.at.size(), 0);
    p.inner = c_.inner(), p.vector = c_.vector();
    return p;
  }

  /// Whether the nest has one chunk along a dimension: its coordinate is 0.
  bool whole(int d) const {
    for (int axis = 0; axis < c_.axes(); ++axis) {
      if (c_.row && axis < 2) continue;
      const std::vector<Mode> leaves = modes(values::View(c_.tile)[axis]);
      for (std::size_t i = axis == 0 ? 1 : 0; i < leaves.size(); ++i)
        if (leaves[i].basis == d && leaves[i].extent > 1) return false;
    }
    return !c_.row || d + 2 < c_.rank();
  }

  void product(const Node& n) {
    const int rank = static_cast<int>(n.shape.size());
    const Point whole = own();
    for (int side = 0; side < 2; ++side) {
      Point p = whole;
      p.at.pop_back(), p.limit.pop_back();
      p.at[rank - 1 - side] = whole.at.back();
      p.inner = rank - 1, p.vector = 1;
      value(n.in[side], p);
    }
  }

  void in_fragment() {
    const int rank = c_.rank();
    const Shape& bound = written(plan_, *task_);
    const bool padded = bound != c_.domain;
    Point p = own();
    if (padded && c_.domain[rank - 2] % c_.row->m != 0) p.limit[rank - 2] = c_.domain[rank - 2];
    if (c_.domain[rank - 1] % p.vector != 0 || bound[rank - 1] != c_.domain[rank - 1])
      p.limit[rank - 1] = c_.domain[rank - 1];
    std::vector<Branch> needed;
    for (const Guard& g : guards(plan_, *task_))
      needed.push_back(g.axis == 2 ? Branch{{0}, c_.domain[0]} : Branch{{rank - 1 - g.axis}, g.below});
    const auto same = [](const Branch& a, const Branch& b) { return a.at == b.at && a.below == b.below; };
    if (!std::equal(needed.begin(), needed.end(), where_.begin(), where_.end(), same)) {
      if (!where_.empty()) forget(guarded_);
      guarded_ = order_.size();
      where_ = needed;
    }
    sink(p);
  }

  void sink(const Point& p) {
    const Node& n = p_.nodes[task_->node];
    switch (task_->kind) {
      case TaskKind::to_shared:
        return to_shared(n, p);
      case TaskKind::to_global:
      case TaskKind::reduce: {
        const std::size_t outer = order_.size(), before = accesses_.size();
        const bool conditional = overhangs(task_->node);
        value(n.in[0], p);
        if (!conditional) return;
        past_edge_ = past_edge_ || accesses_.size() > before;
        if (task_->kind == TaskKind::to_global) forget(outer);
        return;
      }
      case TaskKind::accumulate:
        return accumulate(n, p);
      default:
        return value(n.in[0], p);
    }
  }

  void to_shared(const Node& n, const Point& p) {
    const Buffer& b = plan_.buffers[task_->buffer];
    const bool spilled = n.kind != NodeKind::round && n.kind != NodeKind::store;
    Point q = p;
    for (std::size_t d = 0; d < b.shape.size(); ++d)
      if (b.padded[d] > b.shape[d]) q.limit[d] = b.shape[d];
    if (!spilled) value(n.in[0], q);
    const bool ragged = c_.row && b.padded[p.inner] % p.vector != 0;
    write(b, p, ragged || b.inner != p.inner ? 1 : access_width(b, p.inner, p.vector, p.shift),
          ragged ? b.padded[p.inner] : 0);
  }

  void accumulate(const Node& n, const Point& p) {
    value(n.in[0], p);
    if (n.kind == NodeKind::running_max) return;
    if (task_->buffer >= 0) read_buffer(plan_.buffers[task_->buffer], n.shape, p);
    if (n.op == OpKind::accum_rescale) value(n.in[1], narrowed(n.in[1], task_->node, p));
    if (task_->buffer < 0) return;
    const Buffer& b = plan_.buffers[task_->buffer];
    write(b, p, access_width(b, p.inner, p.vector, p.shift), 0);
  }

  void write(const Buffer& b, const Point& p, int width, std::int64_t below) {
    for (int v = 0; v < p.vector; v += width) {
      SharedAccess a = access(b, false, width, b.partials > 1 ? own_part : 0, p.at);
      a.at[p.inner] = moved(a.at[p.inner], v);
      if (below > 0) a.where.push_back({a.at[p.inner], below});
      accesses_.push_back(std::move(a));
    }
  }

  SharedAccess access(const Buffer& b, bool load, int width, int part, std::vector<Place> at) const {
    return {static_cast<int>(&b - plan_.buffers.data()),
            load,
            width * graph::bytes(b.dtype),
            part,
            std::move(at),
            where_};
  }

  void forget(std::size_t mark) {
    for (; order_.size() > mark; order_.pop_back()) known_.erase(order_.back());
  }

  /// Whether what a node evaluates in place lies past some tensor's edge in a last tile.
  bool overhangs(int node) const {
    std::set<int> seen;
    std::vector<int> open{node};
    if (task_->kind == TaskKind::reduce) open = p_.nodes[node].in;
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      if (!seen.insert(i).second) continue;
      const Node& n = p_.nodes[i];
      if (direct(i) || n.kind == NodeKind::store)
        for (const Split& s : n.splits)
          if (s.overhang) return true;
      if (n.kind == NodeKind::map || n.kind == NodeKind::store)
        open.insert(open.end(), n.in.begin(), n.in.end());
    }
    return false;
  }

  bool direct(int node) const {
    const auto d = plan_.direct.find(node);
    return d != plan_.direct.end() && d->second;
  }

  Point narrowed(int operand, int node, const Point& p) const {
    const Shape &from = p_.nodes[operand].shape, &to = p_.nodes[node].shape;
    Point q = p;
    for (std::size_t d = 0; d < q.at.size(); ++d) {
      if (from[d] == to[d]) continue;
      q.at[d] = {}, q.limit[d] = 0, q.own = false;
      if (static_cast<int>(d) == q.inner) q.vector = 1, q.shift = 0;
    }
    return q;
  }

  void value(int node, const Point& p) {
    const Node& n = p_.nodes[node];
    Key key{node, p.at, p.limit, p.vector};
    if (known_.contains(key)) return;
    if (n.kind == NodeKind::map) {
      for (int in : n.in) value(in, narrowed(in, node, p));
    } else if (n.kind == NodeKind::slice) {
      Point q = p;
      q.at[n.dim] = moved(q.at[n.dim], n.start);
      if (q.limit[n.dim] > 0) q.limit[n.dim] += n.start;
      if (n.dim == q.inner) q.shift += n.start;
      q.own = false;
      value(n.in[0], q);
    } else if (n.kind == NodeKind::rotate) {  // at halved coordinates, which no place says
      const std::size_t before = accesses_.size();
      Point q = p;
      q.own = false;
      for (int in : n.in) value(in, narrowed(in, node, q));
      past_edge_ = past_edge_ || accesses_.size() > before;
    } else if (n.kind == NodeKind::concat) {
      concat(n, p);
    } else {
      leaf(node, p);
    }
    order_.push_back(known_.insert(std::move(key)).first);
  }

  void concat(const Node& n, const Point& p) {
    bool apart = n.dim == p.inner && p.vector > 1 && (p.shift % p.vector != 0 || p.limit[n.dim] > 0);
    std::int64_t start = 0;
    if (n.dim == p.inner)
      for (int in : n.in) apart = apart || start % p.vector != 0, start += p_.nodes[in].shape[n.dim];
    const std::size_t before = order_.size(), branches = where_.size();
    for (int v = 0; v < (apart ? p.vector : 1); ++v) {
      Point at = p;
      if (apart) at.at[p.inner] = moved(at.at[p.inner], v), at.vector = 1, at.shift = 0;
      if (p.limit[n.dim] > 0) at.at[n.dim] = at_most(at.at[n.dim], p.limit[n.dim] - 1), at.limit[n.dim] = 0;
      std::int64_t from = 0;
      for (std::size_t i = 0; i < n.in.size(); ++i) {
        const std::int64_t extent = p_.nodes[n.in[i]].shape[n.dim];
        Point q = at;
        if (n.dim == q.inner) q.shift -= from;
        q.own = false;
        q.at[n.dim] = moved(at.at[n.dim], -from);
        where_.push_back({at.at[n.dim], from + extent, true});
        if (i + 1 == n.in.size()) where_.pop_back();
        value(n.in[i], q);
        forget(before);
        if (i + 1 < n.in.size()) where_.back().holds = false;
        from += extent;
      }
      where_.resize(branches);
    }
  }

  void leaf(int node, const Point& p) {
    const Node& n = p_.nodes[node];
    if (direct(node)) return;
    if (const auto c = plan_.context_of.find(node);
        c != plan_.context_of.end() && c->second == task_->context && p.own && n.kind != NodeKind::round &&
        n.shape == c_.domain &&
        (n.carried || n.kind == NodeKind::accumulate ? Section::after : n.section) == task_->section)
      return;
    read_buffer(plan_.buffers[plan_.buffer_of.at(node)], n.shape, p);
  }

  void read_buffer(const Buffer& b, const Shape& shape, const Point& p) {
    const bool vector = p.vector > 1 && shape[p.inner] > 1;
    const int width = vector && p.limit[p.inner] == 0 ? access_width(b, p.inner, p.vector, p.shift) : 1;
    for (int v = 0; v < (vector ? p.vector : 1); v += width) {
      std::vector<Place> at = p.at;
      at[p.inner] = moved(at[p.inner], v);
      for (std::size_t d = 0; d < shape.size(); ++d)
        at[d] = shape[d] == 1 ? Place{} : p.limit[d] > 0 ? at_most(at[d], p.limit[d] - 1) : at[d];
      for (int part = 0; part < b.partials; ++part) accesses_.push_back(access(b, true, width, part, at));
    }
  }

  /// A value is known by its node and where it was asked for.
  struct Key {
    int node;
    std::vector<Place> at;
    std::vector<std::int64_t> limit;
    int vector;
    auto operator<=>(const Key&) const = default;
  };

  const KernelPlan& plan_;
  const BlockProgram& p_;
  const Context& c_;
  const Task* task_ = nullptr;
  std::vector<SharedAccess> accesses_;
  std::set<Key> known_;
  std::vector<std::set<Key>::iterator> order_;
  std::vector<Branch> where_;  // that hold where the evaluation stands
  std::size_t guarded_ = 0;
  bool past_edge_ = false;
};

}  // namespace

std::optional<std::vector<SharedAccess>> nest_accesses(const KernelPlan& plan,
                                                       const std::vector<int>& tasks) {
  return Nest(plan, plan.contexts[plan.tasks[tasks.front()].context]).run(tasks);
}

}  // namespace zellige::plan
