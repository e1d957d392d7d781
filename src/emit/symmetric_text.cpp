// Emits the exchange of ranks at the start or the end of a kernel, in the words of block/symmetric.hpp.
#include "emit/tensor_index.hpp"
#include "graph/infer.hpp"
#include "verify/symmetric.hpp"

namespace zellige::emit {
namespace {

/// How the block's tile is in the windows: its chunks of neighbours, and the lambda from a chunk's number to its offset.
struct ExchangedChunks {
  std::int64_t vector = 1, count = 0;
  std::string at;
};

/// Emits the parts of an exchange of ranks that are the same at the start and the end of a kernel.
class RankExchangeText {
 public:
  explicit RankExchangeText(const KernelText& kernel) : k_(kernel), m_(*kernel.plan.symmetric) {}

  ExchangedChunks chunks() const;
  std::string pointer(int tensor) const { return k_.names.pointer(k_.program.tensors[tensor].name); }
  /// Returns the pointers to tensors, each after a comma.
  std::string pointers(const std::vector<int>& tensors) const {
    std::string list;
    for (int t : tensors) list += ", " + pointer(t);
    return list;
  }
  void synchronize(int time, std::int64_t threads, int barrier);
  void add_shares(const ExchangedChunks&, std::int64_t threads, int barrier);

 private:
  const KernelText& k_;
  const kernel::SymmetricExchange& m_;
};

/// Returns the chunks of the block's tile.
ExchangedChunks RankExchangeText::chunks() const {
  const Node& n = k_.block.nodes[verify::published_tile(k_.plan)];
  const graph::KernelTensor& tensor = k_.program.tensors[m_.windows[0]];
  const std::int64_t vector = verify::published_vector(k_.plan, k_.program);
  const int inner = verify::neighbours_along(tensor);
  std::int64_t below = 1;  // chunks of the dimensions after this one
  Index at;
  std::vector<Index> digits(static_cast<std::size_t>(n.view.rank()));
  const auto count = [&](int d) {
    const std::int64_t extent = d == inner ? n.view.tile(d) / vector : n.view.tile(d);
    if (extent > 1) digits[d] = digit(Index::named("c"), below, extent, false);
    if (d == inner) digits[d] = digits[d] * vector;
    below *= extent;
  };
  count(inner);
  for (int d = n.view.rank() - 1; d >= 0; --d)
    if (d != inner) count(d);
  const std::int64_t iterations = n.view.iterates() ? k_.block.loop : 1;
  const Index iteration = iterations > 1 ? digit(Index::named("c"), below, iterations, true) : Index(0);
  Condition inside;
  for (int d = 0; d < n.view.rank(); ++d) {
    const Index here = global_start(k_, n, d, iteration) + digits[d];
    if (n.view.predicated(d)) check(k_, inside, n.view.along(d, k_.block), here);
    at = at + Index::named(fmt::format("({})", here)) * tensor.strides[d];
  }
  const std::string place = inside.empty() ? at.str() : fmt::format("{} ? {} : -1", text(inside), at);
  return {.vector = vector, .count = below * iterations, .at = fmt::format("[=](int c) {{ return {}; }}", place)};
}

/// Emits that blocks wait for those of their number, the `time`th time of a launch.
void RankExchangeText::synchronize(int time, std::int64_t threads, int barrier) {
  std::string more;
  if (time > 0 || barrier > 0) more += fmt::format(", {}", time);
  if (barrier > 0) more += fmt::format(", {}", barrier);
  k_.out.line("synchronize_symmetric<{}{}>(epoch, tid, {}{});", threads, more, pointer(m_.state), pointers(m_.flags));
}

/// Emits the totals of the shares that ranks have of a tile, and the wait for those of the others.
void RankExchangeText::add_shares(const ExchangedChunks& chunks, std::int64_t threads, int barrier) {
  k_.out.line("// Each rank adds its share of the tile, for all ranks.");
  k_.out.line("add_shares<{}, {}, {}, {}, {}>(epoch, tid, {}{}{});", chunks.vector, chunks.count, threads, m_.maximum,
              type_name(k_.program.tensors[m_.windows[0]].dtype), chunks.at, pointers(m_.windows), pointers(m_.sums));
  synchronize(1, threads, barrier);
}

}  // namespace

namespace {

/// Emits the number of the block, and the exchange that it begins.
void declare_epoch(const KernelText& k) {
  const graph::Dim3& grid = k.block.grid;
  k.out.line("const int symmetric_block = blockIdx.x + {} * (blockIdx.y + {} * blockIdx.z);", grid.x, grid.y);
  k.out.line("const SymmetricEpoch epoch = begin_exchange({}, symmetric_block, {});",
             RankExchangeText(k).pointer(k.plan.symmetric->state), grid.count());
}

/// Emits that the first blocks store their rows in the windows of the other ranks, and that the others wait for theirs.
void gather_rows(const KernelText& k) {
  const kernel::SymmetricExchange& m = *k.plan.symmetric;
  const verify::GatheredRows g = verify::gathered_rows(k.plan, k.program);
  const RankExchangeText text(k);
  const graph::KernelTensor& x = k.program.tensors[m.published];
  const std::string dtype = type_name(x.dtype);
  const std::int64_t rows = g.tiles * g.step;  // elements from one rank to the next
  k.out.line("const int half = epoch.half({});", verify::half_of_gathered(k.program.tensors[m.window]));
  k.out.line("// The rows of {}: this rank's own, or in its window those of another.", printable(x.name));
  k.out.line("const bool own_rows = symmetric_block < {};", g.blocks());
  k.out.line("const gmem<const {}> rows_of_rank = own_rows ? {} - epoch.rank * {} : {} + half;", dtype,
             text.pointer(m.published), rows, text.pointer(m.window));
  k.out.open("if (own_rows) {{");
  k.out.line("push_rows<{}, {}, {}, {}, {}>(epoch, tid, rows_of_rank + row_tile * {}, half + row_tile * {}{});",
             g.vector, g.elements / g.vector, g.same, k.threads(), dtype, g.step, g.step, text.pointers(m.windows));
  k.out.line("set_pushed<{}>(epoch, tid, {}{});", g.blocks(), text.pointer(m.state), text.pointers(m.flags));
  k.out.close("} else {");
  k.out.line("  await_rows<{}, {}>(epoch, tid, row_tile * {}, {}{});", g.same, k.threads(), g.same,
             text.pointer(m.state), text.pointers(m.flags));
  k.out.line("}}");
}

}  // namespace

void declare_gathering_block(const KernelText& k, const std::set<int>& axes) {
  const verify::GatheredRows g = verify::gathered_rows(k.plan, k.program);
  const std::int64_t tiles = g.tiles * k.plan.symmetric->ranks();
  declare_epoch(k);
  k.out.line("// Blocks begin with the rows of their rank.");
  k.out.line("const int row_tile = gathered_rows(epoch, {}, {}, {});", g.same, g.tiles, k.plan.symmetric->ranks());
  if (g.same > 1) k.out.line("const int other = symmetric_block % {};", g.same);
  std::int64_t below = 1;  // what digits of `other` count before
  const auto next = [&](std::int64_t extent) {
    const Index at = extent > 1 ? digit(Index::named("other"), below, extent, below * extent == g.same) : Index(0);
    below *= extent;
    return at;
  };
  const std::int64_t low = g.run, high = k.block.grid[g.axis] / (g.run * tiles);
  Index of_axis = next(low);
  of_axis = of_axis + Index::named("row_tile") * low;
  of_axis = of_axis + next(high) * (low * tiles);
  for (int a = 0; a < 3; ++a) {
    const Index at = a == g.axis ? of_axis : next(k.block.grid[a]);
    if (axes.contains(a)) k.out.line("const int b{} = {};", "xyz"[a], at);
  }
}

/// Emits what the kernel's blocks do before all else, if ranks exchange tiles there. Requires that the block's coordinates have been emitted.
void begin_exchange_of_ranks(const KernelText& k) {
  if (!k.plan.symmetric) return;
  const kernel::SymmetricExchange& m = *k.plan.symmetric;
  if (m.gathers) return gather_rows(k);
  RankExchangeText text(k);
  if (!m.at_end())
    k.out.line("// The block's part of {} goes to its rank's window; then it waits for those of the others.",
               printable(k.program.tensors[m.published].name));
  declare_epoch(k);
  if (m.alternates())
    k.out.line("const int half = epoch.half({});", verify::half_window(k.program.tensors[m.windows[0]]));
  if (m.at_end()) {
    if (m.two_shots()) return;
    k.out.line("// All ranks have read what the block of this number has stored in the launch before.");
    k.out.line("await_readers(epoch, tid{});", text.pointers(m.flags));
    if (k.plan.uses_tma(verify::published_tile(k.plan))) k.out.line("fence_proxy_async_global();");
    return;
  }
  const ExchangedChunks chunks = text.chunks();
  k.out.line("publish<{}, {}, {}>({}, {}{}, tid, {});", chunks.vector, chunks.count, k.threads(),
             text.pointer(m.published), text.pointer(m.window), m.alternates() ? " + half" : "", chunks.at);
  text.synchronize(0, k.threads(), 0);
  if (m.two_shots()) text.add_shares(chunks, k.threads(), 0);
}

/// Emits what blocks do after they have stored their tile, if ranks exchange tiles then.
void end_exchange_of_ranks(const KernelText& k) {
  if (!k.plan.symmetric || !k.plan.symmetric->at_end()) return;
  const kernel::SymmetricExchange& m = *k.plan.symmetric;
  const bool roles = k.plan.warp_specialized();
  const int barrier = roles ? 1 : 0;  // that of the consumers
  const std::int64_t threads = roles ? 32 * k.plan.agents.at(0).warps : k.threads();
  RankExchangeText text(k);
  const ExchangedChunks chunks = text.chunks();
  const graph::KernelTensor& window = k.program.tensors[m.windows[0]];
  const std::string dtype = type_name(window.dtype), result = text.pointer(m.result);
  k.out.line("// The tile is in this rank's window; then the block waits for those of the others.");
  if (k.plan.uses_tma(verify::published_tile(k.plan))) k.out.line("tma_store_wait_complete<0>();");
  text.synchronize(0, threads, barrier);
  if (m.two_shots()) {
    text.add_shares(chunks, threads, barrier);
    k.out.line("publish<{}, {}, {}>({}, {}, tid, {});", chunks.vector, chunks.count, threads, text.pointer(m.sum),
               result, chunks.at);
    return;
  }
  const std::int64_t elements = graph::size(window.shape);
  std::string low = "0", high = std::to_string(elements);
  if (m.scatters) {
    const std::int64_t part = elements / m.ranks();
    k.out.line("const int part = epoch.rank * {};", part);
    low = "part", high = fmt::format("part + {}", part);
  }
  k.out.line("add_tiles<{}, {}, {}, {}, {}>(tid, {}, {}, {}, {}{});", chunks.vector, chunks.count, threads, m.maximum,
             dtype, chunks.at, low, high, result, text.pointers(m.windows));
  k.out.line("release_readers<{}, {}>(epoch, tid{});", threads, barrier, text.pointers(m.flags));
}

/// Returns the expression of the pointer to a tensor: in a window, to the half that the launch uses.
std::string base(const KernelText& k, int tensor) {
  const std::string pointer = k.names.pointer(k.program.tensors[tensor].name);
  if (k.plan.symmetric && k.plan.symmetric->gathers && tensor == k.plan.symmetric->window) return "rows_of_rank";
  return k.plan.symmetric && k.plan.symmetric->alternates() &&
                 std::ranges::find(k.plan.symmetric->windows, tensor) != k.plan.symmetric->windows.end()
             ? pointer + " + half"
             : pointer;
}

}  // namespace zellige::emit
