#include "kernel/widened.hpp"

#include <algorithm>

namespace zellige::kernel {
namespace {

/// Returns the one operand of `node`, if that is a map by `op` of two operands; the other one, a load perhaps repeated
/// along dimension `k` in runs of whole `units`, becomes `numbers`. It is the second one, or the first of a product or sum. Returns `node` if it is no
/// such map, and -1 if its other operand is not so.
int below(const tile::TileProgram& p, int node, graph::OpKind op, int k, std::int64_t unit, int& numbers,
          std::int64_t& run) {
  const tile::Node& n = p.nodes[node];
  if (n.kind != tile::NodeKind::map || n.op != op) return node;
  if (n.in.size() != 2) return -1;
  const auto is_number = [&](int x) {
    return p.nodes[x].kind == tile::NodeKind::load || p.nodes[x].kind == tile::NodeKind::repeat;
  };
  const int other = op != graph::OpKind::sub && is_number(n.in[0]) ? 0 : 1;
  const tile::Node* of = &p.nodes[n.in[other]];
  numbers = n.in[other], run = n.shape[k];
  if (of->kind == tile::NodeKind::repeat) {
    if (of->dim != k || of->to % unit != 0) return -1;
    numbers = of->in[0], run = of->to, of = &p.nodes[numbers];
  }
  const bool each = of->shape.size() == 2 && of->shape[1 - k] == n.shape[1 - k] && of->shape[k] * run == n.shape[k];
  return of->kind == tile::NodeKind::load && each && of->in.empty() && !graph::is_integer(of->dtype) ? n.in[1 - other]
                                                                                                     : -1;
}

/// Returns what the operand `round`, which has K along dimension `k` in runs of whole `units`, is computed from; its bytes are
/// those of an unpack, or of a cast of 8 bits.
std::optional<WidenedOperand> weights(const tile::TileProgram& p, int round, int k, std::int64_t unit) {
  WidenedOperand w{.round = round};
  const tile::Node& operand = p.nodes[round];
  if (operand.kind != tile::NodeKind::round || operand.shape.size() != 2 || p.consumers(round).size() != 1) return {};
  int x = below(p, operand.in[0], graph::OpKind::add, k, unit, w.zero, w.zero_run);
  w.added = w.zero >= 0;
  if (x >= 0) x = below(p, x, graph::OpKind::mul, k, unit, w.scale, w.scale_run);
  if (x >= 0 && !w.added) x = below(p, x, graph::OpKind::sub, k, unit, w.zero, w.zero_run);
  if (x < 0 || (w.added && w.scale < 0)) return {};
  const tile::Node& n = p.nodes[x];
  if (n.kind == tile::NodeKind::unpack && n.dim == k && graph::bits(n.to_dtype) == 4) {
    w.packed = n.to_dtype, w.bytes = n.in[0];
  } else {
    const bool cast = n.kind == tile::NodeKind::map && n.op == graph::OpKind::cast;
    w.bytes = cast ? n.in[0] : x, w.packed = p.nodes[w.bytes].dtype;
    if (w.packed != graph::DType::int8 && w.packed != graph::DType::e4m3 && w.packed != graph::DType::e5m2) return {};
  }
  const tile::Node& bytes = p.nodes[w.bytes];
  const bool loads = bytes.kind == tile::NodeKind::load && bytes.in.empty() && bytes.inner == k;
  return loads && n.dtype == graph::DType::f32 ? std::optional(w) : std::nullopt;
}

}  // namespace

int widened_words(const WidenedOperand& w, const MatmulChoice& m) {
  for (const int words : {4, 2})
    if (const std::int64_t k = words * widened_chunk;
        m.k % (k * m.warps.k) == 0 && w.scale_run % k == 0 && w.zero_run % k == 0)
      return words;
  return 1;
}

std::optional<WidenedOperand> widened_rows(const tile::TileProgram& p, int node) {
  constexpr std::int64_t step = 16, parts = 64,
                         max_k = 128;  // elements of K of a wgmma, of two parts that take turns, of a tile
  const tile::Node& n = p.nodes[node];
  if (n.kind != tile::NodeKind::matmul || n.shape.size() != 2 || n.window || !n.carried || n.in.size() != 2) return {};
  std::optional<WidenedOperand> w = weights(p, n.in[0], 1, step);
  if (!w || p.nodes[n.in[1]].kind != tile::NodeKind::load || p.nodes[w->round].shape[1] % parts != 0 ||
      p.nodes[w->round].shape[1] > max_k)
    return {};
  const graph::DType dtype = p.nodes[w->round].dtype;
  for (const int i : {w->scale, w->zero})
    if (i >= 0 && p.nodes[i].dtype != dtype) return {};
  w->side = 0;
  return w;
}

std::optional<WidenedOperand> widened_operand(const tile::TileProgram& p, int node, const MatmulChoice& m) {
  const tile::Node& n = p.nodes[node];
  if (m.asynchronous())
    return m.row->a.space == Space::rmem && n.kind == tile::NodeKind::matmul ? widened_rows(p, node) : std::nullopt;
  if (n.kind != tile::NodeKind::matmul || n.shape.size() != 2 || n.window || !m.row) return {};
  if (m.pipe() != target::Pipe::tensor || m.row->k != 16 || m.row->a.bits != 16 || m.batch != 1) return {};
  if (m.n % 16 != 0 || m.k % (widened_chunk * m.warps.k) != 0 || m.warps.b != 1) return {};
  const tile::Node& a = p.nodes[n.in[0]];
  if (a.kind != tile::NodeKind::load || a.inner != 1) return {};
  const std::optional<WidenedOperand> w = weights(p, n.in[1], 0, widened_chunk);
  return w && graph::bits(w->packed) == 4 ? w : std::nullopt;
}

std::int64_t widened_registers(std::int64_t rows, std::int64_t k, int bits, std::int64_t numbers,
                               std::int64_t threads) {
  constexpr std::int64_t lanes = 4, group_bits = 512;
  const std::int64_t groups = std::max<std::int64_t>(1, k * bits / group_bits);
  return rows * (k / 2 + lanes * (4 * groups + numbers)) / threads;
}

std::int64_t widened_registers(const tile::TileProgram& p, const WidenedOperand& w, std::int64_t threads) {
  const graph::Shape& shape = p.nodes[w.round].shape;
  std::int64_t numbers = 0;
  for (const int i : {w.scale, w.zero})
    if (i >= 0) numbers += p.nodes[i].shape[1];
  return widened_registers(shape[0], shape[1], graph::bits(w.packed), numbers, threads);
}

std::optional<WidenedOperand> widened_by(const Kernel& kernel, const Work& work) {
  if (work.kind != WorkKind::to_operand || work.part < 0) return {};
  const tile::TileProgram& p = kernel.program;
  for (const int product : p.consumers(work.node))
    if (const Work* of = kernel.product_of(product); of && of->matmul.asynchronous())
      return widened_operand(p, product, of->matmul);
  return {};
}

}  // namespace zellige::kernel
