#include "verify/register_proof.hpp"

#include <algorithm>

#include "selection/matrix_stores.hpp"
#include "verify/rejected.hpp"

namespace zellige::verify {
namespace {

/// Returns whether the modes enumerate the numbers 0 to at least size - 1 without gaps or duplicates. This
/// holds if each stride is the product of the extents of the modes with smaller strides.
bool counts(std::vector<Mode> modes, std::int64_t size) {
  std::ranges::sort(modes, [](const Mode& a, const Mode& b) { return a.stride < b.stride; });
  std::int64_t below = 1;
  for (const Mode& m : modes) {
    if (m.extent == 1) continue;
    if (m.stride != below) return false;
    below *= m.extent;
  }
  return below >= size;
}

/// Returns true if a thread-value layout provably has every element in exactly one register: threads and
/// values enumerate the items along each axis, and the items enumerate the coordinates along each
/// dimension. False is inconclusive.
bool counts_once(const Context& c) {
  std::vector<std::vector<Mode>> items(c.axes()), coordinates(c.rank());
  for (int part = 0; part < 3; ++part)
    for (const Mode& m : kernel::modes(values::View(c.share)[part])) {
      if (m.extent > 1 && m.stride == 0) return false;
      items[m.basis].push_back(m);
    }
  bool once = true;
  for (int axis = 0; axis < c.axes(); ++axis) {
    once = once && counts(items[axis], c.items(axis));
    for (const Mode& m : kernel::modes(values::View(c.tile)[axis])) coordinates[m.basis].push_back(m);
  }
  for (int d = 0; d < c.rank(); ++d) once = once && counts(coordinates[d], c.domain[d]);
  return once;
}

/// Returns number(c, value) for each value of a thread in the layout of c.
template <class Number>
std::vector<int> of_each_value(const EvaluatedLayout& layout, const Context& c, Number number) {
  std::vector<int> numbers(layout.values());
  for (int value = 0; value < layout.values(); ++value) numbers[value] = number(c, value);
  return numbers;
}

/// The values of node x that work `writer` leaves in the layout `left` for work `reader`.
struct LeftValues {
  const TileProgram& program;
  const EvaluatedLayout& left;
  const Work &writer, &reader;
  int x;
  Shape found{};  // the coordinate that has() compares, in memory that is allocated once

  /// Throws Rejected unless register `value` of the thread has the element `wanted`; none if `wanted` is empty.
  void has(int thread, int value, const Shape& wanted, int repeat = 0) {
    const bool there = thread < left.threads() && value < left.values() && repeat < left.repeats();
    there ? left.find(thread, value, repeat, found) : found.clear();
    if (found == wanted) return;
    reject(program, "value {} of thread {} is {} of %{} after {}, and {} takes it for {}", value, thread,
           found.empty() ? "no element" : to_string(found), x, describe(writer), describe(reader),
           wanted.empty() ? "no element" : to_string(wanted));
  }
};

}  // namespace

/// Returns the index of the tile in registers (Kernel::rmem) in which `writer` leaves the value of node x for `reader`; rejects the
/// latter if there is none. A `finish` work, which completes a row reduction, leaves one value per row.
int RegisterProof::left_in(const Work& writer, const Work& reader, int x) const {
  const int left = writer.kind == WorkKind::finish ? plan_.rmem_of(writer.node) : writer.context;
  if (left < 0) reject(p_, reader, "reads %{} in registers, and no layout holds what {} leaves", x, describe(writer));
  return left;
}

void RegisterProof::agree(const Work& writer, const Work& reader, int x, bool partial) {
  const int left_id = left_in(writer, reader, x);
  const Context &from = plan_.rmem[left_id].layout, &to = context(reader);
  if (from.row && from.holders() > 1 && !partial)
    reject(p_, reader, "reads %{} in registers, where {} leaves partial results over one of {} parts of K in each", x,
           describe(writer), from.holders());
  if (from == to || !agreed_.insert({left_id, reader.context}).second) return;
  const EvaluatedLayout left(from), taken(to);
  LeftValues left_values{p_, left, writer, reader, x};
  for (int repeat = 0; repeat < taken.repeats(); ++repeat)
    kernel::for_each(taken, repeat, [&](int thread, int value, const Shape& wanted) {
      left_values.has(thread, value, wanted, repeat);
    });
}

void RegisterProof::in_lines(const Work& writer, const Work& reader, int x) {
  const int left_id = left_in(writer, reader, x);
  const Context &from = plan_.rmem[left_id].layout, &to = context(reader);
  if (!agreed_.insert({left_id, reader.context}).second) return;
  const EvaluatedLayout left(from), taken(to);
  const std::vector<int> line = of_each_value(taken, to, kernel::line_of);
  LeftValues left_values{p_, left, writer, reader, x};
  Shape row;
  kernel::for_each(taken, [&](int thread, int value, const Shape& at) {
    if (at.empty()) return;
    row = at;
    row.back() = 0;
    left_values.has(thread, line[value], row);
  });
}

void RegisterProof::in_pairs(const Work& writer, const Work& reader, int x) {
  agree(writer, reader, x, false);
  const Context& c = context(reader);
  const EvaluatedLayout layout(c);
  const std::vector<int> other = of_each_value(layout, c, kernel::other_of_pair);
  LeftValues left_values{p_, layout, writer, reader, x};
  Shape wanted;
  kernel::for_each(layout, [&](int thread, int value, const Shape& at) {
    if (at.empty()) return;
    wanted = at;
    wanted[c.rank() - 3] ^= 1;
    left_values.has(thread, other[value], wanted);
  });
}

void RegisterProof::in_columns(const Work& t, int blocks) const {
  const EvaluatedLayout layout(context(t));
  const std::int64_t columns = context(t).domain.back() / blocks;
  kernel::for_each(layout, [&](int thread, int value, const Shape& at) {
    const int block = value / (layout.values() / blocks);
    if (at.empty() || at.back() / columns == block) return;
    reject(p_, "value {} of thread {} is {} of %{}, which block {} stores; {} adds it up on block {}", value, thread,
           to_string(at), t.node, at.back() / columns, describe(t), block);
  });
}

void RegisterProof::same_thread(const Work& t, const Work& w, int b, bool own) const {
  const Shape& shape = plan_.tensors[b].shape;
  const Context &from = context(w), &to = context(t);
  if (!own)
    reject(p_, t, "reads {} without a barrier after {}, at coordinates that are not its threads' own",
           plan_.tensors[b].name, describe(w));
  if (w.kind == WorkKind::finish || plan_.tensors[b].partials > 1 || w.copy.by_matrices())
    reject(p_, t, "reads {} without a barrier after {}, whose elements come from several threads: {}",
           plan_.tensors[b].name, describe(w), kernel::print(from));
  if (const std::size_t dims = std::min(from.domain.size(), to.domain.size()); dims < shape.size())
    reject(p_, t, "reads {} without a barrier after {}: a layout of {} dimensions has no elements of {}, which has {}",
           plan_.tensors[b].name, describe(w), dims, plan_.tensors[b].name, shape.size());
  const std::vector<int> owner = kernel::owners(from, shape);
  Shape element;
  kernel::for_each(EvaluatedLayout(to), [&](int thread, int value, const Shape& at) {
    if (at.empty()) return;
    element = at;
    for (std::size_t d = 0; d < shape.size(); ++d) element[d] = std::min(at[d], shape[d] - 1);
    const int found = owner[kernel::linear(element, shape)];
    if (found != thread)
      reject(p_,
             "value {} of thread {} in {} is {}, for which it reads {} of {} without a barrier after {}, where thread "
             "{} wrote it",
             value, thread, describe(t), to_string(at), to_string(element), plan_.tensors[b].name, describe(w), found);
  });
}

void RegisterProof::in_matrices(const Work& t) const {
  const Instruction& store = *t.copy.row;
  if (!t.copy.by_matrices()) reject(p_, t, "stores registers by {}", store.name);
  if (const std::string why = selection::no_matrix_store(plan_, t, store); !why.empty())
    reject(p_, t, "stores registers by {}: {}", store.name, why);
  const int inner = plan_.tensors[t.tensor].inner;
  const EvaluatedLayout layout(context(t));
  const selection::MatrixRows rows(store);
  Shape stored;
  kernel::for_each(layout, [&](int thread, int value, const Shape& at) {
    const auto [start, before] = rows.element(thread, value);
    layout.find(start.thread, start.value, 0, stored);
    const bool begins = stored[inner] % rows.elements() == 0;
    stored[inner] += before;
    if (at != stored || !begins)
      reject(p_, "value {} of thread {} in {} is {}; {} stores it at {}", value, thread, describe(t), to_string(at),
             store.name, to_string(stored));
  });
}

void RegisterProof::covers(const Work& t) {
  const Context& c = context(t);
  if (!covered_.insert(t.context).second || counts_once(c)) return;
  std::vector<int> holder_counts(graph::size(c.domain), 0);
  kernel::for_each(EvaluatedLayout(c), [&](int, int, const Shape& at) {
    if (kernel::inside(at, c.domain)) ++holder_counts[kernel::linear(at, c.domain)];
  });
  const int holders = c.holders();
  for (std::size_t i = 0; i < holder_counts.size(); ++i)
    if (holder_counts[i] != holders)
      reject(p_, "element {} of {} is in {} threads' accumulators; it must be in {}",
             to_string(graph::coordinates(static_cast<std::int64_t>(i), c.domain)), describe(t), holder_counts[i],
             holders);
}

void RegisterProof::chained(const Work& t, const Work& writer) {
  const int operand = p_.nodes[t.node].in[0];
  const Shape& a = p_.nodes[operand].shape;
  const Context &from = context(writer), &c = context(t);
  if (!from.row || from.domain != a || from.repeats() != 1)
    reject(p_, writer, "leaves %{} in {}, which are no fragments of {}", operand, kernel::print(from), to_string(a));
  if (!multiplied_.insert(t).second) return;
  const Instruction& row = *t.matmul.row;
  if (a.back() % row.k != 0)
    reject(p_, t, "takes %{} in registers, whose K of {} is no multiple of {}", operand, a.back(), row.k);
  const kernel::WarpLayout producer = kernel::warps(from), consumer = kernel::warps(c);
  const EvaluatedLayout left(from), taken(kernel::a_fragments(a, producer, consumer, row));
  if (left.values() != taken.values())
    reject(p_, writer, "leaves {} values of %{} in each thread, {} takes {}", left.values(), operand, describe(t),
           taken.values());
  const int columns = consumer.n;  // each warp along N multiplies all of K
  std::vector<int> multiplied(graph::size(a) * columns, 0);
  LeftValues left_values{p_, left, writer, t, operand};
  kernel::for_each(taken, [&](int thread, int value, const Shape& wanted) {
    if (!kernel::inside(wanted, a)) return;
    left_values.has(thread, value, wanted);
    const int column = kernel::warp_coordinate(consumer, thread / 32).n;
    ++multiplied[kernel::linear(wanted, a) * columns + column];
  });
  kernel::for_each(left, [&](int thread, int value, const Shape& at) {
    if (!kernel::inside(at, a)) return;
    for (int column = 0; column < columns; ++column)
      if (const int times = multiplied[kernel::linear(at, a) * columns + column]; times != 1)
        reject(p_,
               "value {} of thread {} is {} of %{} after {}, and {} multiplies that element {} times: its warps take K "
               "in {} parts, {} leaves it in {}",
               value, thread, to_string(at), operand, describe(writer), describe(t), times, consumer.k,
               describe(writer), producer.n);
  });
}

void RegisterProof::sums(const Work& t, const Work& writer) {
  if (writer.context != t.context) agree(writer, t, t.node, true);
  const Context& c = context(t);
  if (t.tensor >= 0 && plan_.tensors[t.tensor].partials != c.parts())
    reject(p_, t, "stores {} partial results into {}, which has room for {}", c.parts(), plan_.tensors[t.tensor].name,
           plan_.tensors[t.tensor].partials);
  if (c.axes() == 1) reject(p_, t, "adds up partial results in {}", kernel::print(c));
  if (c.lanes() > 32 || 32 % c.lanes() != 0 || c.threads() > p_.threads() / 32 * 32)
    reject(p_, t, "adds up over {} lanes in {} threads, in a block of {}", c.lanes(), c.threads(), p_.threads());
  if (summed_.insert(t.context).second) added_once(t);
  if (t.tensor < 0) in_every_lane(t);
}

/// Proves that work t, which sums rows across lanes, leaves each sum where the plan expects it: each lane
/// that adds up values of a row is a lane that keeps the sum of that row. Throws Rejected otherwise.
void RegisterProof::in_every_lane(const Work& t) const {
  const Context& c = context(t);
  const int kept = plan_.rmem_of(t.node);
  if (kept < 0 || c.parts() > 1)
    reject(
        p_, t, "leaves %{} in registers, where {}", t.node,
        c.parts() > 1 ? fmt::format("each has a sum over one of {} parts of a row", c.parts()) : "nobody looks for it");
  const EvaluatedLayout layout(c), rows(plan_.rmem[kept].layout);
  const std::vector<int> line = of_each_value(layout, c, kernel::line_of);
  LeftValues left_values{p_, rows, t, t, t.node};
  Shape summed;
  kernel::for_each(layout, [&](int thread, int value, const Shape& at) {
    if (at.empty()) return;
    layout.find_sum(thread, value, 0, summed);
    left_values.has(thread, line[value], summed);
  });
}

/// Throws Rejected unless reduction work t adds up every element once, into the right result: it is in one register of
/// one thread, and of the lanes that combine their sums the first stores the result that has it as a summand.
void RegisterProof::added_once(const Work& t) const {
  const Context& c = context(t);
  const EvaluatedLayout layout(c);
  std::vector<int> first(layout.threads());
  for (int thread = 0; thread < layout.threads(); ++thread) first[thread] = c.first_lane(thread);
  // Where the modes show that each element is in one register, the first result of each thread decides: its other
  // results are as far from the first one as those of the lane that stores them.
  if (counts_once(c)) {
    Shape own, stored;
    for (int thread = 0; thread < layout.threads(); ++thread) {
      layout.find_sum(thread, 0, 0, own);
      layout.find_sum(first[thread], 0, 0, stored);
      if (!own.empty() && own != stored)
        reject(p_, "thread {} in {} adds up {}, and its sum is stored with the row of {}", thread, describe(t),
               to_string(own), to_string(stored));
    }
    return;
  }
  std::vector<int> summed(graph::size(c.domain), 0);
  Shape own, stored;
  for (int repeat = 0; repeat < layout.repeats(); ++repeat)
    kernel::for_each(layout, repeat, [&](int thread, int value, const Shape& at) {
      if (!kernel::inside(at, c.domain)) return;
      layout.find_sum(thread, value, repeat, own);
      layout.find_sum(first[thread], value, repeat, stored);
      if (own != stored)
        reject(p_, "value {} of thread {} in {} is {}, and its sum is stored with the row of {}", value, thread,
               describe(t), to_string(at), to_string(stored));
      ++summed[kernel::linear(at, c.domain)];
    });
  for (std::size_t i = 0; i < summed.size(); ++i)
    if (summed[i] != 1)
      reject(p_, t, "adds element {} {} times", to_string(graph::coordinates(static_cast<std::int64_t>(i), c.domain)),
             summed[i]);
}

}  // namespace zellige::verify
