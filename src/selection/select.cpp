#include "selection/select.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "graph/reductions.hpp"
#include "selection/matmul_cost.hpp"
#include "target/instructions.hpp"
#include "target/products.hpp"
#include "tile/sections.hpp"

namespace zellige::selection {
namespace {

/// Numbers of instruction tiles along the dimensions of a matmul. A unit is the group of N tiles that a
/// warp computes together (tiles_in_unit).
struct InstructionTiles {
  std::int64_t m, n, units, k;
  explicit InstructionTiles(const kernel::MatmulChoice& c)
      : m(tile::ceil_div(c.m, c.row->m)),
        n(tile::ceil_div(c.columns(), c.row->n)),
        units(tile::ceil_div(n, kernel::tiles_in_unit(*c.row))),
        k(tile::ceil_div(c.k, c.row->k)) {}
};

// Registers of a thread for all values of a chain of matmuls that are live at one time. With more the compiler spills.
constexpr std::int64_t max_chain_registers = 176;
// Limit of the partial results of warps that share K.
constexpr std::int64_t max_partial_bytes = 32 * 1024;

/// Returns the matmul whose result is node `x`, either directly or through casts from float32 to float32. Returns -1
/// if there is none, or if one of these nodes has several readers.
int product_of(const tile::TileProgram& p, int x) {
  while (p.consumers(x).size() == 1) {
    const tile::Node& n = p.nodes[x];
    if (n.kind == tile::NodeKind::matmul) return x;
    const bool same = n.kind == tile::NodeKind::map && n.op == graph::OpKind::cast && !n.saturate &&
                      n.to_dtype == graph::DType::f32 && p.nodes[n.in[0]].dtype == graph::DType::f32 &&
                      n.dtype == graph::DType::f32;
    if (!same) return -1;
    x = n.in[0];
  }
  return -1;
}

/// Turns a rescaled sum of matmuls over the loop, as in online softmax, into one matmul that accumulates in place, with one
/// set of accumulator registers:
///
///   o = o * r + p v      ->      o *= r, then o += p v on the tensor cores      r: one factor per row
///
/// Rewrites every accumulate node o = o * r + p v whose factor r is one number per row. The matmul p v gets r as its third
/// operand, becomes `carried`, and replaces the accumulate node, which is left without operands and readers.
void carry_rescaled(tile::TileProgram& p, const std::map<int, kernel::MatmulChoice>& matmuls) {
  const tile::Sections sections(p);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    tile::Node& sum = p.nodes[i];
    if (sum.kind != tile::NodeKind::accumulate || !graph::rescales(sum.op) || sum.in.size() != 2) continue;
    const int product = product_of(p, sum.in[0]), factor = sum.in[1];
    if (product < 0 || !matmuls.at(product).row) continue;
    tile::Node& matmul = p.nodes[product];
    graph::Shape rows = matmul.shape;
    rows.back() = 1;
    const bool each_row = p.nodes[factor].kind == tile::NodeKind::map && p.nodes[factor].shape == rows;
    // Nodes are in topological order: the factor must come before the matmul that reads it.
    if (!each_row || factor > product || matmul.carried || !sections.inside(product)) continue;
    matmul.carried = true;
    matmul.in.push_back(factor);
    for (tile::Node& n : p.nodes)
      for (int& in : n.in)
        if (in == static_cast<int>(i)) in = product;
    sum.in.clear();  // dead
  }
}

/// The matmuls of a kernel: the choices made for them so far, and what does not depend on these.
struct KernelMatmuls {
  const tile::TileProgram& program;
  const std::map<int, kernel::MatmulChoice>& choices;
  const target::Target& target;
  const tile::Sections sections{program};
  // A block without work. Loads are the same for all warp layouts; so they are not waited for.
  const cost::KernelCost block{.trip_count = static_cast<double>(program.loop),
                               .in_flight = std::numeric_limits<double>::infinity(),
                               .warps = static_cast<double>(std::max(1, program.warps()))};

  /// Returns the choice for a matmul with its sizes and instruction set; its warp layout is not set. If there
  /// is no instruction (row is nullptr), the scalar fallback computes the matmul.
  kernel::MatmulChoice describe(const tile::Node& n) const {
    kernel::MatmulChoice c;
    const graph::Shape& a = program.nodes[n.in[0]].shape;
    const std::size_t rank = n.shape.size();
    for (std::size_t d = 0; d + 2 < rank; ++d) c.batch *= n.shape[d];
    c.m = n.shape[rank - 2], c.n = n.shape[rank - 1];
    c.k = n.window ? a[rank - 1] / program.loop : a[rank - 1];
    const auto type = [&](int side) { return target::multiplied_as(program.nodes[n.in[side]].dtype, n.tf32); };
    c.load = target::find_matrix_load(target);
    if (c.load) c.row = target::find_mma(target, type(0), type(1), graph::name(graph::DType::f32));
    if (!c.row) c.load = nullptr, c.row = outer_product(n, c);
    return c;
  }

  /// Returns whether the block's warps may divide K of a matmul among them. Their partial results go through
  /// shared memory, which is acceptable once per kernel, but not once per iteration.
  bool may_split_k(const tile::Node& n) const { return n.carried || !sections.inside(n); }

  /// Returns by how much work that add(KernelCost&) adds to a block without work increases its expected time, in us, of
  /// all iterations or of one. The block is timed as if it were alone on its multiprocessor: how many fit is not known
  /// before shared memory is planned.
  template <class F>
  double time(F add, bool once = false) const {
    cost::KernelCost with = block;
    if (once) with.trip_count = 1;
    add(with);
    const cost::KernelCost timed = cost::time_of(with, target);
    return timed.us - timed.launch - timed.first;
  }
  /// Returns how often a block evaluates the node.
  double passes(const tile::Node& n) const { return sections.inside(n) ? static_cast<double>(program.loop) : 1; }

  /// Calls visit(WarpLayout) for every way to distribute the block's warps, or fewer, over batch, M, N and
  /// (if `split_k`) K such that each of these warps has work.
  template <class F>
  void layouts(const kernel::MatmulChoice& c, bool split_k, F visit) const {
    const int warps = std::max(1, program.warps());
    const InstructionTiles tiles(c);
    for (int b = 1; b <= warps && b <= c.batch; ++b)
      for (int m = 1; b * m <= warps && m <= tiles.m; ++m)
        for (int n = 1; b * m * n <= warps && n <= tiles.units; ++n)
          for (int k = 1; b * m * n * k <= warps && k <= tiles.k && (k == 1 || split_k); ++k) {
            if (k > 1 && k * c.batch * c.m * c.n * 4 > max_partial_bytes) continue;
            visit(kernel::WarpLayout{b, m, n, k});
          }
  }

  /// Returns the FMA descriptor with the least expected time of one execution. Returns nullptr if the scalar fallback is
  /// faster, if the operands are not float32, or if the block has incomplete warps.
  const Instruction* outer_product(const tile::Node& n, kernel::MatmulChoice c) const {
    for (int in : n.in)
      if (program.nodes[in].dtype != graph::DType::f32) return nullptr;
    if (program.threads() % 32 != 0) return nullptr;
    const Instruction* best = nullptr;
    double min_cost = time([&](cost::KernelCost& k) { add_dot_products(k, c); }, true);
    for (const Instruction& row : target::outer_products()) {
      c.row = &row;
      layouts(c, may_split_k(n), [&](const kernel::WarpLayout& w) {
        const double estimated = time([&](cost::KernelCost& k) { add_matmul(k, c, w, {}, target); }, true);
        if (estimated < min_cost) min_cost = estimated, best = &row;
      });
    }
    return best;
  }

  /// Returns the matmul from whose result node x (an operator of the kernel) is computed by elementwise
  /// operators of shape `shape`, or -1 if there is none.
  int source(int x, const graph::Shape& shape) const {
    std::vector<bool> seen(program.nodes.size(), false);
    return source(x, shape, seen);
  }
  int source(int x, const graph::Shape& shape, std::vector<bool>& seen) const {
    const tile::Node& n = program.nodes[x];
    if (n.shape != shape || seen[x]) return -1;
    seen[x] = true;
    if (n.kind == tile::NodeKind::matmul) return choices.at(x).row && !n.carried ? x : -1;
    if (n.kind != tile::NodeKind::map) return -1;
    for (int in : n.in)
      if (const int found = source(in, shape, seen); found >= 0) return found;
    return -1;
  }

  /// Returns what the kernel does with the result of matmul `id`: the row reductions (as sum or max) of what elementwise
  /// operators compute from it, and these operators.
  MatmulUse use_of(int id) const {
    const tile::Node& product = program.nodes[id];
    MatmulUse use{.passes = passes(product)};
    for (int i = 0; i < static_cast<int>(program.nodes.size()); ++i) {
      const tile::Node& n = program.nodes[i];
      if (n.kind == tile::NodeKind::map && source(i, product.shape) == id)
        use.slots += cost::slots_of(n.op, n.dtype, target.costs);
      if (n.kind == tile::NodeKind::reduce && n.dim == static_cast<int>(n.shape.size()) - 1 && n.to == 1 &&
          source(n.in[0], product.shape) == id)
        use.row_reductions += 1, use.slots += graph::monoid_of(n.op).slots;
    }
    return use;
  }

  /// Returns the number of loop states of the matmul's shape: those that are computed elementwise from its
  /// result, and its own accumulators if it accumulates over the loop.
  int states_of(int product) const {
    int states = program.nodes[product].carried;
    for (const tile::Node& n : program.nodes)
      if (n.kind == tile::NodeKind::accumulate && !n.in.empty())  // empty: of a matmul that accumulates by itself
        states += source(n.in[0], n.shape) == product;
    return states;
  }

  /// Returns the expected time, in us, of register spills in the loop: 0 if a thread's registers suffice for the operands,
  /// accumulators and loop states of the consecutive matmuls `products`. `warps` has their warp layouts.
  double exchange_cost(const std::vector<int>& products, const std::vector<kernel::WarpLayout>& warps) const {
    if (!sections.inside(products.front())) return 0;
    std::int64_t states = 0, maximum = 0, operand = 0;
    // Matmuls outside of `products` count as if divided evenly over the same warps.
    for (const auto& [id, c] : choices) {
      const auto at = std::ranges::find(products, id);
      states += states_of(id) * (at == products.end() ? c.batch * c.m * c.n / (32 * warps.front().count())
                                                      : accumulator_registers(c, warps[at - products.begin()]));
    }
    for (std::size_t i = 0; i < products.size(); ++i) {
      const std::int64_t sums = accumulator_registers(choices.at(products[i]), warps[i]);
      const bool own = program.nodes[products[i]].carried;  // the accumulators are a state
      maximum = std::max(maximum, states + operand + (own ? 0 : sums));
      operand = sums / 2;
    }
    const std::int64_t passing = std::max<std::int64_t>(0, maximum - max_chain_registers);
    if (passing == 0) return 0;
    const double accesses = 2 * static_cast<double>(passing * program.loop);  // writes and reads
    return time([&](cost::KernelCost& k) { add_accesses(k, accesses, warps.front().count()); });
  }
};

/// Chooses instruction, warp layout and chaining of all matmuls of a kernel.
class Selector {
 public:
  Selector(Selection& selected, const target::Target& target)
      : matmuls_(selected.matmuls),
        fragments_from_(selected.fragments_from),
        kernel_{selected.program, selected.matmuls, target} {}

  /// Sets Selection::matmuls: the instruction, the warp layout and the source of A of every matmul.
  void run(tile::TileProgram& program) {
    std::vector<int> matmuls;
    for (int i = 0; i < static_cast<int>(program.nodes.size()); ++i)
      if (program.nodes[i].kind == tile::NodeKind::matmul) matmuls_[i] = kernel_.describe(program.nodes[i]);
    carry_rescaled(program, matmuls_);
    for (const auto& [i, choice] : matmuls_) {
      if (!choice.row) continue;
      matmuls.push_back(i);
      if (const int from = link(i); from >= 0) from_[i] = from, next_[from] = i;
    }
    // Chained matmuls are decided together, when the last of them is reached.
    for (int i : matmuls) {
      alone(i);
      if (from_.count(i) && !next_.count(i)) decide(i);
    }
  }

 private:
  /// Returns the expected time, in us, of matmul `id` with warp layout `w`: of its executions in all iterations, the row
  /// reductions of and elementwise operators on its accumulators, and the combination of partial results. If
  /// `a_in_registers`, loads of A are not counted.
  double cost(int id, const kernel::MatmulChoice& c, const kernel::WarpLayout& w, bool a_in_registers) const {
    MatmulUse use = uses_.at(id);
    use.a_in_registers = a_in_registers;
    return kernel_.time([&](cost::KernelCost& k) { add_matmul(k, c, w, use, kernel_.target); });
  }

  /// Sets the warp layout of matmul `id` (how the block's warps divide it) and its FMA descriptor, if it
  /// has one, to those with the least expected time, as if the matmul were in no chain. If an earlier
  /// matmul has the same shape, takes the warp layout of that matmul, so that the accumulators of both are
  /// in the same threads; but not if this costs more register spills.
  void alone(int id) {
    const tile::Node& n = kernel_.program.nodes[id];
    kernel::MatmulChoice& c = matmuls_[id];
    uses_[id] = kernel_.use_of(id);
    double min_cost = -1;
    const auto best_warps = [&](kernel::MatmulChoice by) {
      kernel_.layouts(by, kernel_.may_split_k(n), [&](const kernel::WarpLayout& w) {
        const double estimated = cost(id, by, w, false) + kernel_.exchange_cost({id}, {w});
        if (min_cost < 0 || estimated < min_cost) min_cost = estimated, c.warps = w, c.row = by.row;
      });
    };
    kernel::MatmulChoice by = c;
    if (by.pipe() == target::Pipe::tensor) best_warps(by);
    for (const Instruction& row : target::outer_products())
      if (c.pipe() == target::Pipe::fma) by.row = &row, best_warps(by);
    alone_[id] = min_cost;
    // Same shape: take the same layout, so that the accumulators of both agree thread by thread.
    for (const auto& [other, o] : matmuls_)
      if (other < id && o.row && kernel::equivalent(*o.row, *c.row) && o.warps.k == 1 && c.warps.k == 1 &&
          o.batch == c.batch && o.m == c.m && o.n == c.n &&
          kernel_.exchange_cost({id}, {o.warps}) <= kernel_.exchange_cost({id}, {c.warps}))
        c.warps = o.warps;
  }

  /// Returns the matmul whose accumulators, after elementwise work and rounding, may stay in registers as the
  /// A operand of matmul `id`. Returns -1 if there is none, or if these accumulators may already stay in
  /// registers for another matmul (next_).
  int link(int id) const {
    const tile::TileProgram& p = kernel_.program;
    const kernel::MatmulChoice& to = matmuls_.at(id);
    const int operand = p.nodes[id].in[0];
    if (to.pipe() != target::Pipe::tensor || p.nodes[operand].kind != tile::NodeKind::round ||
        p.consumers(operand).size() != 1)
      return -1;
    const int id_of = kernel_.source(p.nodes[operand].in[0], p.nodes[operand].shape);
    if (id_of < 0 || next_.count(id_of)) return -1;
    const kernel::MatmulChoice& from = matmuls_.at(id_of);
    const bool may = from.pipe() == target::Pipe::tensor && kernel::leaves_operand(*from.row, *to.row) &&
                     kernel_.sections.of(id_of) == kernel_.sections.of(id) && from.batch == to.batch &&
                     from.n % to.row->k == 0;
    return may ? id_of : -1;
  }

  /// A chain: consecutive matmuls of which each has the accumulators of the preceding one as its A operand,
  /// in registers. `estimated` is its expected time in us, or -1 if no warp layouts allow the chain.
  struct Chain {
    double estimated = -1;
    std::vector<kernel::WarpLayout> warps;
  };

  /// Returns the cheapest warp layouts (divisions among the block's warps) of the matmuls ids[first ..
  /// last] if the accumulators of each are, in registers, the A operand of the next one. If a matmul has w
  /// warps along N, the next one has w warps along K. Warps along K leave partial results, which a third
  /// matmul could not read. Therefore chains of three or more matmuls have warps only along batch and M.
  Chain chain(const std::vector<int>& ids, std::size_t first, std::size_t last) const {
    Chain best;
    const kernel::MatmulChoice& head = matmuls_.at(ids[first]);
    const kernel::MatmulChoice& tail = matmuls_.at(ids[last]);
    kernel_.layouts(head, false, [&](const kernel::WarpLayout& w) {
      if (w.n > 1 && (last > first + 1 || !kernel_.may_split_k(kernel_.program.nodes[ids[last]]) ||
                      w.n * tail.batch * tail.m * tail.n * 4 > max_partial_bytes * 2))
        return;
      Chain c{cost(ids[first], head, w, false), {w}};
      for (std::size_t i = first + 1; i <= last; ++i) {
        c.warps.push_back({w.b, w.m, 1, w.n});
        c.estimated += cost(ids[i], matmuls_.at(ids[i]), c.warps.back(), true);
      }
      c.estimated += kernel_.exchange_cost(
          {ids.begin() + static_cast<std::ptrdiff_t>(first), ids.begin() + static_cast<std::ptrdiff_t>(last) + 1},
          c.warps);
      if (best.estimated < 0 || c.estimated < best.estimated) best = c;
    });
    return best;
  }

  /// Returns the expected time, in us, over all iterations, of passing the A operand of matmul `id` through shared memory
  /// from the matmul that computes the operand: a barrier, and writes of two elements at a time. Its loads are the matmul's.
  double crossing(int id) const {
    const kernel::MatmulChoice& p = matmuls_.at(from_.at(id));
    const double times = kernel_.passes(kernel_.program.nodes[id]), elements = static_cast<double>(p.batch * p.m * p.n);
    return kernel_.time([&](cost::KernelCost& k) {
      k.barriers += times;
      add_accesses(k, times * elements / 2 / 32 / p.warps.count(), p.warps.count());
    });
  }

  /// Returns the expected time, in us, of matmul `id` if it passes no operand or result to another matmul in
  /// registers. If its A operand comes from a matmul whose accumulators it could read in registers (from_),
  /// the transfer through shared memory is included. The time depends on the warp layout (how the block's
  /// warps divide the matmul). If a later matmul could read the accumulators of `id` in registers (next_),
  /// the result is for the layout that alone() has set; otherwise it is for the cheapest layout.
  double own_cost(int id) const {
    const kernel::MatmulChoice& c = matmuls_.at(id);
    const double estimated =
        next_.count(id) ? cost(id, c, c.warps, false) + kernel_.exchange_cost({id}, {c.warps}) : alone_.at(id);
    return estimated + (from_.count(id) ? crossing(id) : 0);
  }

  /// Divides a sequence of matmuls that ends with `id` into chains with the least total cost, by dynamic programming
  /// over prefixes. Each matmul of the sequence may read the accumulators of the preceding one as its A operand
  /// (from_); within a chain it does so in registers. Sets the warp layouts of these matmuls and Selection::fragments_from.
  void decide(int id) {
    std::vector<int> ids{id};
    while (from_.count(ids.front())) ids.insert(ids.begin(), from_.at(ids.front()));
    struct Prefix {
      double estimated = 0;
      std::size_t first = 0;
      Chain chain;
    };
    // best[n]: the first n matmuls; `first` begins their last chain
    std::vector<Prefix> best(ids.size() + 1);
    for (std::size_t end = 1; end <= ids.size(); ++end) {
      best[end] = {best[end - 1].estimated + own_cost(ids[end - 1]), end - 1, {}};
      for (std::size_t first = 0; first + 1 < end; ++first) {
        Chain c = chain(ids, first, end - 1);
        if (c.estimated < 0) continue;
        const double estimated = best[first].estimated + c.estimated + (first > 0 ? crossing(ids[first]) : 0);
        if (estimated < best[end].estimated) best[end] = {estimated, first, std::move(c)};
      }
    }
    for (std::size_t end = ids.size(); end > 0; end = best[end].first) {
      const Prefix& prefix = best[end];
      for (std::size_t i = 0; i < prefix.chain.warps.size(); ++i) {
        kernel::MatmulChoice& c = matmuls_[ids[prefix.first + i]];
        c.warps = prefix.chain.warps[i];
        if (i > 0) fragments_from_[ids[prefix.first + i]] = ids[prefix.first + i - 1];
      }
    }
  }

  std::map<int, int> from_, next_;  // linked matmuls: consumer -> producer, and producer -> consumer
  std::map<int, double> alone_;     // least expected time of a matmul outside of chains
  std::map<int, MatmulUse> uses_;   // by matmul; of a chain's, whether A is in registers is not set
  std::map<int, kernel::MatmulChoice>& matmuls_;
  std::map<int, int>& fragments_from_;
  const KernelMatmuls kernel_;
};

}  // namespace

std::int64_t accumulator_registers(const kernel::MatmulChoice& c, const kernel::WarpLayout& w) {
  const InstructionTiles tiles(c);
  return tile::ceil_div(c.products(), w.b) * tile::ceil_div(tiles.m, w.m / kernel::warps_of(*c.row)) *
         tile::ceil_div(tiles.units, w.n) * (tiles.n > 1 ? kernel::tiles_in_unit(*c.row) : 1) * c.row->c.registers;
}

Selection select(tile::TileProgram program, const target::Target& target) {
  Selection selected{std::move(program), {}};
  Selector(selected, target).run(selected.program);
  return selected;
}

}  // namespace zellige::selection
