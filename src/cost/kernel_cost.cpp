#include "cost/kernel_cost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/elementwise.hpp"

namespace zellige::cost {

double blocks_touched(double run, std::int64_t step, std::int64_t size) {
  const std::int64_t length = std::max<std::int64_t>(1, static_cast<std::int64_t>(run)), each = std::gcd(step, size);
  std::int64_t touched = 0;
  for (std::int64_t at = 0; at < size; at += each) touched += tile::ceil_div(at + length, size);
  return static_cast<double>(touched * each) / static_cast<double>(size);
}

double requests_of(double run, std::int64_t step) {
  constexpr std::int64_t line = 2 * half_line_bytes;
  const std::int64_t length = std::max<std::int64_t>(1, static_cast<std::int64_t>(run)), each = std::gcd(step, line);
  std::int64_t whole = 0;  // lines that the run covers, over all starts
  for (std::int64_t at = 0; at < line; at += each)
    whole += std::max<std::int64_t>(0, (at + length) / line - tile::ceil_div(at, line));
  return blocks_touched(run, step, half_line_bytes) - static_cast<double>(whole * each) / line;
}

double in_sectors(double run) {
  return blocks_touched(run, static_cast<std::int64_t>(run), target::sector_bytes) * target::sector_bytes;
}

double slots_of(graph::OpKind op) {
  constexpr double others = 6;  // a mask, a rotation of pairs: comparisons and selections
  return graph::is_elementwise(op) ? graph::elementwise(op).law.slots.count() : others;
}

double slots_of(graph::OpKind op, graph::DType dtype, const target::Costs& costs) {
  if (dtype != graph::DType::f64) return slots_of(op);
  if (!graph::is_elementwise(op)) return costs.float64 * slots_of(op);
  const graph::IssueSlots& slots = graph::elementwise(op).law.slots;
  return costs.float64 * (slots.issue + costs.float64_special * slots.special);
}

double evicted_of_rows(double bytes, const target::Target& target) {
  // Each miss replaces a random byte of the L2. So a byte is held for `bytes` further accesses with probability
  // held = exp(-misses / L2). Of these accesses half are first ones, which miss, and half miss with probability 1 - held.
  // The fixed-point iteration halves the error per step, or better.
  const double ratio = bytes / static_cast<double>(target.costs.l2_bytes);
  double held = 0.5;
  for (int i = 0; i < 30; ++i) held = std::exp(-ratio * (1 - held / 2));
  return 1 - held;
}

double of_its_cycles(const Instruction& row, const target::Target& target) {
  constexpr double element = 2;
  const bool a_in_shared = row.a.space == Instruction::Space::smem;
  const double read = ((a_in_shared ? row.m * row.k : 0) + row.n * row.k) * element / target.costs.shared_cycle;
  return std::max(1.0, read / row.cycles) / target.costs.sustained;
}

KernelCost time_of(KernelCost k, const target::Target& target, double missed) {
  const target::Costs& costs = target.costs;
  const double cycle = 1e-3 / costs.clock;  // us
  k.blocks_of_busiest = tile::ceil_div(static_cast<std::int64_t>(k.launched), target.multiprocessors);
  k.waves = std::ceil(static_cast<double>(k.blocks_of_busiest) / k.blocks_each);
  const double busy = static_cast<double>(k.blocks_of_busiest);
  k.launch = k.first_kernel ? costs.launch : costs.next;
  k.first = costs.load * cycle;
  k.dram = missed * (k.dram_bytes + k.dram_runs * costs.run_bytes) / costs.dram * 1e-3;
  const auto l2 = [&](double served) {
    return std::max(served / (k.warp_specialized ? costs.l2_bulk : costs.l2) * 1e-3,
                    busy * k.received_bytes / (k.warp_specialized ? costs.bulk_cycle : costs.l2_cycle) * cycle);
  };
  k.l2 = l2(k.served_bytes);
  k.shared = busy *
             std::max(k.wavefronts + k.narrow_copies * costs.narrow_copy + k.anywhere * costs.anywhere,
                      k.requests * costs.request) *
             cycle;
  const double stalled = !k.stalls || k.in_flight >= costs.few_stages ? 1
                         : k.in_flight <= 2                           ? costs.starved
                                                                      : costs.stalled;
  k.tensor = busy * k.tensor_cycles * cycle * stalled * (k.multicasts ? costs.multicast : 1);
  k.issue = busy * k.slots / partitions * cycle;
  const double loads =
      k.warp_specialized ? k.trip_count * costs.load : k.trip_count * costs.stage + k.received_bytes / costs.stage_rate;
  // What one iteration loads arrives before any of it is multiplied; `first` has the latency.
  const double arrives = k.matmuls == 1 ? costs.arrives * k.received_bytes / costs.stage_rate : 0,
               chain = std::max(k.chain * costs.step, k.warp_specialized ? k.trip_count * costs.ring : 0);
  k.latency = k.waves *
              ((k.trip_count > 1 ? std::max(loads / k.in_flight, chain) : arrives + chain) +
               k.barriers * (costs.barrier + (k.warps - 4) * costs.barrier_warp) + k.rounds * costs.load) *
              cycle;
  // The L2 and DRAM serve the same stream of bytes, so the slower of them determines its time.
  const double parts[] = {std::max(k.dram, k.l2), k.shared, k.tensor, k.issue, k.latency};
  const double slowest = *std::max_element(std::begin(parts), std::end(parts));
  const double total = std::accumulate(std::begin(parts), std::end(parts), 0.0);
  // Work of one iteration overlaps with loads of other iterations, of the same block or of another block on the
  // multiprocessor.
  const auto resident = static_cast<double>(std::min<std::int64_t>(k.blocks_of_busiest, k.blocks_each));
  const double under_way = k.trip_count * resident + (k.matmuls > 0 ? costs.overlap : 0);
  const double narrow = k.matmuls > 0 && k.narrow_copies > 0 ? costs.rest_narrow / resident : 0;
  const double rest = k.warp_specialized ? costs.rest_warp_specialized : costs.rest + narrow;
  const double exposed = rest + (1 - rest) / std::max(1.0, under_way);
  const double store = costs.tile + costs.tile_value * k.values;  // of a tile
  // Where stores overlap with products, that of the last tile is left, and of others what takes longer than the products of a tile.
  const double stores = !k.overlaps ? k.tiles * store
                                    : store + std::max(0.0, k.tiles - 1) *
                                                  std::max(0.0, store - k.tensor_cycles / std::max(1.0, k.tiles));
  const double ends = k.chained ? k.waves * k.trip_count * costs.chain_iteration : k.waves * stores;
  const double exchange = k.exchanged_bytes > 0 ? costs.exchange + k.exchanged_bytes / costs.exchange_cycle
                          : k.multicasts        ? costs.cluster
                                                : 0;
  const double power = k.tiles > 0 ? costs.power * l2(k.l2_bytes) : 0;
  const double begins = busy * costs.block;
  const double work = slowest + exposed * (total - slowest);
  k.us = k.launch + k.first + (k.spills ? costs.spilled : 1) * work + power + (begins + ends + exchange) * cycle;
  return k;
}

}  // namespace zellige::cost
