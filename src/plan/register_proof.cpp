#include "plan/register_proof.hpp"

#include <algorithm>

#include "plan/contexts.hpp"

namespace zellige::plan {

std::string RegisterProof::said(int t) const {
  const Task& task = plan_.tasks[t];
  return fmt::format("'{} %{}'", name(task.kind), task.node);
}

void RegisterProof::agree(int writer, int reader, int x, bool partial) {
  const Context &from = context(writer), &to = context(reader);
  if (from.kind == ContextKind::lanes || to.kind == ContextKind::lanes) {
    if (from == to) return;
    fail("{}: {} takes sums of %{} in {}, {} leaves them in {}", p_.name, said(reader), x, print(to),
         said(writer), print(from));
  }
  if (from.kind == ContextKind::fragment && from.warps.k > 1 && !partial)
    fail("{}: {} reads %{} in registers, where {} leaves sums over one of {} parts of K in each", p_.name,
         said(reader), x, said(writer), from.warps.k);
  if (!agreed_.insert({plan_.tasks[writer].context, plan_.tasks[reader].context}).second) return;
  const RegisterLayout left = layout(from), taken = layout(to);
  for_each(taken, [&](int thread, int value, const Shape& wanted) {
    const bool there = thread < left.threads && value < left.values;
    const Shape found = there ? left.at(thread, value) : Shape{};
    if (wanted != found) clash(writer, reader, x, thread, value, found, wanted);
  });
}

void RegisterProof::clash(int writer, int reader, int x, int thread, int value, const Shape& found,
                          const Shape& wanted) const {
  fail("{}: value {} of thread {} is {} of %{} after {}, and {} takes it for {}", p_.name, value, thread,
       found.empty() ? "no element" : to_string(found), x, said(writer), said(reader),
       wanted.empty() ? "no element" : to_string(wanted));
}

void RegisterProof::same_thread(int t, int w, int b, bool own) const {
  const Shape& shape = plan_.buffers[b].shape;
  const Context &from = context(w), &to = context(t);
  if (!own)
    fail("{}: {} reads {} without a barrier behind {}, at coordinates that are not its threads' own", p_.name,
         said(t), plan_.buffers[b].name, said(w));
  if (from.kind != ContextKind::sweep || plan_.buffers[b].partials > 1)
    fail("{}: {} reads {} without a barrier behind {}, whose elements come from several threads: {}", p_.name,
         said(t), plan_.buffers[b].name, said(w), print(from));
  std::map<Shape, int> owner;
  for_each(layout(from), [&](int thread, int, const Shape& at) { owner.try_emplace(at, thread); });
  const auto check = [&](int thread, int value, const Shape& at) {
    if (at.empty()) return;
    Shape element = at;
    for (std::size_t d = 0; d < shape.size(); ++d) element[d] = std::min(at[d], shape[d] - 1);
    const auto found = owner.find(element);
    if (found != owner.end() && found->second == thread) return;
    fail(
        "{}: value {} of thread {} in {} is {}, for which it reads {} of {} without a barrier behind {}, "
        "where thread {} wrote it",
        p_.name, value, thread, said(t), to_string(at), to_string(element), plan_.buffers[b].name, said(w),
        found == owner.end() ? -1 : found->second);
  };
  if (to.kind == ContextKind::lanes) {
    for_each_held(to, p_.threads(), [&](int thread, const Shape& at) { check(thread, 0, at); });
    return;
  }
  for_each(layout(to), check);
}

void RegisterProof::covers(int t) {
  const Context& c = context(t);
  if (!covered_.insert(plan_.tasks[t].context).second) return;
  std::vector<int> held(static_cast<std::size_t>(graph::size(c.domain)), 0);
  for (int slice = 0; slice < c.slices; ++slice)
    for_each(layout(c, slice), [&](int, int, const Shape& at) {
      if (inside(at, c.domain)) ++held[static_cast<std::size_t>(linear(at, c.domain))];
    });
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i] != c.warps.k)
      fail("{}: element {} of {} is in {} threads' accumulators; it must be in {}", p_.name,
           to_string(coordinates(static_cast<std::int64_t>(i), c.domain)), said(t), held[i], c.warps.k);
}

void RegisterProof::chained(int t, int writer) {
  const int operand = p_.nodes[plan_.tasks[t].node].in[0];
  const Shape& a = p_.nodes[operand].shape;
  const Context &from = context(writer), &c = context(t);
  if (from.kind != ContextKind::fragment || from.domain != a || from.slices != 1)
    fail("{}: {} leaves %{} in {}, which are no fragments of {}", p_.name, said(writer), operand, print(from),
         to_string(a));
  if (!multiplied_.insert(t).second) return;
  const Instruction& row = *plan_.matmuls.at(plan_.tasks[t].node).row;
  if (a.back() % row.k != 0)
    fail("{}: {} takes %{} in registers, whose K of {} is no multiple of {}", p_.name, said(t), operand,
         a.back(), row.k);
  const RegisterLayout left = layout(from), taken = a_fragments(a, from.warps, c.warps, row);
  if (left.values != taken.values)
    fail("{}: {} leaves {} values of %{} in each thread, {} takes {}", p_.name, said(writer), left.values,
         operand, said(t), taken.values);
  const int columns = c.warps.n;  // warps along N multiply all of K each
  std::vector<int> multiplied(static_cast<std::size_t>(graph::size(a) * columns), 0);
  for_each(taken, [&](int thread, int value, const Shape& wanted) {
    if (!inside(wanted, a)) return;
    const Shape found = thread < left.threads ? left.at(thread, value) : Shape{};
    if (wanted != found) clash(writer, t, operand, thread, value, found, wanted);
    const int column = warp_coordinate(c.warps, thread / 32).n;
    ++multiplied[static_cast<std::size_t>(linear(wanted, a) * columns + column)];
  });
  for_each(left, [&](int thread, int value, const Shape& at) {
    if (!inside(at, a)) return;
    for (int column = 0; column < columns; ++column)
      if (const int times = multiplied[static_cast<std::size_t>(linear(at, a) * columns + column)];
          times != 1)
        fail(
            "{}: value {} of thread {} is {} of %{} after {}, and {} multiplies that element {} times: its "
            "warps take K in {} parts, {} leaves it in {}",
            p_.name, value, thread, to_string(at), operand, said(writer), said(t), times, c.warps.k,
            said(writer), from.warps.n);
  });
}

void RegisterProof::sums(int t, int writer) {
  const Task& task = plan_.tasks[t];
  if (plan_.tasks[writer].context != task.context) agree(writer, t, task.node, true);
  const Context& c = context(t);
  const int parts = c.kind == ContextKind::fragment ? c.warps.n : c.splits;
  const Buffer& b = plan_.buffers[task.buffer];
  if (b.partials != parts)
    fail("{}: {} stores {} partial sums into {}, which has room for {}", p_.name, said(t), parts, b.name,
         b.partials);
  if (c.kind == ContextKind::fragment && summed_.insert(task.context).second)
    rows(t, c);
  else if (c.kind == ContextKind::fragment)
    return;
  else if (c.kind == ContextKind::lanes)
    groups(t, c);
  else
    fail("{}: {} adds up sums in {}", p_.name, said(t), print(c));
}

/// The lanes of a row and the warps along N hold it: every element of it once, in the line that is stored as its row.
void RegisterProof::rows(int t, const Context& c) const {
  const int lanes = c.row->c.layout.threads[0].shape;  // along N
  std::vector<int> summed(static_cast<std::size_t>(graph::size(c.domain)), 0);
  for (int slice = 0; slice < c.slices; ++slice) {
    const RegisterLayout layout = this->layout(c, slice);
    for_each(layout, [&](int thread, int value, const Shape& at) {
      if (!inside(at, c.domain)) return;
      // The first of the lanes stores the row that its own value of this number lies in.
      const Shape stored = layout.at(thread / lanes * lanes, value);
      if (!std::equal(at.begin(), at.end() - 1, stored.begin()))
        fail("{}: value {} of thread {} in {} is {}, and its sum is stored with the row of {}", p_.name,
             value, thread, said(t), to_string(at), to_string(stored));
      ++summed[static_cast<std::size_t>(linear(at, c.domain))];
    });
  }
  for (std::size_t i = 0; i < summed.size(); ++i)
    if (summed[i] != 1)
      fail("{}: {} adds element {} {} times", p_.name, said(t),
           to_string(coordinates(static_cast<std::int64_t>(i), c.domain)), summed[i]);
}

/// `lanes` neighbours share an output and add over shuffles: they lie in one warp, whole chunks theirs in turn.
void RegisterProof::groups(int t, const Context& c) const {
  if (c.lanes < 1 || 32 % c.lanes != 0 || c.lanes * c.splits > p_.threads() / 32 * 32)
    fail("{}: {} adds up over {} lanes in each of {} groups, in a block of {} threads", p_.name, said(t),
         c.lanes, c.splits, p_.threads());
  if (c.length % c.vector != 0) fail("{}: {} takes {} summands by {}", p_.name, said(t), c.length, c.vector);
}

}  // namespace zellige::plan
