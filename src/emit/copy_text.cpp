#include "emit/kernel_text.hpp"
#include "kernel/index_width.hpp"
#include "selection/copies.hpp"
#include "selection/tile_schedule.hpp"
#include "tile/size_expression.hpp"

namespace zellige::emit {

Index KernelText::global_start(const Node& n, int dim, const Index& iteration) const {
  const graph::KernelTensor* tensor = tile::accesses(n) ? &program_.tensors[n.tensor] : nullptr;
  return global_start(n.view.along(dim, block_), kernel::reach(plan_, n, tensor).far(), iteration);
}

Index KernelText::global_start(const tile::Interval& along, bool far, const Index& given) const {
  Index iteration = plan_.loop_bounds && plan_.loop_bounds->begins_later() ? given + Index::named("begin") : given;
  const Index tile = tile_number(along, far);
  if (far && tile.is_constant() && !iteration.is_constant())
    iteration = Index::named(iteration.is_name() ? fmt::format("(long long){}", iteration)
                                                 : fmt::format("(long long)({})", iteration));
  return along.first(tile, iteration) + origin(along);
}

/// Returns the expression for the number of the block's tile. With `far` it has 64 bits.
Index KernelText::tile_number(const tile::Interval& along, bool far) const {
  if (along.axis() < 0) return 0;
  return along.tile(Index::named(fmt::format("{}b{}", far ? "(long long)" : "", "xyz"[along.axis()])));
}

/// Returns the expression for the index at which the tiles of a dimension begin in the tensor. It is a constant,
/// except in a launch whose programs each write one operand of a concatenation: there it is relative to the variable
/// part_begin, the index at which the program's operand begins. So programs for operands of one shape have the same
/// source.
Index KernelText::origin(const tile::Interval& along) const {
  if (along.begin() >= 0) return number(along.origin(program_.sizes));
  if (!along.of_part() || !part_) return along.origin();
  return Index::named("part_begin") + (along.origin() - block_.part_begin);
}

/// Returns the expression for a number that sizes decide, of the kernel's parameters.
Index KernelText::number(const tile::SymbolicNumber& n, bool wide) const {
  if (n.is_constant()) return n.low();
  const tile::SizeExpression e = tile::SizeExpression::of(n, program_.sizes);
  const std::string text = e.code([&](int size) {
    const std::string name = names_.size(program_.sizes[size].name);
    return wide ? "(long long)" + name : name;
  });
  return Index::named(e.as_size() >= 0 ? text : fmt::format("({})", text));
}

Index KernelText::bound(std::int64_t bound, int size) const {
  if (size < 0) return bound;
  const tile::SymbolicNumber n = tile::SymbolicNumber::of(program_.sizes, size);
  return number(n) + (bound - n.high());
}

/// Returns the expression for the coordinate at which a view ends.
Index KernelText::global_end(const tile::Interval& along) const {
  const tile::SymbolicNumber end = along.end(program_.sizes);
  return end.is_constant() ? origin(along) + (along.end() - along.origin()) : number(end);
}

/// Adds to a condition that coordinate `at` of the tensor lies inside, along one dimension of a view.
void KernelText::check(Condition& inside, const tile::Interval& along, const Index& at) const {
  inside.push_back({at, global_end(along)});
  if (along.origin() < 0) inside.push_back({-1, at});
}

/// Returns the condition that coordinate `at` of node `n`'s tensor lies inside; empty if all coordinates of a tile do.
Condition KernelText::inside(const Node& n, const std::vector<Index>& at) const {
  Condition all;
  for (int d = 0; d < n.view.rank(); ++d)
    if (n.view.predicated(d)) check(all, n.view.along(d, block_), at[d]);
  check_windows(all, n, at);
  return all;
}

/// Returns in which row of the cache row `row` is of the sequence whose pages the load `n` reads. `own`: the coordinate of the
/// page's number, without that of the page. Rows beyond the sequence are in its last page.
Index KernelText::in_page(const Node& n, const Index& row, std::vector<Index> own) const {
  const Node& numbers = block_.nodes[tile::number_of(n)];
  const auto dim = static_cast<std::size_t>(n.dim);
  own[dim] = digit(row, n.page, 0, true);
  if (n.view.predicated(n.dim)) own[dim] = at_most(own[dim], numbers.shape[dim] - 1);
  const std::int64_t last = (program_.shape(n.tensor)[dim] - n.page) / n.page_step;
  const Index number = Index::named(
      fmt::format("numbered({}({}), {})", global(numbers.tensor), fmt::join(position(numbers, 0, own), ", "), last));
  return number * n.page_step + digit(row, 1, n.page, false);
}

/// Returns where the element at coordinate `at` of a tile is in the view of the load `n`, which it is in its tensor at `from`.
std::vector<Index> KernelText::in_view(const Node& n, const Index& iteration, const std::vector<Index>& at,
                                       std::vector<Index> from) const {
  if (n.page > 0) from[n.dim] = global_start(n, n.dim, iteration) + at[n.dim];
  return from;
}

/// Returns where the element at coordinate `at` of a tile is in its tensor: its coordinate there. Node `n` is the
/// load or store that accesses the tile, in this iteration of the loop.
std::vector<Index> KernelText::position(const Node& n, const Index& iteration, const std::vector<Index>& at) const {
  std::vector<Index> global_at;
  const int number = tile::number_of(n);
  for (std::size_t d = 0; d < at.size(); ++d) {
    const bool named = number >= 0 && static_cast<int>(d) == n.dim;
    Index here = global_start(n, static_cast<int>(d), iteration);
    if (!named || n.to > 1 || n.page > 0) here = here + at[d];  // a gathered slice, or one index per element
    if (named) {
      const Node& numbers = block_.nodes[number];
      std::vector<Index> own = at;
      for (std::size_t k = 0; k < own.size(); ++k)
        if (numbers.shape[k] == 1) own[k] = 0;
      if (n.page > 0) {
        global_at.push_back(in_page(n, here, std::move(own)));
        continue;
      }
      const tile::SymbolicNumber extent = program_.extent(n.tensor, static_cast<int>(d));
      const Index last = (extent.is_constant() ? program_.shape(n.tensor)[d] : this->number(extent)) - n.to;
      here = Index::named(fmt::format("numbered({}({}), {})", global(numbers.tensor),
                                      fmt::join(position(numbers, iteration, own), ", "), last)) +
             here;
    }
    global_at.push_back(here);
  }
  return global_at;
}

namespace {

/// Returns how many of a thread's `trip_count` loads are in flight together. With `limit` the constant
/// loads_at_a_time: all of them if they are at most `limit`; otherwise the largest divisor of `trip_count` in
/// (limit / 2, limit], or `limit` if there is none.
int batch_of(std::int64_t trip_count) {
  constexpr int limit = selection::loads_at_a_time;
  if (trip_count <= limit) return static_cast<int>(trip_count);
  for (int batch = limit; batch > limit / 2; --batch)
    if (trip_count % batch == 0) return batch;
  return limit;
}

}  // namespace

/// Returns an upper bound of the offsets, in elements, that any block loads for load `n` in this iteration: without what
/// dimensions add whose extent a size decides.
std::int64_t KernelText::last_read(const Node& n, const Index& iteration) const {
  const graph::KernelTensor& tensor = program_.tensors[n.tensor];
  const bool shifted =
      plan_.loop_bounds && plan_.loop_bounds->begins_later();  // iterations begin at the mask's lower bound
  std::int64_t last = 0;
  for (int d = 0; d < n.view.rank(); ++d) {
    const bool constant = program_.extent(n.tensor, d).is_constant() && program_.stride(n.tensor, d).is_constant();
    std::int64_t limit = constant ? tensor.shape[d] : 1;
    if (n.view.iterates(d) && n.view.axis(d) < 0 && iteration.is_constant() && !shifted && tile::number_of(n) < 0)
      limit = std::min(limit, n.view.along(d, block_).start(0, iteration.constant() + 1));
    last += (limit - 1) * tensor.strides[d];
  }
  return last;
}

/// Returns the offset of the last element of a tensor along a dimension whose extent or stride sizes decide; otherwise a constant.
tile::SymbolicNumber KernelText::sized_last(int tensor, int d) const {
  const tile::SymbolicNumber extent = program_.extent(tensor, d), stride = program_.stride(tensor, d);
  if (extent.is_constant() && stride.is_constant()) return 0;
  return ((extent.is_constant() ? tile::SymbolicNumber(program_.tensors[tensor].shape[d]) : extent) + -1) * stride;
}

/// Returns the number of elements from the first to the last of the tensor of load `n`.
Index KernelText::size_of(const Node& n) const {
  Index size = last_read(n, Index::named("any")) + 1;
  for (int d = 0; d < n.view.rank(); ++d)
    if (const tile::SymbolicNumber last = sized_last(n.tensor, d); !last.is_constant())
      size = size + number(last, last.high() >= std::int64_t{1} << 31);
  return size;
}

/// Returns ", ADDRESS", where ADDRESS is the address at which the tensor of load `n` ends. The emitted load reads
/// complete words, and gets this address as an additional argument so that it reads nothing beyond the end.
/// Returns an empty string if the load reads nothing within 16 bytes of the end in this iteration.
std::string KernelText::end_of(const Node& n, const Index& iteration) const {
  const std::int64_t beyond = last_read(n, Index::named("any")) - last_read(n, iteration);
  if (graph::bytes_of(beyond, n.dtype) >= 16) return "";
  const std::vector<Index> first(n.shape.size(), 0);
  return fmt::format(", {}({}) + {}", global(n.tensor), fmt::join(first, ", "), size_of(n));
}

/// Returns the expression for the number of elements of a chunk (those of one copy) that load `n` reads: at the edge of
/// the tile or tensor not all, and the rest is filled with zeros. The chunk begins at coordinate `at` of the tile and
/// `from` of the view. `padded`: the shape of the tile with its padding; `c`: the thread-value layout of the copy.
KernelText::Existing KernelText::existing(const Node& n, const graph::Shape& padded, const Context& c,
                                          const std::vector<Index>& at, const std::vector<Index>& from) const {
  const int inner = c.inner(), V = c.vector();
  Condition inside;
  for (int d = 0; d < c.rank(); ++d) {
    if (d == inner) continue;
    if (padded[d] > n.shape[d]) inside.push_back({at[d], n.shape[d]});
    if (n.view.predicated(d)) check(inside, n.view.along(d, block_), from[d]);
  }
  check_windows(inside, n, from);
  std::string left;
  if (padded[inner] > n.shape[inner] || n.shape[inner] % V != 0) left = (n.shape[inner] - at[inner]).str();
  if (n.view.predicated(inner)) {
    const Index rest = global_end(n.view.along(inner, block_)) - from[inner];
    left = left.empty() ? rest.str() : fmt::format("at_most({}, {})", left, rest);
  }
  const bool whole = left.empty() && inside.empty();
  std::string valid = left.empty() ? std::to_string(V) : fmt::format("edge({}, {})", left, V);
  if (!inside.empty()) valid = fmt::format("{} ? {} : 0", text(inside), valid);
  return {std::move(valid), whole};
}

/// Emits loads of a tile's chunks (the elements of one copy) from global memory into registers. The same threads store
/// the chunks to shared memory in a later work. Used for copies to padded rows (lower/align.hpp).
void KernelText::fetch(const Work& work) {
  const Node& n = block_.nodes[work.node];
  const Context& c = plan_.layout_of(work);
  const int V = c.vector();
  out_.line("// {} {}: {} loads of {} bytes", printable(n.name), graph::to_string(n.shape), c.items(0) / V,
            work.copy.bytes);
  out_.line("LoadAnywhere<{}, {}> acc{}[{}];", type_name(n.dtype), V, work.node, c.steps(0));
  const ThreadShare share = this->share(c, 0, {"int", "i", "c"});
  const std::vector<Index> at = coordinate("int", share.item, c, 0), from = position(n, iteration_, at);
  out_.line("acc{}[{}].start({}({}), {}{});", work.node, share.step, global(n.tensor), fmt::join(from, ", "),
            existing(n, n.shape, c, at, from).text, end_of(n, iteration_));
  close(share);
}

/// Emits the copy of a tile from global to shared memory, for an iteration, into a stage of the buffer.
void KernelText::copy_in(const kernel::Step& step, const Index& stage, const Index& iteration) {
  const Work& work = step.work;
  const Node& n = block_.nodes[work.node];
  const SmemTensor& b = plan_.tensors[work.tensor];
  const kernel::CopyChoice& copy = work.copy;
  const Context& c = plan_.layout_of(work);
  const int V = copy.vector;
  const std::int64_t total = c.items(0) / V;
  const bool many = total > (copy.bytes < 16 ? 32 : 16) * threads();
  out_.line("// {} {}: {} {} of {} bytes", printable(n.name), graph::to_string(n.shape), total,
            total == 1 ? "copy" : "copies", copy.bytes);
  // Synchronous copies are batched: all loads of a batch are in flight together, followed by all its stores.
  const std::int64_t trip_count = c.steps(0);
  const bool batched = !copy.async() && trip_count > 1;
  const int batch = batched ? batch_of(trip_count) : 0;
  const std::string type = fmt::format("{}<{}, {}>", copy.anywhere ? "LoadAnywhere" : "Vec", type_name(n.dtype), V);
  if (batch > 0 && batch < trip_count) {
    out_.line("#pragma unroll 1");
    out_.open("for (int first = 0; first < {}; first += {}) {{", trip_count, batch);
  } else if (batched) {
    out_.open("{{");
  }
  if (batched) out_.line("{} x[{}]{};", type, batch, copy.anywhere ? "" : "{}");
  for (const bool loads : {true, false}) {
    if (!loads && !batched) break;
    const ThreadShare share = this->share(
        c, 0, {.type = "int", .counter = "i", .item = "c", .unroll = many && !batched ? " 4" : "", .within = batch});
    const std::vector<Index> at = coordinate("int", share.item, c, 0);
    const std::vector<Index> from = position(n, iteration, at);
    const std::string source = fmt::format("{}({})", global(n.tensor), fmt::join(from, ", "));
    const std::string target = fmt::format("{}({})", tile_at(work.tensor, stage), fmt::join(at, ", "));
    const auto [valid, whole] = existing(n, b.padded, c, at, in_view(n, iteration, at, from));
    const bool once = copy.async() && copy.bytes == 16 && selection::passes_once(plan_, step);
    const std::string loaded = fmt::format("load<{}>({})", V, source);
    if (copy.anywhere) {
      const std::string one = batched ? fmt::format("x[{}]", share.step) : "x";
      if (!batched) out_.line("{} x;", type);
      if (loads) out_.line("{}.start({}, {}{});", one, source, valid, end_of(n, iteration));
      if (!loads || !batched) out_.line("store({}, {}.value());", target, one);
    } else if (batched && loads) {
      out_.line("{}x[{}] = {};", whole ? "" : fmt::format("if (({}) > 0) ", valid), share.step, loaded);
    } else if (batched) {
      out_.line("store({}, x[{}]);", target, share.step);
    } else if (copy.async()) {
      if (!whole) out_.line("const int valid = {};", valid);
      const Index bytes = Index::named("valid") * graph::whole_bytes(n.dtype);
      out_.line("cp_async{}<{}>({}, {}{}{});", once ? "_hint" : "", copy.bytes, target, source,
                whole ? "" : fmt::format(", {}", bytes), once ? ", CacheHint::evict_first" : "");
    } else if (whole) {
      out_.line("store({}, {});", target, loaded);
    } else {
      out_.line("const int valid = {};", valid);
      out_.line("{} x{{}};", type);
      out_.line("if (valid > 0) x = {};", loaded);
      out_.line("store({}, x);", target);
    }
    close(share);
  }
  if (batched) out_.close();
}

}  // namespace zellige::emit
