#include "plan/same_thread.hpp"

#include <algorithm>

#include "kernel/evaluated_layout.hpp"
#include "kernel/leaves.hpp"

namespace zellige::plan {
namespace {

/// Returns whether the layout has every element of the tile `shape` in one thread, and nothing else.
bool is_exact(const kernel::Context& c, const graph::Shape& shape) {
  std::int64_t items = c.holders();
  for (int axis = 0; axis < c.axes(); ++axis) items *= c.items(axis);
  return c.domain == shape && items == graph::size(shape);
}

/// Returns whether each of a few threads has in the layout `writer` what it reads in the layout `reader`: if not, the
/// layouts differ, and need not be evaluated for all elements. A coordinate beyond the tile is that of its last element.
bool may_agree(const kernel::EvaluatedLayout& writer, const kernel::EvaluatedLayout& reader,
               const graph::Shape& shape) {
  for (const int thread : {0, 1, 33}) {
    if (thread >= std::min(writer.threads(), reader.threads())) break;
    std::vector<std::int64_t> written;
    graph::Shape at;
    const auto each = [&](const kernel::EvaluatedLayout& of, const auto& use) {
      for (int repeat = 0; repeat < of.repeats(); ++repeat)
        for (int value = 0; value < of.values(); ++value)
          if (of.find(thread, value, repeat, at); !at.empty()) use();
    };
    each(writer, [&] {
      if (kernel::inside(at, shape)) written.push_back(kernel::linear(at, shape));
    });
    std::ranges::sort(written);
    bool all = true;
    each(reader, [&] {
      for (std::size_t d = 0; d < shape.size(); ++d) at[d] = std::min(at[d], shape[d] - 1);
      all = all && std::ranges::binary_search(written, kernel::linear(at, shape));
    });
    if (!all) return false;
  }
  return true;
}

}  // namespace

bool SameThread::operator()(int w, int r, int b) {
  const selection::WorkItem &writer = tasks_[w], &reader = tasks_[r];
  if (reader.kind == kernel::WorkKind::mma || reader.kind == kernel::WorkKind::finish ||
      writer.kind == kernel::WorkKind::finish)
    return false;
  const kernel::Context &cw = plan_.layout_of(writer), &cr = plan_.layout_of(reader);
  const kernel::SmemTensor& buffer = plan_.tensors[b];
  const graph::Shape& shape = buffer.shape;
  if (cw.row || cr.row || cw.domain.size() != shape.size()) return false;
  if (cr.domain != shape && cr.domain != buffer.padded) return false;
  // A task that stores a node from registers to shared memory evaluates this node, others their node's operands.
  const tile::Node& n = plan_.program.nodes[reader.node];
  const bool spills =
      reader.kind == kernel::WorkKind::to_shared && n.kind != tile::NodeKind::round && n.kind != tile::NodeKind::store;
  for (int operand : spills || n.in.empty() ? std::vector<int>{reader.node} : n.in)
    for (const kernel::Leaf& leaf : kernel::leaves(plan_.program, operand, shape))
      if (plan_.tensor_of(leaf.node) == b && !leaf.identity()) return false;
  const auto key = std::make_tuple(writer.context, reader.context, b);
  if (const auto known = agreement_.find(key); known != agreement_.end()) return known->second;
  if (is_exact(cw, shape) && is_exact(cr, shape) && kernel::have_equal_modes(cw, cr)) return agreement_[key] = true;
  const kernel::EvaluatedLayout reads(cr);
  if (!may_agree(kernel::EvaluatedLayout(cw), reads, shape)) return agreement_[key] = false;
  // The thread that writes each element. If the reader's coordinate is in the padding beyond the tile, it
  // reads the tile's last element there.
  const std::vector<int> owner = kernel::owners(cw, shape);
  bool same = true;
  graph::Shape read;
  kernel::for_each(reads, [&](int thread, int, const graph::Shape& at) {
    if (at.empty() || !same) return;
    read = at;
    for (std::size_t d = 0; d < shape.size(); ++d) read[d] = std::min(at[d], shape[d] - 1);
    same = owner[kernel::linear(read, shape)] == thread;
  });
  return agreement_[key] = same;
}

}  // namespace zellige::plan
