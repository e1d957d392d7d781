#include <algorithm>

#include "graph/elementwise.hpp"
#include "graph/reductions.hpp"
#include "verify/proofs.hpp"
#include "verify/rejected.hpp"

namespace zellige::verify {
namespace {

/// Throws Rejected unless the load `n` has rows of pages, of which `numbers` names all that its view sees.
void check_pages(const TileProgram& p, const Node& n, const Node& numbers) {
  if (n.kind != NodeKind::load || n.page < 1 || n.page_step < n.page || n.to != 1)
    reject(p,
           "{} reads pages of {} rows, which begin every {} rows: loads read pages of 1 row or more, none in another",
           n.name, n.page, n.page_step);
  for (int d = 0; d < static_cast<int>(numbers.shape.size()); ++d)
    if (numbers.shape[d] != 1 && d != n.dim)
      reject(p, "{} reads pages of one sequence, and {} numbers those of {} along dimension {}", n.name, numbers.name,
             numbers.shape[d], d);
  if (n.view.origin(n.dim) != 0 || !numbers.view.fixed(n.dim) || n.view.end(n.dim) > numbers.shape[n.dim] * n.page)
    reject(p, "{} reads rows {} to {} of a sequence, and {} numbers {} pages of {} rows", n.name, n.view.origin(n.dim),
           n.view.end(n.dim), numbers.name, numbers.shape[n.dim], n.page);
}

/// Rejects an elementwise operator of f64 and of another type, unless it is a cast.
void check_float64(const TileProgram& p, std::size_t node) {
  const Node& n = p.nodes[node];
  if (n.kind != NodeKind::map || n.op == graph::OpKind::cast || n.op == graph::OpKind::mask) return;
  for (const int in : n.in)
    if ((n.dtype == graph::DType::f64) != (p.nodes[in].dtype == graph::DType::f64))
      reject(p, "%{} is {} in {}; its operand %{} is {}", node, graph::name(n.op), graph::name(n.dtype), in,
             graph::name(p.nodes[in].dtype));
}

/// Proves the shape and type of one node.
class Typed {
 public:
  Typed(const TileProgram& p, std::size_t node) : p_(p), i_(node), n_(p.nodes[node]) {}

  void check() const {
    const bool lies = tile::accesses(n_) || n_.kind == NodeKind::round;
    if (!lies && n_.dtype != tile::kept_in(n_.dtype))
      reject(p_, "%{} is {}; a value in registers is f32, f64, int32 or int64", i_, graph::name(n_.dtype));
    if (n_.kind != NodeKind::matmul && n_.window) reject(p_, "%{} reads a window, which matmuls alone do", i_);
    if (n_.kind != NodeKind::matmul && n_.kind != NodeKind::reduce && n_.carried)
      reject(p_, "%{} is carried; matmuls and sums are", i_);
    for (const int in : n_.in)
      if (p_.nodes[in].kind == NodeKind::store) reject(p_, "%{} reads %{}, which is a store", i_, in);
    kind();
  }

 private:
  const Node& in(std::size_t k) const { return p_.nodes[n_.in[k]]; }
  int rank() const { return static_cast<int>(n_.shape.size()); }

  void shape_is(const Shape& right) const {
    if (n_.shape != right)
      reject(p_, "%{} is a tile of {}; its operands make one of {}", i_, to_string(n_.shape), to_string(right));
  }
  /// Rejects an operand whose shape is not the node's, except for dimensions of extent 1.
  void broadcasts(std::size_t k) const {
    const Shape& from = in(k).shape;
    bool fits = from.size() == n_.shape.size();
    for (std::size_t d = 0; fits && d < from.size(); ++d) fits = from[d] == n_.shape[d] || from[d] == 1;
    if (!fits)
      reject(p_, "%{} is a tile of {}, and its operand %{} one of {}", i_, to_string(n_.shape), n_.in[k],
             to_string(from));
  }
  void dim_exists() const {
    if (n_.dim >= rank()) reject(p_, "%{} is along dimension {} of {}", i_, n_.dim, rank());
  }
  const graph::ReductionRow& reduction() const {
    const graph::ReductionRow* of = graph::reduction_of(n_.op);
    if (!of) reject(p_, "%{} joins elements by an operator that joins none", i_);
    return *of;
  }

  void kind() const {
    // Others compute with integers if their operand number 0 is integer, and only then.
    const bool like_operand = n_.kind != NodeKind::load && n_.kind != NodeKind::store && n_.kind != NodeKind::map &&
                              n_.kind != NodeKind::round && !n_.in.empty();
    if (like_operand && tile::kept_in(n_.dtype) != tile::kept_in(in(0).dtype))
      reject(p_, "%{} is {}, and its operand %{} {}", i_, graph::name(n_.dtype), n_.in[0], graph::name(in(0).dtype));
    switch (n_.kind) {
      case NodeKind::load:
        return numbered(0);
      case NodeKind::store:
        shape_is(in(0).shape);
        return numbered(1);
      case NodeKind::map:
        return map();
      case NodeKind::round:
      case NodeKind::running_max:
        return shape_is(in(0).shape);
      case NodeKind::running_diff:
        if (in(0).kind != NodeKind::running_max)
          reject(p_, "%{} is the difference of %{}, which is no running_max", i_, n_.in[0]);
        return shape_is(in(0).shape);
      case NodeKind::matmul:
        return matmul();
      case NodeKind::reduce:
        return reduce();
      case NodeKind::accumulate:
        return accumulate();
      default:
        return rearranged();
    }
  }

  /// The operand number `at`, if there is one, says where the tile begins along a dimension.
  void numbered(std::size_t at) const {
    if (n_.in.size() <= at) return;
    dim_exists();
    if (in(at).kind != NodeKind::load || !graph::is_integer(in(at).dtype))
      reject(p_, "%{} begins where %{} says, which is no load of integers", i_, n_.in[at]);
    if (n_.to < 1) reject(p_, "%{} has {} elements from a number on", i_, n_.to);
    if (n_.page != 0 || n_.page_step != 0) check_pages(p_, n_, in(at));
  }

  void map() const {
    for (std::size_t k = 0; k < n_.in.size(); ++k) broadcasts(k);
    if (n_.op == graph::OpKind::mask) {
      if (n_.view.empty() || n_.dim == n_.key || n_.dim >= rank() || n_.key >= rank())
        reject(p_, "%{} masks by the index along dimensions {} and {} of {}, and has a view of each", i_, n_.dim,
               n_.key, rank());
      for (int d = 0; d < rank(); ++d)
        if (n_.view.tile(d) != n_.shape[d])
          reject(p_, "%{} masks a tile of {} along dimension {}, and its view has {}", i_, n_.shape[d], d,
                 n_.view.tile(d));
      return;
    }
    if (!graph::is_elementwise(n_.op)) reject(p_, "%{} is a map by an operator that is not elementwise", i_);
    const graph::Elementwise& of = graph::elementwise(n_.op);
    const auto max_operands = static_cast<std::size_t>(of.operands), given = n_.in.size();
    if (given != max_operands && !(of.scalar && given + 1 == max_operands))
      reject(p_, "%{} is {} of {} operands; it takes {}", i_, of.name, given, max_operands);
    if (graph::is_integer(n_.dtype) && n_.op != graph::OpKind::cast)
      for (std::size_t k = 0; k < given; ++k)
        if (!graph::is_integer(in(k).dtype) || of.integers.empty())
          reject(p_, "%{} is {} of integers; its operand %{} is {}", i_, of.name, n_.in[k], graph::name(in(k).dtype));
  }

  void matmul() const {
    const Shape &a = in(0).shape, &b = in(1).shape;
    const auto r = n_.shape.size();
    if (r < 2 || a.size() != r || b.size() != r)
      reject(p_, "%{} multiplies tiles of other ranks than its own, {}", i_, r);
    const std::int64_t iterations = n_.window ? p_.loop : 1;
    if (a[r - 2] != n_.shape[r - 2] || b[r - 1] != n_.shape[r - 1] || a[r - 1] != b[r - 2] * iterations)
      reject(p_, "%{} is {}, the product of {} and {}", i_, to_string(n_.shape), to_string(a), to_string(b));
    for (std::size_t d = 0; d + 2 < r; ++d)
      if ((a[d] != n_.shape[d] && a[d] != 1) || (b[d] != n_.shape[d] && b[d] != 1))
        reject(p_, "%{} is {}, the product of {} and {}", i_, to_string(n_.shape), to_string(a), to_string(b));
    if (n_.in.size() < 3) return;
    Shape row = n_.shape;
    row.back() = 1;
    if (in(2).shape != row || !n_.carried)
      reject(p_, "%{} multiplies its sums by %{}, which has not one number a row", i_, n_.in[2]);
  }

  void reduce() const {
    reduction();
    dim_exists();
    Shape right = in(0).shape;
    const auto d = static_cast<std::size_t>(n_.dim);
    if (right.size() != n_.shape.size() || n_.to < 1 || right[d] % n_.to != 0)
      reject(p_, "%{} adds up elements {} apart along dimension {} of {}", i_, n_.to, d, to_string(right));
    right[d] = n_.to;
    shape_is(right);
  }

  void accumulate() const {
    const graph::ReductionRow& of = reduction();
    if (n_.in.empty()) {
      if (p_.needed()[i_]) reject(p_, "%{} accumulates nothing, and is read", i_);
      return;
    }
    if (n_.in.size() != (of.rescales ? 2u : 1u)) reject(p_, "%{} accumulates {} operands", i_, n_.in.size());
    for (std::size_t k = 0; k < n_.in.size(); ++k) broadcasts(k);
    shape_is(in(0).shape);
  }

  void rearranged() const {
    const Shape& x = in(0).shape;
    if (x.size() != n_.shape.size())
      reject(p_, "%{} has {} dimensions, and its operand {}", i_, n_.shape.size(), x.size());
    Shape right = x;
    const auto d = static_cast<std::size_t>(n_.dim);
    if (n_.kind == NodeKind::permute) {
      std::vector<int> sorted = n_.order;
      std::ranges::sort(sorted);
      for (std::size_t k = 0; k < x.size(); ++k)
        if (sorted.size() != x.size() || sorted[k] != static_cast<int>(k))
          reject(p_, "%{} has no order of its {} dimensions", i_, x.size());
      for (std::size_t k = 0; k < x.size(); ++k) right[k] = x[static_cast<std::size_t>(n_.order[k])];
      return shape_is(right);
    }
    dim_exists();
    if (n_.kind == NodeKind::slice) {
      if (n_.start < 0 || n_.start + n_.shape[d] > x[d])
        reject(p_, "%{} is the elements {} to {} of {} along dimension {}", i_, n_.start, n_.start + n_.shape[d], x[d],
               d);
      right[d] = n_.shape[d];
    }
    if (n_.kind == NodeKind::concat) {
      right[d] = 0;
      for (const int operand : n_.in) {
        Shape part = p_.nodes[operand].shape;
        if (part.size() != x.size()) reject(p_, "%{} joins tiles of different ranks", i_);
        right[d] += std::exchange(part[d], x[d]);
        if (part != x) reject(p_, "%{} joins tiles of {} and {}", i_, to_string(x), to_string(p_.nodes[operand].shape));
      }
    }
    if (n_.kind == NodeKind::unpack) {
      if (!graph::is_weight_only(n_.to_dtype) || in(0).kind != NodeKind::load || in(0).dtype != graph::DType::int8)
        reject(p_, "%{} unpacks {} from %{}, which is no load of bytes", i_, graph::name(n_.to_dtype), n_.in[0]);
      right[d] *= 8 / graph::bits(n_.to_dtype);
    }
    if (n_.kind == NodeKind::repeat) right[d] *= n_.to;  // shape_is() finds any other number
    if (n_.kind == NodeKind::rotate) {
      for (const std::size_t k : {1u, 2u}) {
        Shape table = in(k).shape;
        bool fits = table.size() == x.size() && x[d] % 2 == 0 && (table[d] == x[d] || 2 * table[d] == x[d]);
        for (std::size_t e = 0; fits && e < x.size(); ++e) fits = e == d || table[e] == x[e] || table[e] == 1;
        if (!fits) reject(p_, "%{} rotates a tile of {} by %{} of {}", i_, to_string(x), n_.in[k], to_string(table));
      }
      if (in(1).shape[d] != in(2).shape[d]) reject(p_, "%{} rotates by cosines and sines of different number", i_);
    }
    shape_is(right);
  }

  const TileProgram& p_;
  std::size_t i_;
  const Node& n_;
};

}  // namespace

void verify_tile_program(const TileProgram& p) {
  if (p.loop < 1) reject(p, "a loop of {} iterations; it has at least 1", p.loop);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) check_float64(p, i), Typed(p, i).check();
}

}  // namespace zellige::verify
