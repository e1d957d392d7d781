#include "retile/relation.hpp"

#include <numeric>
#include <optional>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/kept.hpp"
#include "graph/ops.hpp"
#include "graph/reductions.hpp"

namespace zellige::retile {
namespace {

using graph::BlockGraph;
using graph::BlockOp;
using graph::OpKind;
using graph::Shape;
using Kind = Relation::Kind;

/// An operator of a block graph whose tiling is changed, and how its operands relate to those before the change.
struct RetiledOp {
  const BlockOp& op;
  const graph::Where& where;
  const BlockGraph &before, &after;
  const Change& change;
  const std::vector<Relation>& relations;  // by tensor
  const std::vector<bool>& varies;         // by tensor: over iterations, before or after the change

  /// Throws Error. The message names the operator and the change of the tiling, and ends with the
  /// reason why this change is impossible: `format`, filled in with `args`.
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    const std::string what =
        change.axis >= 0 ? fmt::format("the grid's {} cannot go from {} to {} blocks", "xyz"[change.axis],
                                       before.grid[change.axis], after.grid[change.axis])
        : change.loop    ? fmt::format("the loop cannot go from {} to {} iterations", before.loop, after.loop)
                         : "the accumulators that it reads cannot be split otherwise";
    graph::fail_at(where, "{}: {}", what, fmt::format(format, std::forward<Args>(args)...));
  }

  int rank(int tensor) const { return static_cast<int>(before.tensors[tensor].shape.size()); }
  /// Converts the index `dim` of a tensor's dimension to the index counted from the last dimension, which has index 0.
  int back(int tensor, int dim) const { return rank(tensor) - 1 - dim; }
  std::int64_t extent(const BlockGraph& g, int tensor, int back) const {
    const Shape& s = g.tensors[tensor].shape;
    return back < static_cast<int>(s.size()) ? s[s.size() - 1 - static_cast<std::size_t>(back)] : 1;
  }
  /// Returns whether the tensor's tile has extent 1 along dimension `back`, counted from the last dimension,
  /// both before and after retiling.
  bool flat(int tensor, int back) const {
    return back < 0 || (extent(before, tensor, back) == 1 && extent(after, tensor, back) == 1);
  }
  /// Returns the greatest common divisor of two extents of the tensor's tile along dimension `back`, counted
  /// from the last dimension: those before and after retiling.
  std::int64_t common(int tensor, int back) const {
    return std::gcd(extent(before, tensor, back), extent(after, tensor, back));
  }
  const Relation& of(std::size_t operand) const { return relations[op.inputs[operand]]; }
  bool any(Kind kind) const {
    return std::ranges::any_of(op.inputs, [&](int t) { return relations[t].kind == kind; });
  }
  /// Returns whether the loop, of several iterations before or after retiling, splits the dimension `dim` of an input.
  bool iterates(int dim) const { return dim >= 0 && op.loop_dim == dim && (before.loop > 1 || after.loop > 1); }
};

// The functions that follow return the relation of an operator's result to its result before retiling. They derive it
// from the relations of its operands, and throw Error if the graph would compute something else.

/// Of an input or the place of a mask, `same` or `parts`: from the operator's maps, which say which dimension each grid
/// axis and the loop split.
Relation placed(const RetiledOp& o) {
  const int tile = o.op.outputs[0];
  if (o.change.axis >= 0 && o.op.map[o.change.axis] >= 0) {
    const int dim = o.op.map[o.change.axis];
    return {.kind = Kind::parts, .back = o.back(tile, dim), .loop = o.iterates(dim)};
  }
  if (o.change.loop && o.op.loop_dim >= 0)
    return {.kind = Kind::parts, .back = o.back(tile, o.op.loop_dim), .loop = true};
  return {};
}

/// Of an input.
Relation loaded(const RetiledOp& o) {
  const int tile = o.op.outputs[0];
  if (const auto input = o.change.inputs.find(o.op.kernel_tensor); input != o.change.inputs.end()) {
    for (int axis = 0; axis < 3; ++axis)
      if (o.op.map[axis] == input->second.dim && o.before.grid[axis] > 1)
        o.refuse("grid axis {} splits the dimension {} that is to be summed", "xyz"[axis], o.op.map[axis]);
    return {.kind = Kind::partial,
            .back = o.back(tile, input->second.dim),
            .classes = input->second.classes,
            .loop = o.iterates(input->second.dim)};
  }
  return placed(o);
}

/// Of an elementwise function of `tensors`, `same` or `parts`. Throws Error unless all tensors whose relation is `parts`
/// are split along the same dimension, and all other tensors have extent 1 along that dimension.
Relation met(const RetiledOp& o, const std::vector<int>& tensors) {
  Relation r;
  for (int t : tensors) {
    if (o.relations[t].kind != Kind::parts) continue;
    if (r.kind == Kind::parts && o.relations[t] != r)
      o.refuse("its operands are in parts along different dimensions, or with the loop and without");
    r = o.relations[t];
  }
  for (int t : tensors) {
    if (o.relations[t].kind != Kind::same) continue;
    if (!o.flat(t, r.back)) o.refuse("one operand is in parts where the other is whole");
    if (r.loop && o.varies[t]) o.refuse("its operands' parts belong to different iterations");
  }
  return r;
}

/// Of a mask that depends on elements' indices. Throws Error if the operand is split along a dimension whose index the
/// mask tests, unless the mask's own maps split that dimension in the same way.
Relation masked(const RetiledOp& o) {
  const Relation r = o.of(0), lies = placed(o);
  if (o.op.inputs.size() > 1) met(o, o.op.inputs);  // throws if they differ
  if (r.kind != Kind::partial && r == lies) return r;
  const int x = o.op.inputs[0];
  const auto [i, j] = graph::mask_dims(o.op.attributes, o.before.tensors[x].shape.size());
  const bool looks = r.back == o.back(x, static_cast<int>(i)) || r.back == o.back(x, static_cast<int>(j));
  if (r.kind == Kind::parts && lies.kind == Kind::same && !looks) return r;
  o.refuse("it keeps elements by their position, which would be unknown");
}

/// Returns nullopt if the tensor that the output operator stores is the same as before retiling.
/// If only totals along a dimension are the same, returns that dimension and the number of totals. Throws
/// Error if the tensor would change in any other way.
std::optional<Summed> stored(const RetiledOp& o) {
  const int tile = o.op.inputs[0];
  const Relation r = o.of(0);
  const int along = o.change.axis >= 0 ? o.op.map[o.change.axis] : -1, front = o.rank(tile) - 1 - r.back;
  if (r.kind == Kind::same) {
    if (along >= 0) o.refuse("each block stores the same tile, and their number is the result's size");
    return std::nullopt;
  }
  if (r.kind == Kind::parts) {
    if (o.change.axis < 0) o.refuse("what is stored depends on the iteration");
    if (o.back(tile, along) != r.back)
      o.refuse("the tiles are adjacent along dimension {}, and are stored along dimension {}", front, along);
    return std::nullopt;
  }
  if (r.blocks && r.back >= 0 && o.back(tile, along) != r.back)
    o.refuse("partial results would have to be summed along dimensions {} and {}", front, along);
  if (r.back < 0) return Summed{along, o.common(tile, o.back(tile, along))};
  return Summed{front, r.classes};
}

/// Returns the relation `same` if `r` is that of a complete sum: nothing remains to be added along a dimension,
/// over iterations or over blocks. Otherwise returns `r`.
Relation settled(Relation r) {
  if (r.kind == Kind::partial && r.back < 0 && !r.loop && !r.blocks) return {};
  return r;
}

/// Of a sum or contraction, if retiling splits the summed dimension over blocks or iterations. The result is then a
/// partial sum, of which only the total over blocks or iterations is unchanged. `parts` is the relation of the operand.
Relation summed(const RetiledOp& o, const Relation& parts) {
  return settled({.kind = Kind::partial, .loop = o.change.loop || parts.loop, .blocks = o.change.axis >= 0});
}

/// Of a permute: the relation of its operand, with the index of the split dimension permuted.
Relation permuted(const RetiledOp& o) {
  Relation r = o.of(0);
  const std::vector<std::int64_t>& dims = o.op.attributes.sizes;  // all_same and partial results are handled above
  const auto to = std::ranges::find(dims, o.rank(o.op.inputs[0]) - 1 - r.back);
  r.back = static_cast<int>(dims.end() - to) - 1;
  return r;
}

/// Of a matmul without its bias: `parts` if retiling splits M, N or a batch dimension; `partial` if it splits K of both
/// operands. Throws Error for other combinations, such as M and N.
Relation product(const RetiledOp& o) {
  const int a = o.op.inputs[0], b = o.op.inputs[1];
  if (o.rank(a) < 2 || o.rank(b) < 2) o.refuse("what becomes of a vector's product is not known here");
  const Relation &x = o.relations[a], &y = o.relations[b];
  const bool k_of_a = x.kind == Kind::parts && x.back == 0, k_of_b = y.kind == Kind::parts && y.back == 1;
  if (k_of_a || k_of_b) {
    if (!k_of_a || !k_of_b || x.loop != y.loop) o.refuse("only one of its operands has K in parts");
    return summed(o, x);
  }
  if (x.kind == Kind::parts && y.kind == Kind::parts) {
    if (x != y || x.back < 2) o.refuse("both M and N are in parts");
    return x;
  }
  const bool left = x.kind == Kind::parts;
  const Relation& parts = left ? x : y;
  const int whole = left ? b : a;
  if (parts.back >= 2 && !o.flat(whole, parts.back)) o.refuse("one operand's batches are in parts, the other's whole");
  if (parts.loop && o.varies[whole]) o.refuse("its operands' parts belong to different iterations");
  return parts;
}

/// Of a matmul with a bias, `same` or `parts`. `product` is the relation of the matmul without the bias. Throws Error if
/// the bias would be added to partial results, or if the bias is not split like the result.
Relation biased(const RetiledOp& o, const Relation& product) {
  const Relation& bias = o.of(2);
  if (product.kind == Kind::partial) o.refuse("its bias would be added to each of the partial results");
  if (bias.kind != Kind::same && product != bias)
    o.refuse("its bias is in parts where the product is whole, or in others");
  if (bias.kind == Kind::same && product.kind == Kind::parts) {
    if (!o.flat(o.op.inputs[2], product.back)) o.refuse("its product is in parts where the bias is whole");
    if (product.loop && o.varies[o.op.inputs[2]])
      o.refuse("its product's and its bias' parts belong to different iterations");
  }
  return product;
}

/// Of a sum along `dim`, which has `to` results along `dim`; each is the sum of every `to`-th element.
Relation reduced(const RetiledOp& o, int dim, std::int64_t to) {
  const int x = o.op.inputs[0], along = o.back(x, dim);
  Relation r = o.of(0);
  if (r.kind == Kind::partial) {
    if (r.back != along) return r;
    if (r.classes % to != 0) o.refuse("{} accumulators are kept separately, of elements at distance {}", to, r.classes);
    if (r.loop && o.common(x, along) % to != 0)
      o.refuse("{} accumulators are kept separately, and an iteration has {} elements", to,
               o.extent(o.after, x, along));
    r.back = -1;
    return settled(r);
  }
  if (r.back != along) return r;
  if (o.common(x, along) % to != 0)
    o.refuse("{} accumulators are kept separately, and its tile has {} elements", to, o.extent(o.after, x, along));
  return summed(o, r);
}

/// Of an operator some of whose operands are partial results: it is then a partial result, too. Throws Error unless the
/// operator is linear in these operands.
Relation linear(const RetiledOp& o) {
  Relation r;
  int partials = 0;
  for (int t : o.op.inputs)
    if (o.relations[t].kind == Kind::partial) r = o.relations[t], ++partials;
  const int x = o.op.inputs[0];
  bool fits = false;
  if (graph::is_elementwise(o.op.kind)) {
    const graph::Linearity of_law = graph::elementwise(o.op.kind).law.linear;
    const bool one = partials == 1 && (of_law == graph::Linearity::each || o.of(0).kind == Kind::partial);
    const bool all = graph::is_linear(o.op.kind, o.op.attributes, o.op.inputs.size()) &&
                     std::ranges::all_of(o.op.inputs, [&](int t) {
                       return o.relations[t] == r && o.extent(o.before, t, r.back) == o.extent(o.before, x, r.back);
                     });
    fits = of_law == graph::Linearity::all ? all : of_law != graph::Linearity::no && one;
    fits = fits && (o.op.kind != OpKind::cast || o.op.attributes.dtype == graph::DType::f32);
  } else if (o.op.kind == OpKind::expand) {  // added leading dimensions of 1 are not counted from the last
    fits = graph::size(o.before.tensors[x].shape) == graph::size(o.before.tensors[o.op.outputs[0]].shape);
  }
  if (!fits) o.refuse("its input would be a partial sum, in which it is not linear");
  for (int t : o.op.inputs) {
    if (o.relations[t].kind == Kind::parts) o.refuse("one operand is a partial sum, the other in parts");
    if (o.relations[t].kind == Kind::same && (!o.flat(t, r.back) || (r.loop && o.varies[t])))
      o.refuse("the factors of what is to be summed differ");
  }
  return r;
}

/// Of an accumulator over the loop. Throws Error if the result would change, for example because the accumulator adds
/// the same tile in every iteration and the number of iterations changes.
Relation accumulated(const RetiledOp& o) {
  const int x = o.op.inputs[0];
  Relation r = o.of(0);
  const bool last = r.back == 0;
  const graph::ReductionRow& row = *graph::reduction_of(o.op.kind);
  if (row.rescales) {
    if (o.change.loop) o.refuse("it is rescaled after every iteration");
    for (int t : o.op.inputs)
      if (o.relations[t].kind == Kind::partial || o.relations[t].loop) o.refuse("it is rescaled after every iteration");
    if (row.along == graph::Along::then_last && (last || (o.of(1).kind == Kind::parts && o.of(1).back == 0)))
      o.refuse("it reduces the dimension of which the tile has a part");
    return met(o, o.op.inputs);
  }
  const bool mean = row.then != graph::Then::nothing;
  if (r.kind == Kind::same) {
    if (o.change.loop && !mean && !row.of->idempotent) o.refuse("it adds the same tile in every iteration");
    return {};
  }
  if (row.of != &graph::monoids::sum) {
    if (r.kind == Kind::partial || r.loop || (o.change.loop && !row.of->idempotent))
      o.refuse("it takes {} of what is in parts", row.of->plural);
    return r;
  }
  if (r.kind == Kind::partial && (row.squares || (mean && (r.loop || last))))
    o.refuse("its input would be a partial sum, in which it is not linear");
  // Number of accumulators of the last dimension that remain separate; 0: it is not reduced.
  const std::int64_t to = row.along == graph::Along::iterations_last ? o.op.attributes.to : 0;
  if (r.kind == Kind::parts) {
    if (to > 0 && last) {
      if (o.common(x, 0) % to != 0)
        o.refuse("{} accumulators are kept separately, and its tile has {} elements", to, o.extent(o.after, x, 0));
      // Only a change of the loop leaves the mean over a row a mean over the same number of elements.
      if (mean && o.change.axis >= 0) o.refuse("it takes the mean of the dimension of which the tile has a part");
      return settled({.kind = Kind::partial, .blocks = o.change.axis >= 0});
    }
    if (!r.loop) return r;
    if (mean) o.refuse("it takes the mean of iterations whose number changes");
    return {.kind = Kind::partial, .back = r.back, .classes = o.common(x, r.back), .blocks = o.change.axis >= 0};
  }
  if (r.back >= 0 && r.loop) r.classes = std::gcd(r.classes, o.common(x, r.back));
  r.loop = false;
  if (to > 0 && last) {
    if (r.classes % to != 0) o.refuse("{} accumulators are kept separately, of elements at distance {}", to, r.classes);
    r.back = -1;
  }
  return settled(r);
}

/// Of any operator but an input or output.
Relation computed(const RetiledOp& o) {
  if (graph::is_accumulator(o.op.kind)) return accumulated(o);
  if (o.op.kind == OpKind::reduction_max && o.change.loop) o.refuse("a running maximum is read after every iteration");
  if (o.op.kind == OpKind::mask) return masked(o);
  if (!o.any(Kind::parts) && !o.any(Kind::partial)) return {};
  if (graph::reduces(o.op.kind) && !o.op.attributes.keepdim)
    o.refuse("it leaves dimensions out, and those of a part are not followed there");
  const bool one_sum = o.op.kind == OpKind::sum && o.op.attributes.sizes.empty();
  if (o.op.kind == OpKind::reduction || one_sum)
    return reduced(o, o.op.attributes.dim, o.op.kind == OpKind::sum ? 1 : o.op.attributes.to);
  if (o.any(Kind::partial)) return linear(o);
  if (o.op.kind == OpKind::matmul) return o.op.inputs.size() > 2 ? biased(o, product(o)) : product(o);
  if (graph::is_elementwise(o.op.kind)) return met(o, o.op.inputs);
  if (o.op.kind == OpKind::permute) return permuted(o);
  // The other operators work along one dimension and leave other dimensions unchanged.
  const bool composed = graph::is_composed(o.op.kind);
  if (!composed && graph::family(o.op.kind) != graph::OpFamily::join && o.op.kind != OpKind::reduction_max &&
      o.op.kind != OpKind::slice)
    o.refuse("what it does with a part of a tile is not known here");
  const Shape& shape = o.before.tensors[o.op.inputs[0]].shape;
  const std::vector<int> dims =
      composed ? graph::composed_dims(o.op.kind, o.op.attributes, shape) : std::vector{o.op.attributes.dim};
  for (int t : o.op.inputs)
    for (int along : dims)
      if (o.relations[t].kind == Kind::parts && o.relations[t].back == o.back(o.op.inputs[0], along))
        o.refuse("it works along dimension {}, of which a tile has a part", along);
  return met(o, o.op.inputs);
}

}  // namespace

std::map<int, Summed> relate(const graph::Where& where, const BlockGraph& before, const BlockGraph& after,
                             const Change& change) {
  std::vector<Relation> relations(before.tensors.size());
  std::vector<bool> varies = graph::varies(before);
  const std::vector<bool> with = graph::varies(after);
  for (std::size_t i = 0; i < varies.size(); ++i) varies[i] = varies[i] || with[i];
  std::map<int, Summed> changed;
  for (std::size_t i = 0; i < before.ops.size(); ++i) {
    const BlockOp& op = before.ops[i];
    const graph::Where inside = where.inside(static_cast<int>(i), graph::name(op.kind));
    const RetiledOp o{op, inside, before, after, change, relations, varies};
    if (graph::is_boundary(op.kind) && !op.attributes.sizes.empty())
      o.refuse("its shape {} is cut into tiles that pass the tensor's end", graph::to_string(op.attributes.sizes));
    if (op.kind == OpKind::output) {
      if (const auto partial = stored(o)) changed[op.kernel_tensor] = *partial;
    } else {
      const Relation r = op.kind == OpKind::input ? loaded(o) : computed(o);
      for (int t : op.outputs) relations[t] = r;
    }
  }
  return changed;
}

}  // namespace zellige::retile
