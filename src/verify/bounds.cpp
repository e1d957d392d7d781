#include "verify/bounds.hpp"

#include <algorithm>
#include <zellige/layout/algebra/swizzle.hpp>

#include "kernel/evaluated_layout.hpp"

namespace zellige::plan {
namespace {

/// Throws Rejected if tiles of the load or store `n` reach outside its tensor without a bounds check.
void check_view(const Kernel& plan, const Node& n, const Program& program) {
  const TileProgram& p = plan.program;
  for (int d = 0; d < n.view.rank(); ++d) {
    const Interval along = n.view.along(d, p);
    const std::int64_t origin = n.view.origin(d);
    const Number end = along.end(program.sizes), reach = along.reach(program.sizes),
                 extent = program.extent(n.tensor, d);
    if (at_most(end, extent) != true)
      reject("{}: {} {} ends at {} of dimension {}, which has {} elements", p.name, name(n.kind), n.name, end.text(), d,
             extent.text());
    if (origin < 0 && (!n.view.predicated(d) || n.kind != NodeKind::store))
      reject("{}: {} {} starts at {} of dimension {}, and nothing guards it", p.name, name(n.kind), n.name, origin, d);
    if (at_most(reach, end) != true && !n.view.predicated(d))
      reject("{}: the tiles of {} {} reach element {} of dimension {}, which has {}, and nothing guards them", p.name,
             name(n.kind), n.name, reach.text(), d, end.text());
  }
}

/// Throws Rejected if ranks that divide the loop run beyond its end, and load there anything but the zeros with which TMA
/// fills what lies beyond a tensor.
void check_ranks(const Kernel& plan, const Program& program) {
  const TileProgram& p = plan.program;
  const std::int64_t run = plan.iterations_per_rank() * plan.parts_of_loop();
  if (run == p.loop) return;
  for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i) {
    const Node& n = p.nodes[i];
    for (int d = 0; d < n.view.rank(); ++d) {
      if (!n.view.iterates(d)) continue;
      const Interval along = n.view.along(d, p);
      const Number end = along.end(program.sizes), reach = along.reach(program.sizes);
      if (n.kind == NodeKind::load && plan.uses_tma(i) && along.axis() < 0 && at_most(end, reach) == true) continue;
      reject(
          "{}: {} ranks run {} iterations of a loop of {}, and {} {}, which ends at {} of dimension {}, is not all "
          "zeros there",
          p.name, plan.ranks, run, p.loop, name(n.kind), n.name, end.text(), d);
    }
  }
}

/// Throws Rejected if a kernel whose grid depends on sizes that are known at launch is right for the largest ones alone.
void check_sizes(const Kernel& plan, const Program& program) {
  const TileProgram& p = plan.program;
  const std::vector<Number> grid = p.grid_of(program.sizes);
  if (std::ranges::all_of(grid, &Number::is_constant)) return;
  if (plan.blocks > 0) reject("{}: a block takes several tiles, of a grid of {}", p.name, grid[0].text());
  for (const Node& n : p.nodes)
    for (int d = 0; d < n.view.rank(); ++d) {
      const Interval along = n.view.along(d, p);
      const Number blocks = along.axis() < 0 ? 1 : grid[along.axis()], tiles = along.tiles(program.sizes);
      if (along.axis() >= 0 && blocks.high() != p.grid[along.axis()])
        reject("{}: {} blocks, of a grid with {} along {}", p.name, blocks.text(), p.grid[along.axis()],
               "xyz"[along.axis()]);
      if (blocks.size() != along.size() ? along.size() >= 0 || along.top() : blocks != tiles * along.run())
        reject("{}: {} blocks have the {} tiles of {} along dimension {}", p.name, blocks.text(), tiles.text(), n.name,
               d);
    }
  for (const Size& size : program.sizes)
    for (const auto& [tensor, dim] : size.of)
      if (const graph::KernelTensor& t = program.tensors[tensor]; t.strides[dim] < *std::ranges::max_element(t.strides))
        reject("{}: {} is not the outermost dimension of {}, whose strides would depend on it", p.name, size.name,
               t.name);
}

/// Returns the number of neighbours along the lines of a buffer that provably are adjacent and stay in one aligned
/// chunk of 16 bytes, if the first is at a multiple of that number: the strides of the layout's other modes are whole
/// chunks, and its swizzle exchanges whole chunks. 1 is inconclusive.
std::int64_t elements_in_line(const SmemTensor& b) {
  const std::int64_t chunk = b.chunk();
  const auto whole = [&](const values::View mode) { return mode.root().d.v % chunk == 0; };
  const values::View tile = b.tile();
  for (int d = 0; d < tile.rank(); ++d) {
    const values::View mode = tile[d];
    const values::View first = mode.is_leaf() ? mode : mode[0];
    if (d == b.inner ? first.root().d.v != 1 : !whole(first)) return 1;
    if (mode.is_leaf()) continue;
    if (d == b.inner && first.root().s.v % chunk != 0) return 1;
    for (int i = 1; i < mode.rank(); ++i)
      if (!whole(mode[i])) return 1;
  }
  if (!b.swizzled()) return chunk;
  return (std::int64_t{1} << algebra::bits_of(values::View(b.layout)[0]).base) % chunk == 0 ? chunk : 1;
}

/// Throws Rejected if an element of a buffer lies outside the buffer's memory, if two elements have the same address,
/// or if a vector is not aligned.
void check_buffer(const Kernel& plan, const SmemTensor& b) {
  const std::int64_t size = graph::whole_bytes(b.dtype), elements = b.stage_bytes() / size, chunk = b.chunk();
  // Elements that are checked at once.
  const std::int64_t step = b.padded[b.inner] > 1 ? elements_in_line(b) : 1;
  std::vector<bool> taken(ceil_div(elements, step), false);
  Shape at(b.padded.size(), 0);
  const auto next = [&] {  // along the lines
    if ((at[b.inner] += step) < b.padded[b.inner]) return;
    at[b.inner] = 0;
    for (int d = static_cast<int>(at.size()) - 1; d >= 0; --d) {
      if (d == b.inner) continue;
      if (++at[d] < b.padded[d]) return;
      at[d] = 0;
    }
  };
  const std::int64_t starts = graph::size(b.padded) / b.padded[b.inner] * ceil_div(b.padded[b.inner], step);
  std::int64_t before = 0;  // the previous element's byte
  for (std::int64_t part = 0; part < b.partials; ++part)
    for (std::int64_t left = starts; left > 0; --left, next()) {
      const std::int64_t byte = b.address(at, part), offset = (byte - b.offset) / size;
      const std::int64_t last = offset + std::min(step, b.padded[b.inner] - at[b.inner]) - 1;
      if (offset < 0 || last >= elements)
        reject("{}: element {} of {} lies at {}, its buffer has {} elements", plan.program.name, to_string(at), b.name,
               offset, elements);
      if (taken[offset / step])
        reject("{}: element {} of {} lies at {}, where another element is", plan.program.name, to_string(at), b.name,
               offset);
      taken[offset / step] = true;
      const bool begins = at[b.inner] % chunk == 0;
      if (b.padded[b.inner] > 1 && (begins ? (byte | b.stage_step) % chunk_bytes != 0 : byte != before + size))
        reject("{}: element {} of {} lies at byte {}: vectors are not adjacent and aligned", plan.program.name,
               to_string(at), b.name, byte);
      before = byte;
    }
  const std::int64_t need = (b.stages - 1) * b.stage_step + b.stage_bytes();
  if (need > b.bytes() || b.offset < 0 || b.offset + need > plan.shared_bytes)
    reject("{}: {} needs {} bytes from {}; {} of {} were given", plan.program.name, b.name, need, b.offset, b.bytes(),
           plan.shared_bytes);
}

/// Throws Rejected if an access to shared memory by the copy `t` does not start at a multiple of the access width.
void check_alignment(const Kernel& plan, const Work& t) {
  const SmemTensor& b = plan.tensors[t.buffer];
  const CopyChoice& copy = t.copy;
  if (copy.vector == 1) return;
  const auto check = [&](int, int, const Shape& at) {
    if (at.empty()) return;
    const std::int64_t byte = b.address(at);
    if (byte % copy.bytes != 0)
      reject("{}: a copy of {} bytes into {} {} starts at byte {}, not a multiple of it", plan.program.name, copy.bytes,
             b.name, to_string(at), byte);
  };
  for_each(EvaluatedLayout(plan.layout_of(t)), check, copy.vector);
}

/// Throws Rejected if work `t`, which writes a matmul operand to its buffer, does not also write its padding's zeros.
void check_padding(const Kernel& plan, const Work& t) {
  const SmemTensor& b = plan.tensors[t.buffer];
  const Context& c = plan.layout_of(t);
  if (c.row ? covers(c, b.padded) : c.domain == b.padded) return;
  reject("{}: a product reads {} with its padding, {}, and who writes it reaches {} alone", plan.program.name, b.name,
         to_string(b.padded), to_string(c.domain));
}

}  // namespace

void verify_bounds(const Kernel& plan, const Program& program) {
  for (const Node& n : plan.program.nodes)
    if (accesses(n)) check_view(plan, n, program);
  if (!program.sizes.empty()) check_sizes(plan, program);
  check_ranks(plan, program);
  for (const SmemTensor& b : plan.tensors) check_buffer(plan, b);
  for (const Work& t : works(plan)) {
    if (t.kind == WorkKind::copy_in) check_alignment(plan, t);
    if (t.kind == WorkKind::to_shared && plan.tensors[t.buffer].matmul_operand) check_padding(plan, t);
  }
}

}  // namespace zellige::plan
