#include "plan/select.hpp"

#include <algorithm>
#include <map>

#include "plan/carry.hpp"
#include "plan/outer_product.hpp"
#include "target/instructions.hpp"
#include "target/outer_products.hpp"

namespace zellige::plan {
namespace {

constexpr double overlooked = 0.3;  // visible share of loads or multiplications that overlap

/// The instruction's tiles along each of a matmul's dimensions, and units of N tiles.
struct Tiles {
  std::int64_t m, n, units, k;
  explicit Tiles(const MatmulChoice& c)
      : m(ceil_div(c.m, c.row->m)),
        n(ceil_div(c.n, c.row->n)),
        units(ceil_div(n, tiles_in_unit(*c.row))),
        k(ceil_div(c.k, c.row->k)) {}
};

/// The work of one warp under a layout: multiplications and matrix loads per pass over K, or shared-memory
/// cycles.
struct Work {
  std::int64_t mma, loads;
};
Work work(const MatmulChoice& c, const WarpLayout& w, bool a_in_registers) {
  const Tiles tiles(c);
  const std::int64_t b = ceil_div(c.batch, w.b), m = ceil_div(tiles.m, w.m);
  const std::int64_t n = ceil_div(tiles.units, w.n), k = ceil_div(tiles.k, w.k);
  const std::int64_t mma = b * m * std::min(n * tiles_in_unit(*c.row), tiles.n) * k;
  if (c.by_threads())
    return {mma, b * k * (m * outer_wavefronts(*c.row, 0) + n * outer_wavefronts(*c.row, 1))};
  return {mma, b * k * (n + (a_in_registers ? 0 : m)) * c.load->cycles};
}

/// Penalty factor of FMA matmuls: with more than 64 accumulators and their operands fewer blocks are
/// resident; with many more, registers run out.
double crowded(const MatmulChoice& c, const WarpLayout& w) {
  const std::int64_t sums = accumulator_registers(c, w), all = sums + operand_registers(c, w);
  return all > 200 ? 100 : sums > 64 ? 1.3 : 1;
}

/// Cycles of a multiprocessor per pass: its four quarters multiply, shared memory serves all warps.
double cycles(const MatmulChoice& c, const WarpLayout& w, bool a_in_registers) {
  const Work one = work(c, w, a_in_registers);
  const double multiplying =
                   1.0 * c.row->cycles * static_cast<double>(one.mma) * std::max(1.0, w.count() / 4.0),
               loading = static_cast<double>(one.loads) * w.count();
  if (c.by_threads())
    return (std::max(multiplying, loading) + overlooked * std::min(multiplying, loading)) * crowded(c, w);
  return multiplying + loading + 30.0 * static_cast<double>(ceil_div(Tiles(c).k, w.k));
}

/// Scalar fallback (place_reduce of group): two loads per multiplication, from shared memory, and steps of a
/// reduction over lanes.
double cycles_one_by_one(const MatmulChoice& c) {
  return 100 + static_cast<double>(c.batch * c.m * c.n * c.k) / 16;
}

constexpr std::int64_t max_registers = 128;        // for accumulators; with more the compiler spills
constexpr std::int64_t max_chain_registers = 176;  // for everything that a chain holds at one time
constexpr double row_among_warps = 400;  // cycles: a reduction through shared memory with two barriers
constexpr double row_element = 12;       // cycles of a warp per element of such a reduction
constexpr std::int64_t max_partial_bytes = 32 * 1024;

}  // namespace

std::int64_t accumulator_registers(const MatmulChoice& c, const WarpLayout& w) {
  const Tiles tiles(c);
  return ceil_div(c.batch, w.b) * ceil_div(tiles.m, w.m) * ceil_div(tiles.units, w.n) *
         (tiles.n > 1 ? tiles_in_unit(*c.row) : 1) * c.row->c.registers;
}

namespace {

class Selection {
 public:
  Selection(KernelPlan& plan, const target::Target& target)
      : plan_(plan), program_(plan.program), target_(target) {}

  void run() {
    std::vector<int> matmuls;
    for (int i = 0; i < static_cast<int>(program_.nodes.size()); ++i)
      if (program_.nodes[i].kind == NodeKind::matmul) plan_.matmuls[i] = describe(program_.nodes[i]);
    carry_rescaled(plan_);
    for (const auto& [i, choice] : plan_.matmuls) {
      if (!choice.row) continue;
      matmuls.push_back(i);
      if (const int from = link(i); from >= 0) from_[i] = from, next_[from] = i;
    }
    // Linked matmuls are decided together, at the last one, and only once.
    for (int i : matmuls) {
      alone(i);
      if (from_.count(i) && !next_.count(i)) decide(i);
    }
  }

 private:
  MatmulChoice describe(const Node& n) const {
    MatmulChoice c;
    const Shape& a = program_.nodes[n.in[0]].shape;
    const std::size_t rank = n.shape.size();
    for (std::size_t d = 0; d + 2 < rank; ++d) c.batch *= n.shape[d];
    c.m = n.shape[rank - 2], c.n = n.shape[rank - 1];
    c.k = n.window ? a[rank - 1] / program_.loop : a[rank - 1];
    const auto type = [&](int side) { return graph::name(program_.nodes[n.in[side]].dtype); };
    c.load = target::find_matrix_load(target_);
    if (c.load) c.row = target::find_mma(target_, type(0), type(1), graph::name(DType::f32));
    if (!c.row) c.load = nullptr, c.row = by_threads(n, c);
    return c;
  }

  /// The FMA instruction, if it is faster than the scalar fallback; else nullptr.
  const Instruction* by_threads(const Node& n, MatmulChoice c) const {
    for (int in : n.in)
      if (program_.nodes[in].dtype != DType::f32) return nullptr;
    if (program_.threads() % 32 != 0) return nullptr;
    const Instruction* best = nullptr;
    double min_cost = cycles_one_by_one(c);
    for (const Instruction& row : target::outer_products()) {
      c.row = &row;
      layouts(c, may_split_k(n), [&](const WarpLayout& w) {
        if (const double estimated = cycles(c, w, false); estimated < min_cost)
          min_cost = estimated, best = &row;
      });
    }
    return best;
  }

  /// Partial results over K may be left to the users only once per kernel, not once per iteration.
  bool may_split_k(const Node& n) const {
    return n.carried || program_.loop == 1 || n.section == Section::after;
  }

  double cost(const Node& n, const MatmulChoice& c, const WarpLayout& w, bool a_in_registers) const {
    const double passes = n.section == Section::inside ? static_cast<double>(program_.loop) : 1.0;
    const double partials =
        w.k == 1 ? 0 : 40.0 + 2.0 * w.k * static_cast<double>(c.batch * c.m * c.n) / 128 * 4;
    const double spill = accumulator_registers(c, w) > max_registers ? 1e6 : 0;
    const double elements =
        row_element * static_cast<double>(accumulator_registers(c, w)) * std::max(1.0, w.count() / 4.0);
    const int warps = std::max(1, program_.warps());  // warps without work hide nothing
    const double idle = c.by_threads() ? 1 + 0.5 * (1 - static_cast<double>(w.count()) / warps) : 1;
    const double rows = row_sums(n) * (elements + (w.n == 1 ? 0 : row_among_warps));
    return passes * (idle * cycles(c, w, a_in_registers) + rows) + partials + spill;
  }

  template <class F>
  void layouts(const MatmulChoice& c, bool split_k, F visit) const {
    const int warps = std::max(1, program_.warps());
    const Tiles tiles(c);
    for (int b = 1; b <= warps && b <= c.batch; ++b)
      for (int m = 1; b * m <= warps && m <= tiles.m; ++m)
        for (int n = 1; b * m * n <= warps && n <= tiles.units; ++n)
          for (int k = 1; b * m * n * k <= warps && k <= tiles.k && (k == 1 || split_k); ++k) {
            if (k > 1 && k * c.batch * c.m * c.n * 4 > max_partial_bytes) continue;
            visit(WarpLayout{b, m, n, k});
          }
  }

  /// Chooses the cheapest layout of a matmul that is in no chain.
  void alone(int id) {
    const Node& n = program_.nodes[id];
    MatmulChoice& c = plan_.matmuls[id];
    double min_cost = -1;
    const auto best_warps = [&](MatmulChoice by) {
      layouts(by, may_split_k(n), [&](const WarpLayout& w) {
        const double estimated = cost(n, by, w, false) + exchange_cost({id}, {w});
        if (min_cost < 0 || estimated < min_cost) min_cost = estimated, c.warps = w, c.row = by.row;
      });
    };
    MatmulChoice by = c;
    if (!by.by_threads()) best_warps(by);
    for (const Instruction& row : target::outer_products())
      if (c.by_threads()) by.row = &row, best_warps(by);
    alone_[id] = min_cost;
    // Matmuls of one shape share a layout, so that their accumulators agree thread by thread.
    for (const auto& [other, o] : plan_.matmuls)
      if (other < id && o.row && equivalent(*o.row, *c.row) && o.warps.k == 1 && c.warps.k == 1 &&
          o.batch == c.batch && o.m == c.m && o.n == c.n &&
          exchange_cost({id}, {o.warps}) <= exchange_cost({id}, {c.warps}))
        c.warps = o.warps;
  }

  /// The matmul whose accumulators are node x after elementwise nodes only; -1: none.
  int source(int x, const Shape& shape) const {
    std::vector<bool> seen(program_.nodes.size(), false);
    return source(x, shape, seen);
  }
  int source(int x, const Shape& shape, std::vector<bool>& seen) const {
    const Node& n = program_.nodes[x];
    if (n.shape != shape || seen[x]) return -1;
    seen[x] = true;
    if (n.kind == NodeKind::matmul) return plan_.matmuls.at(x).row && !n.carried ? x : -1;
    if (n.kind != NodeKind::map) return -1;
    for (int in : n.in)
      if (const int found = source(in, shape, seen); found >= 0) return found;
    return -1;
  }

  /// The matmul whose accumulators may be this one's A operand; -1: none, or it already has such a user.
  int link(int id) const {
    const Node& n = program_.nodes[id];
    const int operand = n.in[0];
    if (plan_.matmuls.at(id).by_threads()) return -1;
    if (program_.nodes[operand].kind != NodeKind::round || program_.consumers(operand).size() != 1) return -1;
    const int from = source(program_.nodes[operand].in[0], program_.nodes[operand].shape);
    const bool may = from >= 0 && !plan_.matmuls.at(from).by_threads() &&
                     program_.nodes[from].section == n.section &&
                     plan_.matmuls.at(from).batch == plan_.matmuls.at(id).batch &&
                     plan_.matmuls.at(from).n % plan_.matmuls.at(id).row->k == 0;
    return may && !next_.count(from) ? from : -1;
  }

  /// Consecutive matmuls that stay in registers, and the layouts that allow it.
  struct Chain {
    double estimated = -1;
    std::vector<WarpLayout> warps;
  };

  /// The cheapest layouts of ids[first .. last] as one chain. A producer's warps along N are its consumer's
  /// along K, and splitting K leaves partial results, which a third matmul cannot read: chains of three or more
  /// split only batch and M.
  Chain chain(const std::vector<int>& ids, std::size_t first, std::size_t last) const {
    Chain best;
    const MatmulChoice& head = plan_.matmuls.at(ids[first]);
    const MatmulChoice& tail = plan_.matmuls.at(ids[last]);
    layouts(head, false, [&](const WarpLayout& w) {
      if (w.n > 1 && (last > first + 1 || !may_split_k(program_.nodes[ids[last]]) ||
                      w.n * tail.batch * tail.m * tail.n * 4 > max_partial_bytes * 2))
        return;
      Chain c{cost(program_.nodes[ids[first]], head, w, false), {w}};
      for (std::size_t i = first + 1; i <= last; ++i) {
        c.warps.push_back({w.b, w.m, 1, w.n});
        c.estimated += cost(program_.nodes[ids[i]], plan_.matmuls.at(ids[i]), c.warps.back(), true);
      }
      c.estimated += exchange_cost({ids.begin() + static_cast<std::ptrdiff_t>(first),
                                    ids.begin() + static_cast<std::ptrdiff_t>(last) + 1},
                                   c.warps);
      if (best.estimated < 0 || c.estimated < best.estimated) best = c;
    });
    return best;
  }

  /// The cost if operands, accumulators and states of consecutive matmuls in a loop exceed a thread's
  /// registers.
  double exchange_cost(const std::vector<int>& products, const std::vector<WarpLayout>& warps) const {
    if (program_.nodes[products.front()].section != Section::inside) return 0;
    std::int64_t states = 0, maximum = 0, operand = 0;
    // For other matmuls: as if divided evenly over the same warps.
    for (const auto& [id, c] : plan_.matmuls) {
      const auto at = std::find(products.begin(), products.end(), id);
      states += states_of(id) *
                (at == products.end()
                     ? c.batch * c.m * c.n / (32 * warps.front().count())
                     : accumulator_registers(c, warps[static_cast<std::size_t>(at - products.begin())]));
    }
    for (std::size_t i = 0; i < products.size(); ++i) {
      const std::int64_t sums = accumulator_registers(plan_.matmuls.at(products[i]), warps[i]);
      const bool own = program_.nodes[products[i]].carried;  // they are a state
      maximum = std::max(maximum, states + operand + (own ? 0 : sums));
      operand = sums / 2;
    }
    const std::int64_t passing = std::max<std::int64_t>(0, maximum - max_chain_registers);
    return 8.0 * static_cast<double>(passing * program_.loop) * warps.front().count();
  }

  /// Number of row reductions of values computed from a matmul.
  int row_sums(const Node& product) const {
    const int id = static_cast<int>(&product - program_.nodes.data());
    int sums = 0;
    for (const Node& n : program_.nodes)
      if (n.kind == NodeKind::reduce && n.dim == static_cast<int>(n.shape.size()) - 1 && n.to == 1)
        sums += source(n.in[0], product.shape) == id;
    return sums;
  }

  /// Number of loop accumulations of the matmul's shape that are computed from it, or are its own.
  int states_of(int product) const {
    int states = program_.nodes[product].carried;
    for (const Node& n : program_.nodes)
      if (n.kind == NodeKind::accumulate && !n.in.empty())  // empty: of a matmul that accumulates itself
        states += source(n.in[0], n.shape) == product;
    return states;
  }

  /// The cost of passing a linked operand from its producer to `id` through shared memory.
  double crossing(int id) const {
    const MatmulChoice& p = plan_.matmuls.at(from_.at(id));
    const double passes =
        program_.nodes[id].section == Section::inside ? static_cast<double>(program_.loop) : 1.0;
    return passes * (60.0 + 8.0 * static_cast<double>(p.batch * p.m * p.n) / 128);
  }

  /// The cost of a matmul in no chain: with the layout that it may share if it is a producer, with its own
  /// best if it is the last.
  double own_cost(int id) const {
    const MatmulChoice& c = plan_.matmuls.at(id);
    const double estimated =
        next_.count(id) ? cost(program_.nodes[id], c, c.warps, false) + exchange_cost({id}, {c.warps})
                        : alone_.at(id);
    return estimated + (from_.count(id) ? crossing(id) : 0);
  }

  /// Splits the links before `id` into chains, once for all of them: dynamic programming over prefixes.
  void decide(int id) {
    std::vector<int> ids{id};
    while (from_.count(ids.front())) ids.insert(ids.begin(), from_.at(ids.front()));
    struct Cut {
      double estimated = 0;
      std::size_t first = 0;
      Chain chain;
    };
    std::vector<Cut> best(ids.size() + 1);  // for the first N matmuls; start of the last of their chains
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
      const Cut& cut = best[end];
      for (std::size_t i = 0; i < cut.chain.warps.size(); ++i) {
        MatmulChoice& c = plan_.matmuls[ids[cut.first + i]];
        c.warps = cut.chain.warps[i];
        c.a_from = i > 0 ? ids[cut.first + i - 1] : -1;
      }
    }
  }

  std::map<int, int> from_, next_;  // links that may become chains: consumer -> producer and back
  std::map<int, double> alone_;     // lowest cost of a matmul alone
  KernelPlan& plan_;
  const BlockProgram& program_;
  const target::Target& target_;
};

}  // namespace

void select(KernelPlan& plan, const target::Target& target) { Selection(plan, target).run(); }

}  // namespace zellige::plan
