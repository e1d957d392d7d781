#include "emit/tensor_index.hpp"

#include "kernel/index_width.hpp"
#include "selection/copies.hpp"
#include "tile/size_expression.hpp"

namespace zellige::emit {
namespace {

/// Returns the expression for the index at which the tiles of a dimension begin in the tensor. It is a constant,
/// except in a launch whose programs each write one operand of a concatenation: there it is relative to the variable
/// part_begin, the index at which the program's operand begins. So programs for operands of one shape have the same
/// source.
Index origin(const KernelText& k, const tile::Interval& along) {
  if (along.begin() >= 0) return number(k, along.origin(k.program.sizes));
  if (!along.of_part() || !k.is_part()) return along.origin();
  return Index::named("part_begin") + (along.origin() - k.block.part_begin);
}

/// Returns in which row of the cache row `row` is of the sequence whose pages the load `n` reads. `own`: the coordinate of the
/// page's number, without that of the page. Rows beyond the sequence are in its last page.
Index in_page(const KernelText& k, const Node& n, const Index& row, std::vector<Index> own) {
  const Node& numbers = k.block.nodes[tile::number_of(n)];
  const auto dim = static_cast<std::size_t>(n.dim);
  own[dim] = digit(row, n.page, 0, true);
  if (n.view.predicated(n.dim)) own[dim] = at_most(own[dim], numbers.shape[dim] - 1);
  const std::int64_t last = (k.program.shape(n.tensor)[dim] - n.page) / n.page_step;
  const Index number = Index::named(fmt::format("numbered({}({}), {})", k.global(numbers.tensor),
                                                fmt::join(position(k, numbers, 0, own), ", "), last));
  return number * n.page_step + digit(row, 1, n.page, false);
}

/// Returns an upper bound of the offsets, in elements, that any block loads for load `n` in this iteration: without what
/// dimensions add whose extent a size decides.
std::int64_t last_read(const KernelText& k, const Node& n, const Index& iteration) {
  const graph::KernelTensor& tensor = k.program.tensors[n.tensor];
  const bool shifted =
      k.plan.loop_bounds && k.plan.loop_bounds->begins_later();  // iterations begin at the mask's lower bound
  std::int64_t last = 0;
  for (int d = 0; d < n.view.rank(); ++d) {
    const bool constant = k.program.extent(n.tensor, d).is_constant() && k.program.stride(n.tensor, d).is_constant();
    std::int64_t limit = constant ? tensor.shape[d] : 1;
    if (n.view.iterates(d) && n.view.axis(d) < 0 && iteration.is_constant() && !shifted && tile::number_of(n) < 0)
      limit = std::min(limit, n.view.along(d, k.block).start(0, iteration.constant() + 1));
    last += (limit - 1) * tensor.strides[d];
  }
  return last;
}

/// Returns the offset of the last element of a tensor along a dimension whose extent or stride sizes decide; otherwise a constant.
tile::SymbolicNumber sized_last(const KernelText& k, int tensor, int d) {
  const tile::SymbolicNumber extent = k.program.extent(tensor, d), stride = k.program.stride(tensor, d);
  if (extent.is_constant() && stride.is_constant()) return 0;
  return ((extent.is_constant() ? tile::SymbolicNumber(k.program.tensors[tensor].shape[d]) : extent) + -1) * stride;
}

/// Returns the number of elements from the first to the last of the tensor of load `n`.
Index size_of(const KernelText& k, const Node& n) {
  Index size = last_read(k, n, Index::named("any")) + 1;
  for (int d = 0; d < n.view.rank(); ++d)
    if (const tile::SymbolicNumber last = sized_last(k, n.tensor, d); !last.is_constant())
      size = size + number(k, last, last.high() >= std::int64_t{1} << 31);
  return size;
}

}  // namespace

Index global_start(const KernelText& k, const Node& n, int dim, const Index& iteration) {
  const graph::KernelTensor* tensor = tile::accesses(n) ? &k.program.tensors[n.tensor] : nullptr;
  return global_start(k, n.view.along(dim, k.block), kernel::reach(k.plan, n, tensor).far(), iteration);
}

Index global_start(const KernelText& k, const tile::Interval& along, bool far, const Index& given) {
  Index iteration = k.plan.loop_bounds && k.plan.loop_bounds->begins_later() ? given + Index::named("begin") : given;
  const Index tile = tile_number(along, far);
  if (far && tile.is_constant() && !iteration.is_constant())
    iteration = Index::named(iteration.is_name() ? fmt::format("(long long){}", iteration)
                                                 : fmt::format("(long long)({})", iteration));
  return along.first(tile, iteration) + origin(k, along);
}

/// Returns the expression for the number of the block's tile. With `far` it has 64 bits.
Index tile_number(const tile::Interval& along, bool far) {
  if (along.axis() < 0) return 0;
  return along.tile(Index::named(fmt::format("{}b{}", far ? "(long long)" : "", "xyz"[along.axis()])));
}

/// Returns the expression for a number that sizes decide, of the kernel's parameters.
Index number(const KernelText& k, const tile::SymbolicNumber& n, bool wide) {
  if (n.is_constant()) return n.low();
  const tile::SizeExpression e = tile::SizeExpression::of(n, k.program.sizes);
  const std::string text = e.code([&](int size) {
    const std::string name = k.names.size(k.program.sizes[size].name);
    return wide ? "(long long)" + name : name;
  });
  return Index::named(e.as_size() >= 0 ? text : fmt::format("({})", text));
}

Index bound(const KernelText& k, std::int64_t bound, int size) {
  if (size < 0) return bound;
  const tile::SymbolicNumber n = tile::SymbolicNumber::of(k.program.sizes, size);
  return number(k, n) + (bound - n.high());
}

/// Returns the expression for the coordinate at which a view ends.
Index global_end(const KernelText& k, const tile::Interval& along) {
  const tile::SymbolicNumber end = along.end(k.program.sizes);
  return end.is_constant() ? origin(k, along) + (along.end() - along.origin()) : number(k, end);
}

/// Adds to a condition that coordinate `at` of the tensor lies inside, along one dimension of a view.
void check(const KernelText& k, Condition& inside, const tile::Interval& along, const Index& at) {
  inside.push_back({at, global_end(k, along)});
  if (along.origin() < 0) inside.push_back({-1, at});
}

/// Returns the condition that coordinate `at` of node `n`'s tensor lies inside; empty if all coordinates of a tile do.
Condition inside(const KernelText& k, const Node& n, const std::vector<Index>& at) {
  Condition all;
  for (int d = 0; d < n.view.rank(); ++d)
    if (n.view.predicated(d)) check(k, all, n.view.along(d, k.block), at[d]);
  check_windows(k, all, n, at);
  return all;
}

/// Returns where the element at coordinate `at` of a tile is in the view of the load `n`, which it is in its tensor at `from`.
std::vector<Index> in_view(const KernelText& k, const Node& n, const Index& iteration, const std::vector<Index>& at,
                           std::vector<Index> from) {
  if (n.page > 0) from[n.dim] = global_start(k, n, n.dim, iteration) + at[n.dim];
  return from;
}

/// Returns where the element at coordinate `at` of a tile is in its tensor: its coordinate there. Node `n` is the
/// load or store that accesses the tile, in this iteration of the loop.
std::vector<Index> position(const KernelText& k, const Node& n, const Index& iteration, const std::vector<Index>& at) {
  std::vector<Index> global_at;
  const int number = tile::number_of(n);
  for (std::size_t d = 0; d < at.size(); ++d) {
    const bool named = number >= 0 && static_cast<int>(d) == n.dim;
    Index here = global_start(k, n, static_cast<int>(d), iteration);
    if (!named || n.to > 1 || n.page > 0) here = here + at[d];  // a gathered slice, or one index per element
    if (named) {
      const Node& numbers = k.block.nodes[number];
      std::vector<Index> own = at;
      for (std::size_t k = 0; k < own.size(); ++k)
        if (numbers.shape[k] == 1) own[k] = 0;
      if (n.page > 0) {
        global_at.push_back(in_page(k, n, here, std::move(own)));
        continue;
      }
      const tile::SymbolicNumber extent = k.program.extent(n.tensor, static_cast<int>(d));
      const Index last = (extent.is_constant() ? k.program.shape(n.tensor)[d] : emit::number(k, extent)) - n.to;
      here = Index::named(fmt::format("numbered({}({}), {})", k.global(numbers.tensor),
                                      fmt::join(position(k, numbers, iteration, own), ", "), last)) +
             here;
    }
    global_at.push_back(here);
  }
  return global_at;
}

/// Returns ", ADDRESS", where ADDRESS is the address at which the tensor of load `n` ends. The emitted load reads
/// complete words, and gets this address as an additional argument so that it reads nothing beyond the end.
/// Returns an empty string if the load reads nothing within 16 bytes of the end in this iteration.
std::string end_of(const KernelText& k, const Node& n, const Index& iteration) {
  const std::int64_t beyond = last_read(k, n, Index::named("any")) - last_read(k, n, iteration);
  if (graph::bytes_of(beyond, n.dtype) >= 16) return "";
  const std::vector<Index> first(n.shape.size(), 0);
  return fmt::format(", {}({}) + {}", k.global(n.tensor), fmt::join(first, ", "), size_of(k, n));
}

/// Returns the expression for the number of elements of a chunk (those of one copy) that load `n` reads: at the edge of
/// the tile or tensor not all, and the rest is filled with zeros. The chunk begins at coordinate `at` of the tile and
/// `from` of the view. `padded`: the shape of the tile with its padding; `c`: the thread-value layout of the copy.
ExistingElements existing(const KernelText& k, const Node& n, const graph::Shape& padded, const Context& c,
                          const std::vector<Index>& at, const std::vector<Index>& from) {
  const int inner = c.inner(), V = c.vector();
  Condition inside;
  for (int d = 0; d < c.rank(); ++d) {
    if (d == inner) continue;
    if (padded[d] > n.shape[d]) inside.push_back({at[d], n.shape[d]});
    if (n.view.predicated(d)) check(k, inside, n.view.along(d, k.block), from[d]);
  }
  check_windows(k, inside, n, from);
  std::string left;
  if (padded[inner] > n.shape[inner] || n.shape[inner] % V != 0) left = (n.shape[inner] - at[inner]).str();
  if (n.view.predicated(inner)) {
    const Index rest = global_end(k, n.view.along(inner, k.block)) - from[inner];
    left = left.empty() ? rest.str() : fmt::format("at_most({}, {})", left, rest);
  }
  const bool whole = left.empty() && inside.empty();
  std::string valid = left.empty() ? std::to_string(V) : fmt::format("edge({}, {})", left, V);
  if (!inside.empty()) valid = fmt::format("{} ? {} : 0", text(inside), valid);
  return {std::move(valid), whole};
}

}  // namespace zellige::emit
