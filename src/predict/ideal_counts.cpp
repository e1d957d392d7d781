#include "predict/ideal_counts.hpp"

#include <algorithm>
#include <map>

#include "kernel/fragments.hpp"
#include "kernel/operand_loads.hpp"
#include "kernel/widened.hpp"
#include "target/products.hpp"

namespace zellige::predict {
namespace {

/// Walks a kernel's schedule, and adds up what a block executes.
class ScheduleWalk {
 public:
  explicit ScheduleWalk(const kernel::Kernel& kernel) : plan_(kernel) {}

  BlockCounts run() {
    std::map<int, double> barriers;  // by id; agents that share a barrier arrive together
    for (const std::vector<kernel::Step>* steps : {&plan_.setup, &plan_.teardown})
      for (const kernel::Step& step : *steps) barriers[0] += kernel::as<kernel::Barrier>(step) != nullptr;
    for (const kernel::Agent& agent : plan_.agents) {
      met_.clear();
      steps(agent.steps, 1, 0, 1);
      for (const auto& [id, n] : met_) barriers[id] = std::max(barriers[id], n);
    }
    for (const auto& [id, n] : barriers) all_.barriers += n;
    return all_;
  }

 private:
  /// Counts the steps of a list, in a loop whose iterations from, .., trip_count - 1 are run; `times`: how often the loop is.
  void steps(const std::vector<kernel::Step>& list, double times, std::int64_t from, std::int64_t trip_count,
             bool bounded = false) {
    for (const kernel::Step& step : list) {
      const double all = times * iterations(from, trip_count - kernel::guard_lag_of(step), bounded);
      if (const kernel::Loop* loop = kernel::as<kernel::Loop>(step)) {
        this->loop(*loop, all);
      } else if (const kernel::Barrier* barrier = kernel::as<kernel::Barrier>(step)) {
        met_[barrier->id] += barrier->waits ? all : 0;
      } else if (step.work.node >= 0 && !kernel::as<kernel::Mma>(step) && !kernel::as<kernel::Start>(step)) {
        work(step, all);
      }
    }
  }

  void loop(const kernel::Loop& of, double times) {
    const double launched = static_cast<double>(plan_.blocks);
    if (of.kind == kernel::Loop::tiles)  // the blocks share the tiles
      steps(of.body, times * static_cast<double>(plan_.program.grid.count() * plan_.parts_of_loop()) / launched, 0, 1);
    else if (of.kind == kernel::Loop::slices)  // a sliced matmul's work counts all its slices at once
      steps(of.body, times, 0, 1);
    else
      steps(of.body, times, of.from, of.trip_count, of.bounded);
  }

  /// Returns how many of the iterations from, .., to - 1 of a loop a block runs, on average.
  double iterations(std::int64_t from, std::int64_t to, bool bounded) const {
    if (!bounded || !plan_.loop_bounds) return static_cast<double>(std::max<std::int64_t>(0, to - from));
    const tile::TileProgram& p = plan_.program;
    const std::int64_t blocks = plan_.loop_bounds->row_blocks(p);
    double all = 0;
    for (std::int64_t block = 0; block < blocks; ++block)
      all += static_cast<double>(std::max<std::int64_t>(0, std::min(plan_.loop_bounds->of(block, p.loop), to) - from));
    return all / static_cast<double>(blocks);
  }

  /// Adds `times` accesses to `elements` elements of a buffer by all threads together, `width` elements at a time.
  void add(double times, double elements, int width, graph::DType dtype) {
    const double accesses = elements / width / 32;
    all_.accesses += times * accesses;
    all_.wavefronts += times * accesses * std::max(1.0, width * graph::bits(dtype) / 8.0 / 4);
  }

  void work(const kernel::Step& step, double times) {
    const kernel::Work& t = step.work;
    const kernel::Context& c = plan_.layout_of(t);
    const auto elements = static_cast<double>(graph::size(c.domain));
    const bool staged = t.kind == kernel::WorkKind::to_global && t.tensor >= 0;
    if (t.kind == kernel::WorkKind::mma) return multiplied(t, times);
    if (t.kind == kernel::WorkKind::copy_in || staged) {
      if (!t.copy.by_tensor_map()) add(times, elements, c.vector(), plan_.tensors[t.tensor].dtype);
      return;
    }
    if (t.kind == kernel::WorkKind::finish) {
      if (t.tensor >= 0)
        add(times, static_cast<double>(graph::size(plan_.program.nodes[t.node].shape)) * c.parts(), 1,
            graph::DType::f32);
      return;
    }
    if (const auto widened = kernel::widened_by(plan_, t)) {  // each lane 16 bytes of a row, or a quarter of it
      if (t.part == kernel::makes_operand) return;
      const kernel::SmemTensor& b = plan_.tensors[plan_.tensor_of(widened->bytes)];
      const double bytes = static_cast<double>(graph::size(b.padded)), each = std::min(16.0, b.padded[1] / 4.0);
      all_.accesses += times * bytes / each / 32, all_.wavefronts += times * bytes / 128;
      return;
    }
    for (const kernel::Access& read : step.reads) {
      const kernel::SmemTensor& b = plan_.tensors[read.tensor];
      // Every thread reads a row's number once, in front of the loop along the row, or once a vector.
      const bool of_row = b.shape.size() == c.domain.size() && b.shape[c.inner()] == 1;
      const auto reads = static_cast<double>(c.threads() * c.repeats() * c.values()) /
                         static_cast<double>(c.vector() * (c.axes() > 1 ? c.steps(0) : 1));
      add(times * b.partials, of_row ? reads : elements, of_row ? 1 : b.access_width(c.inner(), c.vector()), b.dtype);
    }
    if (t.tensor >= 0 && (t.kind == kernel::WorkKind::to_shared || t.kind == kernel::WorkKind::accumulate)) {
      const kernel::SmemTensor& b = plan_.tensors[t.tensor];
      const int width = t.copy.by_matrices() ? 32 * t.copy.row->a.registers / t.copy.row->a.bits
                                             : b.access_width(c.inner(), c.vector());
      add(times * b.partials, elements, width, b.dtype);
    }
  }

  /// Adds a matmul's instructions, and the loads of its operands. A is read once per warp along N, B once per warp along M.
  void multiplied(const kernel::Work& t, double times) {
    const tile::Node& n = plan_.program.nodes[t.node];
    const kernel::MatmulChoice& m = t.matmul;
    const int slices = plan_.layout_of(t).repeats();
    const std::int64_t columns = m.n / slices, n_tiles = tile::ceil_div(columns, m.row->n),
                       m_tiles = tile::ceil_div(m.m, m.row->m), steps = tile::ceil_div(m.k, m.row->k),
                       batch = m.batch * slices;
    const int width = n_tiles > 1 ? kernel::tiles_in_unit(*m.row) : 1;
    const bool widened = !m.asynchronous() && kernel::widened_operand(plan_.program, t.node, m).has_value();
    for (int side = 0; side < 2; ++side) {
      if (side == 0 && plan_.has_fragments(t.node)) continue;
      if (widened) {  // each lane 16 bytes of a row, or 4 of a column and its numbers
        const double loads =
            static_cast<double>((side == 0 ? 2 * m_tiles * m.warps.n : 3 * n_tiles * m.warps.m) * m.k) / 32;
        all_.accesses += times * loads, all_.wavefronts += times * loads * (side == 0 ? 4 : 1);
        continue;
      }
      const bool along_k = plan_.tensors[plan_.tensor_of(n.in[side])].along_k(side);
      const auto each = static_cast<double>(batch * steps * (side == 0 ? m.warps.n : m.warps.m)) * times;
      if (m.by_matrices(along_k)) {
        const std::int64_t loads = side == 0 ? m_tiles : tile::ceil_div(n_tiles, width),
                           matrices = (side == 0 ? m.row->m / kernel::matrix_rows(*m.load) : width) *
                                      tile::ceil_div(m.row->k, kernel::matrix_columns(*m.load, *m.row));
        all_.accesses += each * static_cast<double>(loads);
        all_.wavefronts += each * static_cast<double>(loads * matrices);
        continue;
      }
      const std::int64_t tile = side == 0 ? m.row->m : m.row->n, extent = side == 0 ? m.m : columns;
      for (const kernel::OperandLoad& load : kernel::operand_loads(m, side, along_k, 0, extent, 0)) {
        all_.accesses += each * static_cast<double>(tile::ceil_div(extent, tile));
        all_.wavefronts += each * static_cast<double>(tile::ceil_div(extent, tile) * kernel::together(load).size());
      }
    }
    if (m.pipe() == target::Pipe::tensor)
      all_.accesses += times * static_cast<double>(batch * steps * m_tiles * n_tiles * target::instructions_in(*m.row));
  }

  const kernel::Kernel& plan_;
  BlockCounts all_;
  std::map<int, double> met_;  // by barrier: how often the agent has come to it
};

}  // namespace

BlockCounts ideal_counts(const kernel::Kernel& kernel) { return ScheduleWalk(kernel).run(); }

}  // namespace zellige::predict
