#include "graph/block_writer.hpp"

#include <algorithm>

#include "graph/infer.hpp"

namespace zellige::graph {

int BlockWriter::tile(DType dtype, const std::string& name) {
  block_.tensors.push_back({.dtype = dtype, .name = names_.insert(name).second ? name : std::string()});
  return static_cast<int>(block_.tensors.size()) - 1;
}

void BlockWriter::name(int tile, const std::string& name) {
  std::string& now = block_.tensors[tile].name;
  if (now.empty() && names_.insert(name).second) now = name;
}

int BlockWriter::emit(OpKind kind, std::vector<int> in, const Attributes& a) {
  in = promoted(kind, std::move(in));
  const int out = tile(result_dtype(kind, a, dtype(in[0])));
  block_.ops.push_back({kind, std::move(in), {out}, a});
  return out;
}

int BlockWriter::emit_once(OpKind kind, std::vector<int> in, const Attributes& a) {
  in = promoted(kind, std::move(in));
  for (const BlockOp& op : block_.ops)
    if (op.kind == kind && op.attributes == a && op.inputs == in) return op.outputs[0];
  return emit(kind, std::move(in), a);
}

int BlockWriter::cast(int tile, DType to) {
  return dtype(tile) == to ? tile : emit_once(OpKind::cast, {tile}, {.dtype = to});
}

std::vector<int> BlockWriter::promoted(OpKind kind, std::vector<int> in) {
  const auto is_wide = [&](int t) { return dtype(t) == DType::f32; };
  if (kind == OpKind::matmul || kind == OpKind::cast || std::ranges::none_of(in, is_wide)) return in;
  for (int& t : in)
    if (!is_integer(dtype(t))) t = cast(t, DType::f32);
  return in;
}

}  // namespace zellige::graph
