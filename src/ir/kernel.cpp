// Describes a kernel: its launch, the tile program, layouts, tensors in shared memory, channels, setup, agents, teardown.
#include "ir/sections.hpp"

namespace zellige::ir {
namespace {

// Beyond all targets: what the arithmetic of the proof takes for granted. The proof itself knows the target's limits.
constexpr std::int64_t max_extent = std::int64_t{1} << 31, max_threads = 1 << 16;
constexpr std::int64_t max_shared = 1 << 24;  // bytes

/// Throws Mistake unless the last number, which is `what`, is between the two.
template <class Io>
void within(Io& io, std::string_view what, std::int64_t n, std::int64_t low, std::int64_t high) {
  io.require(n >= low && n <= high, fmt::format("{}: expected {} to {}, found {}", what, low, high, n));
}

/// Returns the extents of the grid, and the number of iterations, of which the kernel has the largest.
template <class Io>
std::vector<tile::SymbolicNumber> launch(Io& io, kernel::Kernel& k, tile::SymbolicNumber& iterations) {
  tile::TileProgram& p = k.program;
  std::vector<tile::SymbolicNumber> grid;
  if constexpr (!Io::reads) grid = p.grid_of(io.sizes());
  io.name(p.name);
  io.word("grid"), io.value(grid);
  io.require(grid.size() == 3 && std::ranges::all_of(grid, [](const tile::SymbolicNumber& n) { return n.low() >= 1; }),
             "expected three numbers of 1 or more: (x,y,z)", io.cursor());
  p.grid = {grid[0].high(), grid[1].high(), grid[2].high()};
  for (int axis = 0; axis < 3; ++axis) within(io, fmt::format("grid {}", "xyz"[axis]), p.grid[axis], 1, max_extent);
  within(io, "grid x times y, with this z", p.grid.x * p.grid.y, 1, max_extent * max_threads / p.grid.z);
  io.word("block"), io.value(p.block);
  for (int axis = 0; axis < 3; ++axis) within(io, fmt::format("block {}", "xyz"[axis]), p.block[axis], 1, max_threads);
  within(io, "threads of a block", p.block.count(), 1, max_threads);
  if constexpr (!Io::reads) iterations = p.iterations(io.sizes());
  io.word("loop"), io.value(iterations), within(io, "loop", p.loop = iterations.high(), 1, max_extent);
  io.flag("same_launch", p.same_launch);
  io.fact("part_begin", p.part_begin, std::int64_t{0}), within(io, "part_begin", p.part_begin, 0, max_extent - 1);
  io.word("threads"), io.value(k.threads);
  if constexpr (Io::reads)
    io.require(!io.begins_with("ranks"), "the blocks of a cluster are written \"cluster N\", found \"ranks\"",
               io.cursor());
  io.fact("cluster", k.cluster, 1);
  io.flag("split_k", k.split_k);
  io.flag("programmatic", k.programmatic);
  io.fact("blocks", k.blocks, std::int64_t{0}), within(io, "blocks", k.blocks, 0, max_extent);
  io.fact("together", k.together, 0);
  io.word("shared_bytes"), io.value(k.shared_bytes),
      within(io, "shared_bytes", k.shared_bytes, -max_shared, max_shared);
  io.word("registers"), io.value(k.registers), within(io, "registers", k.registers, 0, max_threads);
  return grid;
}

template <class Io>
void bounds(Io& io, kernel::MaskedLoopBounds& b, const tile::TileProgram& p) {
  io.ref('%', b.mask, p.nodes.size());
  io.word("last"), io.value(b.last);
  io.word("each"), io.value(b.each), within(io, "each", b.each, 1, max_extent);
  io.fact("all", b.all), io.fact("from", b.from), io.fact("end", b.end);
  if (io.when("lengths", b.lengths >= 0)) io.ref('%', b.lengths, p.nodes.size());
  if (io.when("starts", b.starts >= 0)) io.ref('%', b.starts, p.nodes.size());
  if constexpr (Io::reads) {
    const tile::Node& mask = p.nodes[b.mask];
    io.require(mask.dim >= 0 && mask.dim < mask.view.rank(), fmt::format("%{} is no mask", b.mask));
    b.rows = mask.view.along(mask.dim, p);
  }
}

template <class Io>
void symmetric(Io& io, kernel::SymmetricExchange& m, const Ids& gmem) {
  if (io.when("publishes", m.published >= 0)) io.named(gmem, m.published);
  io.word("in"), io.named(gmem, m.window);
  io.some("windows", m.windows, [&](int& t) { io.named(gmem, t); });
  io.some("flags", m.flags, [&](int& t) { io.named(gmem, t); });
  io.word("state"), io.named(gmem, m.state);
  io.some("sums", m.sums, [&](int& t) { io.named(gmem, t); });
  if (io.when("sum", m.sum >= 0)) io.named(gmem, m.sum);
  if (io.when("result", m.result >= 0)) io.named(gmem, m.result);
  io.flag("scatters", m.scatters), io.flag("maximum", m.maximum), io.flag("gathers", m.gathers);
}

template <class Io>
void layout(Io& io, kernel::Context& c) {
  io.value(c.domain);
  io.value(c.share), io.word("in"), io.value(c.tile);
  if (io.when("by", c.row != nullptr)) io.value(c.row);
  if (io.when("rows_of", c.of != nullptr)) io.value(c.of);
}

template <class Io>
void tensor(Io& io, kernel::SmemTensor& t, std::size_t nodes) {
  io.value(t.dtype), io.value(t.shape), io.value(t.layout);
  if (io.when("of", t.node >= 0)) io.ref('%', t.node, nodes);
  io.fact("padded", t.padded, t.shape);
  io.fact("partials", t.partials, 1);
  io.word("part_step"), io.value(t.part_step), within(io, "part_step", t.part_step, -max_shared, max_shared);
  io.fact("stages", t.stages, 1);
  io.word("stage_step"), io.value(t.stage_step), within(io, "stage_step", t.stage_step, -max_shared, max_shared);
  io.flag("operand", t.matmul_operand);
  io.word("inner"), io.value(t.inner);
  io.word("at"), io.value(t.offset), within(io, "at", t.offset, -max_shared, max_shared);
  io.text(t.swizzle_reason);
  const auto rank = static_cast<int>(t.shape.size());
  const values::View tile = t.layout.is(ValueKind::composed) ? values::View(t.layout)[2] : values::View(t.layout);
  within(io, "stages times partials", t.stages * std::int64_t{t.partials}, -max_shared, max_shared);
  io.require(t.stages >= 1 && t.partials >= 1 && t.inner >= 0 && t.inner < rank && tile.rank() == rank &&
                 static_cast<int>(t.padded.size()) == rank,
             "its layout has a mode for each dimension, and stages and partials are 1 or more");
}

template <class Io>
void channel(Io& io, kernel::Channel& c, const Ids& smem, const Ids& agents) {
  io.word("of"), io.named_or_none(smem, c.tensor);
  io.word("stages"), io.value(c.stages), within(io, "stages", c.stages, -max_threads, max_threads);
  io.word("from"), io.named(agents, c.producer);
  io.some("to", c.consumers, [&](int& consumer) { io.named(agents, consumer); });
  io.word("by"), io.value(c.by);
  io.fact("at", c.offset, std::int64_t{-1});
}

}  // namespace

template <class Io>
void kernel(Io& io, kernel::Kernel& k, KernelPositions& at, const Ids& gmem) {
  io.begin_scope();
  at.kernel = io.here();
  tile::SymbolicNumber iterations;
  const std::vector<tile::SymbolicNumber> grid = launch(io, k, iterations);
  io.deeper([&] {
    io.each("note", k.notes, [&](std::string& note) { io.value(note); });
    io.one("tile", [&] { io.deeper([&] { tile(io, k, at, gmem); }); });
    if constexpr (Io::reads)
      if (const std::vector<tile::SymbolicNumber> of = k.program.grid_of(io.sizes()); of != grid)
        io.fail(at.kernel,
                fmt::format("its tiles make a grid of ({},{},{})", of[0].text(), of[1].text(), of[2].text()));
    if constexpr (Io::reads)
      if (const tile::SymbolicNumber of = k.program.iterations(io.sizes()); of != iterations)
        io.fail(at.kernel, fmt::format("its tiles make {} iterations", of.text()));
    io.maybe("bounds", k.loop_bounds, [&](kernel::MaskedLoopBounds& b) { bounds(io, b, k.program); });
    io.maybe("symmetric", k.symmetric, [&](kernel::SymmetricExchange& m) { symmetric(io, m, gmem); });
    int i = 0;
    io.each("layout", k.rmem, [&](kernel::RmemTensor& r) {
      int number = i;
      at.layouts.push_back(io.here());
      io.ref('t', number, k.rmem.size());
      io.require(number == i, fmt::format("layouts are numbered in order: expected t{}", i));
      ++i, layout(io, r.layout);
      io.some("holds", r.nodes, [&](int& node) { io.ref('%', node, k.program.nodes.size()); });
    });
    const Ids smem = io.ids("smem", names_of(k.tensors), 's');
    std::size_t t = 0;
    io.each("smem", k.tensors, [&](kernel::SmemTensor& s) {
      at.tensors.push_back(io.here());
      io.declare(smem, t++, s.name), tensor(io, s, k.program.nodes.size());
    });
    const Ids channels = io.ids("channel", names_of(k.channels), 0), agents = io.ids("agent", names_of(k.agents), 0);
    std::size_t c = 0, a = 0;
    io.each("channel", k.channels,
            [&](kernel::Channel& of) { io.declare(channels, c++, of.name), channel(io, of, smem, agents); });
    const KernelNames names{gmem, smem, channels, agents};
    const auto of_all = [&](std::string_view word, std::vector<kernel::Step>& all, std::vector<Position>& at_steps) {
      io.one(word, [&] { io.deeper([&] { steps(io, k, all, at_steps, names); }); });
    };
    of_all("setup", k.setup, at.setup);
    at.agents.reserve(64);
    io.each("agent", k.agents, [&](kernel::Agent& agent) {
      io.declare(agents, a++, agent.name);
      io.word("warps"), io.value(agent.warps);
      io.fact("registers", agent.registers, 0);
      std::vector<Position>& positions = at.agents.emplace_back();
      io.deeper([&] { steps(io, k, agent.steps, positions, names); });
    });
    of_all("teardown", k.teardown, at.teardown);
  });
}
template void kernel(Writer&, kernel::Kernel&, KernelPositions&, const Ids&);
template void kernel(Reader&, kernel::Kernel&, KernelPositions&, const Ids&);

}  // namespace zellige::ir
