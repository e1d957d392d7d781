#include "selection/warpgroups.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "kernel/evaluated_layout.hpp"
#include "kernel/tensor_columns.hpp"
#include "kernel/tensor_map.hpp"
#include "kernel/widened.hpp"
#include "selection/copies.hpp"
#include "selection/tile_schedule.hpp"
#include "target/instructions.hpp"
#include "target/pipe.hpp"
#include "target/products.hpp"

namespace zellige::selection {
namespace {

/// Returns the operators that the loop evaluates in each iteration, and the operators, except loads, that are
/// computed before the loop. Operators on which no store depends are omitted.
std::vector<int> inside(const tile::TileProgram& p) {
  const std::vector<bool> needed = p.needed();
  const tile::Sections sections(p);
  std::vector<int> found;
  for (int i = static_cast<int>(p.nodes.size()) - 1; i >= 0; --i) {
    if (!needed[i]) continue;
    const tile::Node& n = p.nodes[i];
    const bool precomputed =
        sections.of(i) == tile::Section::before && n.kind != tile::NodeKind::load && !tile::inlined(n.kind);
    if (sections.inside(i) || precomputed) found.push_back(i);
  }
  return found;
}

/// Returns whether node x is computed from the result of matmul `scores` by elementwise operators of the same shape.
bool made_of(const tile::TileProgram& p, int scores, int x) {
  const tile::Node& n = p.nodes[x];
  if (x == scores) return true;
  return n.kind == tile::NodeKind::map && n.shape == p.nodes[scores].shape &&
         std::ranges::any_of(n.in, [&](int in) { return made_of(p, scores, in); });
}

/// Appends to `all` the nodes of which node x is computed.
void add_made_of(const tile::TileProgram& p, int x, std::vector<int>& all) {
  for (int in : p.nodes[x].in) all.push_back(in), add_made_of(p, in, all);
}

/// Returns whether the A operand of matmul `product` is a rounded elementwise function of the result of `scores`, which nothing
/// else reads.
bool feeds_fragments(const tile::TileProgram& program, int scores, int product) {
  const int p = program.nodes[product].in[0];
  return program.nodes[p].kind == tile::NodeKind::round && program.consumers(p).size() == 1 &&
         made_of(program, scores, program.nodes[p].in[0]);
}

/// The matmuls of a loop that are to run on warpgroups: accumulated products, two that are chained in registers, in
/// attention S = Q K^T (the scores) and O = P V, or one whose products of an iteration are scaled before they are summed up.
class OnWarpgroups {
 public:
  OnWarpgroups(const Selection& selected, const tile::TilePrograms& program, const target::Target& target)
      : matmuls_(selected.matmuls), p_(selected.program), sections_(p_), program_(program), target_(target) {}

  std::map<int, kernel::MatmulChoice> choices;  // by matmul, if there is no reason why not

  /// Returns the second of two chained matmuls, and the first one, whose accumulators are its A operand.
  std::optional<std::pair<int, int>> chain() const {
    if (scores_ < 0) return std::nullopt;
    return std::pair{products_.back(), scores_};
  }

  /// Returns the reason why the matmuls cannot use wgmma; an empty string if they can.
  std::string why_not() {
    if (std::string why = find_products(); !why.empty()) return why;
    // Limits of accumulators per thread, the rounded ones of a chain's first matmul included, of its 232 registers.
    // Everything else takes several tens.
    const std::int64_t max_sums = scores_ < 0 && !widens_ ? 192 : 200;
    std::int64_t sums = 0;
    for (int product : products_) {
      if (std::string why = choose(product); !why.empty()) return why;
      const kernel::MatmulChoice& choice = choices.at(product);
      const std::int64_t own = accumulator_registers(choice, choice.warps);
      sums += product == scores_ ? own + own / 2 : scaled_ ? 2 * own : own;
      if (widens_) sums += kernel::widened_registers(p_, *kernel::widened_rows(p_, product), p_.threads());
    }
    const std::int64_t columns = kernel::tensor_columns(choices).count;
    if (columns > target::tensor_memory_columns)
      return fmt::format("{} products take {} columns of tensor memory, which has {}", products_.size(), columns,
                         target::tensor_memory_columns);
    if (sums > max_sums)
      return fmt::format("{} products leave {} accumulators in a thread, which has room for {}", products_.size(), sums,
                         max_sums);
    if (scores_ >= 0 && choices.at(scores_).n % choices.at(products_.back()).row->k != 0)
      return fmt::format("{} columns of %{} are no multiple of {}", choices.at(scores_).n, scores_,
                         choices.at(products_.back()).row->k);
    return "";
  }

 private:
  /// Sets products_ to the matmuls that accumulate over the loop. If there is one, and the loop has one other matmul from whose
  /// result its A operand is computed, sets scores_ to that matmul and products_ to both. Returns the reason if there is
  /// none, or if a loop of matmuls alone does other work as well.
  std::string find_products() {
    std::vector<int> carried, others;  // of the loop, if something reads them
    bool rows = true;
    for (const auto& [node, m] : matmuls_) {
      if (m.row && p_.nodes[node].carried) products_.push_back(node);
      if (!sections_.inside(node) || p_.consumers(node).empty()) continue;
      (p_.nodes[node].carried ? carried : others).push_back(node);
      rows = rows && m.row;
    }
    if (p_.loop >= 2 && rows && carried.size() == 1 && others.size() == 1 &&
        feeds_fragments(p_, others.front(), carried.front())) {
      scores_ = others.front(), products_ = {others.front(), carried.front()};
      return "";
    }
    if (p_.loop >= 2 && rows && carried.empty() && others.size() == 1 && is_scaled(others.front())) {
      scaled_ = true, products_ = others;
      return "";
    }
    if (products_.empty()) return "no product is summed over the loop";
    if (p_.loop < 2) return "the loop makes one trip";
    std::vector<int> used = products_;
    std::size_t widened = 0;
    for (int product : products_) {
      used.insert(used.end(), p_.nodes[product].in.begin(), p_.nodes[product].in.end());
      if (kernel::widened_rows(p_, product)) ++widened, add_made_of(p_, p_.nodes[product].in[0], used);
    }
    widens_ = widened > 0;
    if (widens_ && widened < products_.size()) return "the loop widens an operand of one of several products";
    for (int i : inside(p_))
      if (std::ranges::find(used, i) == used.end())
        return fmt::format("the loop evaluates %{} next to the product{}", i, products_.size() > 1 ? "s" : "");
    return "";
  }

  /// Returns whether the loop does nothing but multiply, and sum up elementwise functions of the products and of loads.
  bool is_scaled(int product) const {
    return std::ranges::all_of(inside(p_), [&](int i) {
      const tile::Node& n = p_.nodes[i];
      if (n.kind == tile::NodeKind::accumulate)
        return n.in.size() == 1 && n.shape == p_.nodes[product].shape && made_of(p_, product, n.in[0]);
      return i == product || n.kind == tile::NodeKind::load || n.kind == tile::NodeKind::map ||
             n.kind == tile::NodeKind::repeat;
    });
  }

  /// Returns the reason if TMA cannot load the bytes of weights that threads widen, whose lines are a swizzle's, or if the tiles have not
  /// all of K.
  std::string weights(const kernel::WidenedOperand& w) const {
    const tile::Node& bytes = p_.nodes[w.bytes];
    const graph::KernelTensor tensor = program_.minimally_aligned(bytes.tensor);
    const std::int64_t line = graph::bytes_of(bytes.shape[bytes.inner], bytes.dtype);
    if (line > kernel::span_bytes || !std::has_single_bit(static_cast<std::uint64_t>(line)))
      return fmt::format("lines of %{} have {} bytes, a swizzle's 32, 64 or 128", w.bytes, line);
    if (std::string why = kernel::no_tensor_map(bytes, tensor, bytes.inner, line); !why.empty()) return why;
    for (const int load : w.loads())
      for (int d = 0; d < 2; ++d)
        if (const tile::Node& n = p_.nodes[load]; n.view.origin(d) < 0 || n.view.along(d, p_).size() >= 0 ||
                                                  tile::number_of(n) >= 0 || (d == 1 && n.view.predicated(d)))
          return fmt::format("%{} ends within a tile along K, or at a size", load);
    return "";
  }

  /// Sets the wgmma instruction and the warp layout of a matmul in `choices`. Returns the reason if it cannot use wgmma.
  std::string choose(int product) {
    const tile::Node& n = p_.nodes[product];
    const bool chain = scores_ >= 0, from_registers = widens_ || (chain && product != scores_);
    kernel::MatmulChoice& choice = choices[product] = matmuls_.at(product);
    const auto type = [&](int side) { return target::multiplied_as(p_.nodes[n.in[side]].dtype, n.tf32); };
    // Batch matrices with the same A are one matmul with adjacent columns. In a chain columns are rounded up to pairs of
    // 8-column tiles, which the code that reads mma.sync accumulators expects.
    const std::int64_t columns = chain ? tile::ceil_div(choice.n, 16) * 16 : choice.batch * choice.n;
    const Instruction* row =
        target::find_warpgroup_mma(target_, type(0), type(1), graph::name(graph::DType::f32), columns, from_registers,
                                   scaled_ && n.to_dtype != graph::DType::f32);
    if (!row) return fmt::format("no row multiplies {} by {} in {} columns", type(0), type(1), columns);
    if (choice.batch > 1 && (chain || graph::size(p_.nodes[n.in[0]].shape) != choice.m * choice.k))
      return fmt::format("a block multiplies {} matrices, each by its own", choice.batch);
    choice.warps = {.b = 1, .m = p_.warps(), .n = 1, .k = 1};
    const std::int64_t at_a_time = row->m * p_.warps() / kernel::warps_of(*row);
    if (p_.threads() % (32 * kernel::warps_of(*row)) != 0 ||
        (chain ? choice.m != at_a_time : choice.m % at_a_time != 0))
      return fmt::format("{} rows are {} {} for each four of {} warps", choice.m, chain ? "not" : "no multiple of",
                         row->m, p_.warps());
    if (choice.batch > 1 && choice.m > at_a_time)
      return fmt::format("{} matrices of {} rows, of which {} warps take {} at a time", choice.batch, choice.m,
                         p_.warps(), at_a_time);
    if (n.in[0] == n.in[1]) return "both operands are one tile";
    if (widens_)
      if (std::string why = weights(*kernel::widened_rows(p_, product)); !why.empty()) return why;
    if (std::string why = filled_up(n, choice, *row); !why.empty()) return why;
    for (int side = from_registers ? 1 : 0; side < 2; ++side)
      if (std::string why = tile(product, side, columns, *row); !why.empty()) return why;
    const Instruction* const single = choice.batch == 1 ? single_tiles(*row) : nullptr;
    const Instruction& like = single ? *single : *choice.row;
    if (!leaves_as(*row, like, n.shape, choice.warps))
      return fmt::format("{} leaves {} columns otherwise than {}", row->name, columns, like.name);
    choice.row = row, choice.load = nullptr;
    return "";
  }

  /// Returns the reason if instruction `row` would read padding that TMA does not fill with zeros. TMA fills only the
  /// ends of rows, which run along an operand's contiguous dimension. Hence a K that is no multiple of the instruction's
  /// K needs two operands in shared memory, both contiguous along K. An N that is padded needs a B that is contiguous
  /// along N.
  std::string filled_up(const tile::Node& n, const kernel::MatmulChoice& choice, const Instruction& row) const {
    const int last = static_cast<int>(n.shape.size()) - 1;
    const auto lines_along = [&](int side, int dim) { return p_.nodes[n.in[side]].inner == dim; };
    const bool both_along_k =
        row.a.space == Instruction::Space::smem && lines_along(0, last) && lines_along(1, last - 1);
    if (choice.k % row.k != 0 && (scores_ < 0 || !both_along_k))
      return fmt::format("an iteration's K of {} is no multiple of {}", choice.k, row.k);
    if (scores_ >= 0 && choice.n % 16 != 0 && !lines_along(1, last))
      return fmt::format("{} columns, which are lines of the operand, are no multiple of 16", choice.n);
    return "";
  }

  /// Returns the reason if an operand is no tile that TMA can load, and that only matmuls of the loop read: in each
  /// iteration, or before the loop if it is the first operand of a chain.
  std::string tile(int product, int side, std::int64_t columns, const Instruction& row) const {
    const tile::Node& n = p_.nodes[product];
    const int id = n.in[side];
    const tile::Node& load = p_.nodes[id];
    const bool chain = scores_ >= 0, resident = product == scores_ && side == 0;
    if (load.kind != tile::NodeKind::load || load.view.iterates() == resident)
      return fmt::format("operand %{} is no tile that is loaded {} the loop", id, resident ? "before" : "inside");
    const auto here = [&](int reader) { return chain ? reader == product : std::ranges::count(products_, reader) > 0; };
    if (!std::ranges::all_of(p_.consumers(id), here)) return fmt::format("%{} is read by others too", id);
    const graph::KernelTensor tensor = program_.minimally_aligned(load.tensor);
    if (std::string why = kernel::no_tensor_map(load, tensor, load.inner); chain || !why.empty()) return why;
    const int last = static_cast<int>(load.shape.size()) - 1;
    const bool along_k = load.inner == (side == 0 ? last : last - 1);
    if (!along_k && target::only_along_k(row))
      return fmt::format("{} multiplies only lines of K, and {}'s are others", row.name, tensor.name);
    const std::int64_t line = graph::bytes_of(load.shape[load.inner], load.dtype),
                       span = target::widest_span(side == 0 ? row.a : row.b);
    if (along_k && (widens_ ? line % span != 0 : line != span))
      return fmt::format("an iteration reads {} bytes along K of {}, wgmma's lines have {}", line, tensor.name, span);
    if (const std::int64_t batch = matmuls_.at(product).batch; side == 1 && batch > 1 && !along_k && line != span)
      return fmt::format("{} matrices of {} bytes a line do not lie as one of {} columns", batch, line, columns);
    return "";
  }

  const std::map<int, kernel::MatmulChoice>& matmuls_;
  const tile::TileProgram& p_;
  tile::Sections sections_;
  const tile::TilePrograms& program_;
  const target::Target& target_;
  std::vector<int> products_;
  int scores_ = -1;      // the first of two chained matmuls; -1: sums of products
  bool widens_ = false;  // each product's A is widened in registers
  bool scaled_ = false;  // a product's accumulators are those of one iteration
};

/// Returns whether `node` is an elementwise function of the first matmul's result (`scores`) that is
/// expensive to recompute, because it loads data or computes a tanh.
bool takes_long(const tile::TileProgram& p, int node, int scores) {
  bool made = false, slow = false, others = false;
  p.visit_from({node}, [&](int i) {
    const tile::Node& n = p.nodes[i];
    made = made || i == scores;
    slow = slow || n.kind == tile::NodeKind::load || n.op == graph::OpKind::tanh;
    const bool map = n.kind == tile::NodeKind::map;
    others = others || (!map && n.kind != tile::NodeKind::load && n.kind != tile::NodeKind::matmul);
    return map;
  });
  return made && slow && !others;
}

}  // namespace

const Instruction* single_tiles(const Instruction& row) {
  const Instruction& single = target::single_tile_mma();
  return kernel::warps_of(row) > 1 && row.n % (2 * single.n) != 0 ? &single : nullptr;
}

kernel::Context widened_layout(const tile::Node& operand, const kernel::MatmulChoice& product,
                               const target::Target& target) {
  const std::string_view type = graph::name(operand.dtype);
  const Instruction* row =
      target::find_warpgroup_mma(target, type, type, graph::name(graph::DType::f32), operand.shape[1], true);
  if (!row) fail("no product by wgmma has the {} columns of {}", operand.shape[1], operand.name);
  return kernel::accumulators(operand.shape, product.warps, *row);
}

bool leaves_as(const Instruction& row, const Instruction& separate, const graph::Shape& c,
               const kernel::WarpLayout& warps) {
  const std::int64_t rows = c[c.size() - 2];
  const graph::Shape side_by_side{rows, graph::size(c) / rows};
  const kernel::Context of_row = kernel::accumulators(side_by_side, warps, row),
                        of_separate = kernel::accumulators(c, warps, separate);
  if (c.size() == 2 && kernel::have_equal_modes(of_row, of_separate)) return true;
  const kernel::EvaluatedLayout a(of_row), b(of_separate);
  if (a.threads() != b.threads() || a.values() != b.values()) return false;
  const graph::Shape batch(c.begin(), c.end() - 2);
  graph::Shape found, at, matrix;
  for (int thread = 0; thread < b.threads(); ++thread)
    for (int value = 0; value < b.values(); ++value) {
      a.find(thread, value, 0, found), b.find(thread, value, 0, at);
      if (found.empty() != at.empty()) return false;
      if (at.empty()) continue;
      matrix.assign(at.begin(), at.end() - 2);
      const std::int64_t column = kernel::linear(matrix, batch) * c.back() + at.back();
      if (found[0] != at[c.size() - 2] || found[1] != column) return false;
    }
  return true;
}

std::string warpgroups(Selection& selected, const tile::TilePrograms& program, const target::Target& target) {
  OnWarpgroups loop(selected, program, target);
  if (std::string why = loop.why_not(); !why.empty()) return why;
  for (const auto& [product, choice] : loop.choices) selected.matmuls[product] = choice;
  if (const auto chain = loop.chain()) selected.fragments_from.insert(*chain);
  return "";
}

std::string product_tiles_by_tma(const Selection& selected, const tile::TilePrograms& program,
                                 const target::Target& target) {
  constexpr std::int64_t swizzled_lines = 8;
  const tile::TileProgram& p = selected.program;
  if (!target::find_tma(target, kernel::Space::gmem, kernel::Space::smem, 2)) return "the target has no TMA";
  if (target::has_warpgroup_mma(target)) return "the target has products of warpgroups";
  if (p.loop < 2) return "the loop makes one trip";
  std::vector<int> used;
  for (const auto& [product, m] : selected.matmuls) {
    const tile::Node& n = p.nodes[product];
    if (!n.carried) continue;
    if (!m.row || m.pipe() != target::Pipe::tensor || n.window || kernel::widened_rows(p, product))
      return fmt::format("%{} is no product of tensor cores that reads tiles", product);
    used.push_back(product);
    for (int side = 0; side < 2; ++side) {
      const int id = n.in[side];
      const tile::Node& load = p.nodes[id];
      if (load.kind != tile::NodeKind::load || !load.view.iterates())
        return fmt::format("operand %{} is no tile that is loaded inside the loop", id);
      for (const int reader : p.consumers(id))
        if (!selected.matmuls.contains(reader) || !p.nodes[reader].carried)
          return fmt::format("%{} is read by others too", id);
      const graph::KernelTensor tensor = program.minimally_aligned(load.tensor);
      if (std::string why = kernel::no_tensor_map(load, tensor, load.inner); !why.empty()) return why;
      if (graph::bytes_of(load.shape[load.inner], load.dtype) % target::bank_row_bytes != 0)
        return fmt::format("lines of %{} have {} bytes, no multiple of {}", id,
                           graph::bytes_of(load.shape[load.inner], load.dtype), target::bank_row_bytes);
      if (const std::int64_t lines = graph::size(load.shape) / load.shape[load.inner]; lines % swizzled_lines != 0)
        return fmt::format("%{} has {} lines, and TMA's swizzle repeats every {}", id, lines, swizzled_lines);
      if (operand_padding(selected, id) != load.shape)
        return fmt::format("%{} is no whole number of the instruction's tiles", id);
      used.push_back(id);
    }
  }
  if (used.empty()) return "no product is summed over the loop";
  for (const int i : inside(p))
    if (std::ranges::find(used, i) == used.end()) return fmt::format("the loop evaluates %{} next to the product", i);
  return "";
}

int accumulators_to_keep_in(const Selection& selected, const tile::Sections& sections, int node) {
  const tile::TileProgram& p = selected.program;
  for (const auto& [sums, m] : selected.matmuls) {
    const auto from = selected.fragments_from.find(sums);
    if (!m.chained() || from == selected.fragments_from.end()) continue;
    const std::vector<int> readers = p.consumers(node);
    const int scores = from->second, operand = p.nodes[sums].in[0];
    const bool precomputed = std::ranges::count(readers, operand) > 0 && p.nodes[operand].kind == tile::NodeKind::round;
    const bool here = sections.inside(node) && p.nodes[node].shape == p.nodes[scores].shape;
    if (precomputed || (here && readers.size() > 1 && takes_long(p, node, scores))) return scores;
  }
  return -1;
}

bool share_by_pairs(kernel::Kernel& kernel, Tasks& tasks, const target::Target& target) {
  constexpr int blocks = 2;
  const auto asynchronous = [](const WorkItem& t) { return t.matmul.asynchronous(); };
  const auto first = std::ranges::find_if(tasks, asynchronous);
  if (first == tasks.end()) return false;
  const TileSchedule walk = tile_schedule(kernel, &*first);
  if (walk.rows < blocks || walk.rows % blocks != 0) return false;
  for (const WorkItem& product : tasks) {
    if (!asynchronous(product)) continue;
    if (product.matmul.batch > 1) return false;
    const int operand = kernel.program.nodes[product.node].in[1];
    const kernel::SmemTensor& b = kernel.tensors[kernel.tensor_of(operand)];
    const int last = static_cast<int>(b.padded.size()) - 1;
    // True if each block of the cluster gets whole spans of the tile (128 bytes of every row). If
    // there is only one span, each block gets half of its rows. Both divisions give contiguous parts.
    const bool spans = b.boxes() % blocks == 0;
    if (!spans && (b.inner == last || b.boxes() != 1 || b.padded[last] % (blocks * 8) != 0)) return false;
    const Instruction* row = target::find_tma(target, kernel::Space::gmem, kernel::Space::dsmem, b.padded.size());
    if (!row) return false;
    for (WorkItem& t : tasks)
      if (t.kind == kernel::WorkKind::copy_in && t.node == operand) t.part = spans ? b.inner : last, t.copy.row = row;
  }
  return true;
}

}  // namespace zellige::selection
