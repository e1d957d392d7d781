#include "plan/align.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "plan/layouts.hpp"
#include "plan/views.hpp"

namespace zellige::plan {
namespace {

constexpr std::int64_t least_async = 4;  // bytes: cp.async's narrowest
/// Where cp.async can read it in 4 or 8 bytes, as often as that has to be done before a copy pays.
constexpr std::int64_t often = 4;
/// Loads that a thread of a custom operator makes of an operand, element by element and eight at a time, before a copy pays: each eight
/// take the latency of one, some 0.7 us, and a copy's kernel some two or three of these.
constexpr std::int64_t least_loads = 32;

}  // namespace

bool lines_begin_at(const Program& program, int tensor, std::int64_t bytes) {
  const graph::KernelTensor& t = program.tensors[tensor];
  if (t.strides.empty()) return true;
  const Shape& shape = program.shape(tensor);
  const Shape starts = program.starts(tensor);
  const std::int64_t size = graph::bytes(t.dtype);
  const int inner = innermost(shape, t.strides);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (starts[d] * t.strides[d] * size % bytes != 0) return false;
    if (shape[d] == 1) continue;
    if (static_cast<int>(d) == inner ? t.strides[d] != 1 : t.strides[d] * size % bytes != 0) return false;
  }
  return true;
}

int aligned_operand(Program& program, int tensor, std::int64_t times, std::vector<BlockProgram>& copies,
                    const std::string& name, const target::Target& target) {
  const graph::KernelTensor t = program.tensors[tensor];
  if (lines_begin_at(program, tensor, target.access_bytes)) return tensor;
  if (graph::bytes(t.dtype) > 2 || std::ranges::count(t.strides, 0) > 0) return tensor;
  if (lines_begin_at(program, tensor, least_async) && times < often) return tensor;
  if (const auto made = program.aligned.find(tensor); made != program.aligned.end()) return made->second;
  const Shape shape = program.shape(tensor);
  const std::int64_t line = target.access_bytes / graph::bytes(t.dtype);
  const int to = add_tensor(program, t.dtype, shape, padded_strides(shape, innermost(shape, t.strides), line),
                            t.name + "_aligned");
  program.aligned[tensor] = to;
  const Strides strides = program.tensors[to].strides;
  program.notes.push_back(fmt::format(
      "{}: {} has strides {}, so that its lines begin at no multiple of {} bytes: it is copied into "
      "strides {}, and read from there",
      name, t.name, to_string(t.strides), target.access_bytes, to_string(strides)));
  // Along the lines, whichever dimension they are.
  std::vector<int> dims(shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  std::ranges::stable_sort(dims, std::greater{}, [&](int d) { return strides[d]; });
  const auto by_lines = [&](int of) {
    return std::ranges::is_sorted(dims) ? of : permuted_view(program, of, dims, target);
  };
  const int from = by_lines(tensor), into = by_lines(to);
  copies.push_back(lower_copy(program, from, into, fmt::format("{}_copy{}", name, copies.size()), target));
  return to;
}

namespace {

/// Would every tile of a copy in aligned lines begin at one, and is copying what the threads have to load themselves that much work?
bool worth_a_copy(const Program& program, const BlockProgram& p, const Node& n,
                  const target::Target& target) {
  const Strides& strides = program.tensors[n.tensor].strides;
  if (strides.empty()) return false;
  const Split& along = n.splits[static_cast<std::size_t>(innermost(program.shape(n.tensor), strides))];
  const bool moves = along.axis >= 0 || along.loop;
  const std::int64_t size = graph::bytes(n.dtype);
  if (moves && along.tile * size % target.access_bytes != 0) return false;
  const std::int64_t loads =
      ceil_div(graph::size(n.shape), p.threads()) * (n.section == Section::inside ? p.loop : 1);
  return loads >= least_loads;
}

}  // namespace

std::vector<BlockProgram> align_operands(Program& program, BlockProgram& p, const target::Target& target) {
  std::vector<BlockProgram> copies;
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const Node n = p.nodes[i];
    if (n.kind != NodeKind::load || number_of(n) >= 0) continue;
    const bool of_product = std::ranges::any_of(p.consumers(static_cast<int>(i)), [&](int reader) {
      return p.nodes[reader].kind == NodeKind::matmul;
    });
    if (!of_product || !worth_a_copy(program, p, n, target)) continue;
    const std::int64_t read =
        p.grid.count() * (n.section == Section::inside ? p.loop : 1) * graph::size(n.shape);
    const std::int64_t times = ceil_div(read, graph::size(program.shape(n.tensor)));
    const Shape starts = program.starts(n.tensor);
    const int to = aligned_operand(program, n.tensor, times, copies, p.name, target);
    if (to == n.tensor) continue;
    p.nodes[i].tensor = to;
    p.nodes[i].name = program.tensors[to].name;
    for (std::size_t d = 0; d < starts.size(); ++d) p.nodes[i].splits[d].offset -= starts[d];
  }
  return copies;
}

}  // namespace zellige::plan
