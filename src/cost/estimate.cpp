#include "cost/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/matrices.hpp"
#include "graph/reductions.hpp"
#include "kernel/fragments.hpp"
#include "kernel/tensor_map.hpp"
#include "plan/pipeline.hpp"
#include "target/instructions.hpp"

namespace zellige::plan {
namespace {

using graph::BlockGraph;
using graph::BlockOp;

/// Estimates one custom operator; see estimate(). Sums up the quantities of `KernelWork` over its operators.
class Estimate {
 public:
  Estimate(const graph::KernelGraph& g, const graph::KernelOp& op, const target::Target& target)
      : graph_(g),
        op_(op),
        block_(*op.block),
        target_(target),
        warps_(static_cast<double>(block_.block.count()) / 32) {}

  /// Returns the expected time of the custom operator.
  KernelCost cost() {
    k_.trip_count = static_cast<double>(block_.loop);
    k_.barriers = block_.loop > 1 ? k_.trip_count : 0;
    for (const BlockOp& op : block_.ops) add(op);
    read_in_place();
    k_.warps = std::max(1.0, warps_);
    k_.chain = (k_.slots - elementwise_slots_ * (1 - target_.costs.elementwise_step / target_.costs.step)) / k_.warps;
    const auto blocks = static_cast<double>(block_.grid.count());
    k_.l2_bytes *= blocks;
    resident();
    read_again(blocks);
    k_.launched = blocks;
    KernelCost cost = time_of(k_, target_);
    if (!fits_) cost.us += 1e6;
    return cost;
  }

 private:
  static double extent(const Shape& s) { return static_cast<double>(graph::size(s)); }
  const Shape& shape(int t) const { return block_.tensors[t].shape; }
  /// Number of times a block executes the operator `op` of its block graph: once, or once per iteration of the loop.
  double times(const BlockOp& op) const {
    const int t = op.outputs.empty() ? op.inputs[0] : op.outputs[0];
    const bool once = block_.tensors[t].after_loop && !graph::is_elementwise(op.kind);
    const bool of_loop = op.kind == OpKind::input ? op.loop_dim >= 0 : !block_.tensors[op.inputs[0]].after_loop;
    return of_loop && !(once && op.kind == OpKind::output) ? static_cast<double>(block_.loop) : 1;
  }

  /// Reduces the bytes of shared memory, and so raises the number of resident blocks, of a kernel of long rows: one without
  /// loop and matmuls, whose loaded tiles need more than half of the shared memory of a block. Only tiles that several
  /// reductions or stores read are then in shared memory, if these need at most that half. Otherwise none are: threads read
  /// the tiles from global memory, again for each further reader (again_).
  void read_in_place() {
    const double half = static_cast<double>(target_.shared_per_block) / 2;
    if (block_.loop > 1 || std::ranges::count(block_.ops, OpKind::matmul, &BlockOp::kind) > 0) return;
    const auto bytes_of = [&](const BlockOp& input) {
      return extent(shape(input.outputs[0])) * graph::bits(graph_.tensors[op_.inputs[input.kernel_tensor]].dtype) / 8.0;
    };
    double all = 0, shared = 0;
    for (const BlockOp& op : block_.ops)
      if (op.kind == OpKind::input) all += bytes_of(op);
    if (all <= half) return;
    // By tensor, the operators that read it, directly or through elementwise operators.
    std::vector<std::set<const BlockOp*>> readers(block_.tensors.size());
    for (auto at = block_.ops.rbegin(); at != block_.ops.rend(); ++at) {
      const BlockOp& op = *at;
      if (op.kind == OpKind::input && readers[op.outputs[0]].size() > 1) {
        shared += bytes_of(op);
        again_.emplace_back(bytes_of(op), static_cast<double>(readers[op.outputs[0]].size() - 1));
      }
      const bool passes = graph::is_elementwise(op.kind) || op.kind == OpKind::permute;
      for (int in : op.inputs)
        if (passes)
          readers[in].insert(readers[op.outputs[0]].begin(), readers[op.outputs[0]].end());
        else
          readers[in].insert(&op);
    }
    if (shared <= half) again_.clear();
    once_bytes_ = shared <= half ? shared : 0;
  }

  /// Adds the bytes of the tiles in again_. A multiprocessor's L1, or else the L2, holds those of its resident blocks as
  /// far as they fit; the rest comes from DRAM again. Fewer resident blocks therefore read less of long rows from DRAM.
  void read_again(double blocks) {
    for (const auto& [bytes, times] : again_) {
      if (stays_in_l1(bytes * k_.blocks_each, target_)) continue;
      k_.l2_bytes += blocks * bytes * times;
      k_.dram_bytes +=
          blocks * bytes * times * evicted_of_rows(bytes * k_.blocks_each * target_.multiprocessors, target_);
    }
  }

  /// Adds the cost of `op`, a load or store of block tensor `tile`, which is a tile of the kernel-level tensor
  /// `kernel_tensor`. The cost is in bytes of DRAM, L2 and shared memory, wavefronts, and issue slots.
  void moved(const BlockOp& op, int tile, int kernel_tensor) {
    const Shape& s = shape(tile);
    const double size = graph::bits(graph_.tensors[kernel_tensor].dtype) / 8.0;
    const double bytes = extent(s) * size, run = static_cast<double>(s.back()) * size;
    const bool whole = s.back() == graph_.tensors[kernel_tensor].shape.back();
    const double sectors = whole ? bytes : bytes * in_sectors(run) / run;
    double share = 1;  // the share of the blocks that store the tile
    if (const graph::Attributes& a = op.attributes; op.kind == OpKind::output && a.dim >= 0)
      for (int axis = 0; axis < 3; ++axis)
        if (op.map[axis] == a.dim)
          share = static_cast<double>(a.end - a.start) / static_cast<double>(s[a.dim] * block_.grid[axis]);
    k_.l2_bytes += share * sectors * times(op);
    k_.wavefronts += bytes * times(op) / target_.costs.shared_cycle;
    k_.slots += bytes * times(op) / 256;
    const double all = extent(graph_.tensors[kernel_tensor].shape) * size;
    k_.dram_bytes += all;
    (op.kind == OpKind::input && op.loop_dim >= 0 && block_.loop > 1 ? trip_bytes_ : once_bytes_) += bytes;
  }

  void add(const BlockOp& op) {
    if (op.kind == OpKind::input) return moved(op, op.outputs[0], op_.inputs[op.kernel_tensor]);
    if (op.kind == OpKind::output) return moved(op, op.inputs[0], op_.outputs[op.kernel_tensor]);
    const Shape& x = shape(op.inputs[0]);
    const Shape& y = shape(op.outputs[0]);
    if (op.kind == OpKind::matmul) return product(op, x, y);
    if (op.kind == OpKind::permute) return;  // a view of the same memory
    if (graph::is_elementwise(op.kind)) return add_elementwise(extent(y) / 32 * slots_of(op.kind) * times(op));
    add_elementwise((target_.costs.reduction_slots + graph::monoid_of(op.kind).slots - 1) * extent(x) / 32 * times(op));
    if (extent(x) != extent(y) || op.kind == OpKind::rms_norm) k_.barriers += 2;
  }

  /// Returns whether a block tensor is expected to be in registers. This is so for each elementwise operator's result
  /// if the kernel is expected to chain two matmuls (attention), where the second matmul reads its A operand from
  /// registers.
  bool made(int tensor) const {
    return of_chain() && std::ranges::any_of(block_.ops, [&](const BlockOp& o) {
             return graph::is_elementwise(o.kind) && o.outputs[0] == tensor;
           });
  }

  /// Adds `slots` issue slots of elementwise work.
  void add_elementwise(double slots) { k_.slots += slots, elementwise_slots_ += slots; }

  /// Adds the cost of a matmul whose first operand has shape `x` and whose result has shape `y`. The matmul uses the
  /// instruction that the planner is expected to select: wgmma, mma.sync, FMA outer products, or dot products.
  void product(const BlockOp& op, const Shape& x, const Shape& y) {
    const DType dtype = block_.tensors[op.inputs[0]].dtype;
    const Shape c = graph::matrices(x, shape(op.inputs[1])).product;
    const std::int64_t m = c[c.size() - 2], n = c.back(), k = x.back(), batch = graph::size(y) / (m * n);
    const std::string_view type = target::multiplied_as(dtype, op.attributes.tf32);
    const Instruction* row = target::find_mma(target_, type, type, "f32");
    if (!row && dtype == DType::f32) return outer_product(m, n, static_cast<double>(batch * k) * times(op));
    if (!row) {
      k_.slots += 2 * static_cast<double>(batch * m * n * k) / 32 * times(op);
      return;
    }
    const auto mt = static_cast<double>(ceil_div(m, row->m)), nt = static_cast<double>(ceil_div(n, row->n)),
               kt = static_cast<double>(ceil_div(k, row->k)), each = static_cast<double>(batch) * times(op);
    if (const Instruction* group = warpgroup_row(op, m, n, k, batch)) {
      const std::int64_t steps = m / group->m * ceil_div(k, group->k);
      k_.tensor_cycles +=
          times(op) * static_cast<double>(steps) * group->cycles * of_its_cycles(*group, !made(op.inputs[0]), target_);
      k_.warp_specialized = true, k_.chained = of_chain();
      return;
    }
    const double across = std::clamp(nt / tiles_in_unit(*row), 1.0, warps_);
    k_.tensor_cycles += each * mt * nt * kt * row->cycles / 4;
    const double wavefronts = each * kt * (4 * mt * across + 2 * nt * std::clamp(warps_ / across, 1.0, mt));
    k_.wavefronts += wavefronts;
    k_.slots += 2 * each * mt * nt * kt + wavefronts / 2;
    k_.barriers += 1;
    if (block_.tensors[op.outputs[0]].after_loop || block_.loop > 1)
      once_bytes_ += 4 * extent(y) * std::clamp(warps_ / (mt * across), 1.0, 4.0) / 2;
  }

  /// Adds the cost of a matmul with an m x n result by FMA outer products; `depth` is batch * K * iterations. Per
  /// step of K, a thread that has s accumulators reads about sqrt(s) elements of each operand. If n is below 32,
  /// lanes are idle.
  void outer_product(std::int64_t m, std::int64_t n, double depth) {
    const auto rows = static_cast<double>(m), columns = static_cast<double>(std::max<std::int64_t>(n, 32)),
               sums = std::max(1.0, rows * columns / (32 * warps_));
    const double wavefronts =
        depth / 4 * 32 * warps_ * 2 * std::sqrt(sums) / 16;  // 16 bytes per load, two halves of a warp
    k_.slots += depth * rows * columns / 32 / target_.costs.sustained_fma + wavefronts / 2;
    k_.wavefronts += wavefronts;
    k_.barriers += 1;
  }

  /// Returns the wgmma instruction that the planner is expected to select for the matmul `op` of `batch` (m x k) (k x
  /// n) products. Returns nullptr if the planner is expected to use mma.sync.
  const Instruction* warpgroup_row(const BlockOp& op, std::int64_t m, std::int64_t n, std::int64_t k,
                                   std::int64_t batch) const {
    const bool summed = std::ranges::any_of(
        block_.ops, [&](const BlockOp& o) { return o.kind == OpKind::accum && o.inputs[0] == op.outputs[0]; });
    const auto loaded = [&](int tensor) {
      for (const BlockOp& o : block_.ops)
        if (o.kind == OpKind::permute && o.outputs[0] == tensor) tensor = o.inputs[0];
      return std::ranges::any_of(block_.ops, [&](const BlockOp& o) {
        return o.kind == OpKind::input && o.loop_dim >= 0 && o.outputs[0] == tensor;
      });
    };
    const DType dtype = block_.tensors[op.inputs[0]].dtype;
    const std::string_view a = target::multiplied_as(dtype, op.attributes.tf32);
    const Instruction* group =
        target::find_warpgroup_mma(target_, a, a, "f32", of_chain() ? ceil_div(n, 16) * 16 : batch * n);
    const bool rows_shared = batch == 1 || graph::size(shape(op.inputs[0])) == m * k;
    if (!group || block_.loop < 2 || !rows_shared || op.inputs[0] == op.inputs[1]) return nullptr;
    const auto warps = static_cast<std::int64_t>(warps_);
    if (warps % warps_of(*group) != 0 || m * warps_of(*group) != group->m * warps) return nullptr;
    if (!loaded(op.inputs[1])) return nullptr;
    if (!loaded(op.inputs[0])) return of_chain() && batch == 1 && k % 8 == 0 ? group : nullptr;
    return summed && graph::bytes_of(k, dtype) == span_bytes ? group : nullptr;
  }

  /// Returns whether the kernel is expected to chain two matmuls on wgmma (warpgroups.hpp): its loop has two
  /// matmuls and at least min_chained_iterations iterations, and A of the first matmul is loaded before the loop.
  bool of_chain() const {
    std::vector<const BlockOp*> products;
    for (const BlockOp& op : block_.ops)
      if (op.kind == OpKind::matmul) products.push_back(&op);
    return products.size() == 2 && block_.loop >= min_chained_iterations &&
           std::ranges::any_of(block_.ops, [&](const BlockOp& o) {
             return o.kind == OpKind::input && o.loop_dim < 0 && o.outputs[0] == products[0]->inputs[0];
           });
  }

  /// Sets the number of iterations whose loads are in flight together, and the number of blocks per multiprocessor.
  /// Both are limited by shared memory.
  void resident() {
    const auto shared = [&](double stages) { return stages * trip_bytes_ + once_bytes_; };
    const auto in_flight = static_cast<double>(target_.costs.bytes_in_flight);
    k_.in_flight = 1;
    if (block_.loop > 1 && !k_.warp_specialized) {
      k_.in_flight = copy_stages({block_.grid.count(), block_.loop, static_cast<int>(block_.block.count()),
                                  static_cast<std::int64_t>(trip_bytes_), static_cast<std::int64_t>(once_bytes_)},
                                 target_);
    } else if (block_.loop > 1) {
      const auto limit = static_cast<double>(target_.shared_per_block);
      while (k_.in_flight < std::min<double>(target_.costs.max_stages, k_.trip_count) &&
             shared(k_.in_flight + 1) <= limit && (k_.in_flight < 3 || (k_.in_flight - 1) * trip_bytes_ < in_flight))
        ++k_.in_flight;
    }
    const double bytes = shared(k_.in_flight);
    fits_ = bytes <= target_.costs.shared_slack * static_cast<double>(target_.shared_per_block);
    const double by_shared = static_cast<double>(target_.shared_per_multiprocessor) /
                             (bytes + static_cast<double>(target_.shared_reserved_per_block));
    const double resident = target_.threads_per_multiprocessor / (32 * warps_);
    // Threads that read all tiles from global memory have few registers. Otherwise resident_warps have enough of them.
    const double by_registers = again_.empty() ? target_.costs.resident_warps / warps_ : resident;
    k_.blocks_each = std::clamp(static_cast<int>(std::min({by_shared, resident, by_registers})), 1,
                                target_.blocks_per_multiprocessor);
  }

  const graph::KernelGraph& graph_;
  const graph::KernelOp& op_;
  const BlockGraph& block_;
  const target::Target& target_;
  double elementwise_slots_ = 0;  // the part of the issue slots that is elementwise work
  // Warps per block; bytes of shared memory per iteration in flight, and of everything else.
  double warps_, trip_bytes_ = 0, once_bytes_ = 0;
  // Tiles that threads read several times from global memory: bytes per block, and how often after the first time.
  std::vector<std::pair<double, double>> again_;
  bool fits_ = true;  // the tiles fit the shared memory of a block, or exceed it by at most a fifth
  KernelWork k_;
};

}  // namespace

KernelCost estimate(const graph::KernelGraph& g, int op, const target::Target& target) {
  return Estimate(g, g.ops[op], target).cost();
}

}  // namespace zellige::plan
