#include "selection/matmul_cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernel/operand_loads.hpp"
#include "selection/select.hpp"
#include "target/pipe.hpp"
#include "target/products.hpp"

namespace zellige::selection {
namespace {

// Of an access to shared memory and of a matrix instruction, each with one for its address.
constexpr int slots_of_access = 2, slots_of_matmul = 2;
constexpr int slots_of_sum = 2;  // a shuffle and an addition
// Registers of a thread for accumulators, and on FMA units for accumulators and operands. With more the compiler spills.
constexpr std::int64_t max_accumulators = 128, max_accumulators_and_operands = 200;
constexpr int barriers_of_reduction = 2;  // of rows that several warps have: their parts go through shared memory
// Numbers per access of partial results: adjacent accumulators of a thread, and what 16 bytes hold.
constexpr int words_of_fragment = 2, words_of_line = 4;

double latency(const Instruction& row) { return row.latency.value_or(row.cycles); }

/// Returns how many registers of a thread the compiler is expected to spill.
std::int64_t spilled(const kernel::MatmulChoice& c, const kernel::WarpLayout& w) {
  const std::int64_t sums = accumulator_registers(c, w);
  std::int64_t more = sums - max_accumulators;
  if (c.pipe() == target::Pipe::fma)
    more = std::max(more, sums + kernel::operand_registers(c, w) - max_accumulators_and_operands);
  return std::max<std::int64_t>(0, more);
}

}  // namespace

WarpWork work_of_warp(const kernel::MatmulChoice& c, const kernel::WarpLayout& w, bool a_in_registers) {
  const Instruction& row = *c.row;
  const std::int64_t tiles = tile::ceil_div(c.columns(), row.n), wide = kernel::tiles_in_unit(row);
  const std::int64_t b = tile::ceil_div(c.batch, w.b), m = tile::ceil_div(tile::ceil_div(c.m, row.m), w.m),
                     n = tile::ceil_div(tile::ceil_div(tiles, wide), w.n),
                     k = tile::ceil_div(tile::ceil_div(c.k, row.k), w.k);
  const std::int64_t mma = m * std::min(n * wide, tiles);
  std::int64_t loads = 0, wavefronts = 0;
  if (c.pipe() == target::Pipe::fma) {
    loads = m * target::thread_rows(row) + n * target::thread_columns(row);
    wavefronts = m * kernel::outer_wavefronts(row, 0) + n * kernel::outer_wavefronts(row, 1);
  } else {
    // Ordinary loads, of operands that ldmatrix cannot load, have the same number of wavefronts.
    loads = (a_in_registers ? 0 : tile::ceil_div(m * row.a.registers, c.load->c.registers)) +
            tile::ceil_div(n * wide * row.b.registers, c.load->c.registers);
    wavefronts = loads * c.load->cycles;
  }
  const auto times = static_cast<double>(b * k);
  return {times * static_cast<double>(mma), times * static_cast<double>(loads), times * static_cast<double>(wavefronts),
          static_cast<double>(k)};
}

double slots_of(const WarpWork& one, const Instruction& row) {
  return slots_of_access * one.loads + slots_of_matmul * one.mma * target::instructions_in(row);
}

double chain_of(const WarpWork& one, const kernel::MatmulChoice& c, double working, double warps,
                const target::Costs& costs) {
  const double slots = slots_of(one, *c.row), share = working / warps;
  return std::max(slots * (share + (1 - share) / costs.step), one.mma * target::cycles(*c.row, costs) / costs.step);
}

void add_accesses(cost::KernelCost& k, double words, double warps, int width) {
  const double accesses = words / width;
  k.wavefronts += words * warps;
  k.slots += slots_of_access * accesses * std::max<double>(cost::partitions, warps);
  k.chain += slots_of_access * accesses;
}

void add_matmul(cost::KernelCost& k, const kernel::MatmulChoice& c, const kernel::WarpLayout& w, const MatmulUse& use,
                const target::Target& target) {
  const target::Costs& costs = target.costs;
  const WarpWork one = work_of_warp(c, w, use.a_in_registers);
  const double warps = w.count(), busiest = std::max<double>(cost::partitions, warps);
  const double cycles = target::cycles(*c.row, costs) * one.mma,
               sums = static_cast<double>(accumulator_registers(c, w));
  double slots = slots_of_access * one.loads, chain = slots;  // of one warp and execution
  if (c.pipe() == target::Pipe::fma) {
    const double fmas = cycles / (costs.sustained_fma * costs.fma_share(warps));
    slots += fmas, chain += fmas / costs.step;  // they do not wait for each other
  } else {
    slots = slots_of(one, *c.row);
    // A step waits for its operands, and for the sums of the preceding step.
    chain = chain_of(one, c, warps, k.warps, costs) +
            one.steps * (latency(*c.row) + (c.load ? latency(*c.load) : 0)) / costs.step;
    k.tensor_cycles += use.passes * cycles * busiest / cost::partitions;
  }
  // Elementwise operators are evaluated on accumulators, or on what all warps read of the sums of warps that share K.
  const double each = w.k > 1 ? static_cast<double>(c.batch * c.m * c.n) / 32 / k.warps : sums,
               share = w.k > 1 ? 1 : warps / k.warps;
  slots += each * use.slots;
  chain += each * use.slots * (costs.elementwise_step * share + 1 - share) / costs.step;
  k.wavefronts += use.passes * one.wavefronts * warps;
  k.slots += use.passes * slots * busiest;
  k.chain += use.passes * chain;
  if (w.n > 1 && w.k == 1) k.barriers += use.passes * barriers_of_reduction * use.row_reductions;
  if (w.k > 1) {  // each warp writes its partial results, and all read all of them
    add_accesses(k, sums, warps, words_of_fragment);
    add_accesses(k, w.k * each, k.warps, words_of_line);
    k.barriers += 1;
  }
  // Each step along K reads and writes the registers that are spilled.
  add_accesses(k, 2 * static_cast<double>(spilled(c, w)) * use.passes * one.steps, warps);
}

void add_dot_products(cost::KernelCost& k, const kernel::MatmulChoice& c) {
  // The lanes of a warp share K of as many elements at a time as there are groups of lanes, and add up in log2(lanes) steps.
  const auto lanes =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::min<std::int64_t>(32, c.k))));
  const double rounds = std::ceil(static_cast<double>(c.batch * c.m * c.n * lanes) / 32 / k.warps);
  const double products = rounds * static_cast<double>(tile::ceil_div(c.k, lanes)),
               sums = rounds * slots_of_sum * std::log2(lanes);
  add_accesses(k, 2 * products, k.warps);
  k.slots += (products + sums) * std::max<double>(cost::partitions, k.warps);
  k.chain += products + sums;
}

}  // namespace zellige::selection
