#include "emit/nest_text.hpp"
#include "emit/steps_text.hpp"
#include "emit/tensor_index.hpp"
#include "selection/copies.hpp"
#include "selection/tile_schedule.hpp"

namespace zellige::emit {
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

/// Emits loads of a tile's chunks (the elements of one copy) from global memory into registers. The same threads store
/// the chunks to shared memory in a later work. Used for copies to padded rows (lower/align.hpp).
void fetch(const KernelText& k, const StepPlace& place, const Work& work) {
  const Node& n = k.block.nodes[work.node];
  const Context& c = k.plan.layout_of(work);
  const int V = c.vector();
  k.out.line("// {} {}: {} loads of {} bytes", printable(n.name), graph::to_string(n.shape), c.items(0) / V,
             work.copy.bytes);
  k.out.line("LoadAnywhere<{}, {}> acc{}[{}];", type_name(n.dtype), V, work.node, c.steps(0));
  const ThreadShare share = emit::share(k, c, 0, {"int", "i", "c"});
  const std::vector<Index> at = coordinate(k, "int", share.item, c, 0), from = position(k, n, place.iteration, at);
  k.out.line("acc{}[{}].start({}({}), {}{});", work.node, share.step, k.global(n.tensor), fmt::join(from, ", "),
             existing(k, n, n.shape, c, at, from).text, end_of(k, n, place.iteration));
  close(k, share);
}

/// Emits the copy of a tile from global to shared memory, for an iteration, into a stage of the buffer.
void copy_in(const KernelText& k, const kernel::Step& step, const Index& stage, const Index& iteration) {
  const Work& work = step.work;
  const Node& n = k.block.nodes[work.node];
  const SmemTensor& b = k.plan.tensors[work.tensor];
  const kernel::CopyChoice& copy = work.copy;
  const Context& c = k.plan.layout_of(work);
  const int V = copy.vector;
  const std::int64_t total = c.items(0) / V;
  const bool many = total > (copy.bytes < 16 ? 32 : 16) * k.threads();
  k.out.line("// {} {}: {} {} of {} bytes", printable(n.name), graph::to_string(n.shape), total,
             total == 1 ? "copy" : "copies", copy.bytes);
  // Synchronous copies are batched: all loads of a batch are in flight together, followed by all its stores.
  const std::int64_t trip_count = c.steps(0);
  const bool batched = !copy.async() && trip_count > 1;
  const int batch = batched ? batch_of(trip_count) : 0;
  const std::string type = fmt::format("{}<{}, {}>", copy.anywhere ? "LoadAnywhere" : "Vec", type_name(n.dtype), V);
  if (batch > 0 && batch < trip_count) {
    k.out.line("#pragma unroll 1");
    k.out.open("for (int first = 0; first < {}; first += {}) {{", trip_count, batch);
  } else if (batched) {
    k.out.open("{{");
  }
  if (batched) k.out.line("{} x[{}]{};", type, batch, copy.anywhere ? "" : "{}");
  for (const bool loads : {true, false}) {
    if (!loads && !batched) break;
    const ThreadShare share = emit::share(
        k, c, 0, {.type = "int", .counter = "i", .item = "c", .unroll = many && !batched ? " 4" : "", .within = batch});
    const std::vector<Index> at = coordinate(k, "int", share.item, c, 0);
    const std::vector<Index> from = position(k, n, iteration, at);
    const std::string source = fmt::format("{}({})", k.global(n.tensor), fmt::join(from, ", "));
    const std::string target = fmt::format("{}({})", tile_at(k, work.tensor, stage), fmt::join(at, ", "));
    const auto [valid, whole] = existing(k, n, b.padded, c, at, in_view(k, n, iteration, at, from));
    const bool once = copy.async() && copy.bytes == 16 && selection::passes_once(k.plan, step);
    const std::string loaded = fmt::format("load<{}>({})", V, source);
    if (copy.anywhere) {
      const std::string one = batched ? fmt::format("x[{}]", share.step) : "x";
      if (!batched) k.out.line("{} x;", type);
      if (loads) k.out.line("{}.start({}, {}{});", one, source, valid, end_of(k, n, iteration));
      if (!loads || !batched) k.out.line("store({}, {}.value());", target, one);
    } else if (batched && loads) {
      k.out.line("{}x[{}] = {};", whole ? "" : fmt::format("if (({}) > 0) ", valid), share.step, loaded);
    } else if (batched) {
      k.out.line("store({}, x[{}]);", target, share.step);
    } else if (copy.async()) {
      if (!whole) k.out.line("const int valid = {};", valid);
      const Index bytes = Index::named("valid") * graph::whole_bytes(n.dtype);
      k.out.line("cp_async{}<{}>({}, {}{}{});", once ? "_hint" : "", copy.bytes, target, source,
                 whole ? "" : fmt::format(", {}", bytes), once ? ", CacheHint::evict_first" : "");
    } else if (whole) {
      k.out.line("store({}, {});", target, loaded);
    } else {
      k.out.line("const int valid = {};", valid);
      k.out.line("{} x{{}};", type);
      k.out.line("if (valid > 0) x = {};", loaded);
      k.out.line("store({}, x);", target);
    }
    close(k, share);
  }
  if (batched) k.out.close();
}

}  // namespace zellige::emit
