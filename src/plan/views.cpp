#include "plan/views.hpp"

#include <algorithm>

#include "plan/layouts.hpp"

namespace zellige::plan {
namespace {

/// The strides of the extents that are not 1, in their order.
Strides wide_strides(const graph::KernelTensor& t) {
  Strides wide;
  for (std::size_t d = 0; d < t.shape.size(); ++d)
    if (t.shape[d] != 1) wide.push_back(t.strides[d]);
  return wide;
}

std::string unique_name(const Program& program, std::string name) {
  const auto taken = [&] {
    return std::ranges::any_of(program.tensors, [&](const auto& t) { return t.name == name; });
  };
  while (taken()) name += '_';
  return name;
}

}  // namespace

Shape padded_rank(Shape shape, std::size_t rank) {
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  return shape;
}

int seen_as(Program& program, int tensor, const Shape& shape, const target::Target& target) {
  if (program.tensors[tensor].shape == shape) return tensor;
  const auto of = program.views.find(tensor);
  const int base = of == program.views.end() ? tensor : of->second;
  graph::KernelTensor& whole = program.tensors[base];
  if (whole.strides.empty())
    whole.strides = padded_strides(whole.shape, static_cast<int>(whole.shape.size()) - 1,
                                   target.access_bytes / graph::bytes(whole.dtype));
  for (const auto& [view, from] : program.views)
    if (from == base && program.tensors[view].shape == shape) return view;
  const Strides wide = wide_strides(whole);
  graph::KernelTensor seen{whole.dtype, shape, Strides(shape.size(), 1),
                           unique_name(program, fmt::format("{}_{}", whole.name, fmt::join(shape, "x")))};
  std::size_t left = wide.size();
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1)
      seen.strides[d] = wide.at(--left);
    else if (d + 1 < shape.size())
      seen.strides[d] = seen.strides[d + 1] * shape[d + 1];
  }
  program.tensors.push_back(std::move(seen));
  const int view = static_cast<int>(program.tensors.size()) - 1;
  program.views[view] = base;
  return view;
}

}  // namespace zellige::plan
