#include "predict/cost_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "graph/reductions.hpp"
#include "kernel/launches.hpp"
#include "kernel/leaves.hpp"
#include "kernel/tensor_map.hpp"
#include "kernel/widened.hpp"
#include "predict/ideal_counts.hpp"
#include "predict/predict.hpp"
#include "selection/copies.hpp"
#include "selection/matmul_cost.hpp"
#include "selection/tile_schedule.hpp"
#include "target/pipe.hpp"
#include "tile/sections.hpp"

namespace zellige::predict {

namespace {

using emulate::Counter;

/// Returns the fraction of `bytes` that the L2 is expected not to hold any more when they are accessed again.
double evicted(double bytes, const target::Target& target) {
  return std::max(0.0, 1 - target.costs.l2_held * static_cast<double>(target.costs.l2_bytes) / bytes);
}

/// Returns the number of loop iterations per block; the mean over all blocks if a mask lets blocks skip iterations.
double mean_iterations(const kernel::Kernel& kernel) {
  const tile::TileProgram& p = kernel.program;
  if (!kernel.loop_bounds) return static_cast<double>(kernel.iterations_per_block() * kernel.parts_of_loop());
  const std::int64_t along = kernel.loop_bounds->row_blocks(p);
  double all = 0;
  for (std::int64_t block = 0; block < along; ++block)
    all += static_cast<double>(kernel.loop_bounds->of(block, p.loop));
  return all / static_cast<double>(along);
}

/// Returns the size of the tile of a node, or of a tensor.
double tile_bytes(const auto& of) { return static_cast<double>(graph::bytes_of(graph::size(of.shape), of.dtype)); }

/// Returns the total number of bytes of the program's tensors.
double program_bytes(const tile::TilePrograms& program) {
  double bytes = 0;
  for (const graph::KernelTensor& t : program.tensors) bytes += tile_bytes(t);
  return bytes;
}

/// Returns, by load, how many works read its tile in global memory.
std::map<int, int> reads_in_place(const kernel::Kernel& kernel) {
  std::map<int, int> reads;
  if (!kernel.gmem.empty())
    for (const kernel::Work& w : kernel::works(kernel))
      for (const int load : kernel::read_in_place(kernel, w)) ++reads[load];
  return reads;
}

/// A kernel whose cost is counted, and what its quantities are counted from.
struct CountedKernel {
  const kernel::Kernel& kernel;
  const tile::TilePrograms& program;
  const target::Target& target;
  const std::vector<tile::Node>& nodes = kernel.program.nodes;
  tile::Sections sections{kernel.program};
  std::vector<bool> needed = kernel.program.needed();  // by node
  std::map<int, int> reads = reads_in_place(kernel);   // by load: the works that read its tile in global memory
  double threads = kernel.warp_specialized() ? kernel.threads : kernel.program.threads();
};

/// Returns how many works read the tile of the load `node` in global memory, where they use it; 0 if it is copied. The
/// indices of a gather or scatter are read once, although no work evaluates them.
int reads_of(const CountedKernel& of, int node) {
  const auto read = of.reads.find(node);
  return read != of.reads.end() ? read->second : of.kernel.in_place(node) ? 1 : 0;
}

/// Returns whether the L1 cache is expected to hold the tile of `n` until the last step has read it.
bool stays_in_l1(const CountedKernel& of, const cost::KernelCost& k, const tile::Node& n) {
  return tile_bytes(n) * k.blocks_each <= of.target.costs.l1_bytes;
}

/// Returns the matmul on whose accumulators, in registers, node `i` is evaluated: what elementwise operators, and a
/// reduction at their end, read. Returns nullptr if there is none: warps that share K add up in shared memory, from
/// which all warps read.
const kernel::Work* on_accumulators(const kernel::Kernel& kernel, int i) {
  const tile::Node* n = &kernel.program.nodes[i];
  if (n->kind == tile::NodeKind::reduce && !n->in.empty()) n = &kernel.program.nodes[n->in[0]];
  while (n->kind == tile::NodeKind::map && !n->in.empty() && kernel.program.nodes[n->in[0]].shape == n->shape)
    n = &kernel.program.nodes[n->in[0]];
  const kernel::Work* product = kernel.product_of(static_cast<int>(n - kernel.program.nodes.data()));
  return !product || !product->matmul.row || product->matmul.warps.k > 1 ? nullptr : product;
}

/// A store of fewer bytes at a time from accumulators, of which neighbours are in several rows, leaves sectors partial.
constexpr int partial_bytes = 4;

/// Returns how often a block is charged for node `n` of the program. A cast between a product and its sum, which nothing
/// reads since the matmul itself adds up its products (selection/select.cpp), is charged like those of the loop.
double iterations_of(const CountedKernel& of, const tile::Node& n) {
  const auto i = static_cast<std::size_t>(&n - of.nodes.data());
  const bool replaced = n.op == graph::OpKind::cast && n.to_dtype == graph::DType::f32 && !of.needed[i] &&
                        kernel::rescaled_by(of.nodes[n.in[0]]) >= 0;
  return of.sections.inside(n) || replaced ? mean_iterations(of.kernel) : 1;
}

/// The tile of a load or store consists of runs of equal length, each of which is contiguous in the tensor. The runs of
/// all tiles start at multiples of `step`. In bytes.
struct TileRuns {
  double bytes;
  std::int64_t step;
};
/// Returns the runs of the tile of load or store `n`.
TileRuns runs_of(const tile::TilePrograms& program, const tile::Node& n) {
  const graph::KernelTensor& t = program.tensors[n.tensor];
  const graph::Shape whole = program.shape(n.tensor);
  std::int64_t run = 1, next = 1, step = 0;
  std::set<int> within;
  for (int d = static_cast<int>(n.shape.size()) - 1; d >= 0; --d) {
    int at = -1;  // the dimension whose stride continues the run
    for (int e = 0; e < static_cast<int>(n.shape.size()); ++e)
      if (e < static_cast<int>(t.strides.size()) && n.shape[e] > 1 && t.strides[e] == next && run == next) at = e;
    if (at < 0) break;
    run *= n.shape[at];
    next = t.strides[at] * whole[at];
    within.insert(at);
    if (n.shape[at] < whole[at]) step = run;
  }
  for (int e = 0; e < static_cast<int>(t.strides.size()); ++e)
    if (!within.count(e) && whole[e] > 1) step = std::gcd(step, t.strides[e]);
  const auto bytes = [&](std::int64_t elements) { return static_cast<double>(elements) * graph::bits(n.dtype) / 8.0; };
  return {bytes(run), static_cast<std::int64_t>(bytes(step))};
}

/// Adds what cp.async of `copied` bytes per block asks of the L2.
void count_requests(const kernel::CopyChoice& copy, const TileRuns& run, double copied, cost::KernelCost& k) {
  if (copy.bytes < kernel::chunk_bytes)
    k.narrow_copies += copied / (32 * copy.bytes);
  else if (run.step % cost::half_line_bytes != 0)  // else the wavefronts count as the requests
    k.requests += copied / run.bytes * cost::requests_of(run.bytes, run.step);
}

/// Adds the bytes that loads and stores move through the L2 and DRAM, and the issue slots of loads and stores that do
/// not go through shared memory. The first access to a tensor in the program is charged to DRAM, and of a later one what
/// no longer is in the L2: `made_here` are the tensors that earlier kernels have read or written.
void count_memory(const CountedKernel& of, const std::set<int>& made_here, cost::KernelCost& k) {
  const tile::TileProgram& p = of.kernel.program;
  const double tiles = static_cast<double>(p.grid.count());
  const auto begin_together = std::min<std::int64_t>(static_cast<std::int64_t>(k.launched), of.target.multiprocessors);
  const selection::TileSchedule order =
      k.warp_specialized ? selection::tile_schedule(of.kernel) : selection::TileSchedule{};
  bool straddle = false;  // rows that TMA loads straddle half lines
  std::set<int> seen;
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const tile::Node& n = p.nodes[i];
    if (!tile::accesses(n)) continue;
    // Of a run, and of the tile, in bytes: what they touch is whole 32-byte sectors.
    const auto [run, step] = runs_of(of.program, n);
    const double touched = cost::in_sectors(run),
                 sectors = static_cast<double>(graph::size(n.shape)) * graph::bits(n.dtype) / 8.0 * touched / run;
    const bool partial = n.kind == tile::NodeKind::store && on_accumulators(of.kernel, n.in[0]) &&
                         of.kernel.vector_of(static_cast<int>(i)) * graph::bits(n.dtype) < 8 * partial_bytes;
    double bytes = sectors * iterations_of(of, n) * tiles;
    const auto in_parts = [&](const kernel::Work& w) { return w.node == static_cast<int>(i) && w.part >= 0; };
    const double reads = reads_of(of, static_cast<int>(i));
    const double passes = stays_in_l1(of, k, n) ? 1 : std::max(1.0, reads);
    const kernel::CopyChoice* copy = of.kernel.copy_of(static_cast<int>(i));
    const double received = bytes * passes;
    k.received_bytes += received;
    if (n.kind == tile::NodeKind::load && kernel::find_work(of.kernel, in_parts)) bytes /= of.kernel.cluster;
    double halves = 1, merged = 0;        // bytes of half lines, as a fraction of those of sectors
    if (copy && copy->by_tensor_map()) {  // TMA copies the rows of a box one by one, each of at most a span
      const double row = std::min(run, double(kernel::span_bytes));
      halves = run / row * cost::blocks_touched(row, step, cost::half_line_bytes) * cost::half_line_bytes / touched;
      if (k.warp_specialized && n.kind == tile::NodeKind::load) {
        straddle = straddle || step % cost::half_line_bytes != 0;
        merged = selection::shared_by_neighbours(of.kernel, order, n, begin_together) / 2;
      }
    }
    k.l2_bytes += bytes * passes * halves;
    k.served_bytes += received * halves * (1 - merged);
    if (copy && copy->async())
      count_requests(*copy, {run, step}, tile_bytes(n) * iterations_of(of, n) * tiles / k.launched, k);
    if (passes > 1)
      k.dram_bytes += bytes * (passes - 1) *
                      cost::evicted_of_rows(tile_bytes(n) * k.blocks_each * of.target.multiprocessors, of.target);
    const int memory = of.program.memory_of(n.tensor);
    const double whole = tile_bytes(of.program.tensors[memory]), sector_share = sectors / tile_bytes(n);
    if (seen.insert(memory).second) {
      const double moved =
          std::min(whole * sector_share, bytes) * (made_here.count(memory) ? evicted(whole, of.target) : 1);
      k.dram_bytes += moved * (partial ? of.target.costs.partial_store : 1), k.dram_runs += moved / touched;
    }
    if (reads > 0 || n.kind == tile::NodeKind::store)
      k.slots += std::max(1.0, reads) * 2 * static_cast<double>(graph::size(n.shape)) * iterations_of(of, n) /
                 (32.0 * static_cast<double>(std::max(1, of.kernel.vector_of(static_cast<int>(i)))));
  }
  // Multicasts save reads of the L2, not what it sends.
  if (k.multicasts) k.l2_bytes = std::max(k.l2_bytes, k.received_bytes);
  if (!k.warp_specialized || straddle) k.served_bytes = k.l2_bytes;
  k.received_bytes /= k.launched;
}

/// Returns the fraction of the issue slots that FMAs can use.
double sustained_fma(const CountedKernel& of, const cost::KernelCost& k) {
  const double warps =
      of.threads / 32 * std::min<double>(k.blocks_each, std::ceil(k.launched / of.target.multiprocessors));
  return of.target.costs.sustained_fma * of.target.costs.fma_share(warps);
}

/// Returns the cycles of all instructions of matmul `n`, summed over the warps of a block and the iterations. `m` is
/// the planner's choice for the matmul: its instruction and tile. An instruction that extends beyond the tile's edges
/// counts fully.
double steps_of(const CountedKernel& of, const tile::Node& n, const kernel::MatmulChoice& m) {
  const std::int64_t steps = m.products() * tile::ceil_div(m.m, m.row->m) * tile::ceil_div(m.columns(), m.row->n) *
                             tile::ceil_div(m.k, m.row->k);
  return static_cast<double>(steps) * target::cycles(*m.row, of.target.costs) * iterations_of(of, n);
}

/// Returns what a block executes: as predicted or, of a sketch, whose buffers are not swizzled, without bank conflicts.
BlockCounts executed(const kernel::Kernel& kernel, Detail detail, double launched) {
  if (detail == Detail::sketched) return ideal_counts(kernel);
  const Counts c = predict(kernel);
  const auto each = [&](Counter counter) {
    const auto entry = c.find(counter);
    return entry == c.end() ? 0 : static_cast<double>(entry->second) / launched;
  };
  BlockCounts all;
  all.wavefronts = each(Counter::ldmatrix_wavefronts) + each(Counter::cp_async_wavefronts) +
                   each(Counter::shared_load_wavefronts) + each(Counter::shared_store_wavefronts) +
                   each(Counter::stmatrix_wavefronts);
  for (unsigned i = unsigned(Counter::shared_load_1); i <= unsigned(Counter::shared_store_16); ++i)
    all.accesses += each(Counter(i)) / 32;
  if (!c.count(Counter::shared_load_wavefronts)) all.wavefronts += all.accesses;
  all.accesses += each(Counter::ldmatrix) + each(Counter::stmatrix) + each(Counter::mma) +
                  (each(Counter::cp_async_4) + each(Counter::cp_async_8) + each(Counter::cp_async_16)) / 32;
  all.barriers = each(Counter::barrier);
  return all;
}

/// Adds the cycles of the tensor cores for a matmul, of which the block has `tiles`. steps_of() returns those of one
/// tensor core for mma.sync, which as many work on as there are warps with work, at most one per partition. A wgmma uses
/// all of them. Adds to the chain what a warp with work has beyond the average of all warps.
void count_matmul(const CountedKernel& of, const kernel::Work& w, double tiles, cost::KernelCost& k) {
  const kernel::MatmulChoice& m = w.matmul;
  const tile::Node& n = of.nodes[w.node];
  if (kernel::warps_of(*m.row) > 1) {
    k.tensor_cycles += tiles * steps_of(of, n, m) * cost::of_its_cycles(*m.row, of.target);
    return;
  }
  k.tensor_cycles += tiles * steps_of(of, n, m) / std::min(cost::partitions, m.warps.count());
  const selection::WarpWork one = selection::work_of_warp(m, m.warps, of.kernel.has_fragments(w.node));
  const double average = selection::slots_of(one, *m.row) * m.warps.count() / k.warps;
  k.chain += (selection::chain_of(one, m, m.warps.count(), k.warps, of.target.costs) - average) * iterations_of(of, n);
}

/// Adds the issue slots of elementwise node or reduction `i`, and to the chain what a warp with work has beyond the
/// average of all warps. Returns the chain of all warps together.
double count_evaluated(const CountedKernel& of, int i, cost::KernelCost& k) {
  const tile::Node& n = of.nodes[i];
  double elements = static_cast<double>(graph::size(n.shape)), warps = k.warps, slots = 0;
  if (n.kind == tile::NodeKind::map) slots = cost::slots_of(n.op, n.dtype, of.target.costs);
  if ((n.kind == tile::NodeKind::reduce || n.kind == tile::NodeKind::accumulate || n.kind == tile::NodeKind::round) &&
      !n.in.empty()) {
    slots = graph::monoid_of(n.op).slots * (n.dtype == graph::DType::f64 ? of.target.costs.float64 : 1);
    elements = static_cast<double>(graph::size(of.nodes[n.in[0]].shape));
  }
  if (const kernel::Work* product = k.warp_specialized ? nullptr : on_accumulators(of.kernel, i)) {
    const kernel::Context& c = of.kernel.layout_of(*product);
    warps = std::min(warps, c.threads() / 32.0);
    // Rows and columns that the instructions have beyond the tile's are evaluated, too.
    elements = std::max(elements, static_cast<double>(c.values() * c.repeats() * c.threads()));
  }
  const double issued = elements * iterations_of(of, n) / 32 * slots;
  k.slots += issued;
  k.chain += issued * (1 / warps - 1 / k.warps) / of.target.costs.step;
  return issued * of.target.costs.elementwise_step / of.target.costs.step;
}

/// Sets the work of one block: wavefronts in shared memory, issue slots, tensor-core cycles, barriers, and
/// instructions that depend on each other.
void count_executed(const CountedKernel& of, Detail detail, cost::KernelCost& k) {
  const BlockCounts all = executed(of.kernel, detail, k.launched);
  k.wavefronts = all.wavefronts, k.barriers = all.barriers;
  k.slots += 2 * all.accesses;
  double independent = 0;  // cycles of FMAs, which do not wait for each other
  const std::vector<kernel::Work> done = kernel::works(of.kernel);
  for (const kernel::Work& w : done) {
    const tile::Node& n = of.nodes[w.node];
    if (w.kind == kernel::WorkKind::reduce && n.kind == tile::NodeKind::matmul)  // its layout has K as last dimension
      k.slots += static_cast<double>(graph::size(of.kernel.layout_of(w).domain)) * iterations_of(of, n) / 32;
    if (w.matmul.pipe() == target::Pipe::fma) independent += steps_of(of, n, w.matmul);
  }
  k.slots += independent / sustained_fma(of, k);
  // Number of output tiles per block.
  const double tiles = static_cast<double>(of.kernel.program.grid.count()) / k.launched;
  k.warps = std::max(1.0, of.threads / 32.0);
  for (const kernel::Work& w : done)
    if (w.matmul.pipe() == target::Pipe::tensor) count_matmul(of, w, tiles, k);
  double chained = k.slots - independent / sustained_fma(of, k) * (1 - 1 / of.target.costs.step);
  for (int i = 0; i < static_cast<int>(of.nodes.size()); ++i) chained += count_evaluated(of, i, k);
  if (k.stalls) {
    k.tiles = tiles;
    for (const kernel::Channel& c : of.kernel.channels)
      if (kernel::is_exchange(c)) k.exchanged_bytes += static_cast<double>(of.kernel.tensors[c.tensor].bytes());
    for (const kernel::Work& w : done)
      if (w.kind == kernel::WorkKind::mma)
        k.values = std::max(k.values, static_cast<double>(of.kernel.layout_of(w).values()));
  }
  k.chain += chained / k.warps;
}

/// Sets three quantities of a block: its number of iterations; the number of iterations whose loads are in flight
/// together; and the number of rounds of loads into registers (loads other than cp.async and TMA). A round is the
/// loads that threads issue before they wait. The first round of a tile that is read directly, without a copy in
/// shared memory, is not counted.
void count_latencies(const CountedKernel& of, cost::KernelCost& k) {
  k.trip_count = mean_iterations(of.kernel) * static_cast<double>(of.kernel.program.grid.count()) / k.launched;
  k.in_flight = std::max(1, of.kernel.stages());
  for (const kernel::Agent& agent : of.kernel.agents)
    kernel::walk(agent.steps, [&](const kernel::Step& s, const kernel::StepPosition&) {
      if (const kernel::Copy* copy = kernel::as<kernel::Copy>(s))
        k.in_flight = std::max<double>(k.in_flight, copy->guard_lag + 1);
    });
  // Where rows are held in registers, other tensors, such as a norm's weights, are loaded after the reduction.
  const bool rows = kernel::holds_rows(of.kernel);
  if (rows) {
    int loads = 0, in_registers = 0;
    for (const tile::Node& n : of.nodes) loads += n.kind == tile::NodeKind::load;
    std::set<int> early;  // loads that are held, or from which a held value is evaluated
    for (const kernel::Work& t : kernel::works(of.kernel)) {
      if (t.kind != kernel::WorkKind::to_registers) continue;
      in_registers += of.nodes[t.node].kind == tile::NodeKind::load;
      for (const kernel::Leaf& leaf : kernel::leaves(of.kernel.program, t.node, of.nodes[t.node].shape))
        if (of.nodes[leaf.node].kind == tile::NodeKind::load) early.insert(leaf.node);
    }
    k.rounds += in_registers > 0 && static_cast<int>(early.size()) < loads;
  }
  // Tiles that are not copied by cp.async or TMA go through registers, in rounds that the threads wait for.
  for (int node = 0; node < static_cast<int>(of.nodes.size()); ++node) {
    const tile::Node& n = of.nodes[node];
    const double reads = reads_of(of, node);
    const kernel::CopyChoice* copy = of.kernel.copy_of(node);
    if (n.kind != tile::NodeKind::load || (copy ? copy->row != nullptr : reads == 0)) continue;
    const double each = static_cast<double>(graph::size(n.shape)) / (of.kernel.vector_of(node) * of.threads);
    if (reads > 0) {
      // Read directly. The first round is part of every kernel's latency and does not count. Rows that are held in
      // registers are loaded at a time.
      const double passes = stays_in_l1(of, k, n) ? 1 : reads;
      const double together = rows ? each : of.target.costs.reads_at_a_time;
      const double rounds = std::max(0.0, passes * std::ceil(each / together) - 1) * iterations_of(of, n);
      // At the end of a tile warpgroups wait for reads of less than 16 bytes, two at a time: a matmul of 2976 x 752 to
      // 4918 columns and a residual took 152 us on an H200 with reads of 4 bytes, and was expected at 53.
      const bool narrow = of.kernel.vector_of(node) * graph::whole_bytes(n.dtype) < of.target.access_bytes;
      if (of.kernel.warp_specialized() && narrow)
        k.values += 2 * rounds * of.target.costs.load / of.target.costs.tile_value;
      else
        k.rounds += rounds;
      continue;
    }
    k.rounds += std::ceil(each / selection::loads_at_a_time) * iterations_of(of, n);
    if (copy && copy->anywhere) k.anywhere += each * k.warps * iterations_of(of, n);
  }
}

/// Changes the quantities per block from averages over all blocks to those of the block with the most output tiles.
/// They differ only for persistent blocks, which may have different numbers of tiles.
void charge_busiest(const kernel::Kernel& kernel, cost::KernelCost& k) {
  if (kernel.blocks == 0) return;
  const double tiles = static_cast<double>(kernel.program.grid.count() * kernel.parts_of_loop()) / k.launched,
               uneven = std::ceil(tiles) / tiles;
  for (double* each : {&k.received_bytes, &k.wavefronts, &k.narrow_copies, &k.anywhere, &k.requests, &k.tensor_cycles,
                       &k.slots, &k.trip_count, &k.chain, &k.barriers, &k.tiles})
    *each *= uneven;
}

/// Returns the registers of a thread, as they are counted, from which on ptxas is expected to spill. What it needs besides those that are
/// counted differs by 16 or so: for Blackwell the machine code of attention has spills from 240 on (prime_causal, of 248).
std::int64_t registers_before_spills(const target::Target& target) {
  constexpr int blackwell = 100, uncounted = 16;
  return target.registers_per_thread - (target.compute_capability >= blackwell ? uncounted - 1 : 0);
}

/// Returns the quantities of a kernel's cost (bytes, wavefronts, instructions ...), without its time. `made_here`: tensors
/// that earlier kernels of the program have read or written, and that are therefore in the L2.
cost::KernelCost quantities_of(const CountedKernel& of, Detail detail, const std::set<int>& made_here,
                               bool first_kernel) {
  const tile::TileProgram& p = of.kernel.program;
  cost::KernelCost k{.name = p.name, .first_kernel = first_kernel};
  k.launched = static_cast<double>(of.kernel.blocks > 0 ? of.kernel.blocks : p.grid.count());
  k.warp_specialized = of.kernel.warp_specialized();
  k.matmuls = static_cast<int>(std::ranges::count(p.nodes, tile::NodeKind::matmul, &tile::Node::kind));
  k.chained = kernel::find_work(of.kernel, [&](const kernel::Work& w) {
    return w.matmul.chained() && of.kernel.has_fragments(w.node) &&
           !kernel::widened_operand(of.kernel.program, w.node, w.matmul);
  });
  // Warps that multiply by mma.sync wait for tiles alone, as they do where they copy them.
  const bool asynchronous =
      kernel::find_work(of.kernel, [](const kernel::Work& w) { return w.matmul.asynchronous(); }) != nullptr;
  k.stalls = asynchronous && !k.chained;
  k.spills = !k.warp_specialized && k.matmuls > 0 && of.kernel.registers >= registers_before_spills(of.target);
  k.multicasts = of.kernel.cluster > 1 && !of.kernel.split_k;
  k.overlaps = std::ranges::any_of(of.kernel.channels, kernel::in_columns);
  k.blocks_each = kernel::blocks_together(of.kernel, of.target, static_cast<std::int64_t>(of.threads));
  count_memory(of, made_here, k);
  count_executed(of, detail, k);
  count_latencies(of, k);
  charge_busiest(of.kernel, k);
  return k;
}

/// Adds to `k` the cost of `other`, another tile program of the same launch. Quantities per launch are added up, work per
/// block is averaged over all blocks, and of latencies the maximum is taken.
void join(cost::KernelCost& k, const cost::KernelCost& other) {
  using Cost = cost::KernelCost;
  const double all = k.launched + other.launched;
  for (double Cost::*moved : {&Cost::dram_bytes, &Cost::dram_runs, &Cost::l2_bytes, &Cost::served_bytes})
    k.*moved += other.*moved;
  for (double Cost::*mean : {&Cost::wavefronts, &Cost::tensor_cycles, &Cost::slots, &Cost::narrow_copies,
                             &Cost::anywhere, &Cost::requests, &Cost::received_bytes})
    k.*mean = (k.*mean * k.launched + other.*mean * other.launched) / all;
  for (double Cost::*longest : {&Cost::trip_count, &Cost::chain, &Cost::barriers, &Cost::rounds})
    k.*longest = std::max(k.*longest, other.*longest);
  k.spills = k.spills || other.spills;
  k.in_flight = std::min(k.in_flight, other.in_flight);
  k.blocks_each = std::min(k.blocks_each, other.blocks_each);
  k.launched = all;
}

}  // namespace

CostEstimate estimate_cost(const tile::TilePrograms& program, const std::vector<kernel::Kernel>& kernels, Detail detail,
                           const target::Target& target) {
  CostEstimate all;
  std::set<int> made;  // tensors that an earlier kernel has read or written, and that are in the L2
  for (const kernel::LaunchGroup& l : kernel::launches(kernels)) {
    const auto of_kernel = [&](std::size_t i) {
      return quantities_of({kernels[i], program, target}, detail, made, all.kernels.empty());
    };
    cost::KernelCost k = of_kernel(l.first);
    for (std::size_t i = l.first + 1; i < l.last; ++i) join(k, of_kernel(i));
    all.warm_us += cost::time_of(k, target, evicted(program_bytes(program), target)).us;
    all.us += all.kernels.emplace_back(cost::time_of(k, target)).us;
    for (std::size_t i = l.first; i < l.last; ++i)
      for (const tile::Node& n : kernels[i].program.nodes) {
        const int memory = n.tensor < 0 ? -1 : program.memory_of(n.tensor);
        // A store to an input updates a part of a cache in place; the rest is not in the L2.
        const bool part = std::ranges::count(program.inputs, memory) > 0;
        if (n.kind == tile::NodeKind::load || (n.kind == tile::NodeKind::store && !part)) made.insert(memory);
      }
  }
  return all;
}

std::string print(const CostEstimate& p) {
  std::string out;
  for (const cost::KernelCost& k : p.kernels)
    out += fmt::format(
        "cost of {}: {:.1f} us: launch {:.1f}, first load {:.1f}, DRAM {:.1f}, L2 {:.1f}, shared memory "
        "{:.1f}, tensor cores {:.1f}, "
        "issue {:.1f}, latencies {:.1f}; {} block{} of {} at a time on the busiest multiprocessor\n",
        k.name, k.us, k.launch, k.first, k.dram, k.l2, k.shared, k.tensor, k.issue, k.latency,
        std::min<std::int64_t>(k.blocks_of_busiest, k.blocks_each), k.blocks_each == 1 ? "" : "s", k.blocks_of_busiest);
  return out;
}

}  // namespace zellige::predict
