#include <algorithm>

#include "emit/nest_text.hpp"
#include "emit/steps_text.hpp"
#include "emit/tensor_index.hpp"
#include "graph/elementwise.hpp"
#include "graph/reductions.hpp"

namespace zellige::emit {

/// Returns the number of results of a reduction of which a thread has parts.
std::string sums_of(const Context& c) { return c.row ? fragment_type(c) + "::lines" : fmt::format("{}", c.steps(1)); }

/// Returns whether a step reduces rows of accumulators by LogSum and reads no memory, so that elements are cheaply
/// evaluated twice: their maximum is found first, and then each takes one exponential, which waits for no other.
bool in_two_passes(const KernelText& k, const kernel::Step& step) {
  if (step.work.kind != WorkKind::reduce || k.block.nodes[step.work.node].kind != tile::NodeKind::reduce) return false;
  if (graph::monoid_of(k.block.nodes[step.work.node].op).carrier.empty()) return false;
  return std::ranges::none_of(kernel::evaluate(k.plan, kernel::StepSpan(&step, 1)), [](const Item& i) {
    return i.kind == Item::Kind::read_shared || i.kind == Item::Kind::read_global;
  });
}

/// Emits the first pass of a reduction in two passes: the maxima, to which the sums are raised.
void raise(const KernelText& k, const StepPlace& place, const kernel::Step& step) {
  const Context& c = k.plan.layout_of(step.work);
  const int node = step.work.node;
  const std::string loop = fmt::format("for (int i = 0; i < {}; ++i) ", sums_of(c));
  k.out.open("{{");
  k.out.line("Vec<{}, {}> most{};", register_type(k.block.nodes[node].dtype), sums_of(c), node);
  k.out.line("{}most{}[i] = sum{}[i].maximum;", loop, node, node);
  fragment_nest(k, {.context = c, .place = place, .finds_maximum = true}, kernel::StepSpan(&step, 1));
  k.out.line("{}sum{}[i].raise(most{}[i]);", loop, node, node);
  k.out.close();
}

/// Emits the first part of a reduction: each thread adds up its own elements. finish() combines the sums.
void lanes_nest(const KernelText& k, const StepPlace& place, const kernel::Step& step) {
  const Work& work = step.work;
  const Node& n = k.block.nodes[work.node];
  const Context& c = k.plan.layout_of(work);
  const int group = c.lanes() * c.parts();
  const bool product = n.kind == NodeKind::matmul;
  k.out.line("// {} of {}: {} thread{} a sum", product ? "products" : graph::monoid_of(n.op).plural,
             n.name.empty() ? fmt::format("%{}", work.node) : printable(n.name), group, group > 1 ? "s" : "");
  const bool some = open_threads(k, c);
  const char* counter = index_type(c.items(1) + c.threads() / group);
  const std::vector<Item> items = kernel::evaluate(k.plan, kernel::StepSpan(&step, 1));
  const auto any = [&](Item::Kind kind) {
    return std::ranges::any_of(items, [&](const Item& i) { return i.kind == kind; });
  };
  const bool in_registers = any(Item::Kind::in_registers);
  // Lines beyond the last one need no check where no memory is read: nobody uses their sums.
  const bool checked = !in_registers || any(Item::Kind::read_shared) || any(Item::Kind::read_global);
  const ThreadShare o = share(k, c, 1, {.type = counter, .counter = "i", .item = "o", .guarded = checked});
  LoopNest loop{c, place};
  NestAt nest{&loop, coordinate(k, counter, o.item, c, 1), 0, o.step};
  prepare(k, items, nest);
  const std::int64_t to = product ? 1 : n.to;
  const char* along = index_type(c.items(0) * to + group * c.vector());
  nest.sum = fmt::format("sum{}[{}]", work.node, o.step);
  const bool unrolled = in_registers || c.steps(0) <= 16;
  // A carrier takes a thread's elements together if they fit the registers: their maximum first.
  constexpr int together = 32;
  nest.gathers = unrolled && !product && !graph::monoid_of(n.op).carrier.empty() && c.steps(0) * c.vector() <= together;
  if (nest.gathers) {
    k.out.line("Vec<{}, {}> all{};", register_type(n.dtype), c.steps(0) * c.vector(), work.node);
    k.out.line("for (int i = 0; i < {}; ++i) all{}[i] = -zellige::infinity;", c.steps(0) * c.vector(), work.node);
  }
  in_full_steps(c, unrolled, 0, [&](std::int64_t first, std::int64_t last) {
    const ThreadShare s = share(k, c, 0,
                                {.type = along,
                                 .counter = "j",
                                 .item = "k",
                                 .unroll = unrolled ? "" : " 8",
                                 .scaled = true,
                                 .from = first,
                                 .to = last});
    NestAt here = nest;
    here.chunk = o.step * c.steps(0) + s.step;
    if (nest.gathers) here.sum = fmt::format("all{}[{}]", work.node, s.step * c.vector() + counted("v", c.vector()).at);
    Index& at = product ? here.at.back() : here.at[c.inner()];
    at = product ? s.item : at + s.item * to;
    if (!product && !at.is_name() && !at.is_constant()) {
      k.out.line("const {} kk = {};", along, at);
      at = Index::named("kk");
    }
    evaluate(k, items, here);
    close(k, s);
  });
  if (nest.gathers) k.out.line("{}.add(all{});", nest.sum, work.node);
  close(k, o);
  if (some) k.out.close();
}

/// Emits shuffles that combine the partial results of a reduction across lanes. Every lane of a row keeps the
/// row's result in a register, or one lane stores it to shared memory.
void finish(const KernelText& k, const Work& work) {
  const Node& n = k.block.nodes[work.node];
  const Context& c = k.plan.layout_of(work);
  const graph::Monoid& monoid = graph::monoid_of(n.op);
  const std::string type = c.row ? fragment_type(c) : "";
  // The number of lanes that share a result and, if it is not 1, the distance between two of them.
  const std::string lanes = std::to_string(c.lanes()) + (c.lane_step() == 1 ? "" : fmt::format(", {}", c.lane_step()));
  // Returns the call that joins partial result `i` over the lanes that share the result `of`.
  const auto joined = [&](const Index& i, const std::string& of) {
    return monoid.functions ? fmt::format("{}_lanes<{}>(sum{}[{}], {})", monoid.name, lanes, work.node, i, of)
                            : fmt::format("join_lanes<{}>(sum{}[{}], {}, {})", lanes, work.node, i, of,
                                          join_source(monoid, n.dtype));
  };
  const auto store = [&](const std::string& inside, const std::vector<Index>& at, const std::string& part) {
    const std::string parts = k.plan.tensors[work.tensor].partials > 1 ? part + ", " : "";
    k.out.line("{}write<1>({}({}{}), x);", inside.empty() ? "" : fmt::format("if ({}) ", inside), k.tile(work.tensor),
               parts, fmt::join(at, ", "));
  };
  const bool kept = work.tensor < 0;  // every lane of a row keeps the row's result
  if (kept) k.out.line("Vec<{}, 1> acc{}[{}];", register_type(n.dtype), work.node, sums_of(c));
  const bool some = open_threads(k, c);
  if (c.row) k.out.line("#pragma unroll");
  if (c.row && kept) {
    k.out.line("for (int r = 0; r < {}::lines; ++r) acc{}[r][0] = {};", type, work.node,
               joined(Index::named("r"), type + "::line_at(r, warp, lane).m"));
  } else if (c.row) {
    const int rank = static_cast<int>(c.domain.size());
    k.out.open("for (int r = 0; r < {}::lines; ++r) {{", type);
    k.out.line("const FragmentAt at = {}::line_at(r, warp, lane);", type);
    k.out.line("const Vec<{}, 1> x{{{}}};", register_type(n.dtype), joined(Index::named("r"), "at.m"));
    const std::int64_t batch = graph::size(graph::Shape(c.domain.begin(), c.domain.end() - 2));
    std::vector<Index> at = coordinate(k, "int", Index::named("at.b"), c, 2);
    at[rank - 2] = Index::named("at.m");
    std::string inside = lane_among(c, c.lanes()) + " == 0";
    if (c.items(2) > batch) inside += fmt::format(" && at.b < {}", batch);
    if (c.items(1) > c.domain[rank - 2]) inside += fmt::format(" && at.m < {}", c.domain[rank - 2]);
    store(inside, at, type + "::warp_n(warp)");
    k.out.close();
  } else {
    const int groups = c.threads() / (c.lanes() * c.parts());
    const char* counter = index_type(c.items(1) + groups);
    // The loop has no bounds check, because lanes without a result take part in the shuffles as well.
    const ThreadShare o = share(k, c, 1, {.type = counter, .counter = "i", .item = "o", .guarded = false});
    const Index line = c.parts() > 1 ? digit(Index::named("tid"), c.lanes(), groups, true) : o.item;
    if (kept) {
      k.out.line("acc{}[{}][0] = {};", work.node, o.step, joined(o.step, line.str()));
    } else {
      const char* value = monoid.carrier.empty() ? "" : ".value()";
      k.out.line("const Vec<{}, 1> x{{{}}};", register_type(n.dtype),
                 c.lanes() > 1 ? joined(o.step, line.str()) : fmt::format("sum{}[{}]{}", work.node, o.step, value));
      std::string inside = c.lanes() > 1 ? fmt::format("tid % {} == 0", c.lanes()) : "";
      if (c.items(1) % groups != 0) inside += (inside.empty() ? "" : " && ") + text({{o.item, c.items(1)}});
      std::vector<Index> at = coordinate(k, counter, o.item, c, 1);
      at.resize(n.shape.size());
      store(inside, at, fmt::format("tid / {} % {}", c.lanes(), c.parts()));
    }
    close(k, o);
  }
  if (some) k.out.close();
}

/// Emits the store of a tile from shared to global memory, chunk by chunk.
void staged_store(const KernelText& k, const StepPlace& place, const Work& work) {
  // The tile has the storage type already.
  const Node& n = k.block.nodes[work.node];
  const Context& c = k.plan.layout_of(work);
  const std::int64_t total = c.items(0) / c.vector();
  k.out.line("// {} leaves in {} chunks of {} bytes", printable(n.name), total, graph::bytes_of(c.vector(), n.dtype));
  const ThreadShare s = share(k, c, 0, {"int", "i", "c", total > 16 * k.threads() ? " 4" : ""});
  const std::vector<Index> from = coordinate(k, "int", s.item, c, 0);
  const std::vector<Index> to = position(k, n, place.iteration, from);
  const Condition inside = emit::inside(k, n, to);
  k.out.line("{}store({}({}), load<{}>({}({})));", inside.empty() ? "" : fmt::format("if ({}) ", text(inside)),
             k.global(n.tensor), fmt::join(to, ", "), c.vector(), k.tile(work.tensor), fmt::join(from, ", "));
  close(k, s);
}

}  // namespace zellige::emit
