#include "select/warpgroups.hpp"

#include <algorithm>
#include <map>

#include "kernel/evaluated_layout.hpp"
#include "kernel/tensor_map.hpp"
#include "select/tile_schedule.hpp"
#include "target/instructions.hpp"

namespace zellige::plan {
namespace {

/// Returns the operators that the loop evaluates in each iteration, and the operators, except loads, that are
/// computed before the loop. Operators on which no store depends are omitted.
std::vector<int> inside(const TileProgram& p) {
  const std::vector<bool> needed = p.needed();
  const Sections sections(p);
  std::vector<int> found;
  for (int i = static_cast<int>(p.nodes.size()) - 1; i >= 0; --i) {
    if (!needed[i]) continue;
    const Node& n = p.nodes[i];
    const bool precomputed = sections.of(i) == Section::before && n.kind != NodeKind::load && !inlined(n.kind);
    if (sections.inside(i) || precomputed) found.push_back(i);
  }
  return found;
}

/// Sets the instruction and warp layout of matmul `product` in `choice` to wgmma and returns an empty string.
/// If the matmul cannot use wgmma, returns the reason. `products` are all matmuls of the loop.
std::string choose_row(const TileProgram& p, const Program& program, const target::Target& target,
                       const std::vector<int>& products, int product, MatmulChoice& choice) {
  const Node& n = p.nodes[product];
  const auto type = [&](int side) { return graph::name(p.nodes[n.in[side]].dtype); };
  // Batch matrices with the same A are one matmul with adjacent columns.
  const std::int64_t columns = choice.batch * choice.n;
  const Instruction* row = target::find_warpgroup_mma(target, type(0), type(1), graph::name(DType::f32), columns);
  if (!row) return fmt::format("no row multiplies {} by {} in {} columns", type(0), type(1), columns);
  if (choice.batch > 1 && graph::size(p.nodes[n.in[0]].shape) != choice.m * choice.k)
    return fmt::format("a block multiplies {} matrices, each by its own", choice.batch);
  choice.warps = {.b = 1, .m = p.warps(), .n = 1, .k = 1};
  const std::int64_t at_a_time = row->m * p.warps() / warps_of(*row);
  if (p.threads() % row->issuers != 0 || choice.m % at_a_time != 0)
    return fmt::format("{} rows are no multiple of {} for each four of {} warps", choice.m, row->m, p.warps());
  if (choice.batch > 1 && choice.m > at_a_time)
    return fmt::format("{} matrices of {} rows, of which {} warps take {} at a time", choice.batch, choice.m, p.warps(),
                       at_a_time);
  if (n.in[0] == n.in[1]) return "both operands are one tile";
  for (int side = 0; side < 2; ++side) {
    const int id = n.in[side];
    const Node& load = p.nodes[id];
    if (load.kind != NodeKind::load || !load.view.iterates())
      return fmt::format("operand %{} is no tile that the loop loads", id);
    for (int reader : p.consumers(id))
      if (std::ranges::find(products, reader) == products.end()) return fmt::format("%{} is read by others too", id);
    const int inner = load.inner, last = static_cast<int>(load.shape.size()) - 1;
    if (std::string why = no_tensor_map(load, program.tensors[load.tensor], inner); !why.empty()) return why;
    const bool along_k = inner == (side == 0 ? last : last - 1);
    const std::int64_t line = graph::bytes_of(load.shape[inner], load.dtype);
    if (along_k && line != span_bytes)
      return fmt::format("an iteration reads {} bytes along K of {}, wgmma's lines have {}", line,
                         program.tensors[load.tensor].name, span_bytes);
    if (side == 1 && choice.batch > 1 && !along_k && line != span_bytes)
      return fmt::format("{} matrices of {} bytes a line do not lie as one of {} columns", choice.batch, line, columns);
  }
  if (choice.k % row->k != 0) return fmt::format("an iteration's K of {} is no multiple of {}", choice.k, row->k);
  const Instruction* like =
      of_single_tiles(*row) && choice.batch == 1 ? target::find_instruction(target, single_tiles) : choice.row;
  if (!like || !leaves_as(*row, *like, n.shape, choice.warps))
    return fmt::format("{} leaves {} columns otherwise than {}", row->name, columns, like ? like->name : single_tiles);
  choice.row = row;
  choice.load = nullptr;
  return "";
}

/// Limit of accumulators per thread, of its 232 registers. Everything else takes several tens.
constexpr int max_sums = 192;

}  // namespace

bool of_single_tiles(const Instruction& row) { return row.issuers == 128 && row.n % 16 != 0; }

bool leaves_as(const Instruction& row, const Instruction& separate, const Shape& c, const WarpLayout& warps) {
  const std::int64_t rows = c[c.size() - 2];
  const Shape side_by_side{rows, graph::size(c) / rows};
  const Context of_row = accumulators(side_by_side, warps, row), of_separate = accumulators(c, warps, separate);
  if (c.size() == 2 && have_equal_modes(of_row, of_separate)) return true;
  const EvaluatedLayout a(of_row), b(of_separate);
  if (a.threads() != b.threads() || a.values() != b.values()) return false;
  const Shape batch(c.begin(), c.end() - 2);
  Shape found, at;
  for (int thread = 0; thread < b.threads(); ++thread)
    for (int value = 0; value < b.values(); ++value) {
      a.find(thread, value, 0, found), b.find(thread, value, 0, at);
      if (!at.empty()) {
        const std::int64_t matrix = linear(Shape(at.begin(), at.end() - 2), batch);
        at = {at[c.size() - 2], matrix * c.back() + at.back()};
      }
      if (found != at) return false;
    }
  return true;
}

std::string warpgroups(Selection& selected, const Program& program, const target::Target& target) {
  const TileProgram& p = selected.program;
  std::vector<int> products, used;  // matmuls of the loop, and the nodes that the loop evaluates for them
  for (const auto& [node, m] : selected.matmuls)
    if (m.row && p.nodes[node].carried) products.push_back(node);
  if (products.empty()) return "no product is summed over the loop";
  if (p.loop < 2) return "the loop makes one trip";
  used = products;
  for (int product : products) used.insert(used.end(), p.nodes[product].in.begin(), p.nodes[product].in.end());
  for (int i : inside(p))
    if (std::ranges::find(used, i) == used.end())
      return fmt::format("the loop evaluates %{} next to the product{}", i, products.size() > 1 ? "s" : "");
  std::map<int, MatmulChoice> choices;
  std::int64_t sums = 0;
  for (int product : products) {
    MatmulChoice& choice = choices[product] = selected.matmuls.at(product);
    if (std::string why = choose_row(p, program, target, products, product, choice); !why.empty()) return why;
    sums += accumulator_registers(choice, choice.warps);
  }
  if (sums > max_sums)
    return fmt::format("{} products leave {} accumulators in a thread, which has room for {}", products.size(), sums,
                       max_sums);
  for (const auto& [product, choice] : choices) selected.matmuls[product] = choice;
  return "";
}

bool share_by_pairs(Kernel& plan, Tasks& tasks, const target::Target& target) {
  constexpr int ranks = 2;
  const auto asynchronous = [](const Task& t) { return t.matmul.asynchronous(); };
  const auto first = std::ranges::find_if(tasks, asynchronous);
  if (first == tasks.end()) return false;
  const TileSchedule walk = tile_schedule(plan, &*first);
  if (walk.rows < ranks || walk.rows % ranks != 0) return false;
  for (const Task& product : tasks) {
    if (!asynchronous(product)) continue;
    if (product.matmul.batch > 1) return false;
    const int operand = plan.program.nodes[product.node].in[1];
    const SmemTensor& b = plan.tensors[plan.tensor_of(operand)];
    const int last = static_cast<int>(b.padded.size()) - 1;
    // True if each rank (block of the cluster) gets whole spans of the tile (128 bytes of every row). If
    // there is only one span, each rank gets half of its rows. Both divisions give contiguous parts.
    const bool spans = b.boxes() % ranks == 0;
    if (!spans && (b.inner == last || b.boxes() != 1 || b.padded[last] % (ranks * 8) != 0)) return false;
    const Instruction* row = target::find_tensor_multicast(target, static_cast<int>(b.padded.size()));
    if (!row) return false;
    for (Task& t : tasks)
      if (t.kind == WorkKind::copy_in && t.node == operand) t.part = spans ? b.inner : last, t.copy.row = row;
  }
  return true;
}

}  // namespace zellige::plan
