#include "plan/verify_registers.hpp"

#include <algorithm>
#include <set>

#include "plan/contexts.hpp"
#include "plan/registers.hpp"
#include "target/instructions.hpp"

namespace zellige::plan {
namespace {

/// What a task left in registers: accumulators and states, A fragments, or a reduction's sums.
struct Held {
  int task = -1;
  bool carried = false;  // declared before the loop
};

/// Runs the tasks in the kernel's order, two iterations of a loop, with what lies in registers at each.
class Registers {
 public:
  Registers(const KernelPlan& plan, const target::Target& target) : plan_(plan), p_(plan.program), target_(target) {}

  void run() {
    for (std::size_t t = 0; t < plan_.tasks.size(); ++t)
      if (const Task& task = plan_.tasks[t]; task.buffer >= 0 && task.kind != TaskKind::to_global) writer_[task.buffer] = static_cast<int>(t);
    if (p_.loop > 1) {
      for (std::size_t t = 0; t < plan_.tasks.size(); ++t) declare(static_cast<int>(t));
      section_ = Section::inside;
      for (int iteration = 0; iteration < 2; ++iteration) {
        forget();
        for (const auto& phase : plan_.inside) run(phase);
      }
      forget();
    }
    section_ = Section::after;
    for (const auto& phase : plan_.after) run(phase);
  }

 private:
  const Node& node(int i) const { return p_.nodes[i]; }
  const Context& context(const Task& t) const { return plan_.contexts[t.context]; }
  std::string said(int t) const {
    const Task& task = plan_.tasks[t];
    return fmt::format("'{} %{}'", name(task.kind), task.node);
  }

  const Instruction& mma(DType dtype) const {
    const char* name = dtype == DType::bf16 ? "SM80_16x8x16_F32BF16BF16F32_TN" : "SM80_16x8x16_F32F16F16F32_TN";
    const Instruction* row = target::find_instruction(target_, name);
    if (!row) fail("{}: {} has no {}", p_.name, target_.name, name);
    return *row;
  }
  RegisterLayout layout(const Context& c, int slice = 0) const { return registers(c, p_.threads(), mma(DType::f16), slice); }

  void declare(int t) {
    const Task& task = plan_.tasks[t];
    const Node& n = node(task.node);
    if (task.kind == TaskKind::mma && n.carried) accumulators_[task.node] = {t, true};
    if (task.kind == TaskKind::reduce && n.carried) sums_[task.node] = {t, true};
    if (task.kind != TaskKind::accumulate || task.buffer >= 0) return;
    accumulators_[task.node] = {t, true};
    for (int reader : p_.consumers(task.node))
      if (node(reader).kind == NodeKind::running_diff) accumulators_[reader] = {t, true};
  }

  void forget() {
    for (auto* held : {&accumulators_, &fragments_, &sums_})
      std::erase_if(*held, [](const auto& entry) { return !entry.second.carried; });
  }

  void run(const std::vector<int>& phase) {
    for (std::size_t i = 0; i < phase.size(); ++i) {
      const int t = phase[i];
      task(t);
      const Task& product = plan_.tasks[t];
      if (product.kind != TaskKind::mma || context(product).slices == 1) continue;
      // A slice leaves with the tasks right behind; then the next one takes its registers.
      while (i + 1 < phase.size() && plan_.tasks[phase[i + 1]].context == product.context &&
             plan_.tasks[phase[i + 1]].kind != TaskKind::finish && plan_.tasks[phase[i + 1]].kind != TaskKind::mma)
        task(phase[++i]);
      accumulators_.erase(product.node);
    }
  }

  void task(int t) {
    const Task& task = plan_.tasks[t];
    const Node& n = node(task.node);
    if (task.kind != TaskKind::copy_in && task.section != section_)
      fail("{}: {} belongs {} the loop and runs {}", p_.name, said(t), name(task.section), name(section_));
    seen_.clear();
    switch (task.kind) {
      case TaskKind::copy_in: return;
      case TaskKind::mma: return product(t);
      case TaskKind::to_operand:
        read(t, n.in[0], true);
        fragments_[task.node] = {t, false};
        return;
      case TaskKind::to_shared:
        if (n.kind == NodeKind::round || n.kind == NodeKind::store) read(t, n.in[0], true);
        else spilled(t);
        return;
      case TaskKind::to_global:
        if (task.buffer < 0) read(t, n.in[0], true);
        else buffer(t, task.buffer, true);
        return;
      case TaskKind::accumulate:
        for (int in : n.in) read(t, in, node(in).shape == context(task).domain);
        if (task.buffer < 0) state(t, accumulators_, task.node);
        return;
      case TaskKind::reduce:
        for (int in : n.in) read(t, in, n.kind == NodeKind::reduce);  // a product's operands lie elsewhere
        if (n.carried) state(t, sums_, task.node);
        else sums_[task.node] = {t, false};
        return;
      case TaskKind::finish: return finish(t);
    }
  }

  /// A state of the loop is in the registers in which the loop found it.
  void state(int t, const std::map<int, Held>& held, int node) {
    const auto at = held.find(node);
    if (at == held.end()) fail("{}: {} adds to a state of %{} that nothing declares before the loop", p_.name, said(t), node);
    agree(at->second.task, t, node, true);
  }

  // --- reads -------------------------------------------------------------------------------------------------------

  /// Task t evaluates node x; `own`: at its context's own coordinates.
  void read(int t, int x, bool own) {
    if (!seen_.insert({x, own}).second) return;
    const Node& n = node(x);
    switch (n.kind) {
      case NodeKind::map:
        for (int in : n.in) read(t, in, own && node(in).shape == n.shape);
        return;
      case NodeKind::slice:
      case NodeKind::concat:
        for (int in : n.in) read(t, in, false);
        return;
      default: return leaf(t, x, own);
    }
  }

  /// Where the kernel takes a leaf's value from: its registers, or its buffer.
  void leaf(int t, int x, bool own) {
    const Task& task = plan_.tasks[t];
    const Node& n = node(x);
    if (const auto direct = plan_.direct.find(x); direct != plan_.direct.end() && direct->second) return;
    const auto c = plan_.context_of.find(x);
    const bool late = n.carried || n.kind == NodeKind::accumulate;
    const bool lanes = context(task).kind == ContextKind::lanes;
    if (c != plan_.context_of.end() && c->second == task.context && own && !lanes && n.kind != NodeKind::round &&
        (late ? Section::after : n.section) == section_ && n.shape == context(task).domain)
      return in_registers(t, x);
    stored(t, x, own);
  }

  /// What task t reads of node x is in shared memory; where no barrier is said to be owed, its threads wrote it themselves.
  void stored(int t, int x, bool own) const {
    const auto b = plan_.buffer_of.find(x);
    if (b == plan_.buffer_of.end())
      fail("{}: {} reads %{}, which lies neither in its registers nor in shared memory", p_.name, said(t), x);
    buffer(t, b->second, own);
  }

  void buffer(int t, int b, bool own) const {
    const Task& task = plan_.tasks[t];
    const auto w = writer_.find(b);
    if (w == writer_.end()) fail("{}: {} reads {}, which no task writes", p_.name, said(t), plan_.buffers[b].name);
    const auto names = [&](const std::vector<int>& list) { return std::find(list.begin(), list.end(), w->second) != list.end(); };
    if (names(task.after_same) && !names(task.after)) same_thread(t, b, own);
  }

  void in_registers(int t, int x) {
    const auto held = accumulators_.find(x);
    if (held == accumulators_.end())
      fail("{}: {} reads %{} in registers, where no task before it in this section leaves it", p_.name, said(t), x);
    agree(held->second.task, t, x, false);
  }

  /// Values of node x as `writer` left them, against the coordinates that `reader` takes them for.
  void agree(int writer, int reader, int x, bool partial) {
    const Context &from = context(plan_.tasks[writer]), &to = context(plan_.tasks[reader]);
    if (from.kind == ContextKind::lanes || to.kind == ContextKind::lanes) {
      if (from == to) return;
      fail("{}: {} takes sums of %{} in {}, {} leaves them in {}", p_.name, said(reader), x, print(to), said(writer), print(from));
    }
    if (from.kind == ContextKind::fragment && from.warps.k > 1 && !partial)
      fail("{}: {} reads %{} in registers, where {} leaves sums over one of {} parts of K in each", p_.name, said(reader), x,
           said(writer), from.warps.k);
    if (!agreed_.insert({plan_.tasks[writer].context, plan_.tasks[reader].context}).second) return;
    const RegisterLayout left = layout(from), taken = layout(to);
    for (int thread = 0; thread < taken.threads; ++thread)
      for (int value = 0; value < taken.values; ++value) {
        const Shape wanted = taken.at(thread, value);
        const bool there = thread < left.threads && value < left.values;
        const Shape found = there ? left.at(thread, value) : Shape{};
        if (wanted != found) clash(writer, reader, x, thread, value, found, wanted);
      }
  }

  [[noreturn]] void clash(int writer, int reader, int x, int thread, int value, const Shape& found, const Shape& wanted) const {
    fail("{}: value {} of thread {} is {} of %{} after {}, and {} takes it for {}", p_.name, value, thread,
         found.empty() ? "no element" : to_string(found), x, said(writer), said(reader),
         wanted.empty() ? "no element" : to_string(wanted));
  }

  /// A spill moves its own node's registers, partial sums as they are.
  void spilled(int t) {
    const Task& task = plan_.tasks[t];
    const auto held = accumulators_.find(task.node);
    if (held == accumulators_.end())
      fail("{}: {} stores registers that no task before it in this section leaves", p_.name, said(t));
    agree(held->second.task, t, task.node, true);
    const int parts = context(task).kind == ContextKind::fragment ? context(task).warps.k : 1;
    if (plan_.buffers[task.buffer].partials != parts)
      fail("{}: {} stores {} partial sums into {}, which has room for {}", p_.name, said(t), parts,
           plan_.buffers[task.buffer].name, plan_.buffers[task.buffer].partials);
  }

  /// No barrier lies between: every element that a thread reads, past the tile its last one, it wrote itself.
  void same_thread(int t, int b, bool own) const {
    const int w = writer_.at(b);
    const Shape& shape = plan_.buffers[b].shape;
    const Context &from = context(plan_.tasks[w]), &to = context(plan_.tasks[t]);
    if (!own)
      fail("{}: {} reads {} without a barrier behind {}, at coordinates that are not its threads' own", p_.name, said(t),
           plan_.buffers[b].name, said(w));
    if (from.kind != ContextKind::sweep || plan_.buffers[b].partials > 1)
      fail("{}: {} reads {} without a barrier behind {}, whose elements come from several threads: {}", p_.name, said(t),
           plan_.buffers[b].name, said(w), print(from));
    std::map<Shape, int> owner;
    const RegisterLayout wrote = layout(from);
    for (int thread = 0; thread < wrote.threads; ++thread)
      for (int value = 0; value < wrote.values; ++value) owner.try_emplace(wrote.at(thread, value), thread);
    const auto check = [&](int thread, int value, const Shape& at) {
      if (at.empty()) return;
      Shape element = at;
      for (std::size_t d = 0; d < shape.size(); ++d) element[d] = std::min(at[d], shape[d] - 1);
      const auto found = owner.find(element);
      if (found != owner.end() && found->second == thread) return;
      fail("{}: value {} of thread {} in {} is {}, for which it reads {} of {} without a barrier behind {}, where thread {} wrote it",
           p_.name, value, thread, said(t), to_string(at), to_string(element), plan_.buffers[b].name, said(w),
           found == owner.end() ? -1 : found->second);
    };
    if (to.kind == ContextKind::lanes) {
      for_each_held(to, p_.threads(), [&](int thread, const Shape& at) { check(thread, 0, at); });
      return;
    }
    const RegisterLayout reads = layout(to);
    for (int thread = 0; thread < reads.threads; ++thread)
      for (int value = 0; value < reads.values; ++value) check(thread, value, reads.at(thread, value));
  }

  // --- products ----------------------------------------------------------------------------------------------------

  void product(int t) {
    const Task& task = plan_.tasks[t];
    const Context& c = context(task);
    const MatmulChoice& choice = plan_.matmuls.at(task.node);
    const WarpLayout &w = c.warps, &chosen = choice.warps;
    if (w != chosen)
      fail("{}: {} runs under warps {}x{}x{}x{}, {}x{}x{}x{} were chosen (batch, M, N, K)", p_.name, said(t), w.b, w.m, w.n, w.k,
           chosen.b, chosen.m, chosen.n, chosen.k);
    if (c.domain != node(task.node).shape)
      fail("{}: {} has accumulators of {}; its product is {}", p_.name, said(t), to_string(c.domain), to_string(node(task.node).shape));
    if (w.count() * 32 > p_.threads())
      fail("{}: {} runs under {} warps of 32 threads; the block has {} threads", p_.name, said(t), w.count(), p_.threads());
    if (covered_.insert(task.context).second) covers(t);
    if (choice.a_from >= 0) chained(t);
    else stored(t, node(task.node).in[0], false);  // ldmatrix: other threads' elements
    stored(t, node(task.node).in[1], false);
    if (node(task.node).carried) return state(t, accumulators_, task.node);
    accumulators_[task.node] = {t, false};
  }

  /// Every element of C is in one thread for each of the warps along K.
  void covers(int t) const {
    const Context& c = context(plan_.tasks[t]);
    std::vector<int> held(static_cast<std::size_t>(graph::size(c.domain)), 0);
    for (int slice = 0; slice < c.slices; ++slice) {
      const RegisterLayout layout = this->layout(c, slice);
      for (int thread = 0; thread < layout.threads; ++thread)
        for (int value = 0; value < layout.values; ++value) {
          const Shape at = layout.at(thread, value);
          if (inside(at, c.domain)) ++held[static_cast<std::size_t>(linear(at, c.domain))];
        }
    }
    for (std::size_t i = 0; i < held.size(); ++i)
      if (held[i] != c.warps.k)
        fail("{}: element {} of {} is in {} threads' accumulators; it must be in {}", p_.name,
             to_string(coordinates(static_cast<std::int64_t>(i), c.domain)), said(t), held[i], c.warps.k);
  }

  static bool inside(const Shape& at, const Shape& shape) {
    bool in = at.size() == shape.size();
    for (std::size_t d = 0; in && d < shape.size(); ++d) in = at[d] < shape[d];
    return in;
  }

  /// A in registers: each fragment is the one that the instruction takes there, and all of K is multiplied once.
  void chained(int t) {
    const Task& task = plan_.tasks[t];
    const Node& n = node(task.node);
    const int operand = n.in[0];
    const auto held = fragments_.find(operand);
    if (held == fragments_.end())
      fail("{}: {} takes %{} as fragments, which no task before it in this section leaves in registers", p_.name, said(t), operand);
    const Shape& a = node(operand).shape;
    const Context &from = context(plan_.tasks[held->second.task]), &c = context(task);
    if (from.kind != ContextKind::fragment || from.domain != a || from.slices != 1)
      fail("{}: {} leaves %{} in {}, which are no fragments of {}", p_.name, said(held->second.task), operand, print(from), to_string(a));
    if (!multiplied_.insert(t).second) return;
    const Instruction& row = mma(node(operand).dtype);
    if (a.back() % row.k != 0)
      fail("{}: {} takes %{} in registers, whose K of {} is no multiple of {}", p_.name, said(t), operand, a.back(), row.k);
    const RegisterLayout left = layout(from), taken = a_fragments(a, from.warps, c.warps, row);
    if (left.values != taken.values)
      fail("{}: {} leaves {} values of %{} in each thread, {} takes {}", p_.name, said(held->second.task), left.values, operand, said(t), taken.values);
    const int columns = c.warps.n;  // warps along N multiply all of K each
    std::vector<int> multiplied(static_cast<std::size_t>(graph::size(a) * columns), 0);
    for (int thread = 0; thread < taken.threads; ++thread)
      for (int value = 0; value < taken.values; ++value) {
        const Shape wanted = taken.at(thread, value);
        if (!inside(wanted, a)) continue;
        const Shape found = thread < left.threads ? left.at(thread, value) : Shape{};
        if (wanted != found) clash(held->second.task, t, operand, thread, value, found, wanted);
        ++multiplied[static_cast<std::size_t>(linear(wanted, a) * columns + warp_coordinate(c.warps, thread / 32).n)];
      }
    for (int thread = 0; thread < left.threads; ++thread)
      for (int value = 0; value < left.values; ++value) {
        const Shape at = left.at(thread, value);
        if (!inside(at, a)) continue;
        for (int column = 0; column < columns; ++column)
          if (const int times = multiplied[static_cast<std::size_t>(linear(at, a) * columns + column)]; times != 1)
            fail("{}: value {} of thread {} is {} of %{} after {}, and {} multiplies that element {} times: its warps take K in {} "
                 "parts, {} leaves it in {}",
                 p_.name, value, thread, to_string(at), operand, said(held->second.task), said(t), times, c.warps.k,
                 said(held->second.task), from.warps.n);
      }
  }

  // --- sums --------------------------------------------------------------------------------------------------------

  void finish(int t) {
    const Task& task = plan_.tasks[t];
    const auto held = sums_.find(task.node);
    if (held == sums_.end()) fail("{}: {} adds up sums that no task before it in this section leaves", p_.name, said(t));
    const Task& from = plan_.tasks[held->second.task];
    if (from.context != task.context) agree(held->second.task, t, task.node, true);
    const Context& c = context(task);
    const int parts = c.kind == ContextKind::fragment ? c.warps.n : c.splits;
    const Buffer& b = plan_.buffers[task.buffer];
    if (b.partials != parts)
      fail("{}: {} stores {} partial sums into {}, which has room for {}", p_.name, said(t), parts, b.name, b.partials);
    if (c.kind == ContextKind::fragment && summed_.insert(task.context).second) rows(t, c);
    else if (c.kind == ContextKind::fragment) return;
    else if (c.kind == ContextKind::lanes) groups(t, c);
    else fail("{}: {} adds up sums in {}", p_.name, said(t), print(c));
  }

  /// Four lanes and the warps along N hold a row: every element of it once, each in the line that is stored as its row.
  void rows(int t, const Context& c) const {
    std::vector<int> summed(static_cast<std::size_t>(graph::size(c.domain)), 0);
    for (int slice = 0; slice < c.slices; ++slice) {
      const RegisterLayout layout = this->layout(c, slice);
      for (int thread = 0; thread < layout.threads; ++thread)
        for (int value = 0; value < layout.values; ++value) {
          const Shape at = layout.at(thread, value);
          if (!inside(at, c.domain)) continue;
          // The first of the four lanes stores the row that its own value of this number lies in.
          const Shape stored = layout.at(thread / 4 * 4, value);
          if (!std::equal(at.begin(), at.end() - 1, stored.begin()))
            fail("{}: value {} of thread {} in {} is {}, and its sum is stored with the row of {}", p_.name, value, thread, said(t),
                 to_string(at), to_string(stored));
          ++summed[static_cast<std::size_t>(linear(at, c.domain))];
        }
    }
    for (std::size_t i = 0; i < summed.size(); ++i)
      if (summed[i] != 1)
        fail("{}: {} adds element {} {} times", p_.name, said(t), to_string(coordinates(static_cast<std::int64_t>(i), c.domain)), summed[i]);
  }

  /// `lanes` neighbours share an output and add over shuffles: they lie in one warp, and whole chunks are theirs in turn.
  void groups(int t, const Context& c) const {
    if (c.lanes < 1 || 32 % c.lanes != 0 || c.lanes * c.splits > p_.threads() / 32 * 32)
      fail("{}: {} adds up over {} lanes in each of {} groups, in a block of {} threads", p_.name, said(t), c.lanes, c.splits, p_.threads());
    if (c.length % c.vector != 0) fail("{}: {} takes {} summands by {}", p_.name, said(t), c.length, c.vector);
  }

  const KernelPlan& plan_;
  const BlockProgram& p_;
  const target::Target& target_;
  Section section_ = Section::inside;
  std::map<int, Held> accumulators_, fragments_, sums_;  // by node
  std::map<int, int> writer_;                            // buffer -> task
  std::set<std::pair<int, bool>> seen_;                  // what the task at hand has evaluated
  std::set<std::pair<int, int>> agreed_;                 // contexts, compared
  std::set<int> covered_, summed_, multiplied_;          // contexts, and tasks, proved already
};

}  // namespace

void verify_registers(const KernelPlan& plan, const target::Target& target) { Registers(plan, target).run(); }

}  // namespace zellige::plan
