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

/// Traverses the operators of a block graph before and after a change of its tiling in parallel. Derives
/// how each tile relates to the tiles before retiling: the same, parts (several adjacent tiles, or a part of
/// one), or a partial sum. Throws Error at the first operator whose result would change.
class Relating {
 public:
  Relating(const graph::Where& where, const BlockGraph& before, const BlockGraph& after, const Change& change)
      : top_(where),
        before_(before),
        after_(after),
        change_(change),
        looped_(before.loop > 1 || after.loop > 1),
        relations_(before.tensors.size()) {
    const std::vector<bool> a = graph::varies(before), b = graph::varies(after);
    for (std::size_t i = 0; i < a.size(); ++i) varies_.push_back(a[i] || b[i]);
  }

  /// Derives how each block operator's result relates to its result before retiling. Returns the outputs
  /// that become partial sums, by index into KernelOp::outputs: of these outputs only totals along a
  /// dimension are unchanged. Throws Error if an output would change in any other way.
  std::map<int, Summed> run() {
    std::map<int, Summed> changed;
    for (std::size_t i = 0; i < before_.ops.size(); ++i) {
      op_ = &before_.ops[i];
      where_ = top_.inside(static_cast<int>(i), graph::name(op_->kind));
      const bool boundary = graph::is_boundary(op_->kind);
      if (boundary && !op_->attributes.sizes.empty())
        refuse("its shape {} is cut into tiles that pass the tensor's end", graph::to_string(op_->attributes.sizes));
      if (op_->kind == OpKind::output) {
        if (const auto sums = stored()) changed[op_->kernel_tensor] = *sums;
      } else {
        const Relation r = op_->kind == OpKind::input ? loaded() : computed();
        for (int t : op_->outputs) relations_[t] = r;
      }
    }
    return changed;
  }

 private:
  /// Throws Error. The message names the current operator and the change of the tiling, and ends with the
  /// reason why this change is impossible: `format`, filled in with `args`.
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    const std::string what =
        change_.axis >= 0 ? fmt::format("the grid's {} cannot go from {} to {} blocks", "xyz"[change_.axis],
                                        before_.grid[change_.axis], after_.grid[change_.axis])
        : change_.loop    ? fmt::format("the loop cannot go from {} to {} iterations", before_.loop, after_.loop)
                          : "the accumulators that it reads cannot be split otherwise";
    graph::fail_at(where_, "{}: {}", what, fmt::format(format, std::forward<Args>(args)...));
  }

  int rank(int tensor) const { return static_cast<int>(before_.tensors[tensor].shape.size()); }
  /// Converts the index `dim` of a tensor's dimension to the index counted from the last dimension, which has index 0.
  int back(int tensor, int dim) const { return rank(tensor) - 1 - dim; }
  std::int64_t extent(const BlockGraph& g, int tensor, int back) const {
    const Shape& s = g.tensors[tensor].shape;
    return back < static_cast<int>(s.size()) ? s[s.size() - 1 - static_cast<std::size_t>(back)] : 1;
  }
  /// Returns whether the tensor's tile has extent 1 along dimension `back`, counted from the last dimension,
  /// both before and after retiling.
  bool flat(int tensor, int back) const {
    return back < 0 || (extent(before_, tensor, back) == 1 && extent(after_, tensor, back) == 1);
  }
  /// Returns the greatest common divisor of two extents of the tensor's tile along dimension `back`, counted
  /// from the last dimension: those before and after retiling.
  std::int64_t common(int tensor, int back) const {
    return std::gcd(extent(before_, tensor, back), extent(after_, tensor, back));
  }
  const Relation& of(std::size_t operand) const { return relations_[op_->inputs[operand]]; }

  // The functions that follow return the relation of the current operator's result to its result before retiling. They
  // derive it from the relations of its operands, and throw Error if the graph would compute something else.

  /// Of an input.
  Relation loaded() const {
    const int tile = op_->outputs[0];
    const bool iterated = op_->loop_dim >= 0 && looped_;
    if (const auto input = change_.inputs.find(op_->kernel_tensor); input != change_.inputs.end()) {
      for (int axis = 0; axis < 3; ++axis)
        if (op_->map[axis] == input->second.dim && before_.grid[axis] > 1)
          refuse("grid axis {} splits the dimension {} that is to be summed", "xyz"[axis], op_ -> map[axis]);
      return {.kind = Kind::sums,
              .back = back(tile, input->second.dim),
              .classes = input->second.classes,
              .loop = iterated && op_->loop_dim == input->second.dim};
    }
    return placed();
  }

  /// Of an input or the place of a mask, `same` or `parts`: from the operator's maps, which say which dimension each grid
  /// axis and the loop split.
  Relation placed() const {
    const int tile = op_->outputs[0];
    const bool iterated = op_->loop_dim >= 0 && looped_;
    if (change_.axis >= 0 && op_->map[change_.axis] >= 0) {
      const int dim = op_->map[change_.axis];
      return {.kind = Kind::parts, .back = back(tile, dim), .loop = iterated && op_->loop_dim == dim};
    }
    if (change_.loop && op_->loop_dim >= 0)
      return {.kind = Kind::parts, .back = back(tile, op_->loop_dim), .loop = true};
    return {};
  }

  /// Of a mask that depends on elements' indices. Throws Error if the operand is split along a dimension whose index the
  /// mask tests, unless the mask's own maps split that dimension in the same way.
  Relation masked() const {
    const Relation r = of(0), lies = placed();
    if (op_->inputs.size() > 1) met(op_->inputs);  // throws if they differ
    if (r.kind != Kind::sums && r == lies) return r;
    const int x = op_->inputs[0];
    const auto [i, j] = graph::mask_dims(op_->attributes, before_.tensors[x].shape.size());
    const bool looks = r.back == back(x, static_cast<int>(i)) || r.back == back(x, static_cast<int>(j));
    if (r.kind == Kind::parts && lies.kind == Kind::same && !looks) return r;
    refuse("it keeps elements by their position, which would be unknown");
  }

  /// Returns nullopt if the tensor that the current output operator stores is the same as before retiling.
  /// If only totals along a dimension are the same, returns that dimension and the number of totals. Throws
  /// Error if the tensor would change in any other way.
  std::optional<Summed> stored() const {
    const int tile = op_->inputs[0];
    const Relation r = of(0);
    const int along = change_.axis >= 0 ? op_->map[change_.axis] : -1, front = rank(tile) - 1 - r.back;
    if (r.kind == Kind::same) {
      if (along >= 0) refuse("each block stores the same tile, and their number is the result's size");
      return std::nullopt;
    }
    if (r.kind == Kind::parts) {
      if (change_.axis < 0) refuse("what is stored depends on the iteration");
      if (back(tile, along) != r.back)
        refuse("the tiles are adjacent along dimension {}, and are stored along dimension {}", front, along);
      return std::nullopt;
    }
    if (r.blocks && r.back >= 0 && back(tile, along) != r.back)
      refuse("partial results would have to be summed along dimensions {} and {}", front, along);
    if (r.back < 0) return Summed{along, common(tile, back(tile, along))};
    return Summed{front, r.classes};
  }

  /// Returns the relation `same` if `r` is that of a complete sum: nothing remains to be added along a dimension,
  /// over iterations or over blocks. Otherwise returns `r`.
  static Relation settled(Relation r) {
    if (r.kind == Kind::sums && r.back < 0 && !r.loop && !r.blocks) return {};
    return r;
  }

  /// Of a sum or contraction, if retiling splits the summed dimension over blocks or iterations. The result is then a
  /// partial sum, of which only the total over blocks or iterations is unchanged. `parts` is the relation of the operand.
  Relation summed(const Relation& parts) const {
    return settled({.kind = Kind::sums, .loop = change_.loop || parts.loop, .blocks = change_.axis >= 0});
  }

  /// Of any operator but an input or output.
  Relation computed() const {
    bool all_same = true, any_sums = false;
    for (std::size_t i = 0; i < op_->inputs.size(); ++i) {
      all_same = all_same && of(i).kind == Kind::same;
      any_sums = any_sums || of(i).kind == Kind::sums;
    }
    if (graph::is_accumulator(op_->kind)) return accumulated();
    if (op_->kind == OpKind::reduction_max && change_.loop) refuse("a running maximum is read after every iteration");
    if (op_->kind == OpKind::mask) return masked();
    if (all_same) return {};
    if (graph::reduces(op_->kind) && !op_->attributes.keepdim)
      refuse("it leaves dimensions out, and those of a part are not followed there");
    const bool one_sum = op_->kind == OpKind::sum && op_->attributes.sizes.empty();
    if (op_->kind == OpKind::reduction || one_sum)
      return reduced(op_->attributes.dim, op_->kind == OpKind::sum ? 1 : op_->attributes.to);
    if (any_sums) return linear();
    if (op_->kind == OpKind::matmul) return op_->inputs.size() > 2 ? biased(product()) : product();
    if (graph::is_elementwise(op_->kind)) return met(op_->inputs);
    if (op_->kind == OpKind::permute) return permuted();
    // The other operators work along one dimension and leave other dimensions unchanged.
    const bool composed = graph::is_composed(op_->kind);
    if (!composed && graph::family(op_->kind) != graph::OpFamily::join && op_->kind != OpKind::reduction_max &&
        op_->kind != OpKind::slice)
      refuse("what it does with a part of a tile is not known here");
    const Shape& shape = before_.tensors[op_->inputs[0]].shape;
    const std::vector<int> dims =
        composed ? graph::composed_dims(op_->kind, op_->attributes, shape) : std::vector{op_->attributes.dim};
    for (int t : op_->inputs)
      for (int along : dims)
        if (relations_[t].kind == Kind::parts && relations_[t].back == back(op_->inputs[0], along))
          refuse("it works along dimension {}, of which a tile has a part", along);
    return met(op_->inputs);
  }

  /// Of a permute: the relation of its operand, with the index of the split dimension permuted.
  Relation permuted() const {
    Relation r = of(0);
    const std::vector<std::int64_t>& dims = op_->attributes.sizes;  // all_same and sums are handled above
    const auto to = std::ranges::find(dims, rank(op_->inputs[0]) - 1 - r.back);
    r.back = static_cast<int>(dims.end() - to) - 1;
    return r;
  }

  /// Of a matmul with a bias, `same` or `parts`. `product` is the relation of the matmul without the bias. Throws Error if
  /// the bias would be added to partial sums, or if the bias is not split like the result.
  Relation biased(const Relation& product) const {
    const Relation& bias = of(2);
    if (product.kind == Kind::sums) refuse("its bias would be added to each of the partial results");
    if (bias.kind != Kind::same && product != bias)
      refuse("its bias is in parts where the product is whole, or in others");
    if (bias.kind == Kind::same && product.kind == Kind::parts) {
      if (!flat(op_->inputs[2], product.back)) refuse("its product is in parts where the bias is whole");
      if (product.loop && varies_[op_->inputs[2]])
        refuse("its product's and its bias' parts belong to different iterations");
    }
    return product;
  }

  /// Of an elementwise function of `tensors`, `same` or `parts`. Throws Error unless all tensors whose relation is `parts`
  /// are split along the same dimension, and all other tensors have extent 1 along that dimension.
  Relation met(const std::vector<int>& tensors) const {
    Relation r;
    for (int t : tensors) {
      if (relations_[t].kind != Kind::parts) continue;
      if (r.kind == Kind::parts && relations_[t] != r)
        refuse("its operands are in parts along different dimensions, or with the loop and without");
      r = relations_[t];
    }
    for (int t : tensors) {
      if (relations_[t].kind != Kind::same) continue;
      if (!flat(t, r.back)) refuse("one operand is in parts where the other is whole");
      if (r.loop && varies_[t]) refuse("its operands' parts belong to different iterations");
    }
    return r;
  }

  /// Of a matmul without its bias: `parts` if retiling splits M, N or a batch dimension; `sums` if it splits K of both
  /// operands. Throws Error for other combinations, such as M and N.
  Relation product() const {
    const int a = op_->inputs[0], b = op_->inputs[1];
    if (rank(a) < 2 || rank(b) < 2) refuse("what becomes of a vector's product is not known here");
    const Relation &x = relations_[a], &y = relations_[b];
    const bool k_of_a = x.kind == Kind::parts && x.back == 0, k_of_b = y.kind == Kind::parts && y.back == 1;
    if (k_of_a || k_of_b) {
      if (!k_of_a || !k_of_b || x.loop != y.loop) refuse("only one of its operands has K in parts");
      return summed(x);
    }
    if (x.kind == Kind::parts && y.kind == Kind::parts) {
      if (x != y || x.back < 2) refuse("both M and N are in parts");
      return x;
    }
    const bool left = x.kind == Kind::parts;
    const Relation& parts = left ? x : y;
    const int whole = left ? b : a;
    if (parts.back >= 2 && !flat(whole, parts.back)) refuse("one operand's batches are in parts, the other's whole");
    if (parts.loop && varies_[whole]) refuse("its operands' parts belong to different iterations");
    return parts;
  }

  /// Of a sum along `dim`, which has `to` results along `dim`; each is the sum of every `to`-th element.
  Relation reduced(int dim, std::int64_t to) const {
    const int x = op_->inputs[0], along = back(x, dim);
    Relation r = of(0);
    if (r.kind == Kind::sums) {
      if (r.back != along) return r;
      if (r.classes % to != 0) refuse("{} accumulators are kept separately, of elements at distance {}", to, r.classes);
      if (r.loop && common(x, along) % to != 0)
        refuse("{} accumulators are kept separately, and an iteration has {} elements", to, extent(after_, x, along));
      r.back = -1;
      return settled(r);
    }
    if (r.back != along) return r;
    if (common(x, along) % to != 0)
      refuse("{} accumulators are kept separately, and its tile has {} elements", to, extent(after_, x, along));
    return summed(r);
  }

  /// Of an operator some of whose operands are partial sums: it is then a partial sum, too. Throws Error unless the
  /// operator is linear in these operands.
  Relation linear() const {
    Relation r;
    int sums = 0;
    for (std::size_t i = 0; i < op_->inputs.size(); ++i)
      if (of(i).kind == Kind::sums) r = of(i), ++sums;
    const int x = op_->inputs[0];
    bool fits = false;
    if (graph::is_elementwise(op_->kind)) {
      const graph::Linearity of_law = graph::elementwise(op_->kind).law.linear;
      const bool one = sums == 1 && (of_law == graph::Linearity::each || of(0).kind == Kind::sums);
      const bool all = graph::is_linear(op_->kind, op_->attributes, op_->inputs.size()) &&
                       std::ranges::all_of(op_->inputs, [&](int t) {
                         return relations_[t] == r && extent(before_, t, r.back) == extent(before_, x, r.back);
                       });
      fits = of_law == graph::Linearity::all ? all : of_law != graph::Linearity::no && one;
      fits = fits && (op_->kind != OpKind::cast || op_->attributes.dtype == graph::DType::f32);
    } else if (op_->kind == OpKind::expand) {  // added leading dimensions of 1 are not counted from the last
      fits = graph::size(before_.tensors[x].shape) == graph::size(before_.tensors[op_->outputs[0]].shape);
    }
    if (!fits) refuse("its input would be a partial sum, in which it is not linear");
    for (std::size_t i = 0; i < op_->inputs.size(); ++i) {
      const int t = op_->inputs[i];
      if (of(i).kind == Kind::parts) refuse("one operand is a partial sum, the other in parts");
      if (of(i).kind == Kind::same && (!flat(t, r.back) || (r.loop && varies_[t])))
        refuse("the factors of what is to be summed differ");
    }
    return r;
  }

  /// Of an accumulator over the loop. Throws Error if the result would change, for example because the accumulator adds
  /// the same tile in every iteration and the number of iterations changes.
  Relation accumulated() const {
    const int x = op_->inputs[0];
    Relation r = of(0);
    const bool last = r.back == 0;
    const graph::ReductionRow& row = *graph::reduction_of(op_->kind);
    if (row.rescales) {
      if (change_.loop) refuse("it is rescaled after every iteration");
      for (std::size_t i = 0; i < op_->inputs.size(); ++i)
        if (of(i).kind == Kind::sums || of(i).loop) refuse("it is rescaled after every iteration");
      if (row.along == graph::Along::then_last && (last || (of(1).kind == Kind::parts && of(1).back == 0)))
        refuse("it reduces the dimension of which the tile has a part");
      return met(op_->inputs);
    }
    const bool mean = row.then != graph::Then::nothing;
    if (r.kind == Kind::same) {
      if (change_.loop && !mean && !row.of->idempotent) refuse("it adds the same tile in every iteration");
      return {};
    }
    if (row.of != &graph::monoids::sum) {
      if (r.kind == Kind::sums || r.loop || (change_.loop && !row.of->idempotent))
        refuse("it takes {} of what is in parts", row.of->plural);
      return r;
    }
    if (r.kind == Kind::sums && (row.squares || (mean && (r.loop || last))))
      refuse("its input would be a partial sum, in which it is not linear");
    // Number of accumulators of the last dimension that remain separate; 0: it is not reduced.
    const std::int64_t to = row.along == graph::Along::iterations_last ? op_->attributes.to : 0;
    if (r.kind == Kind::parts) {
      if (to > 0 && last) {
        if (common(x, 0) % to != 0)
          refuse("{} accumulators are kept separately, and its tile has {} elements", to, extent(after_, x, 0));
        // Only a change of the loop leaves the mean over a row a mean over the same number of elements.
        if (mean && change_.axis >= 0) refuse("it takes the mean of the dimension of which the tile has a part");
        return settled({.kind = Kind::sums, .blocks = change_.axis >= 0});
      }
      if (!r.loop) return r;
      if (mean) refuse("it takes the mean of iterations whose number changes");
      return {.kind = Kind::sums, .back = r.back, .classes = common(x, r.back), .blocks = change_.axis >= 0};
    }
    if (r.back >= 0 && r.loop) r.classes = std::gcd(r.classes, common(x, r.back));
    r.loop = false;
    if (to > 0 && last) {
      if (r.classes % to != 0) refuse("{} accumulators are kept separately, of elements at distance {}", to, r.classes);
      r.back = -1;
    }
    return settled(r);
  }

  const graph::Where& top_;
  const BlockGraph &before_, &after_;
  const Change& change_;
  bool looped_;
  std::vector<Relation> relations_;
  std::vector<bool> varies_;
  const BlockOp* op_ = nullptr;
  graph::Where where_;
};

}  // namespace

std::map<int, Summed> relate(const graph::Where& where, const BlockGraph& before, const BlockGraph& after,
                             const Change& change) {
  return Relating(where, before, after, change).run();
}

}  // namespace zellige::retile
