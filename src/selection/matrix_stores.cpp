#include "selection/matrix_stores.hpp"

#include <algorithm>

#include "kernel/evaluation.hpp"
#include "kernel/fragments.hpp"
#include "target/instructions.hpp"

namespace zellige::selection {
namespace {

constexpr int matrix_lines = 8;  // rows of a matrix

/// Returns whether the threads, or values, of a layout fall into groups of `size` that have the same elements as the first
/// group, moved by a multiple of `step` along dimension `dim` and by anything along the others.
bool in_equal_groups(const kernel::Context& c, values::View layout, std::int64_t size, int dim, std::int64_t step) {
  std::int64_t below = 1;
  for (const kernel::Mode& m : kernel::modes(layout)) {
    const std::int64_t next = below * m.extent;
    if (next > size) {
      const std::int64_t inside = below < size ? size / below : 1;  // the mode's elements in one group
      if (below < size && (size % below != 0 || next % size != 0)) return false;
      const bool along = m.basis < 2 && c.rank() - 1 - m.basis == dim;  // axes are numbered from the last dimension
      if (along && m.stride * inside % step != 0) return false;
    }
    below = next;
  }
  return below % size == 0;
}

/// Returns whether the rows of the matrices that a warp stores of its first values are chunks along dimension `inner`, and
/// the matrices lie side by side in 16 rows of one product of a batch, as those of one instruction's accumulators do.
bool are_chunks(const kernel::Context& c, const MatrixRows& rows, int inner) {
  constexpr int rows_of_product = 16, values_of_columns = 4;  // a thread has 4 values of 16 rows and 8 columns
  const kernel::EvaluatedLayout layout(c);
  const graph::Shape first = layout.at(0, 0);
  const auto m = c.domain.size() - 2, n = m + 1;
  const std::int64_t columns = tile::ceil_div(rows.values_at_a_time(), values_of_columns) * 8;
  for (int thread = 0; thread < 32; ++thread)
    for (int value = 0; value < rows.values_at_a_time(); ++value) {
      const auto [start, before] = rows.element(thread, value);
      graph::Shape at = layout.at(start.thread, start.value);
      if (at.empty() || at[inner] % rows.elements() != 0) return false;
      if (!std::equal(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(m), first.begin())) return false;
      if (at[m] - first[m] >= rows_of_product || at[n] - first[n] >= columns) return false;
      at[inner] += before;
      if (layout.at(thread, value) != at) return false;
    }
  return true;
}

/// Returns whether some threads of a warp may evaluate the value that work `t` stores while others do not.
bool is_checked(const kernel::Kernel& kernel, const kernel::Work& t) {
  const kernel::Step step{.is = kernel::Compute{}, .work = t};
  int open = 0;
  for (const kernel::Item& item : kernel::evaluate(kernel, kernel::StepSpan(&step, 1))) {
    open += (item.kind == kernel::Item::Kind::guard) - (item.kind == kernel::Item::Kind::guarded);
    if (item.kind == kernel::Item::Kind::leave && (open > 0 || !item.zeros.empty() || item.edge > 0)) return true;
  }
  return false;
}

}  // namespace

MatrixRows::MatrixRows(const Instruction& store)
    : store_(store), starts_(static_cast<std::size_t>(matrix_lines * store.a.registers)) {
  for (int thread = 0; thread < 32; ++thread)
    for (int value = 0; value < values_at_a_time(); ++value)
      if (const int at = position(thread, value); at % elements() == 0) starts_[at / elements()] = {thread, value};
}

MatrixRows::Element MatrixRows::element(int thread, int value) const {
  const int in_group = value % values_at_a_time(), at = position(thread % 32, in_group);
  const Holder& start = starts_[at / elements()];
  return {{thread - thread % 32 + start.thread, value - in_group + start.value}, at % elements()};
}

std::string no_matrix_store(const kernel::Kernel& kernel, const kernel::Work& t, const Instruction& store) {
  if (t.kind != kernel::WorkKind::to_shared || !kernel.layout_of(t).row) return "the work stores no accumulators";
  const kernel::Context& c = kernel.layout_of(t);
  const kernel::SmemTensor& b = kernel.tensors[t.tensor];
  if (graph::bits(b.dtype) != store.a.bits || graph::is_integer(b.dtype))
    return fmt::format("it stores floats of {} bits, {} has {}", store.a.bits, b.name, graph::name(b.dtype));
  if (c.holders() != 1 || c.repeats() != 1) return "several warps have the same elements, or one in several passes";
  const MatrixRows rows(store);
  const int row = rows.elements(), each = rows.values_at_a_time();
  if (b.access_width(b.inner, row) != row) return fmt::format("{} has no rows of {} elements", b.name, row);
  if (!in_equal_groups(c, values::View(c.share)[0], 32, b.inner, row) ||
      !in_equal_groups(c, values::View(c.share)[1], each, b.inner, row) || !are_chunks(c, rows, b.inner))
    return fmt::format("the {} values of a thread are not the elements that {} stores, {} at a time", c.values(),
                       store.name, each);
  if (is_checked(kernel, t)) return "some elements are out of bounds, and threads skip them";
  return "";
}

void choose_matrix_stores(const kernel::Kernel& kernel, Tasks& tasks, const target::Target& target) {
  for (WorkItem& t : tasks) {
    if (t.kind != kernel::WorkKind::to_shared) continue;
    for (const Instruction* store : target::matrix_stores(target))
      if (no_matrix_store(kernel, t, *store).empty()) {
        t.copy.row = store;
        break;
      }
  }
}

void for_each_matrix(const kernel::Context& c, const Instruction& store, const kernel::UseAccess& use,
                     std::size_t limit) {
  const kernel::EvaluatedLayout layout(c);
  const MatrixRows all(store);
  kernel::WarpAccess rows(matrix_lines);
  for (int value = 0; value < layout.values(); value += all.values_at_a_time())
    for (int warp = 0; warp < layout.threads() / 32; ++warp)
      for (std::size_t i = 0; i < all.starts().size(); ++i) {
        const Holder& start = all.starts()[i];
        layout.find(32 * warp + start.thread, value + start.value, 0, rows[i % matrix_lines]);
        if ((i + 1) % matrix_lines != 0) continue;
        if (limit-- == 0) return;
        use(warp, rows);
      }
}

}  // namespace zellige::selection
