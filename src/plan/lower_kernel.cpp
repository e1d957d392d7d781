#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "graph/compose.hpp"
#include "graph/matrices.hpp"
#include "graph/view.hpp"
#include "plan/align.hpp"
#include "plan/lower.hpp"
#include "plan/split_k.hpp"
#include "plan/views.hpp"
#include "target/instructions.hpp"

namespace zellige::plan {
namespace {

using graph::KernelOp;

/// One pre-defined operator as block programs on a one-dimensional grid: block x is decoded into one tile index a
/// dimension by Split's div and mod, so no limit of grid.y or grid.z is ever met.
class KernelLowering {
 public:
  KernelLowering(Program& program, const KernelOp& op, const std::string& name, const target::Target& target)
      : program_(program), op_(op), name_(name), target_(target) {}

  BlockProgram copy(int from, int to) const { return elementwise({from}, to, 0, {0, 0}, shape(to)); }

  std::vector<BlockProgram> run() {
    switch (op_.kind) {
      case OpKind::matmul:
        return matmul();
      case OpKind::reduction:
        return {rows({op_.attributes.dim})};
      case OpKind::rotary_interleaved:
        return {rows({static_cast<int>(shape(op_.outputs[0]).size()) - 1})};
      case OpKind::concat:
      case OpKind::split:
        return pieces();
      case OpKind::gather:
        return gather();
      case OpKind::scatter:
        return scatter();
      case OpKind::slice_scatter:
        return slice_scatter();
      case OpKind::custom:
      case OpKind::input:
      case OpKind::output:
        fail("{}: {} is not a pre-defined operator", name_, graph::name(op_.kind));
      default:
        if (graph::is_composed(op_.kind))
          return {rows(graph::composed_dims(op_.kind, op_.attributes, shape(op_.inputs[0])))};
        return {elementwise(op_.inputs, op_.outputs[0], 0, {}, {})};
    }
  }

 private:
  struct MatmulTile {
    int m, n, k, threads;
  };

  const Shape& shape(int tensor) const { return program_.shape(tensor); }

  /// Splits of a tensor whose tile in dimension d is tile[d]; dimensions are walked from the last, which varies
  /// fastest over the grid. `steps[d]` is how many tiles the *output* has there; a tensor of extent 1 broadcasts.
  std::vector<Split> cut(const Shape& extent, const Shape& tile, const Shape& steps) const {
    std::vector<Split> result(extent.size());
    std::int64_t div = 1;
    for (int d = static_cast<int>(extent.size()) - 1; d >= 0; --d) {
      Split& s = result[d];
      s.tile = std::min(tile[d], extent[d]);
      s.extent = extent[d];
      if (steps[d] > 1) {
        if (extent[d] > 1) s.axis = 0, s.div = div, s.mod = steps[d];
        div *= steps[d];
        s.overhang = extent[d] > 1 && extent[d] % s.tile != 0;
      }
    }
    return result;
  }

  int load(BlockProgram& p, int tensor, std::vector<Split> splits, Section section) const {
    Node n;
    n.kind = NodeKind::load;
    n.tensor = tensor;
    n.dtype = program_.tensors[tensor].dtype;
    const Shape starts = program_.starts(tensor);
    for (std::size_t d = 0; d < splits.size(); ++d)
      n.shape.push_back(splits[d].tile), splits[d].offset += starts[d];
    n.splits = std::move(splits);
    n.section = section;
    n.name = program_.tensors[tensor].name;
    return p.add(std::move(n));
  }

  void store(BlockProgram& p, int value, int tensor, std::vector<Split> splits) const {
    Node n;
    n.kind = NodeKind::store;
    n.in = {value};
    n.tensor = tensor;
    n.dtype = program_.tensors[tensor].dtype;
    n.shape = p.nodes[value].shape;
    n.splits = std::move(splits);
    n.section = Section::after;
    n.name = program_.tensors[tensor].name;
    p.add(std::move(n));
  }

  /// Tiles for products on warpgroups, where the target has them and TMA may address both operands' lines.
  std::vector<MatmulTile> warpgroup_tiles(std::int64_t m, std::int64_t n, std::int64_t k, DType dtype) const {
    std::vector<MatmulTile> tiles;
    if (k < 128) return tiles;
    static constexpr MatmulTile table[] = {{128, 256, 64, 256}, {128, 224, 64, 256}, {128, 192, 64, 256},
                                           {128, 160, 64, 256}, {128, 128, 64, 256}, {128, 96, 64, 256},
                                           {128, 64, 64, 256},  {64, 256, 64, 128},  {64, 128, 64, 128},
                                           {64, 64, 64, 128}};
    for (MatmulTile t : table)
      if (m >= t.m && n >= t.n &&
          target::find_warpgroup_mma(target_, graph::name(dtype), graph::name(dtype), graph::name(DType::f32),
                                     t.n))
        tiles.push_back(t);
    return tiles;
  }

  /// The tile whose waves over the multiprocessors cost least: bytes and products of a tile, priced per SM.
  MatmulTile choose(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, DType dtype,
                    bool by_tma) const {
    const bool simt = dtype == DType::f32 || graph::is_integer(dtype);
    static constexpr MatmulTile table[] = {{128, 128, 32, 256}, {128, 64, 32, 128}, {64, 128, 32, 128},
                                           {64, 64, 64, 128},   {32, 128, 64, 128}, {16, 128, 64, 128},
                                           {32, 64, 64, 128},   {16, 64, 128, 128}, {16, 32, 128, 128}};
    static constexpr MatmulTile simt_table[] = {{64, 64, 16, 256}, {32, 32, 32, 256}, {16, 16, 32, 128}};
    MatmulTile best{};
    double least = 0;
    // A multiprocessor's rates: warps alone, several blocks at a time; or warpgroups fed by TMA, one block at a time.
    struct Rates {
      double products, bytes;  // a cycle
      bool alone;
    };
    constexpr Rates warps{512, 32, false}, warpgroups{2048, 40, true};
    constexpr double once = 1500;  // cycles of a tile
    // Between two ranks, in cycles, and what a split must promise: of an H200's times of 1024^3, 512 x 2048 x 2048 and 512 x 4096 x 4096
    // it made 1.24, 1.15 and 1.16, of 512 x 2048 x 8192 and 128 x 8192 x 8192 0.93 and 0.96.
    constexpr double exchange = 2500, clearly = 1.35;
    constexpr int columns_to_split = 128;  // a line of TMA for each rank, and room for a deep ring
    const auto consider = [&](MatmulTile t, const Rates& rates) {
      const std::int64_t tiles = batch * ceil_div(m, t.m) * ceil_div(n, t.n);
      const int split =
          rates.alone && t.n == columns_to_split ? split_of(tiles, ceil_div(k, t.k), target_) : 1;
      const double even = static_cast<double>(tiles * split) / target_.multiprocessors;
      const double waves = rates.alone ? std::ceil(even) : std::max(1.0, even);
      const double products = static_cast<double>(t.m) * t.n / rates.products;  // cycles a step of k
      const double traffic = static_cast<double>(t.m + t.n) * 2 / rates.bytes;  // cycles a step of k, from L2
      double cost = waves * (std::max(products, traffic) * static_cast<double>(k) / split + once);
      if (split > 1) cost = clearly * (cost + exchange);
      if (best.m == 0 || cost < least) best = t, least = cost;
    };
    if (simt)
      for (MatmulTile t : simt_table) consider(t, warps);
    else
      for (MatmulTile t : table) consider(t, warps);
    if (by_tma)
      for (MatmulTile t : warpgroup_tiles(m, n, k, dtype)) consider(t, warpgroups);
    return best;
  }

  std::vector<BlockProgram> matmul() const {
    const graph::Matrices of = graph::matrices(shape(op_.inputs[0]), shape(op_.inputs[1]));
    const Shape out = of.product;
    const int rank = static_cast<int>(out.size());
    int left = seen_as(program_, op_.inputs[0], padded_rank(of.a, out.size()), target_),
        right = seen_as(program_, op_.inputs[1], padded_rank(of.b, out.size()), target_);
    const Shape a = shape(left), b = shape(right);
    const std::int64_t m = out[rank - 2], k = a[rank - 1], n = out[rank - 1];
    std::vector<BlockProgram> kernels;
    if (k > 192) {  // some iterations
      constexpr int wide = 128;
      left = aligned_operand(program_, left, ceil_div(n, wide), kernels, name_, target_);
      right = aligned_operand(program_, right, ceil_div(m, wide), kernels, name_, target_);
    }
    const bool by_tma = lines_begin_at(program_, left, target_.access_bytes) &&
                        lines_begin_at(program_, right, target_.access_bytes);
    std::int64_t batch = 1;
    for (int d = 0; d < rank - 2; ++d) batch *= out[d];
    const DType dtype = program_.tensors[op_.inputs[0]].dtype;
    MatmulTile t = choose(batch, m, n, k, dtype, by_tma);
    const std::int64_t tm = std::min<std::int64_t>(t.m, m), tn = std::min<std::int64_t>(t.n, n);
    const std::int64_t tk = std::min<std::int64_t>(t.k, k);
    BlockProgram p;
    p.name = name_;
    p.block = {t.threads, 1, 1};
    p.loop = ceil_div(k, tk);
    Shape tile(rank, 1), steps(rank, 1);
    for (int d = 0; d < rank - 2; ++d) steps[d] = out[d];
    tile[rank - 2] = tm, tile[rank - 1] = tn;
    steps[rank - 2] = ceil_div(m, tm), steps[rank - 1] = ceil_div(n, tn);
    p.grid = {std::accumulate(steps.begin(), steps.end(), std::int64_t{1}, std::multiplies<>()), 1, 1};

    const auto looped = [&](int d, std::vector<Split> s) {  // dimension d of an operand is the loop's
      s[d] = {.axis = -1, .loop = p.loop > 1, .tile = tk, .extent = k, .overhang = k % tk != 0};
      return s;
    };
    const Section section = p.loop > 1 ? Section::inside : Section::after;
    std::vector<Split> c = cut(out, tile, steps);
    Shape ea = a, eb = b;  // batches of 1 stay where they are
    ea[rank - 1] = n, eb[rank - 2] = m;
    const int x = load(p, left, looped(rank - 1, cut(ea, tile, steps)), section);
    const int y = load(p, right, looped(rank - 2, cut(eb, tile, steps)), section);
    Node product;
    product.kind = NodeKind::matmul;
    product.in = {lower_operand(p, x, dtype), lower_operand(p, y, dtype)};
    product.shape = tile;
    product.section = section;
    product.carried = p.loop > 1;
    product.tf32 = op_.attributes.tf32;
    product.dtype = kept_in(dtype);
    int z = p.add(std::move(product));
    if (op_.inputs.size() > 2) {
      // Of the result as readers see it: vectors have taken dimensions from it.
      Shape bias = padded_rank(shape(op_.inputs[2]), shape(op_.outputs[0]).size());
      if (shape(op_.inputs[1]).size() == 1) bias.push_back(1);
      if (bias.size() < out.size()) bias.insert(bias.end() - 1, 1);
      const int seen = seen_as(program_, op_.inputs[2], bias, target_);
      const int added = load(p, seen, cut(shape(seen), tile, steps), p.loop > 1 ? Section::before : section);
      z = lower_operator(p, OpKind::add, {}, {z, added}, Section::after);
    }
    store(p, z, seen_as(program_, op_.outputs[0], out, target_), c);
    kernels.push_back(std::move(p));
    return kernels;
  }

  /// Tile of about `elements`, filled from the last dimension.
  Shape tile_of(const Shape& extent, std::int64_t elements) const {
    Shape tile(extent.size(), 1);
    for (int d = static_cast<int>(extent.size()) - 1; d >= 0; --d) {
      tile[d] = std::min(extent[d], elements);
      const std::int64_t even = ceil_div(extent[d], ceil_div(extent[d], tile[d]));  // no short last one
      // Prefer a tile that divides, where one of at least half the size does.
      for (std::int64_t t = tile[d]; t * 2 > tile[d]; --t)
        if (extent[d] % t == 0) {
          tile[d] = t;
          break;
        }
      if (extent[d] % tile[d] != 0) tile[d] = even;
      elements = std::max<std::int64_t>(1, elements / tile[d]);
    }
    return tile;
  }

  static Shape steps_of(const Shape& extent, const Shape& tile) {
    Shape steps(extent.size());
    for (std::size_t d = 0; d < extent.size(); ++d) steps[d] = ceil_div(extent[d], tile[d]);
    return steps;
  }

  /// out[.., from_out + i, ..] = f(in[.., from_in + i, ..]) over `extent` (the output's own where empty).
  BlockProgram elementwise(const std::vector<int>& inputs, int output, int dim,
                           std::pair<std::int64_t, std::int64_t> from, Shape extent) const {
    const bool copy = !extent.empty();
    if (!copy) extent = shape(output);
    const Shape tile = tile_of(extent, 2048), steps = steps_of(extent, tile);
    BlockProgram p;
    p.name = name_;
    p.block = {256, 1, 1};
    if (graph::size(tile) <= 1024) p.block = {128, 1, 1};
    p.grid = {graph::size(steps), 1, 1};
    std::vector<int> in;
    for (int t : inputs) {
      const int seen = copy ? t : seen_as(program_, t, padded_rank(shape(t), extent.size()), target_);
      std::vector<Split> s = cut(copy ? extent : shape(seen), tile, steps);
      if (copy) s[dim].offset = from.first;
      in.push_back(load(p, seen, std::move(s), Section::after));
    }
    std::vector<Split> s = cut(extent, tile, steps);
    if (copy) s[dim].offset = from.second;
    const int value = copy ? in[0] : lower_operator(p, op_.kind, op_.attributes, in, Section::after);
    if (op_.kind == OpKind::mask) p.nodes[value].splits = s;
    store(p, value, output, std::move(s));
    return p;
  }

  /// concat and split: one copying kernel a part.
  std::vector<BlockProgram> pieces() const {
    std::vector<BlockProgram> kernels;
    std::int64_t start = 0;
    const int dim = op_.attributes.dim;
    const bool split = op_.kind == OpKind::split;
    const auto& parts = split ? op_.outputs : op_.inputs;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Shape extent = shape(parts[i]);
      kernels.push_back(split ? elementwise({op_.inputs[0]}, parts[i], dim, {start, 0}, extent)
                              : elementwise({parts[i]}, op_.outputs[0], dim, {0, start}, extent));
      if (i > 0) kernels.back().name += fmt::format("_{}", i);
      start += extent[dim];
    }
    return kernels;
  }

  /// A tensor in another shape of the same elements; from a copy where its memory has no such layout.
  int flat(int tensor, const Shape& as, std::vector<BlockProgram>& kernels, bool read) const {
    if (shape(tensor) == as) return tensor;
    settle_strides(program_, tensor, true, target_);
    int from = tensor;
    auto v = graph::viewed(OpKind::reshape, {}, shape(from), program_.tensors[from].strides, as,
                           program_.starts(from));
    if (!v) {
      const Shape whole = shape(tensor);
      from = add_tensor(program_, program_.tensors[tensor].dtype, whole, graph::row_major(whole),
                        program_.tensors[tensor].name + "_dense");
      kernels.push_back(read ? copy(tensor, from) : copy(from, tensor));
      v = graph::viewed(OpKind::reshape, {}, whole, graph::row_major(whole), as);
    }
    const int view = add_tensor(program_, program_.tensors[from].dtype, as, v->steps,
                                program_.tensors[tensor].name + "_rows");
    make_view(program_, view, from, as, v->steps, v->starts);
    return view;
  }

  /// One kernel that moves `extent` elements, of a table's `dim` those that the numbers name.
  BlockProgram by_number(int from, int to, int table, int numbers, int dim, const Shape& extent) const {
    const Shape tile = tile_of(extent, 2048), steps = steps_of(extent, tile);
    const bool rows = shape(numbers)[0] == extent[0] && shape(numbers) != Shape{1};
    BlockProgram p;
    p.name = name_;
    p.block = {graph::size(tile) <= 1024 ? 128 : 256, 1, 1};
    p.grid = {graph::size(steps), 1, 1};
    Shape one(extent.size(), 1);
    if (rows) one[0] = extent[0];
    const int seen = seen_as(program_, numbers, one, target_);
    const int number = load(p, seen, cut(one, tile, steps), Section::after);
    const std::vector<Split> s = cut(extent, tile, steps);
    std::vector<Split> in_table = s;
    if (rows) in_table[0] = {.tile = shape(table)[0], .extent = shape(table)[0]};
    const int value = load(p, from, from == table ? in_table : s, Section::after);
    store(p, value, to, to == table ? in_table : s);
    Node& numbered = from == table ? p.nodes[value] : p.nodes.back();
    numbered.in.push_back(number);
    numbered.dim = dim, numbered.to = rows ? 1 : extent[dim];
    p.nodes[value].shape = p.nodes.back().shape = tile;
    const Shape starts = program_.starts(table);
    if (to == table)
      for (std::size_t d = 0; d < starts.size(); ++d) numbered.splits[d].offset += starts[d];
    return p;
  }

  std::vector<BlockProgram> gather() const {
    const int table = op_.inputs[0];
    Shape extent = shape(table);
    extent[0] = graph::size(shape(op_.inputs[1]));
    std::vector<BlockProgram> kernels, behind;
    const int numbers = flat(op_.inputs[1], {extent[0]}, kernels, true);
    const int rows = flat(op_.outputs[0], extent, behind, false);
    kernels.push_back(by_number(table, rows, table, numbers, 0, extent));
    for (BlockProgram& k : behind) kernels.push_back(std::move(k));
    return named(std::move(kernels));
  }

  /// The result, where it has memory of its own, first as a copy.
  int changed(std::vector<BlockProgram>& kernels) const {
    const int old = op_.inputs[0], y = op_.outputs[0];
    if (program_.tensors[y].memory < 0) {
      kernels.push_back(copy(old, y));
      return y;
    }
    make_view(program_, y, old, shape(old), program_.tensors[old].strides, program_.starts(old));
    program_.views[y].value = y;
    return y;
  }

  std::vector<BlockProgram> scatter() const {
    std::vector<BlockProgram> kernels;
    const int table = changed(kernels);
    Shape extent = shape(table);
    extent[0] = graph::size(shape(op_.inputs[1]));
    const int numbers = flat(op_.inputs[1], {extent[0]}, kernels, true);
    const int rows = flat(op_.inputs[2], extent, kernels, true);
    kernels.push_back(by_number(rows, table, table, numbers, 0, extent));
    return named(std::move(kernels));
  }

  std::vector<BlockProgram> slice_scatter() const {
    std::vector<BlockProgram> kernels;
    const int table = changed(kernels), part = op_.inputs[1], dim = op_.attributes.dim;
    const Shape extent = shape(part);
    if (op_.inputs.size() > 2)
      kernels.push_back(by_number(part, table, table, op_.inputs[2], dim, extent));
    else
      kernels.push_back(elementwise({part}, table, dim, {0, op_.attributes.start}, extent));
    return named(std::move(kernels));
  }

  static std::vector<BlockProgram> named(std::vector<BlockProgram> kernels) {
    for (std::size_t i = 1; i < kernels.size(); ++i) kernels[i].name += fmt::format("_{}", i);
    return kernels;
  }

  /// What works along some dimensions: a block holds whole lines of them.
  BlockProgram rows(const std::vector<int>& dims) const {
    const Shape x = shape(op_.inputs[0]);  // a copy: views move the tensors
    Shape extent = x;
    std::int64_t line = 1;
    for (int d : dims)
      line *= std::exchange(extent[d], 1);  // what is cut into tiles; the dimensions stay whole
    const std::int64_t lines = std::max<std::int64_t>(1, 4096 / line);
    const Shape tile = tile_of(extent, lines), steps = steps_of(extent, tile);
    BlockProgram p;
    p.name = name_;
    p.block = {128, 1, 1};
    p.grid = {graph::size(steps), 1, 1};
    const auto whole = [&](Shape size) {
      const Shape of = size;
      for (int d : dims) size[d] = 1;
      std::vector<Split> s = cut(size, tile, steps);
      for (int d : dims) s[d] = {.tile = of[d], .extent = of[d]};
      return s;
    };
    std::vector<int> in;
    for (int t : op_.inputs) {
      const int seen = seen_as(program_, t, padded_rank(shape(t), extent.size()), target_);
      in.push_back(load(p, seen, whole(shape(seen)), Section::after));
    }
    const int value = lower_operator(p, op_.kind, op_.attributes, in, Section::after);
    Shape result = x;  // where a dimension is left out, it is still there in the tile
    for (int d : dims) result[d] = p.nodes[value].shape[d];
    store(p, value, seen_as(program_, op_.outputs[0], result, target_), whole(result));
    return p;
  }

  Program& program_;
  const KernelOp& op_;
  std::string name_;
  const target::Target& target_;
};

}  // namespace

BlockProgram lower_copy(Program& program, int from, int to, const std::string& name,
                        const target::Target& target) {
  const KernelOp none;
  return KernelLowering(program, none, name, target).copy(from, to);
}

std::vector<BlockProgram> lower_kernel(Program& program, const KernelOp& op, const std::string& name,
                                       const target::Target& target) {
  return KernelLowering(program, op, name, target).run();
}

}  // namespace zellige::plan
