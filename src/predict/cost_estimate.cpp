#include "predict/cost_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "graph/reductions.hpp"
#include "kernel/carry.hpp"
#include "kernel/launches.hpp"
#include "kernel/leaves.hpp"
#include "kernel/residency.hpp"
#include "kernel/tensor_map.hpp"
#include "predict/ideal_counts.hpp"
#include "predict/predict.hpp"
#include "selection/copies.hpp"
#include "selection/matmul_cost.hpp"
#include "selection/tile_schedule.hpp"
#include "tile/sections.hpp"

namespace zellige::predict {

namespace {

using emulate::Counter;

/// Computes the expected time of one launch: count() per program of the launch, join() them, then add_to().
class Pricing {
 public:
  Pricing(const kernel::Kernel& kernel, const tile::TilePrograms& program, Detail detail, const target::Target& target,
          bool first_kernel)
      : plan_(kernel),
        sketched_(detail == Detail::sketched),
        sections_(plan_.program),
        needed_(plan_.program.needed()),
        program_(program),
        target_(target) {
    k.first_kernel = first_kernel;
    k.name = plan_.program.name;
  }

  cost::KernelCost k;

  /// Sets the quantities in the kernel's work `k` (bytes, wavefronts, instructions ...). `made_here`: tensors that
  /// earlier kernels of the program have read or written, and that are therefore in the L2.
  void count(const std::set<int>& made_here) {
    const tile::TileProgram& p = plan_.program;
    k.launched = static_cast<double>(plan_.blocks > 0 ? plan_.blocks : p.grid.count());
    k.warp_specialized = plan_.warp_specialized();
    k.matmuls = static_cast<int>(std::ranges::count(plan_.program.nodes, tile::NodeKind::matmul, &tile::Node::kind));
    k.chained = kernel::find_work(plan_, [](const kernel::Work& w) { return w.matmul.chained(); });
    k.stalls = k.warp_specialized && !k.chained;
    k.multicasts = plan_.ranks > 1 && !plan_.split_k;
    threads_ = k.warp_specialized ? plan_.threads : p.threads();
    k.blocks_each = kernel::blocks_together(plan_, target_, static_cast<std::int64_t>(threads_));
    memory(made_here);
    counted();
    latencies();
    busiest();
  }
  /// Adds the cost of `other`, another tile program of the same launch. Quantities per launch are added up, work per
  /// block is averaged over all blocks, and of latencies the maximum is taken.
  void join(const Pricing& other) {
    const double all = k.launched + other.k.launched;
    const auto mean = [&](double& each, double others) {
      each = (each * k.launched + others * other.k.launched) / all;
    };
    for (double cost::KernelCost::*moved : {&cost::KernelCost::dram_bytes, &cost::KernelCost::dram_runs,
                                            &cost::KernelCost::l2_bytes, &cost::KernelCost::served_bytes})
      k.*moved += other.k.*moved;
    mean(k.wavefronts, other.k.wavefronts), mean(k.tensor_cycles, other.k.tensor_cycles);
    mean(k.slots, other.k.slots), mean(k.narrow_copies, other.k.narrow_copies);
    mean(k.requests, other.k.requests), mean(k.received_bytes, other.k.received_bytes);
    for (double cost::KernelCost::*longest : {&cost::KernelCost::trip_count, &cost::KernelCost::chain,
                                              &cost::KernelCost::barriers, &cost::KernelCost::rounds})
      k.*longest = std::max(k.*longest, other.k.*longest);
    k.in_flight = std::min(k.in_flight, other.k.in_flight);
    k.blocks_each = std::min(k.blocks_each, other.k.blocks_each);
    k.launched = all;
  }
  /// Adds the time of the work `k` to `all`.
  void add_to(CostEstimate& all) const {
    all.warm_us += cost::time_of(k, target_, evicted(program_bytes())).us;
    all.us += all.kernels.emplace_back(cost::time_of(k, target_)).us;
  }

 private:
  /// Returns the fraction of `bytes` that the L2 is expected not to hold any more when they are accessed again.
  double evicted(double bytes) const {
    return std::max(0.0, 1 - target_.costs.l2_held * static_cast<double>(target_.costs.l2_bytes) / bytes);
  }

  /// The tile of a load or store consists of runs of equal length, each of which is contiguous in the tensor. The runs of
  /// all tiles start at multiples of `step`. In bytes.
  struct Run {
    double bytes;
    std::int64_t step;
  };
  Run run_of(const tile::Node& n) const {
    const graph::KernelTensor& t = program_.tensors[n.tensor];
    const graph::Shape whole = program_.shape(n.tensor);
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
    const auto bytes = [&](std::int64_t elements) {
      return static_cast<double>(elements) * graph::bits(n.dtype) / 8.0;
    };
    return {bytes(run), static_cast<std::int64_t>(bytes(step))};
  }

  /// Number of loop iterations per block; the mean over all blocks if a mask lets blocks skip iterations.
  double loop() const {
    const tile::TileProgram& p = plan_.program;
    if (!plan_.loop_bounds) return static_cast<double>(plan_.iterations_per_rank() * plan_.parts_of_loop());
    const int axis = plan_.loop_bounds->rows.axis();
    double all = 0;
    for (std::int64_t block = 0; block < p.grid[axis]; ++block)
      all += static_cast<double>(plan_.loop_bounds->of(block, p.loop));
    return all / static_cast<double>(p.grid[axis]);
  }

  /// Returns the size of the tile of a node, or of a tensor.
  static double bytes_of(const auto& of) {
    return static_cast<double>(graph::bytes_of(graph::size(of.shape), of.dtype));
  }
  /// Returns how many works read the tile of the load `node` in global memory, where they use it; 0 if it is copied. The
  /// indices of a gather or scatter are read once, although no work evaluates them.
  int reads_of(int node) const {
    const auto read = reads_.find(node);
    return read != reads_.end() ? read->second : plan_.in_place(node) ? 1 : 0;
  }
  /// Returns whether the L1 cache is expected to hold the tile of `n` until the last step has read it.
  bool stays_in_l1(const tile::Node& n) const { return bytes_of(n) * k.blocks_each <= target_.costs.l1_bytes; }

  /// Returns how often a block is charged for node `n` of the program. A cast between a product and its sum, which nothing
  /// reads since the matmul itself adds up its products (carry.hpp), is charged like those of the loop.
  double iterations_of(const tile::Node& n) const {
    const auto i = static_cast<std::size_t>(&n - plan_.program.nodes.data());
    const bool replaced = n.op == graph::OpKind::cast && n.to_dtype == graph::DType::f32 && !needed_[i] &&
                          kernel::rescaled_by(plan_.program.nodes[n.in[0]]) >= 0;
    return sections_.inside(n) || replaced ? loop() : 1;
  }

  /// Adds the bytes that loads and stores move through the L2 and DRAM, and the issue slots of loads and stores that do
  /// not go through shared memory. The first access to a tensor in the program is charged to DRAM, and of a later one what
  /// no longer is in the L2: `made_here` are the tensors that earlier kernels have read or written.
  void memory(const std::set<int>& made_here) {
    const tile::TileProgram& p = plan_.program;
    if (!plan_.gmem.empty())
      for (const kernel::Work& w : kernel::works(plan_))
        for (const int load : kernel::read_in_place(plan_, w)) ++reads_[load];
    const double tiles = static_cast<double>(p.grid.count());
    const auto begin_together = std::min<std::int64_t>(static_cast<std::int64_t>(k.launched), target_.multiprocessors);
    const selection::TileSchedule order =
        k.warp_specialized ? selection::tile_schedule(plan_) : selection::TileSchedule{};
    bool straddle = false;  // rows that TMA loads straddle half lines
    std::set<int> seen;
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const tile::Node& n = p.nodes[i];
      if (!tile::accesses(n)) continue;
      // Of a run, and of the tile, in bytes: what they touch is whole 32-byte sectors.
      const auto [run, step] = run_of(n);
      const double touched = cost::in_sectors(run),
                   sectors = static_cast<double>(graph::size(n.shape)) * graph::bits(n.dtype) / 8.0 * touched / run;
      double bytes = sectors * iterations_of(n) * tiles;
      const auto in_parts = [&](const kernel::Work& w) { return w.node == static_cast<int>(i) && w.part >= 0; };
      const double reads = reads_of(static_cast<int>(i));
      const double passes = stays_in_l1(n) ? 1 : std::max(1.0, reads);
      const kernel::CopyChoice* copy = plan_.copy_of(static_cast<int>(i));
      const double received = bytes * passes;
      k.received_bytes += received;
      if (n.kind == tile::NodeKind::load && kernel::find_work(plan_, in_parts)) bytes /= plan_.ranks;
      double halves = 1, merged = 0;        // bytes of half lines, as a fraction of those of sectors
      if (copy && copy->by_tensor_map()) {  // TMA copies the rows of a box one by one, each of at most a span
        const double row = std::min(run, double(kernel::span_bytes));
        halves = run / row * cost::blocks_touched(row, step, cost::half_line_bytes) * cost::half_line_bytes / touched;
        if (k.warp_specialized && n.kind == tile::NodeKind::load) {
          straddle = straddle || step % cost::half_line_bytes != 0;
          merged = selection::shared_by_neighbours(plan_, order, n, begin_together) / 2;
        }
      }
      k.l2_bytes += bytes * passes * halves;
      k.served_bytes += received * halves * (1 - merged);
      if (copy && copy->async()) {
        const double copied = bytes_of(n) * iterations_of(n) * tiles / k.launched;
        if (copy->bytes < kernel::chunk_bytes)
          k.narrow_copies += copied / (32 * copy->bytes);
        else if (step % cost::half_line_bytes != 0)  // else the wavefronts count as the requests
          k.requests += copied / run * cost::requests_of(run, step);
      }
      if (passes > 1)
        k.dram_bytes += bytes * (passes - 1) *
                        cost::evicted_of_rows(bytes_of(n) * k.blocks_each * target_.multiprocessors, target_);
      const int memory = program_.memory_of(n.tensor);
      const double whole = bytes_of(program_.tensors[memory]), sector_share = sectors / bytes_of(n);
      if (seen.insert(memory).second) {
        const double moved = std::min(whole * sector_share, bytes) * (made_here.count(memory) ? evicted(whole) : 1);
        k.dram_bytes += moved, k.dram_runs += moved / touched;
      }
      if (reads > 0 || n.kind == tile::NodeKind::store)
        k.slots += std::max(1.0, reads) * 2 * static_cast<double>(graph::size(n.shape)) * iterations_of(n) /
                   (32.0 * static_cast<double>(std::max(1, plan_.vector_of(static_cast<int>(i)))));
    }
    // Multicasts save reads of the L2, not what it sends.
    if (k.multicasts) k.l2_bytes = std::max(k.l2_bytes, k.received_bytes);
    if (!k.warp_specialized || straddle) k.served_bytes = k.l2_bytes;
    k.received_bytes /= k.launched;
  }

  /// Returns the fraction of the issue slots that FMAs can use.
  double sustained_fma() const {
    const double warps =
        threads_ / 32 * std::min<double>(k.blocks_each, std::ceil(k.launched / target_.multiprocessors));
    return target_.costs.sustained_fma * target_.costs.fma_share(warps);
  }
  /// Returns the cycles of all instructions of matmul `n`, summed over the warps of a block and the iterations. `m` is
  /// the planner's choice for the matmul: its instruction and tile. An instruction that extends beyond the tile's edges
  /// counts fully.
  double steps_of(const tile::Node& n, const kernel::MatmulChoice& m) const {
    const std::int64_t steps = m.products() * tile::ceil_div(m.m, m.row->m) * tile::ceil_div(m.columns(), m.row->n) *
                               tile::ceil_div(m.k, m.row->k);
    return static_cast<double>(steps * m.row->cycles) * iterations_of(n);
  }

  /// Returns what a block executes: as predicted or, of a sketch, whose buffers are not swizzled, without bank conflicts.
  BlockCounts executed() const {
    if (sketched_) return ideal_counts(plan_);
    const Counts c = predict(plan_);
    const auto each = [&](Counter counter) {
      const auto entry = c.find(counter);
      return entry == c.end() ? 0 : static_cast<double>(entry->second) / k.launched;
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
  void multiplied(const kernel::Work& w, double tiles) {
    const kernel::MatmulChoice& m = w.matmul;
    const tile::Node& n = plan_.program.nodes[w.node];
    if (kernel::warps_of(*m.row) > 1) {
      k.tensor_cycles += tiles * steps_of(n, m) * cost::of_its_cycles(*m.row, target_);
      return;
    }
    k.tensor_cycles += tiles * steps_of(n, m) / std::min(cost::partitions, m.warps.count());
    const selection::WarpWork one = selection::work_of_warp(m, m.warps, plan_.has_fragments(w.node));
    const double average = selection::slots_of(one, *m.row) * m.warps.count() / k.warps;
    k.chain += (selection::chain_of(one, m, m.warps.count(), k.warps, target_.costs) - average) * iterations_of(n);
  }

  /// Adds the issue slots of elementwise node or reduction `i`, and to the chain what a warp with work has beyond the
  /// average of all warps. Returns the chain of all warps together.
  double evaluated(int i) {
    const tile::Node& n = plan_.program.nodes[i];
    double elements = static_cast<double>(graph::size(n.shape)), warps = k.warps, slots = 0;
    if (n.kind == tile::NodeKind::map) slots = cost::slots_of(n.op);
    if ((n.kind == tile::NodeKind::reduce || n.kind == tile::NodeKind::accumulate || n.kind == tile::NodeKind::round) &&
        !n.in.empty()) {
      slots = graph::monoid_of(n.op).slots;
      elements = static_cast<double>(graph::size(plan_.program.nodes[n.in[0]].shape));
    }
    if (const kernel::Work* product = k.warp_specialized ? nullptr : on_accumulators(i)) {
      const kernel::Context& c = plan_.layout_of(*product);
      warps = std::min(warps, c.threads() / 32.0);
      // Rows and columns that the instructions have beyond the tile's are evaluated, too.
      elements = std::max(elements, static_cast<double>(c.values() * c.repeats() * c.threads()));
    }
    const double issued = elements * iterations_of(n) / 32 * slots;
    k.slots += issued;
    k.chain += issued * (1 / warps - 1 / k.warps) / target_.costs.step;
    return issued * target_.costs.elementwise_step / target_.costs.step;
  }

  /// Sets the work of one block: wavefronts in shared memory, issue slots, tensor-core cycles, barriers, and
  /// instructions that depend on each other.
  void counted() {
    const BlockCounts all = executed();
    k.wavefronts = all.wavefronts, k.barriers = all.barriers;
    k.slots += 2 * all.accesses;
    double independent = 0;  // cycles of FMAs, which do not wait for each other
    const std::vector<kernel::Work> done = kernel::works(plan_);
    for (const kernel::Work& w : done) {
      const tile::Node& n = plan_.program.nodes[w.node];
      if (w.kind == kernel::WorkKind::reduce && n.kind == tile::NodeKind::matmul)  // its layout has K as last dimension
        k.slots += static_cast<double>(graph::size(plan_.layout_of(w).domain)) * iterations_of(n) / 32;
      if (w.matmul.pipe() == target::Pipe::fma) independent += steps_of(n, w.matmul);
    }
    k.slots += independent / sustained_fma();
    // Number of output tiles per block.
    const double tiles = static_cast<double>(plan_.program.grid.count()) / k.launched;
    k.warps = std::max(1.0, threads_ / 32.0);
    for (const kernel::Work& w : done)
      if (w.matmul.pipe() == target::Pipe::tensor) multiplied(w, tiles);
    double chained = k.slots - independent / sustained_fma() * (1 - 1 / target_.costs.step);
    for (int i = 0; i < static_cast<int>(plan_.program.nodes.size()); ++i) chained += evaluated(i);
    if (k.stalls) {
      k.tiles = tiles;
      for (const kernel::Channel& c : plan_.channels)
        if (kernel::is_exchange(c)) k.exchanged_bytes += static_cast<double>(plan_.tensors[c.tensor].bytes());
      for (const kernel::Work& w : done)
        if (w.kind == kernel::WorkKind::mma)
          k.values = std::max(k.values, static_cast<double>(plan_.layout_of(w).values()));
    }
    k.chain += chained / k.warps;
  }

  /// Returns the matmul on whose accumulators, in registers, node `i` is evaluated: what elementwise operators, and a
  /// reduction at their end, read. Returns nullptr if there is none: warps that share K add up in shared memory, from
  /// which all warps read.
  const kernel::Work* on_accumulators(int i) const {
    const tile::Node* n = &plan_.program.nodes[i];
    if (n->kind == tile::NodeKind::reduce && !n->in.empty()) n = &plan_.program.nodes[n->in[0]];
    while (n->kind == tile::NodeKind::map && !n->in.empty() && plan_.program.nodes[n->in[0]].shape == n->shape)
      n = &plan_.program.nodes[n->in[0]];
    const kernel::Work* product = plan_.product_of(static_cast<int>(n - plan_.program.nodes.data()));
    return !product || !product->matmul.row || product->matmul.warps.k > 1 ? nullptr : product;
  }

  /// Sets three quantities of a block: its number of iterations; the number of iterations whose loads are in flight
  /// together; and the number of rounds of loads into registers (loads other than cp.async and TMA). A round is the
  /// loads that threads issue before they wait. The first round of a tile that is read directly, without a copy in
  /// shared memory, is not counted.
  void latencies() {
    k.trip_count = loop() * static_cast<double>(plan_.program.grid.count()) / k.launched;
    k.in_flight = std::max(1, plan_.stages());
    for (const kernel::Agent& agent : plan_.agents)
      kernel::walk(agent.steps, [&](const kernel::Step& s, const kernel::StepPosition&) {
        if (const kernel::Copy* copy = kernel::as<kernel::Copy>(s))
          k.in_flight = std::max<double>(k.in_flight, copy->guard_lag + 1);
      });
    // Where rows are held in registers, other tensors, such as a norm's weights, are loaded after the reduction.
    const bool rows = kernel::holds_rows(plan_);
    if (rows) {
      int loads = 0, in_registers = 0;
      for (const tile::Node& n : plan_.program.nodes) loads += n.kind == tile::NodeKind::load;
      std::set<int> early;  // loads that are held, or from which a held value is evaluated
      for (const kernel::Work& t : kernel::works(plan_)) {
        if (t.kind != kernel::WorkKind::to_registers) continue;
        in_registers += plan_.program.nodes[t.node].kind == tile::NodeKind::load;
        for (const kernel::Leaf& leaf : kernel::leaves(plan_.program, t.node, plan_.program.nodes[t.node].shape))
          if (plan_.program.nodes[leaf.node].kind == tile::NodeKind::load) early.insert(leaf.node);
      }
      k.rounds += in_registers > 0 && static_cast<int>(early.size()) < loads;
    }
    // Tiles that are not copied by cp.async or TMA go through registers, in rounds that the threads wait for.
    for (int node = 0; node < static_cast<int>(plan_.program.nodes.size()); ++node) {
      const tile::Node& n = plan_.program.nodes[node];
      const double reads = reads_of(node);
      const kernel::CopyChoice* copy = plan_.copy_of(node);
      if (n.kind != tile::NodeKind::load || (copy ? copy->row != nullptr : reads == 0)) continue;
      const double each = static_cast<double>(graph::size(n.shape)) / (plan_.vector_of(node) * threads_);
      if (reads > 0) {
        // Read directly. The first round is part of every kernel's latency and does not count. Rows that are held in
        // registers are loaded at a time.
        const double passes = stays_in_l1(n) ? 1 : reads;
        const double together = rows ? each : target_.costs.reads_at_a_time;
        const double rounds = std::max(0.0, passes * std::ceil(each / together) - 1) * iterations_of(n);
        // At the end of a tile warpgroups wait for reads of less than 16 bytes, two at a time: a matmul of 2976 x 752 to
        // 4918 columns and a residual took 152 us on an H200 with reads of 4 bytes, and was expected at 53.
        const bool narrow = plan_.vector_of(node) * graph::whole_bytes(n.dtype) < target_.access_bytes;
        if (plan_.warp_specialized() && narrow)
          k.values += 2 * rounds * target_.costs.load / target_.costs.tile_value;
        else
          k.rounds += rounds;
        continue;
      }
      k.rounds += std::ceil(each / selection::loads_at_a_time) * iterations_of(n);
    }
  }

  /// Changes the quantities per block from averages over all blocks to those of the block with the most output tiles.
  /// They differ only for persistent blocks, which may have different numbers of tiles.
  void busiest() {
    if (plan_.blocks == 0) return;
    const double tiles = static_cast<double>(plan_.program.grid.count() * plan_.parts_of_loop()) / k.launched,
                 uneven = std::ceil(tiles) / tiles;
    for (double* each : {&k.received_bytes, &k.wavefronts, &k.narrow_copies, &k.requests, &k.tensor_cycles, &k.slots,
                         &k.trip_count, &k.chain, &k.barriers, &k.tiles})
      *each *= uneven;
  }

  /// Returns the total number of bytes of the program's tensors.
  double program_bytes() const {
    double bytes = 0;
    for (const graph::KernelTensor& t : program_.tensors) bytes += bytes_of(t);
    return bytes;
  }

  const kernel::Kernel& plan_;
  bool sketched_;
  tile::Sections sections_;
  std::vector<bool> needed_;  // by node
  const tile::TilePrograms& program_;
  const target::Target& target_;
  double threads_ = 128;
  std::map<int, int> reads_;  // by load: the works that read its tile in global memory
};

}  // namespace

CostEstimate estimate_cost(const tile::TilePrograms& program, const std::vector<kernel::Kernel>& kernels, Detail detail,
                           const target::Target& target) {
  CostEstimate all;
  std::set<int> made;  // tensors that an earlier kernel has read or written, and that are in the L2
  for (const kernel::LaunchGroup& l : kernel::launches(kernels)) {
    std::optional<Pricing> pricing;
    for (std::size_t i = l.first; i < l.last; ++i) {
      const kernel::Kernel& kernel = kernels[i];
      Pricing one(kernel, program, detail, target, all.kernels.empty());
      one.count(made);
      pricing ? pricing->join(one) : void(pricing.emplace(std::move(one)));
    }
    pricing->add_to(all);
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
