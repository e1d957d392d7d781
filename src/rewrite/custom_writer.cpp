#include "rewrite/custom_writer.hpp"

#include "graph/infer.hpp"

namespace zellige::rewrite {

int CustomWriter::tensor(graph::DType dtype) {
  block_.tensors.push_back({.dtype = dtype, .name = fmt::format("b{}", block_.tensors.size())});
  return static_cast<int>(block_.tensors.size()) - 1;
}

int CustomWriter::add(graph::OpKind kind, std::vector<int> in, const graph::Attributes& attributes) {
  const int to = tensor(graph::result_dtype(kind, attributes, dtype(in[0])));
  block_.ops.push_back({.kind = kind, .inputs = std::move(in), .outputs = {to}, .attributes = attributes});
  return to;
}

int CustomWriter::load(int t, const std::array<int, 3>& map, int loop_dim, const graph::Shape& covered) {
  const int to = tensor(out_.tensor(t).dtype);
  block_.ops.push_back({.kind = graph::OpKind::input,
                        .outputs = {to},
                        .kernel_tensor = static_cast<int>(inputs_.size()),
                        .map = map,
                        .loop_dim = block_.loop > 1 ? loop_dim : -1});
  if (!covered.empty() && covered != out_.shape(t)) block_.ops.back().attributes.sizes = covered;
  inputs_.push_back(t);
  return to;
}

graph::KernelOp CustomWriter::store(int tile, const std::array<int, 3>& map, int result, const graph::Shape& extents) {
  block_.ops.push_back({.kind = graph::OpKind::output, .inputs = {tile}, .kernel_tensor = 0, .map = map});
  block_.ops.back().attributes.sizes = extents;
  return {graph::OpKind::custom, inputs_, {result}, {}, std::make_shared<const graph::BlockGraph>(std::move(block_))};
}

}  // namespace zellige::rewrite
