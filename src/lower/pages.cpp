#include "lower/pages.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "graph/view.hpp"
#include "lower/repeats.hpp"
#include "lower/views.hpp"

namespace zellige::lower {
namespace {

using graph::KernelGraph;
using graph::KernelOp;

using PageDigit = tile::PagedTensor::PageDigit;

/// A digit of what a gather of pages yields, which a dimension of a view has, alone or joined with others.
struct DigitOf {
  bool of_table = false;
  PageDigit digit;
};
/// The parts of each dimension of a tensor, the slowest first. Those of extent 1 are omitted.
using Dimensions = std::vector<std::vector<DigitOf>>;

/// Returns the dimensions of what a gather makes of the pages of a cache.
Dimensions gathered(const graph::Shape& cache, const graph::Shape& table) {
  Dimensions all;
  const auto add = [&](bool of_table, std::size_t dim, std::int64_t extent) {
    all.emplace_back();
    if (extent > 1) all.back().push_back({of_table, {static_cast<int>(dim), extent}});
  };
  for (std::size_t d = 0; d < table.size(); ++d) add(true, d, table[d]);
  for (std::size_t d = 1; d < cache.size(); ++d) add(false, d, cache[d]);
  return all;
}

/// Returns the dimensions of a reshape's result of shape `to`; nullopt if it divides a digit otherwise than in two.
std::optional<Dimensions> reshaped(const Dimensions& from, const graph::Shape& to) {
  std::vector<DigitOf> parts;
  for (const std::vector<DigitOf>& dim : from) parts.insert(parts.end(), dim.begin(), dim.end());
  Dimensions all(to.size());
  for (std::size_t d = to.size(); d-- > 0;)
    for (std::int64_t left = to[d]; left > 1;) {
      if (parts.empty()) return std::nullopt;
      DigitOf part = parts.back();
      PageDigit& rest = parts.back().digit;
      if (left % part.digit.extent == 0) {
        parts.pop_back();
      } else if (part.digit.extent % left == 0) {
        part.digit.extent = left;
        rest.extent /= left, rest.below *= left;
      } else {
        return std::nullopt;
      }
      left /= part.digit.extent;
      all[d].insert(all[d].begin(), part);
    }
  return parts.empty() ? std::optional(std::move(all)) : std::nullopt;
}

/// Returns the dimensions of a view's result; nullopt if it is none that changes their order or joins them.
std::optional<Dimensions> seen(const KernelGraph& g, const KernelOp& view, const Dimensions& from) {
  if (view.kind == graph::OpKind::reshape) return reshaped(from, g.tensors[view.outputs[0]].shape);
  if (view.kind != graph::OpKind::permute) return std::nullopt;
  Dimensions all;
  for (const std::int64_t d : view.attributes.sizes) all.push_back(from[static_cast<std::size_t>(d)]);
  return all;
}

/// Returns the dimension of a page's rows, if each tile is of one page, which is a matrix at least, and no dimension joins pages and
/// their rows, as of the weights of one expert; -1 otherwise.
int rows_of_one_page(const tile::PagedTensor& t, const graph::Shape& tile) {
  if (std::ranges::count_if(t.of_cache, [](const PageDigit& digit) { return digit.dim >= 0; }) < 2) return -1;
  int slowest = -1;
  for (std::size_t d = 0; d < tile.size(); ++d) {
    if (t.of_table[d].dim >= 0 && tile[d] > 1) return -1;
    const PageDigit& digit = t.of_cache[d];
    if (digit.dim < 0) continue;
    const auto order = [](const PageDigit& of) { return std::pair(of.dim, -of.below); };
    if (slowest < 0 || order(digit) < order(t.of_cache[static_cast<std::size_t>(slowest)]))
      slowest = static_cast<int>(d);
  }
  return slowest;
}

/// Returns the paged tensor that has these dimensions; nullopt if loads of tiles of at most `tile` cannot read one with them. If no
/// dimension joins pages and their rows, each tile is of one page; or each page is one row, and the fastest dimension of the table has
/// those of a sequence.
std::optional<tile::PagedTensor> paged(const KernelOp& gather, const Dimensions& dims, const graph::Shape& tile) {
  tile::PagedTensor t{.cache = gather.inputs[0], .table = gather.inputs[1]};
  std::vector<int> joined;  // dimensions with parts of both
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::vector<DigitOf>& parts = dims[d];
    PageDigit &cache = t.of_cache.emplace_back(), &table = t.of_table.emplace_back();
    if (parts.size() > 2 || (parts.size() == 2 && (!parts[0].of_table || parts[1].of_table))) return std::nullopt;
    if (parts.size() == 2) joined.push_back(static_cast<int>(d));
    for (const DigitOf& p : parts) (p.of_table ? table : cache) = p.digit;
  }
  const auto is_long = [&](int d) { return tile[static_cast<std::size_t>(d)] > 1; };
  if (joined.size() == 1)
    t.dim = joined.front();
  else if (const auto found = std::ranges::find_if(joined, is_long); found != joined.end())
    t.dim = *found;  // of the others, such as sequences and heads, a tile has one
  if (joined.empty()) t.dim = rows_of_one_page(t, tile);
  for (std::size_t d = 0; joined.empty() && t.dim < 0 && d < dims.size(); ++d) {
    const PageDigit& digit = t.of_table[d];
    const bool slower = std::ranges::any_of(t.of_table, [&](const PageDigit& other) {
      return other.dim > digit.dim || (other.dim == digit.dim && other.below < digit.below);
    });
    if (digit.dim >= 0 && !slower) t.dim = static_cast<int>(d), t.of_cache[d] = {0, 1, 1};
  }
  return t.dim < 0 ? std::nullopt : std::optional(std::move(t));
}

/// Returns the extents of the largest tiles that the custom operator loads of `tensor`, a tensor of this rank.
graph::Shape largest_tile(const KernelOp& op, int tensor, std::size_t rank) {
  graph::Shape largest(rank, 1);
  for (const graph::BlockOp& o : op.block->ops)
    if (o.kind == graph::OpKind::input && op.inputs[o.kernel_tensor] == tensor) {
      const graph::Shape& tile = op.block->tensors[o.outputs[0]].shape;
      for (std::size_t d = 0; d < std::min(rank, tile.size()); ++d) largest[d] = std::max(largest[d], tile[d]);
    }
  return largest;
}

/// Returns whether the custom operator masks by the lengths of sequences.
bool has_lengths(const KernelOp& op) {
  return std::ranges::any_of(
      op.block->ops, [](const graph::BlockOp& o) { return o.kind == graph::OpKind::mask && o.inputs.size() > 1; });
}

/// Returns whether each tile that the custom operator loads of `tensor` is of one sequence, and is loaded as it is.
bool reads_sequences(const KernelGraph& g, const KernelOp& op, int tensor, const tile::PagedTensor& t) {
  if (graph::is_weight_only(g.tensors[tensor].dtype)) return false;
  if (t.of_cache[t.dim].dim == 0 && !has_lengths(op))
    return false;  // rows that several kernels may read are gathered once
  return std::ranges::all_of(op.block->ops, [&](const graph::BlockOp& o) {
    if (o.kind == graph::OpKind::gather) return false;
    if (o.kind != graph::OpKind::input || op.inputs[o.kernel_tensor] != tensor) return true;
    const graph::Shape& tile = op.block->tensors[o.outputs[0]].shape;
    if (tile.size() != t.of_table.size()) return false;
    for (std::size_t d = 0; d < tile.size(); ++d) {
      if (t.of_table[d].dim < 0 || static_cast<int>(d) == t.dim) continue;
      if (tile[d] != 1 || (t.of_cache[d].dim >= 0 && o.loop_dim == static_cast<int>(d))) return false;
    }
    return true;
  });
}

/// Returns the tensor of which `tensor` is a view.
int viewed(const KernelGraph& g, int tensor) {
  for (auto op = g.ops.rbegin(); op != g.ops.rend(); ++op)
    if (op->outputs[0] == tensor && graph::is_view(op->kind)) tensor = op->inputs[0];
  return tensor;
}

/// Returns whether an operator changes the memory of the tensor, of which the value is then gone.
bool is_overwritten(const KernelGraph& g, int tensor) {
  const int of = viewed(g, tensor);
  return std::ranges::any_of(g.ops, [&](const KernelOp& op) {
    return !op.outputs.empty() && g.tensors[op.outputs[0]].memory >= 0 && viewed(g, op.inputs[0]) == of;
  });
}

/// Returns what is made of the gather `first`; nullopt if something of it has to be in memory.
std::optional<PagedReads> reads_of(const KernelGraph& g, int first) {
  const KernelOp& gather = g.ops[static_cast<std::size_t>(first)];
  const graph::Shape& table = g.tensors[gather.inputs[1]].shape;
  PagedReads reads;
  std::map<int, Dimensions> all{{gather.outputs[0], gathered(g.tensors[gather.inputs[0]].shape, table)}};
  for (int i = first + 1; i < static_cast<int>(g.ops.size()); ++i) {
    const KernelOp& op = g.ops[static_cast<std::size_t>(i)];
    for (const int t : op.inputs) {
      const auto of = all.find(t);
      if (of == all.end()) continue;
      if (graph::is_view(op.kind)) {
        std::optional<Dimensions> dims = seen(g, op, of->second);
        if (!dims) return std::nullopt;
        all.emplace(op.outputs[0], *std::move(dims)), reads.views.push_back(i);
        continue;
      }
      if (!op.block) return std::nullopt;
      const std::optional<tile::PagedTensor> tensor =
          paged(gather, of->second, largest_tile(op, t, g.tensors[t].shape.size()));
      if (!tensor || !reads_sequences(g, op, t, *tensor)) return std::nullopt;
      if (reads.tensors.emplace(t, *tensor).first->second.dim != tensor->dim) return std::nullopt;
    }
  }
  for (const auto& [t, dims] : all) {
    if (!g.tensors[t].strides.empty() || std::ranges::count(g.outputs, t) > 0) return std::nullopt;
    reads.made.push_back(t);
  }
  return reads.tensors.empty() ? std::nullopt : std::optional(std::move(reads));
}

/// Returns the steps from page to page of the cache, in rows; 0 if they are no number of rows.
std::int64_t page_step(const tile::TilePrograms& program, const tile::PagedTensor& t) {
  const graph::Strides& strides = program.tensors[t.cache].strides;
  const PageDigit& rows = t.of_cache[t.dim];
  const std::int64_t row_step = strides[rows.dim] * rows.below,
                     step = row_step > 0 && strides[0] % row_step == 0 ? strides[0] / row_step : 0;
  return step < rows.extent ? 0 : step;
}

/// Returns whether each digit of a dimension that begins elsewhere than at 0 is all of it.
bool begin_as_seen(const tile::TilePrograms& program, int tensor, const std::vector<PageDigit>& digits) {
  return std::ranges::all_of(digits, [&](const PageDigit& digit) {
    return digit.dim < 0 || program.starts(tensor)[digit.dim] == 0 || digit.extent == program.shape(tensor)[digit.dim];
  });
}

}  // namespace

std::map<int, PagedReads> paged_reads(const KernelGraph& g) {
  std::map<int, PagedReads> all;
  for (int i = 0; i < static_cast<int>(g.ops.size()); ++i) {
    const KernelOp& op = g.ops[static_cast<std::size_t>(i)];
    if (op.kind != graph::OpKind::gather || g.tensors[op.inputs[0]].shape.size() < 2) continue;
    if (is_overwritten(g, op.inputs[0]) || is_overwritten(g, op.inputs[1])) continue;
    if (std::optional<PagedReads> reads = reads_of(g, i)) all.emplace(i, *std::move(reads));
  }
  return all;
}

bool read_in_pages(tile::TilePrograms& program, const PagedReads& reads, const target::Target& target) {
  for (const auto& [tensor, t] : reads.tensors) {
    for (const int of : {t.cache, t.table}) {
      settle_strides(program, of, false, target);
      if (program.tensors[of].strides.empty()) return false;  // a view that needs memory of its own
      const tile::TensorView* view = program.view(of);
      if ((view && view->number >= 0) || !std::ranges::all_of(repeats(program, of), [](auto n) { return n == 1; }))
        return false;
    }
    if (!begin_as_seen(program, t.cache, t.of_cache) || !begin_as_seen(program, t.table, t.of_table)) return false;
    const graph::Shape starts = program.starts(t.cache);
    if (starts[0] != 0 || starts[t.of_cache[t.dim].dim] != 0 || page_step(program, t) == 0) return false;
    if (const int of = t.of_table[t.dim].dim; of >= 0 && program.starts(t.table)[of] != 0) return false;
  }
  program.paged.insert(reads.tensors.begin(), reads.tensors.end());
  for (const int t : reads.made) settle_strides(program, t, true, target);
  return true;
}

int load_pages(tile::TilePrograms& program, tile::TileProgram& p, const tile::PagedTensor& t,
               const tile::TileView& tile) {
  const graph::Shape cache_starts = program.starts(t.cache), table_starts = program.starts(t.table);
  const graph::Strides of_cache = program.tensors[t.cache].strides, of_table = program.tensors[t.table].strides;
  const auto rank = static_cast<std::size_t>(tile.rank()), front = rank - t.of_cache.size();
  const std::int64_t page = t.of_cache[t.dim].extent, step = page_step(program, t);
  graph::Shape shape(rank, 1), starts(rank, 0), numbers(rank, 1), first(rank, 0);
  graph::Strides strides(rank, of_cache[0]), between(rank, of_table[0]);
  tile::TileView rows = tile, row{std::vector<tile::Cut>(rank)};
  for (std::size_t d = front; d < rank; ++d) {
    const PageDigit &c = t.of_cache[d - front], &n = t.of_table[d - front];
    if (c.dim >= 0) shape[d] = c.extent, strides[d] = of_cache[c.dim] * c.below, starts[d] = cache_starts[c.dim];
    if (n.dim >= 0) numbers[d] = n.extent, between[d] = of_table[n.dim] * n.below, first[d] = table_starts[n.dim];
    if (n.dim < 0 || static_cast<int>(d - front) == t.dim) continue;
    row.cuts[d] = tile.cuts[d], rows.cuts[d] = {};
    if (c.dim < 0) continue;
    rows.cuts[d] = tile.cuts[d];  // blocks number the heads of each sequence
    rows.cuts[d].extent = rows.cuts[d].mod = c.extent;
    row.cuts[d] = of_repeated(row.cuts[d], c.extent);
  }
  const std::size_t joined = front + static_cast<std::size_t>(t.dim);
  shape[joined] = (program.shape(t.cache)[0] - 1) * step + page;
  row.cuts[joined] = {.tile = numbers[joined], .extent = numbers[joined]};
  rows.move(starts), row.move(first);
  const int seen_table = view_of(program, t.table, numbers, between, first);
  tile::Node number = program.access(tile::NodeKind::load, seen_table, std::move(row));
  const int seen_cache = view_of(program, t.cache, shape, strides, starts);
  tile::Node load = program.access(tile::NodeKind::load, seen_cache, std::move(rows));
  load.in = {p.add(std::move(number))};
  load.dim = static_cast<int>(joined), load.page = page, load.page_step = step;
  return p.add(std::move(load));
}

}  // namespace zellige::lower
