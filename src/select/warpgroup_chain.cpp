#include "select/warpgroup_chain.hpp"

#include <algorithm>

#include "kernel/tensor_map.hpp"
#include "select/warpgroups.hpp"
#include "target/instructions.hpp"

namespace zellige::plan {
namespace {

/// The two matmuls of a loop that are chained in registers, in attention S = Q K^T (`scores`) and O = P V
/// (`sums`), and the checks that they can run on warpgroups.
class Chain {
 public:
  Chain(const Selection& selected, const Program& program, const target::Target& target)
      : matmuls_(selected.matmuls), p_(selected.program), sections_(p_), program_(program), target_(target) {}

  MatmulChoice first, second;
  int scores = -1, sums = -1;  // nodes of the first and the second matmul

  /// Returns whether the loop has exactly two matmuls, the second of which accumulates over the loop and has,
  /// as its A operand, a rounded elementwise function of the first one's result. Sets `scores` to the first
  /// matmul and `sums` to the second.
  bool found() {
    for (const auto& [node, m] : matmuls_) {
      if (!sections_.inside(node) || p_.consumers(node).empty()) continue;
      int& of = p_.nodes[node].carried ? sums : scores;
      if (of >= 0 || !m.row) return false;
      of = node;
    }
    if (p_.loop < 2 || sums < 0 || scores < 0) return false;
    const int p = p_.nodes[sums].in[0];
    return p_.nodes[p].kind == NodeKind::round && p_.consumers(p).size() == 1 && made_of_scores(p_.nodes[p].in[0]);
  }

  /// Returns the reason why the two chained matmuls cannot use wgmma; an empty string if they can. Sets
  /// `first` and `second` to the instructions and warp layouts of the first and the second matmul.
  std::string why_not() {
    first = matmuls_.at(scores), second = matmuls_.at(sums);
    if (std::string why = row_of(scores, first, false); !why.empty()) return why;
    if (std::string why = row_of(sums, second, true); !why.empty()) return why;
    // Both accumulators and the rounded first one, of a thread's 232 registers. Everything else takes several tens.
    constexpr int max_sums = 200;
    const int sums_each = first.row->c.registers + first.row->c.registers / 2 + second.row->c.registers;
    if (sums_each > max_sums)
      return fmt::format("both products leave {} accumulator registers in a thread, which has room for {}", sums_each,
                         max_sums);
    if (first.n % second.row->k != 0)
      return fmt::format("{} columns of %{} are no multiple of {}", first.n, scores, second.row->k);
    const std::vector<int> tiles{p_.nodes[scores].in[0], p_.nodes[scores].in[1], p_.nodes[sums].in[1]};
    for (std::size_t i = 0; i < tiles.size(); ++i)
      if (std::string why = tile(tiles[i], i == 0, i == 2 ? sums : scores); !why.empty()) return why;
    return "";
  }

 private:
  /// Returns whether node x is computed from the first matmul's result by elementwise operators of the same shape.
  bool made_of_scores(int x) const {
    const Node& n = p_.nodes[x];
    if (x == scores) return true;
    return n.kind == NodeKind::map && n.shape == p_.nodes[scores].shape &&
           std::ranges::any_of(n.in, [&](int in) { return made_of_scores(in); });
  }

  /// Sets the wgmma instruction and the warp layout of matmul `product` in `choice`. Returns an empty string
  /// on success, or the reason why no instruction is suitable.
  std::string row_of(int product, MatmulChoice& choice, bool a_in_registers) const {
    const Node& n = p_.nodes[product];
    const auto type = [&](int side) { return graph::name(p_.nodes[n.in[side]].dtype); };
    const std::int64_t columns = in_pairs_of_tiles(choice.n);
    const Instruction* row =
        target::find_warpgroup_mma(target_, type(0), type(1), graph::name(DType::f32), columns, a_in_registers);
    if (!row) return fmt::format("no row multiplies {} by {} in {} columns", type(0), type(1), columns);
    if (choice.batch != 1) return fmt::format("a block multiplies {} matrices", choice.batch);
    choice.warps = {.b = 1, .m = p_.warps(), .n = 1, .k = 1};
    if (p_.threads() % row->issuers != 0 || choice.m * warps_of(*row) != row->m * p_.warps())
      return fmt::format("{} rows are not {} for each four of {} warps", choice.m, row->m, p_.warps());
    if (std::string why = filled_up(n, choice, *row, a_in_registers); !why.empty()) return why;
    if (!leaves_as(*row, *choice.row, n.shape, choice.warps))
      return fmt::format("{} leaves {} columns otherwise than {}", row->name, choice.n, choice.row->name);
    choice.row = row, choice.load = nullptr;
    return "";
  }

  /// Returns the number of columns rounded up to a multiple of 16, because the code that reads mma.sync
  /// accumulators expects pairs of 8-column tiles.
  static std::int64_t in_pairs_of_tiles(std::int64_t columns) { return ceil_div(columns, 16) * 16; }

  /// Returns an error message if instruction `row` would read padding that TMA does not fill with zeros;
  /// otherwise an empty string. TMA fills only the ends of rows, which run along an operand's contiguous
  /// dimension. Hence a K that is no multiple of the instruction's K needs two operands in shared memory,
  /// both contiguous along K. An N that is no multiple of 16 needs a B that is contiguous along N.
  std::string filled_up(const Node& n, const MatmulChoice& choice, const Instruction& row, bool a_in_registers) const {
    const int last = static_cast<int>(n.shape.size()) - 1;
    const auto lines_along = [&](int side, int dim) { return p_.nodes[n.in[side]].inner == dim; };
    if (choice.k % row.k != 0 && (a_in_registers || !lines_along(0, last) || !lines_along(1, last - 1)))
      return fmt::format("an iteration's K of {} is no multiple of {}", choice.k, row.k);
    if (choice.n % 16 != 0 && !lines_along(1, last))
      return fmt::format("{} columns, which are lines of the operand, are no multiple of 16", choice.n);
    return "";
  }

  /// Returns an empty string if operand `id` is a tile that TMA can load and that only matmul `reader` reads;
  /// otherwise the reason why it is not. The tile must be loaded once before the loop if `resident`, and in
  /// each iteration otherwise.
  std::string tile(int id, bool resident, int reader) const {
    const Node& load = p_.nodes[id];
    if (load.kind != NodeKind::load || load.view.iterates() == resident)
      return fmt::format("operand %{} is no tile that is loaded {} the loop", id, resident ? "before" : "inside");
    if (p_.consumers(id) != std::vector{reader}) return fmt::format("%{} is read by others too", id);
    return no_tensor_map(load, program_.tensors[load.tensor], load.inner);
  }

  const std::map<int, MatmulChoice>& matmuls_;
  const TileProgram& p_;
  Sections sections_;
  const Program& program_;
  const target::Target& target_;
};

/// Returns whether `node` is an elementwise function of the first matmul's result (`scores`) that is
/// expensive to recompute, because it loads data or computes a tanh.
bool takes_long(const TileProgram& p, int node, int scores) {
  bool made = false, slow = false;
  std::vector<int> open{node};
  while (!open.empty()) {
    const int i = open.back();
    const Node& n = p.nodes[i];
    open.pop_back();
    made = made || i == scores;
    slow = slow || n.kind == NodeKind::load || n.op == OpKind::tanh;
    if (n.kind == NodeKind::map)
      open.insert(open.end(), n.in.begin(), n.in.end());
    else if (n.kind != NodeKind::load && n.kind != NodeKind::matmul)
      return false;
  }
  return made && slow;
}

}  // namespace

std::optional<std::string> warpgroup_chain(Selection& selected, const Program& program, const target::Target& target) {
  Chain chain(selected, program, target);
  if (!chain.found()) return {};
  if (std::string why = chain.why_not(); !why.empty()) return why;
  selected.matmuls[chain.scores] = chain.first, selected.matmuls[chain.sums] = chain.second;
  selected.fragments_from[chain.sums] = chain.scores;
  return "";
}

int accumulators_to_keep_in(const Selection& selected, const Sections& sections, int node) {
  const TileProgram& p = selected.program;
  for (const auto& [sums, m] : selected.matmuls) {
    if (!m.chained()) continue;
    const std::vector<int> readers = p.consumers(node);
    const int scores = selected.fragments_from.at(sums), operand = p.nodes[sums].in[0];
    const bool precomputed = std::ranges::count(readers, operand) > 0 && p.nodes[operand].kind == NodeKind::round;
    const bool here = sections.inside(node) && p.nodes[node].shape == p.nodes[scores].shape;
    if (precomputed || (here && readers.size() > 1 && takes_long(p, node, scores))) return scores;
  }
  return -1;
}

}  // namespace zellige::plan
