#include "kernel/widened.hpp"

namespace zellige::kernel {
namespace {

/// Returns operand number 0 of `node`, if that is a map by `op` of two operands; the other one, a load perhaps repeated
/// along K, becomes `numbers`. Returns `node` if it is no such map, and -1 if its other operand is not so.
int below(const tile::TileProgram& p, int node, graph::OpKind op, int& numbers, std::int64_t& run) {
  const tile::Node& n = p.nodes[node];
  if (n.kind != tile::NodeKind::map || n.op != op) return node;
  if (n.in.size() != 2) return -1;
  const tile::Node* of = &p.nodes[n.in[1]];
  numbers = n.in[1], run = n.shape[0];
  if (of->kind == tile::NodeKind::repeat) {
    if (of->dim != 0 || of->to % widened_chunk != 0) return -1;
    numbers = of->in[0], run = of->to, of = &p.nodes[numbers];
  }
  const bool each = of->shape.size() == 2 && of->shape[1] == n.shape[1] && of->shape[0] * run == n.shape[0];
  return of->kind == tile::NodeKind::load && each && of->in.empty() && !graph::is_integer(of->dtype) ? n.in[0] : -1;
}

}  // namespace

int widened_words(const WidenedOperand& w, const MatmulChoice& m) {
  for (const int words : {4, 2})
    if (const std::int64_t k = words * widened_chunk;
        m.k % (k * m.warps.k) == 0 && w.scale_run % k == 0 && w.zero_run % k == 0)
      return words;
  return 1;
}

std::optional<WidenedOperand> widened_operand(const tile::TileProgram& p, int node, const MatmulChoice& m) {
  const tile::Node& n = p.nodes[node];
  if (n.kind != tile::NodeKind::matmul || n.shape.size() != 2 || n.window || !m.row || m.asynchronous()) return {};
  if (m.pipe() != target::Pipe::tensor || m.row->k != 16 || m.row->a.bits != 16 || m.batch != 1) return {};
  if (m.n % 16 != 0 || m.k % (widened_chunk * m.warps.k) != 0 || m.warps.b != 1) return {};
  WidenedOperand w{.round = n.in[1]};
  const tile::Node& round = p.nodes[w.round];
  if (round.kind != tile::NodeKind::round || p.consumers(w.round).size() != 1) return {};
  if (p.nodes[n.in[0]].kind != tile::NodeKind::load || n.in[0] == w.round) return {};
  int x = below(p, round.in[0], graph::OpKind::mul, w.scale, w.scale_run);
  if (x >= 0) x = below(p, x, graph::OpKind::sub, w.zero, w.zero_run);
  if (x < 0 || p.nodes[x].kind != tile::NodeKind::unpack || p.nodes[x].dim != 0) return {};
  w.packed = p.nodes[x].to_dtype, w.bytes = p.nodes[x].in[0];
  const bool along_k = p.nodes[w.bytes].inner == 0 && p.nodes[n.in[0]].inner == 1;
  return along_k && graph::bits(w.packed) == 4 && p.nodes[x].dtype == graph::DType::f32 ? std::optional(w)
                                                                                        : std::nullopt;
}

}  // namespace zellige::kernel
