// Emits loop nests over the registers of accumulators, and nests whose stores are delayed until the results of several
// iterations are computed.
#include <algorithm>
#include <numeric>
#include <set>

#include "emit/nest_text.hpp"

namespace zellige::emit {
namespace {

/// Returns whether `item` may be executed out of bounds if its loads yield 0 there.
bool safe_out_of_bounds(const kernel::Kernel& kernel, const Item& item) {
  const auto before_tensor = [](const kernel::Within& w) { return w.along.origin() < 0; };
  switch (item.kind) {
    case Item::Kind::guard:
      return item.guards.empty() && std::ranges::none_of(item.within, before_tensor);
    case Item::Kind::read_global:
      return tile::number_of(kernel.program.nodes[item.node]) < 0;
    case Item::Kind::apply:
      return !graph::is_integer(kernel.program.nodes[item.node].dtype);
    default:
      return item.invariant || item.kind != Item::Kind::read_shared;
  }
}

/// Returns whether a nest with delayed stores delays what `item` does: it stores a value in memory. A value that the
/// nest keeps in registers is there at once.
bool is_delayed(const Item& item) {
  return item.kind == Item::Kind::leave && item.work->kind != WorkKind::to_registers;
}

/// Returns the loads and computations of a nest whose stores are delayed, such that each load checks its own bounds and
/// yields 0, or an element of the last row, out of bounds. A bounds check around them would be a branch, which loads of
/// later iterations wait for.
/// Returns `items` unchanged if a value out of bounds must not be loaded or computed:
///
/// - a load from shared memory, where such elements may not have been written;
/// - a load at an index that is itself loaded, or at a coordinate that may lie before the tensor;
/// - a computation of integers, which may divide by zero.
std::vector<Item> checked_by_load(const kernel::Kernel& kernel, std::vector<Item> items) {
  const bool checked = std::ranges::any_of(items, [](const Item& i) { return i.kind == Item::Kind::guard; });
  if (!checked || !std::ranges::all_of(items, [&](const Item& i) { return safe_out_of_bounds(kernel, i); }))
    return items;
  for (Item& item : items) {
    // The loop leaves out what is invariant.
    if (item.kind == Item::Kind::guard || item.kind == Item::Kind::guarded) item.invariant = true;
    if (item.kind == Item::Kind::read_global)
      item.zeros_out_of_bounds =
          kernel.program.nodes[item.node].unfolded || kernel.program.nodes[item.node].view.predicated();
  }
  return items;
}

/// Returns whether the iterations of a nest over accumulators take the two matrices of a pair alternately, because values
/// that both need are then read once.
bool in_pairs(const std::vector<Item>& items) {
  return std::ranges::any_of(items, [](const Item& item) { return item.other; });
}

/// Emits variables for the coordinate that the expression `place`, a FragmentAt, has. Returns the position in the loop nest that has
/// this coordinate.
NestAt fragment_at(const KernelText& k, LoopNest& loop, const std::string& place) {
  const Context& c = loop.context;
  const int rank = static_cast<int>(c.domain.size());
  k.out.line("const FragmentAt at = {};", place);
  NestAt nest{&loop, coordinate(k, "int", Index::named("at.b"), c, 2), Index::named("i")};
  nest.at[rank - 2] = Index::named("at.m");
  if (c.row) nest.at[rank - 1] = Index::named("at.n");
  if (c.repeats() > 1) {
    k.out.line("const int n = at.n + slice * {};", c.domain[rank - 1] / c.repeats());
    nest.at[rank - 1] = Index::named("n");
  }
  return nest;
}

/// The same for the coordinate of accumulator register i, where i is the variable of the loop over a thread's registers.
NestAt fragment_at(const KernelText& k, LoopNest& loop) {
  const Context& c = loop.context;
  return fragment_at(k, loop, fmt::format("{}::{}(i, warp, lane)", fragment_type(c), c.row ? "at" : "line_at"));
}

/// Emits `item`, the stores of the results of `many` iterations as 8x8 matrices, each from one run of every lane. The
/// first iteration has the run number `first`. If the iterations take two matrices alternately (`pairs`), an instruction
/// stores those of every other iteration.
void store_matrices(const KernelText& k, LoopNest& loop, const Item& item, const char* counter, int many, bool pairs) {
  const SmemTensor& b = k.plan.tensors[item.buffer];
  const Instruction& store = *item.work->copy.row;
  const std::string type = fragment_type(loop.context);
  const int runs = store.a.registers, step = pairs ? 2 : 1;
  const bool once = many == runs * step;
  std::string from = once ? "" : fmt::format(" + {}", counter);
  if (!once) {
    k.out.line("#pragma unroll");
    k.out.open("for (int {0} = 0; {0} < {1}; {0} += {2}) {{", counter, many, runs * step);
  }
  if (pairs) {
    k.out.line("#pragma unroll");
    k.out.open("for (int p = 0; p < 2; ++p) {{");
    from += " + p";
  } else if (once) {
    k.out.open("{{");
  }
  const std::string first = pairs ? fmt::format("{}::of_pair(first{})", type, from) : "first" + from;
  const NestAt nest = fragment_at(
      k, loop, fmt::format("addressed_run<{}, {}, {}>({}, tid)", store.name, type_name(b.dtype), type, first));
  k.out.line("store_pairs<{}, {}{}>({}({}), {}{});", store.name, type_name(b.dtype), pairs ? ", 2" : "",
             k.tile(item.buffer), fmt::join(nest.at, ", "), kept_name(item), from);
  k.out.close();
  if (pairs && !once) k.out.close();
}

}  // namespace

bool reads_and_writes(const std::vector<Item>& items, bool guarded) {
  std::set<int> read, written;  // buffers read or written; -1: global memory
  bool checked = false, stores = false;
  for (const Item& item : items) {
    if (item.kind == Item::Kind::choose) return false;
    checked = checked || item.kind == Item::Kind::guard;
    if (item.kind == Item::Kind::read_shared) read.insert(item.buffer);
    if (item.kind == Item::Kind::read_global) read.insert(-1);
    if (!is_delayed(item)) continue;
    const WorkKind kind = item.work->kind;
    if (kind != WorkKind::to_shared && kind != WorkKind::to_global) return false;
    stores = true;
    if (kind == WorkKind::to_shared) written.insert(item.buffer);
  }
  if (checked && !(guarded && read.contains(-1))) return false;
  return stores && !read.empty() && std::ranges::none_of(written, [&](int buffer) { return read.contains(buffer); });
}

/// Returns the name of the array of registers that keeps the values of a store until buffer_stores() emits it.
std::string kept_name(const Item& leave) { return fmt::format("left{}", leave.node); }

/// Emits a loop nest over a thread's accumulator registers, or over its rows of the accumulators.
void fragment_nest(const KernelText& k, LoopNest loop, kernel::StepSpan steps) {
  const Context& c = loop.context;
  const std::vector<Item> items = kernel::evaluate(k.plan, steps);
  const std::string type = fragment_type(c);
  const bool some = open_threads(k, c);
  prepare(k, items, {&loop, {}, 0});
  k.out.line("#pragma unroll");
  const bool delays = c.row && reads_and_writes(items, false);
  int matrices = 0;  // that one instruction stores
  for (const kernel::Step& step : steps)
    if (step.work.copy.by_matrices()) matrices = std::max(matrices, step.work.copy.row->a.registers);
  if (delays || matrices > 0) {
    constexpr int limit = 16;
    const bool pairs = in_pairs(items);
    const int together =
        delays ? std::gcd(static_cast<int>(c.values() / c.vector()), limit) : matrices * (pairs ? 2 : 1);
    k.out.open("for (int first = 0; first < {}::{}s; first += {}) {{", type, runs(c), together);
    const auto each = [&] {
      k.out.line("#pragma unroll");
      k.out.open("for (int k = 0; k < {}; ++k) {{", together);
      // Values that both matrices of a pair need are read once if the matrices are consecutive.
      k.out.line("const int i = {};", pairs ? fmt::format("{}::of_pair(first + k)", type) : "first + k");
      return fragment_at(k, loop);
    };
    buffer_stores(k, loop, items, {.counter = "k", .matrices = !delays}, together, each, [&] { k.out.close(); });
  } else {
    k.out.open("for (int i = 0; i < {}::{}; ++i) {{", type, c.row ? runs(c) + "s" : "lines");
    evaluate(k, items, fragment_at(k, loop));
  }
  k.out.close();
  if (some) k.out.close();
}

/// Emits the computation of `many` iterations of a nest with results in registers, and then the stores of all
/// these iterations. If each iteration stored its results at once, the compiler could not move a load before
/// an earlier store that may alias it, and each iteration would wait for the latency of the preceding one. A branch
/// would prevent that, too, so that bounds are checked by each load and by each store, if that is possible.
/// Stores of matrices come after the loops: an instruction takes the results of several iterations.
/// `each` opens a loop over the iterations and returns the position in the nest; `close` closes the loop.
/// `counter` is the name of the loop variable.
void buffer_stores(const KernelText& k, LoopNest& loop, const std::vector<Item>& items, const KeptStores& keeps,
                   int many, const std::function<NestAt()>& each, const std::function<void()>& close) {
  const int vector = loop.context.vector();
  bool each_stored = false;
  for (const Item& item : items) {
    if (!is_kept(item, keeps)) continue;
    k.out.line("Vec<{}, {}> {}[{}];", register_type(k.block.nodes[item.node].dtype), vector, kept_name(item), many);
    each_stored = each_stored || !item.work->copy.by_matrices();
  }
  NestAt computed = each();
  computed.keeps = keeps;
  evaluate(k, keeps.matrices ? items : checked_by_load(k.plan, items), computed);
  close();
  for (const Item& item : items)
    if (is_kept(item, keeps) && item.work->copy.by_matrices())
      store_matrices(k, loop, item, keeps.counter, many, in_pairs(items));
  if (!each_stored) return;
  const NestAt nest = each();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    if (item.kind == Item::Kind::guard || item.kind == Item::Kind::guarded) evaluate_one(k, items, i, nest);
    if (!is_kept(item, keeps) || item.work->copy.by_matrices()) continue;
    nest.value(item.in[0]) =
        value_named(fmt::format("{}[{}]", kept_name(item), keeps.counter), vector, nest.value(item.in[0]).type);
    leave(k, item, nest);
  }
  close();
}

/// Returns whether buffer_stores() stores what `item` leaves after it has computed the results of several iterations.
bool is_kept(const Item& item, const KeptStores& keeps) {
  return keeps.matrices ? item.kind == Item::Kind::leave && item.work->copy.by_matrices() : is_delayed(item);
}

}  // namespace zellige::emit
