#include "kernel/operand_loads.hpp"

#include <algorithm>
#include <array>

#include "target/instructions.hpp"
#include "target/products.hpp"
#include "target/target.hpp"

namespace zellige::kernel {
namespace {

/// The rows of A (side 0) or columns of B (side 1) that one lane of a warp reads: the first index within
/// the warp's tile, and their number.
struct OperandShare {
  int first, count;
};
OperandShare share(const Instruction& row, int side, int lane) {
  const int corner = row.c.layout(lane, 0);
  return side == 0 ? OperandShare{corner % row.m, target::thread_rows(row)}
                   : OperandShare{corner / row.m, target::thread_columns(row)};
}

/// Returns the number of consecutive lanes that the hardware serves in one wavefront if they have no bank conflict.
int lanes_of_a_phase(const OperandLoad& load) {
  const int phase = std::min(32, target::bank_row_bytes / load.bytes);
  const auto agree = [&](int a, int b) { return load.lanes[a] == load.lanes[b]; };
  return phase < 32 && in_pairs(0, static_cast<int>(load.lanes.size()), agree) ? 2 * phase : phase;
}

/// Returns the wavefronts of a warp's loads of operand A (side 0) or B (side 1) in one step over K, if the
/// operand is contiguous along K and has no bank conflicts. `row`: the descriptor of the FMA matmul.
int wavefronts(const Instruction& row, int side) {
  int all = 0;
  const MatmulChoice m{.row = &row};
  for (const OperandLoad& load : operand_loads(m, side, true, 0, side == 0 ? row.m : row.n, 0))
    all += 32 / lanes_of_a_phase(load);
  return all;
}

/// Returns the loads of a matmul on FMA units, as operand_loads() does.
std::vector<OperandLoad> outer_loads(const Instruction& row, int side, bool along_k, std::int64_t x,
                                     std::int64_t extent, std::int64_t k) {
  constexpr int size = 4;  // bytes per element
  const int count = share(row, side, 0).count;
  const bool whole = extent % (side == 0 ? row.m : row.n) == 0;
  std::vector<OperandLoad> loads(along_k ? count : row.k);
  for (int i = 0; i < static_cast<int>(loads.size()); ++i) {
    OperandLoad& load = loads[i];
    load.bytes = size * (along_k ? row.k : count);
    for (int lane = 0; lane < 32; ++lane) {
      const std::int64_t from = x + share(row, side, lane).first;
      if (along_k)
        load.lanes.push_back({whole ? from + i : std::min(from + i, extent - 1), k});
      else
        load.lanes.push_back({whole || from < extent ? from : 0, k + i});
    }
  }
  return loads;
}

/// Returns the loads of a matrix instruction, as operand_loads() does: one per value of the thread's fragment.
std::vector<OperandLoad> fragment_loads(const MatmulChoice& m, int side, std::int64_t x, std::int64_t extent,
                                        std::int64_t k) {
  const Instruction::Operand& operand = side == 0 ? m.row->a : m.row->b;
  const int rows = side == 0 ? m.row->m : m.row->n;
  const std::int64_t depth = depth_of_step(m, k);
  std::vector<OperandLoad> loads;
  for (int value = 0; value < operand.layout.value_count(); ++value) {
    if (operand.layout(0, value) / rows >= depth) continue;
    OperandLoad& load = loads.emplace_back();
    load.bytes = operand.bits / 8;
    for (int lane = 0; lane < 32; ++lane) {
      const int at = operand.layout(lane, value);
      load.lanes.push_back({std::min(x + at % rows, extent - 1), k + at / rows});
    }
  }
  return loads;
}

}  // namespace

std::vector<OperandLoad> operand_loads(const MatmulChoice& m, int side, bool along_k, std::int64_t x,
                                       std::int64_t extent, std::int64_t k) {
  return m.pipe() == target::Pipe::fma ? outer_loads(*m.row, side, along_k, x, extent, k)
                                       : fragment_loads(m, side, x, extent, k);
}

std::int64_t depth_of_step(const MatmulChoice& m, std::int64_t k) {
  const int half = m.row->k / 2;
  return m.pipe() == target::Pipe::tensor && m.k - k <= half && target::has_half_step(*m.row) ? half : m.row->k;
}

int outer_wavefronts(const Instruction& row, int side) {
  static const std::vector<std::array<int, 2>> known = [] {
    std::vector<std::array<int, 2>> each;
    for (const Instruction& r : target::outer_products()) each.push_back({wavefronts(r, 0), wavefronts(r, 1)});
    return each;
  }();
  return known[&row - target::outer_products().data()][side];  // `row` must be an element of that table
}

std::int64_t operand_registers(const MatmulChoice& c, const WarpLayout& w) {
  const std::int64_t tiles = tile::ceil_div(tile::ceil_div(c.m, c.row->m), w.m);
  return c.row->k * (tiles * target::thread_rows(*c.row) + target::thread_columns(*c.row));
}

std::vector<std::vector<OperandLoad::At>> together(const OperandLoad& load) {
  const int phase = lanes_of_a_phase(load);
  std::vector<std::vector<OperandLoad::At>> result;
  for (int first = 0; first < 32; first += phase) {
    std::vector<OperandLoad::At>& at = result.emplace_back();
    for (int lane = first; lane < first + phase; ++lane)
      if (std::ranges::find(at, load.lanes[lane]) == at.end()) at.push_back(load.lanes[lane]);
  }
  return result;
}

int operand_unit(const MatmulChoice& m) {
  return m.load && target::has_half_step(*m.row) ? matrix_columns(*m.load, *m.row) : m.row->k;
}

}  // namespace zellige::kernel
