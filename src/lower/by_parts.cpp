#include "lower/by_parts.hpp"

#include <algorithm>

#include "graph/infer.hpp"
#include "kernel/index_width.hpp"
#include "kernel/launches.hpp"
#include "lower/lower.hpp"

namespace zellige::lower {
namespace {

/// Adds the operators of `producer` to `p`, for the tile of the producer's result that the load `reader` would read.
/// Returns the node of the result, rounded to the type in which it would have been stored.
int made(tile::TileProgram& p, const tile::TileProgram& producer, const tile::Node& reader) {
  std::vector<int> at;
  for (tile::Node n : producer.nodes) {
    for (int& in : n.in) in = at[in];
    if (n.kind == tile::NodeKind::store && reader.dtype == graph::computed_in(reader.dtype)) return n.in[0];
    if (n.kind == tile::NodeKind::store)
      return lower_operator(p, graph::OpKind::cast, {.dtype = reader.dtype}, {n.in[0]});
    std::ranges::fill(n.shape, 1);
    for (std::size_t d = 0; d < n.shape.size(); ++d) {
      for (int in : n.in) n.shape[d] = std::max(n.shape[d], p.nodes[in].shape[d]);
      if (n.kind != tile::NodeKind::load) continue;
      const std::int64_t offset = n.view.cuts[d].offset;
      n.view.cuts[d] = n.view.cuts[d].extent > 1 ? reader.view.cuts[d] : tile::Cut{};
      n.view.cuts[d].offset = offset;
      n.shape[d] = n.view.cuts[d].tile;
    }
    at.push_back(p.add(std::move(n)));
  }
  fail("{} stores nothing", producer.name);
}

/// Splits a kernel along the dimension of the concatenations that it reads; see by_parts().
class ByParts {
 public:
  ByParts(const tile::TilePrograms& program, const tile::TileProgram& kernel, const std::vector<Concatenation>& read)
      : program_(program), kernel_(kernel), read_(read), dim_(static_cast<std::size_t>(read[0].dim)) {}

  std::optional<std::vector<tile::TileProgram>> run() {
    if (!same_cuts() || !find_split()) return std::nullopt;
    for (const tile::Node& n : kernel_.nodes)
      if (!goes_by_parts(n)) return std::nullopt;
    std::vector<tile::TileProgram> programs;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < read_[0].operands.size(); begin += extent(i), ++i) programs.push_back(part(i, begin));
    kernel::launch_together(programs);
    return programs;
  }

 private:
  std::int64_t extent(std::size_t i) const { return program_.shape(read_[0].operands[i])[dim_]; }

  /// Returns whether all concatenations that the kernel reads are along the same dimension and have operands of the
  /// same extents along it.
  bool same_cuts() const {
    return std::ranges::all_of(read_, [&](const Concatenation& c) {
      return c.dim == read_[0].dim && std::ranges::equal(c.operands, read_[0].operands, [&](int x, int y) {
               return program_.shape(x)[dim_] == program_.shape(y)[dim_];
             });
    });
  }

  /// If node `n` loads the result of a concatenation, returns this concatenation; otherwise returns nullptr.
  const Concatenation* read(const tile::Node& n) const {
    if (n.kind != tile::NodeKind::load) return nullptr;
    const auto at = std::ranges::find(read_, n.tensor, &Concatenation::result);
    return at == read_.end() ? nullptr : &*at;
  }

  /// Sets `split_` to the way in which the kernel's loads divide the concatenated dimension into tiles. Returns false
  /// if two loads divide it differently, if the loop divides it, or if a tile's index is computed from the block's
  /// index by / or %.
  bool find_split() {
    for (const tile::Node& n : kernel_.nodes) {
      if (!read(n)) continue;
      const tile::Cut& s = n.view.cuts[dim_];
      if (s.loop || s.mod != 0 || s.div != 1 || (split_ && *split_ != s)) return false;
      split_ = s, rank_ = n.shape.size();
    }
    return split_.has_value();
  }

  /// Returns whether a dimension that is divided into tiles as `s` says corresponds to the concatenated dimension. If a
  /// grid axis divides the concatenated dimension, the same axis must divide this one. If none does, no grid axis may
  /// divide this dimension, and both must have the same extent, more than 1.
  bool is_along(const tile::Cut& s) const {
    return split_->axis >= 0 ? s.axis == split_->axis : s.axis < 0 && s.extent == split_->extent && s.extent > 1;
  }

  /// Returns whether node `n` can be restricted to one operand of the concatenation. This is so if `n` has the
  /// concatenation's rank and is
  ///
  /// - an elementwise operator,
  /// - a load or store that is split into tiles like the concatenation, or
  /// - a load of a single element along the concatenated dimension.
  bool goes_by_parts(const tile::Node& n) const {
    if (n.shape.size() != rank_ || tile::number_of(n) >= 0) return false;
    if (!tile::accesses(n)) return n.kind == tile::NodeKind::map && n.op != graph::OpKind::mask;
    if (n.kind == tile::NodeKind::load && !read(n) &&
        std::ranges::count(read_, program_.memory_of(n.tensor), &Concatenation::result) > 0)
      return false;  // a view of a concatenation, which has no memory
    for (std::size_t d = 0; d < rank_; ++d)
      if (d != dim_ && split_->axis >= 0 && n.view.cuts[d].axis == split_->axis) return false;
    const tile::Cut& s = n.view.cuts[dim_];
    if (is_along(s))  // the complete dimension; a slice of an output would begin elsewhere
      return !s.loop && s.div == 1 && s.mod == 0 && s.tile == split_->tile && s.extent == split_->extent;
    return n.kind == tile::NodeKind::load && s.extent == 1 && s.axis < 0;
  }

  /// Returns the kernel's program with each concatenation replaced by its operand `i`, which starts at index `begin`.
  tile::TileProgram part(std::size_t i, std::int64_t begin) const {
    tile::TileProgram p = kernel_;
    if (i > 0) p.name += fmt::format("_{}", i);
    const std::int64_t extent = this->extent(i), tile = even_tile(extent, split_->tile),
                       tiles = tile::ceil_div(extent, tile);
    if (split_->axis >= 0) (split_->axis == 0 ? p.grid.x : split_->axis == 1 ? p.grid.y : p.grid.z) = tiles;
    const bool named = begin <= kernel::max_int32;  // it fits an int
    if (named) p.part_begin = begin;
    p.rebuild([&](std::size_t, tile::Node n) {
      if (n.shape[dim_] > 1) n.shape[dim_] = tile;
      const bool along = !n.view.empty() && is_along(n.view.cuts[dim_]);
      if (along) {
        tile::Cut& s = n.view.cuts[dim_];
        s.tile = tile, s.extent = extent, s.overhang = extent % tile != 0;
      }
      const Concatenation* c = read(n);
      if (!c && along) n.view.cuts[dim_].offset += begin, n.view.cuts[dim_].of_part = named;
      return c ? operand(p, *c, i, std::move(n)) : p.add(std::move(n));
    });
    return p;
  }

  /// Adds a load of operand number `i` of the concatenation, in place of `n`, the load of the concatenation. If the
  /// operand's kernel is to be inlined, adds that kernel's operators instead. Returns the node of the operand.
  int operand(tile::TileProgram& p, const Concatenation& c, std::size_t i, tile::Node n) const {
    n.tensor = c.operands[i];
    n.name = program_.tensors[n.tensor].name;
    const graph::Shape starts = program_.starts(n.tensor);
    for (std::size_t d = 0; d < rank_; ++d) n.view.cuts[d].offset = starts[d];
    return c.producers[i] ? made(p, *c.producers[i], n) : p.add(std::move(n));
  }

  const tile::TilePrograms& program_;
  const tile::TileProgram& kernel_;
  const std::vector<Concatenation>& read_;
  std::size_t dim_, rank_ = 0;
  std::optional<tile::Cut> split_;
};

}  // namespace

bool may_be_read_by_parts(const graph::KernelGraph& g, int op) {
  const graph::KernelOp& concat = g.ops[op];
  const int y = concat.outputs[0];
  if (concat.kind != graph::OpKind::concat || std::ranges::count(g.outputs, y) > 0 || !g.tensors[y].strides.empty() ||
      graph::writes_in_place(g))
    return false;
  const auto reads = [&](const graph::KernelOp& op) { return std::ranges::count(op.inputs, y) > 0; };
  return std::ranges::any_of(g.ops, reads) && std::ranges::all_of(g.ops, [&](const graph::KernelOp& op) {
           return op.kind == graph::OpKind::custom || !reads(op);
         });
}

bool is_elementwise(const tile::TilePrograms& program, const tile::TileProgram& kernel, int tensor) {
  const graph::Shape& shape = program.shape(tensor);
  // Each dimension is accessed completely, or, by a load, at one element.
  const auto whole = [&](const tile::Node& n) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const tile::Cut& s = n.view.cuts[d];
      if (s.extent != shape[d] && (n.kind == tile::NodeKind::store || s.extent != 1)) return false;
      if (s.offset < 0) return false;
    }
    return true;
  };
  const bool last = kernel.nodes.back().kind == tile::NodeKind::store && kernel.nodes.back().tensor == tensor;
  const graph::DType dtype = program.tensors[tensor].dtype;
  return kernel.loop == 1 && last &&
         (dtype == graph::DType::f32 || dtype == graph::DType::f16 || dtype == graph::DType::bf16) &&
         std::ranges::count(kernel.nodes, tile::NodeKind::store, &tile::Node::kind) == 1 &&
         std::ranges::all_of(kernel.nodes, [&](const tile::Node& n) {
           return n.shape.size() == shape.size() && tile::number_of(n) < 0 &&
                  (tile::accesses(n) ? whole(n) : (n.kind == tile::NodeKind::map && n.op != graph::OpKind::mask));
         });
}

tile::TileProgram with_producer(const tile::TileProgram& reader, const tile::TileProgram& producer, int tensor) {
  tile::TileProgram p = reader;
  p.rebuild([&](std::size_t, tile::Node n) {
    const bool is_made = n.kind == tile::NodeKind::load && n.tensor == tensor;
    return is_made ? made(p, producer, n) : p.add(std::move(n));
  });
  return p;
}

std::optional<std::vector<tile::TileProgram>> by_parts(const tile::TilePrograms& program,
                                                       const tile::TileProgram& kernel,
                                                       const std::vector<Concatenation>& read) {
  if (read.empty() || kernel.loop > 1) return std::nullopt;
  return ByParts(program, kernel, read).run();
}

}  // namespace zellige::lower
