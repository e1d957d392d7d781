#include "lower/views.hpp"

#include <algorithm>

#include "lower/repeats.hpp"
#include "selection/layouts.hpp"

namespace zellige::lower {

graph::Shape padded_rank(graph::Shape shape, std::size_t rank) {
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  return shape;
}

void settle_strides(tile::TilePrograms& program, int tensor, bool dense, const target::Target& target) {
  graph::KernelTensor& t = program.tensors[program.memory_of(tensor)];
  if (!t.strides.empty()) return;
  const int last = static_cast<int>(t.shape.size()) - 1;
  t.strides = dense ? graph::row_major(t.shape)
                    : selection::padded_strides(t.shape, last, graph::elements_in(target.access_bytes, t.dtype));
}

int add_tensor(tile::TilePrograms& program, graph::DType dtype, const graph::Shape& shape,
               const graph::Strides& strides, const std::string& name) {
  std::string unique = name;
  const auto taken = [&] {
    return std::ranges::any_of(program.tensors, [&](const auto& t) { return t.name == unique; });
  };
  while (taken()) unique += '_';
  program.tensors.push_back({dtype, shape, strides, unique});
  return static_cast<int>(program.tensors.size()) - 1;
}

void make_view(tile::TilePrograms& program, int tensor, int from, const graph::Shape& shape,
               const graph::Strides& strides, const graph::Shape& starts, int value) {
  graph::KernelTensor& t = program.tensors[tensor];
  t.strides = strides;
  t.shape = shape;
  for (std::size_t d = 0; d < shape.size(); ++d) t.shape[d] += starts[d];
  program.views[tensor] = {program.memory_of(from), shape, starts, value < 0 ? program.value_of(from) : value};
}

void make_windows(tile::TilePrograms& program, int tensor, int from, tile::Windows windows) {
  const graph::Shape shape = program.tensors[tensor].shape;
  make_view(program, tensor, from, shape, windows.units(), graph::Shape(shape.size(), 0));
  program.views.at(tensor).windows = std::move(windows);
}

namespace {

/// Returns a view of windows as a view operator shows them: without other elements, or in another order.
int windows_of(tile::TilePrograms& program, int tensor, graph::OpKind kind, const graph::Attributes& a,
               const graph::Shape& shape) {
  std::optional<tile::Windows> windows = tile::viewed(*program.windows(tensor), kind, a, shape);
  if (!windows) fault("digits do not express the view {} of {}", graph::to_string(shape), program.tensors[tensor].name);
  for (const auto& [view, v] : program.views)
    if (v.base == program.memory_of(tensor) && v.windows == windows && v.shape == shape) return view;
  const int view = add_tensor(program, program.tensors[tensor].dtype, shape, {},
                              fmt::format("{}_{}", program.tensors[tensor].name, fmt::join(shape, "x")));
  make_windows(program, view, tensor, *std::move(windows));
  return view;
}

}  // namespace

std::vector<tile::TileProgram> view_windows(tile::TilePrograms& program, const graph::KernelOp& op,
                                            const target::Target& target,
                                            const std::function<tile::TileProgram(int, int)>& copy) {
  const int from = op.inputs[0], to = op.outputs[0];
  const graph::Shape operand = program.shape(from), result = program.tensors[to].shape;
  const std::string label = program.tensors[to].name;
  settle_strides(program, from, false, target);
  const auto seen_of = [&](int tensor) {
    const tile::Windows* of = program.windows(tensor);
    const tile::Windows all = of ? *of : tile::all_of(operand, program.tensors[tensor].strides, program.starts(tensor));
    return tile::viewed(all, op.kind, op.attributes, result);
  };
  std::vector<tile::TileProgram> kernels;
  std::optional<tile::Windows> seen;
  if (graph::size(repeats(program, from)) == 1) seen = seen_of(from);
  int base = from;
  if (!seen) {
    program.notes.push_back(fmt::format("{}: the {} of {} {} to {} is no digits of its windows: it is copied", label,
                                        graph::name(op.kind), program.tensors[from].name, graph::to_string(operand),
                                        graph::to_string(result)));
    base = add_tensor(program, program.tensors[from].dtype, operand, graph::row_major(operand), label + "_dense");
    kernels.push_back(copy(from, base));
    seen = seen_of(base);
  }
  if (!seen) fault("{}: {} of {} has no digits", label, graph::name(op.kind), graph::to_string(operand));
  const bool own = !program.tensors[to].strides.empty() || std::ranges::count(program.outputs, to) > 0;
  const int view = own ? add_tensor(program, program.tensors[to].dtype, result, {}, label + "_view") : to;
  make_windows(program, view, base, *std::move(seen));
  if (own) kernels.push_back(copy(view, to));
  return kernels;
}

int new_view(tile::TilePrograms& program, int from, const graph::Shape& shape, const graph::Strides& strides,
             const graph::Shape& starts, const std::string& name) {
  const int view = add_tensor(program, program.tensors[from].dtype, shape, strides, name);
  make_view(program, view, from, shape, strides, starts);
  return view;
}

int view_of(tile::TilePrograms& program, int tensor, const graph::Shape& shape, const graph::Strides& strides,
            const graph::Shape& starts) {
  const int base = program.memory_of(tensor), value = program.value_of(tensor);
  for (const auto& [view, v] : program.views)
    if (v.base == base && v.value == value && v.shape == shape && v.starts == starts && !v.windows &&
        program.tensors[view].strides == strides && program.tensors[view].dtype == program.tensors[tensor].dtype)
      return view;
  return new_view(program, tensor, shape, strides, starts,
                  fmt::format("{}_{}", program.tensors[tensor].name, fmt::join(shape, "x")));
}

int seen_as(tile::TilePrograms& program, int tensor, const graph::Shape& shape, const target::Target& target) {
  const graph::Shape from = program.shape(tensor), first = program.starts(tensor);
  if (from == shape) return tensor;
  if (program.windows(tensor)) return windows_of(program, tensor, graph::OpKind::reshape, {}, shape);
  settle_strides(program, tensor, false, target);
  const graph::Strides of = program.tensors[tensor].strides;
  graph::Strides strides(shape.size(), 1);
  graph::Shape starts(shape.size(), 0);
  std::size_t left = from.size();
  for (std::size_t d = shape.size(); d-- > 0;) {
    while (left > 0 && from[left - 1] == 1 && first[left - 1] == 0 && shape[d] != 1) --left;
    if (left > 0 && from[left - 1] == shape[d]) {
      --left;
      strides[d] = of[left], starts[d] = first[left];
    } else if (d + 1 < shape.size()) {
      strides[d] = strides[d + 1] * shape[d + 1];
    }
  }
  return view_of(program, tensor, shape, strides, starts);
}

int permuted_view(tile::TilePrograms& program, int tensor, const std::vector<int>& dims, const target::Target& target) {
  if (program.windows(tensor)) {
    const graph::Attributes order{.sizes = {dims.begin(), dims.end()}};
    return windows_of(program, tensor, graph::OpKind::permute, order, permuted(program.shape(tensor), dims));
  }
  settle_strides(program, tensor, false, target);
  return view_of(program, tensor, permuted(program.shape(tensor), dims),
                 permuted(program.tensors[tensor].strides, dims), permuted(program.starts(tensor), dims));
}

}  // namespace zellige::lower
