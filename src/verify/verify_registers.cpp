#include "verify/verify_registers.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "kernel/carry.hpp"
#include "kernel/leaves.hpp"
#include "kernel/tensor_map.hpp"
#include "selection/warpgroups.hpp"
#include "verify/register_proof.hpp"
#include "verify/verify_limits.hpp"

namespace zellige::verify {
namespace {

/// What a set of registers holds (accumulators, a loop state, A fragments or partial results): the work that left it.
struct RegisterValue {
  const kernel::Work* work = nullptr;
  bool carried = false;  // a loop state, declared before the loop
};

/// Executes the works of the steps in order, two iterations of each loop, and follows which work left what in registers.
class RegisterFlow {
 public:
  explicit RegisterFlow(const kernel::Kernel& plan) : plan_(plan), p_(plan.program), sections_(p_), proof_(plan) {}

  /// Executes the schedule. Throws Rejected if a work reads registers that do not contain the values that it expects.
  void run() {
    for (const kernel::Work& work : kernel::works(plan_))
      if (work.buffer >= 0 && work.kind != kernel::WorkKind::to_global) writers_[work.buffer].push_back(work);
    for (const kernel::Agent& agent : plan_.agents) {
      agent_ = &agent;
      started_.clear(), in_flight_.clear();
      asynchronous_ = kernel::find_step(agent.steps, [](const kernel::Step& s) { return kernel::as<kernel::Mma>(s); });
      const bool loops = kernel::find_step(agent.steps, [](const kernel::Step& s) {
        const kernel::Loop* loop = kernel::as<kernel::Loop>(s);
        return loop && loop->kind == kernel::Loop::iterations;
      });
      section_ = loops ? tile::Section::before : tile::Section::after;
      run(agent.steps);
      next_iteration();
    }
  }

 private:
  const tile::Node& node(int i) const { return p_.nodes[i]; }
  const kernel::Context& context(const kernel::Work& t) const { return plan_.layout_of(t); }
  /// Throws Rejected with the kernel, work `t` and the given reason.
  template <class... T>
  [[noreturn]] void wrong(const kernel::Work& t, fmt::format_string<T...> why, T&&... with) const {
    reject("{}: {} {}", p_.name, describe(t), fmt::format(why, std::forward<T>(with)...));
  }
  /// Returns the access to tensor b in the list; nullptr if there is none.
  static const kernel::Access* names(const std::vector<kernel::Access>& list, int b) {
    const auto at = std::ranges::find(list, b, &kernel::Access::tensor);
    return at == list.end() ? nullptr : &*at;
  }

  /// Records that a `start` step has declared the registers of a loop state, of accumulators or of partial results.
  void declare(const kernel::Work& t) {
    if (t.kind == kernel::WorkKind::mma) accumulators_[t.node] = {&t, true};
    if (t.kind == kernel::WorkKind::reduce) sums_[t.node] = {&t, p_.nodes[t.node].carried};
    if (t.kind != kernel::WorkKind::accumulate || t.buffer >= 0) return;
    accumulators_[t.node] = {&t, true};
    for (int reader : p_.consumers(t.node))
      if (node(reader).kind == tile::NodeKind::running_diff) accumulators_[reader] = {&t, true};
  }

  /// Called at the start and end of an iteration. Forgets the contents of all registers except loop states.
  void forget() {
    updated_.clear();
    for (auto* found : {&accumulators_, &sums_})
      std::erase_if(*found, [](const auto& entry) { return !entry.second.carried; });
  }

  /// Ends an iteration. The A fragments and rescaled accumulators of this iteration become those of the preceding
  /// one, which pipelined matmuls use. Throws Rejected if accumulators were rescaled in the preceding iteration, and
  /// no matmul has added a product to them since then.
  void next_iteration() {
    for (int product : before_.rescaled)
      reject(
          "{}: %{}'s accumulators are multiplied, and no product is added to them before the next iteration "
          "ends",
          p_.name, product);
    before_ = std::exchange(now_, {});
  }

  void run(const std::vector<kernel::Step>& steps) {
    for (const kernel::Step& step : steps)
      kernel::match(
          step, [&](const kernel::Start&) { declare(step.work); }, [&](const kernel::Loop& loop) { run(loop); },
          [&](const kernel::Mma& mma) {
            const tile::Section outside = section_;
            if (mma.peeled) section_ = tile::Section::inside;
            pipelined_ = mma.pipelined;
            if (step.work.node >= 0) work(step), started_.push_back(step.work.node);
            section_ = outside, pipelined_ = false;
          },
          [&](const kernel::OneOf<kernel::Copy, kernel::Compute> auto&) {
            if (step.work.node >= 0) work(step);
          },
          [&](const kernel::Sync&) {
            if (asynchronous_) synchronise(step);
          });
  }

  /// Follows which asynchronous products are in flight: a commit closes the group of those that were started, and a wait ends
  /// all groups but the last ones.
  void synchronise(const kernel::Step& step) {
    const kernel::Commit* commit = kernel::as<kernel::Commit>(step);
    const kernel::WaitGroup* wait = kernel::as<kernel::WaitGroup>(step);
    if ((!commit && !wait) || groups_of(plan_, *agent_, step) != Groups::wgmma) return;
    if (commit)
      in_flight_.push_back(std::exchange(started_, {}));
    else if (const auto pending = static_cast<std::size_t>(wait->pending); in_flight_.size() > pending)
      in_flight_.erase(in_flight_.begin(), in_flight_.end() - static_cast<std::ptrdiff_t>(pending));
  }
  /// Rejects work t, which touches the accumulators of matmul `node`, or its operand in registers, while it may be in flight.
  void waited_for(const kernel::Work& t, const std::function<bool(int)>& touched) const {
    if (!asynchronous_ || kernel::as<kernel::Mma>(*step_)) return;  // products of one agent are done in order
    std::vector<int> all = started_;
    for (const std::vector<int>& group : in_flight_) all.insert(all.end(), group.begin(), group.end());
    for (const int node : all)
      if (touched(node))
        wrong(t, "touches registers of 'mma %{}', which no wait_group before it in {} has waited for", node,
              agent_->name);
  }

  /// Executes the body of a loop. The loop over iterations is executed twice, and everything but loop states
  /// is forgotten before each iteration. Other loops are executed once.
  void run(const kernel::Loop& loop) {
    if (loop.kind == kernel::Loop::iterations) {
      section_ = tile::Section::inside;
      // A bounded loop may follow another one and run the iterations that the first one left.
      const bool trailing = loop.bounded && loop.from == loop.trip_count;
      const std::int64_t times = trailing ? 2 : std::min<std::int64_t>(2, loop.trip_count - loop.from);
      for (std::int64_t iteration = 0; iteration < times; ++iteration) {
        forget();
        run(loop.body);
        next_iteration();
      }
      forget();
      section_ = tile::Section::after;
      return;
    }
    const std::map<int, RegisterValue> started = sums_;
    run(loop.body);
    // The next slice reuses the accumulators, and starts its own partial results.
    if (loop.kind == kernel::Loop::slices) {
      accumulators_.erase(loop.body.front().work.node);
      std::erase_if(sums_, [&](const auto& sum) { return !started.contains(sum.first); });
    }
  }

  /// Checks the operands of a step's work, and records where its result is.
  void work(const kernel::Step& step) {
    const kernel::Work& t = step.work;
    const tile::Node& n = node(t.node);
    step_ = &step;
    if (t.buffer >= 0 && t.kind != kernel::WorkKind::to_global && !names(step.writes, t.buffer))
      wrong(t, "writes {}, and its step does not say so", plan_.tensors[t.buffer].name);
    if (const tile::Section due = kernel::section_of(t, sections_); !kernel::is_global_load(t.kind) && due != section_)
      wrong(t, "belongs {} the loop and runs {}", tile::name(due), tile::name(section_));
    seen_.clear();
    switch (t.kind) {
      case kernel::WorkKind::copy_in:
        return;
      case kernel::WorkKind::fetch:
        accumulators_[t.node] = {&t, false};
        return;
      case kernel::WorkKind::mma:
        return product(t);
      case kernel::WorkKind::to_operand:
        read(t, n.in[0], kernel::At::own);
        waited_for(t, [&](int product) { return node(product).in[0] == t.node; });
        if (before_.fragments.contains(t.node) && takes_pipelined(t.node))
          wrong(t, "puts %{} where that of the iteration before has not been multiplied yet", t.node);
        now_.fragments[t.node] = {&t, false};
        return;
      case kernel::WorkKind::to_shared:
        if (n.kind == tile::NodeKind::round || n.kind == tile::NodeKind::store)
          read(t, n.in[0], kernel::At::own);
        else
          check_stored(t);
        if (t.copy.row) proof_.in_matrices(t);
        return;
      case kernel::WorkKind::to_global:
        if (plan_.split_k && t.part < 0)
          wrong(t, "stores all columns of a tile of which this rank has partial results of its own part");
        if (plan_.split_k) stores_columns(t);
        if (t.buffer < 0)
          read(t, n.in[0], kernel::At::own);
        else
          buffer(t, t.buffer, true);
        return;
      case kernel::WorkKind::accumulate:
        for (int in : n.in) read(t, in, kernel::narrowed(kernel::At::own, node(in).shape, context(t).domain));
        if (t.buffer < 0) state(t, accumulators_, t.node);
        updated_.insert(t.node);
        return;
      case kernel::WorkKind::to_lines:
      case kernel::WorkKind::to_registers:
        read(t, t.node, kernel::At::own);
        accumulators_[t.node] = {&t, false};
        return;
      case kernel::WorkKind::rescale:
        read(t, kernel::rescaled_by(n),
             kernel::narrowed(kernel::At::own, node(kernel::rescaled_by(n)).shape, context(t).domain));
        state(t, accumulators_, t.node);
        if (!now_.rescaled.insert(t.node).second)
          wrong(t, "multiplies its accumulators a second time before the product is added");
        return;
      case kernel::WorkKind::reduce:
        for (int in : n.in)  // a matmul's operands are read elsewhere
          read(t, in, n.kind == tile::NodeKind::reduce ? kernel::At::own : kernel::At::elsewhere);
        if (n.carried)
          state(t, sums_, t.node);
        else
          sums_[t.node] = {&t, false};
        return;
      case kernel::WorkKind::finish:
        return finish(t);
      case kernel::WorkKind::to_cluster:
        return state(t, accumulators_, t.node);
      case kernel::WorkKind::from_cluster:
        state(t, accumulators_, t.node);
        buffer(t, step.reads.front().tensor, true);
        proof_.in_columns(t, plan_.ranks);
        whole_ = true;
        return;
    }
  }

  /// Rejects a store by the ranks of a cluster unless the part of each is the columns whose partial results it adds up.
  void stores_columns(const kernel::Work& t) const {
    const graph::Shape& shape = node(t.node).shape;
    const int last = static_cast<int>(shape.size()) - 1;
    const kernel::SmemTensor* b = t.buffer < 0 ? nullptr : &plan_.tensors[t.buffer];
    if (!b || t.part != last || shape[last] % plan_.ranks != 0 ||
        (b->inner == last && kernel::boxes_of_rank(plan_, t) * b->box() * plan_.ranks != shape[last]))
      wrong(t, "stores parts of a tile that are not the {} columns of each of {} ranks", shape[last] / plan_.ranks,
            plan_.ranks);
  }

  /// Rejects work t unless a `start` step has declared the state of `node`, and t has it in the same registers.
  void state(const kernel::Work& t, const std::map<int, RegisterValue>& found, int node) {
    const auto at = found.find(node);
    if (at == found.end()) wrong(t, "adds to a state of %{} that nothing declares before the loop", node);
    waited_for(t, [&](int product) { return product == node; });
    proof_.agree(*at->second.work, t, node, true);
  }

  /// Rejects work t unless it can evaluate node x. `at` says at which coordinates a thread needs x: those of its own
  /// elements, those of its elements' rows, those of the same elements in the other matrix of a pair, or elsewhere.
  void read(const kernel::Work& t, int x, kernel::At at) {
    if (!seen_.insert({x, at}).second) return;
    const tile::Node& n = node(x);
    if (n.kind == tile::NodeKind::map && plan_.rmem_of(x) >= 0 && t.node != x) return leaf(t, x, at);
    switch (n.kind) {
      case tile::NodeKind::map:
        for (int in : n.in) read(t, in, kernel::narrowed(at, node(in).shape, n.shape));
        return;
      case tile::NodeKind::rotate:
        for (bool itself : {true, false}) read(t, n.in[0], kernel::rotated(at, n, itself));
        for (int table : {n.in[1], n.in[2]}) read(t, table, kernel::At::elsewhere);
        return;
      case tile::NodeKind::slice:
      case tile::NodeKind::concat:
      case tile::NodeKind::permute:
        for (int in : n.in) read(t, in, kernel::At::elsewhere);
        return;
      default:
        return leaf(t, x, at);
    }
  }

  /// Rejects work t unless it can read the value of node x, which t does not compute itself. The value must be in the
  /// thread's registers, in a buffer in shared memory, or in global memory. `at` is as in read().
  void leaf(const kernel::Work& t, int x, kernel::At at) {
    const tile::Node& n = node(x);
    if (plan_.split_k && n.carried && section_ == tile::Section::after && !whole_)
      wrong(t, "reads accumulators %{} of a slice of K, before those of the other {} came", x,
            plan_.ranks == 2 ? "rank" : "ranks");
    // A load that another work holds in registers is read from there.
    const bool in_registers = plan_.rmem_of(x) >= 0 && t.node != x;
    if (plan_.in_place(x) && !in_registers) return;
    if (const int c = plan_.rmem_of(x);
        c >= 0 && n.kind != tile::NodeKind::round && sections_.complete(x) == section_) {
      if (c == t.context && at == kernel::At::own && n.shape == context(t).domain)
        return proof_.agree(left(t, x), t, x, false);
      if (c == t.context && at == kernel::At::pair && n.shape == context(t).domain && kernel::whole_pairs(context(t)))
        return proof_.in_pairs(left(t, x), t, x);
      if ((at == kernel::At::own || at == kernel::At::row) && kernel::lines_of(plan_.rmem[c].layout, context(t)))
        return proof_.in_lines(left(t, x), t, x);
    }
    stored(t, x, at == kernel::At::own);
  }

  /// Rejects work t unless the value of node x is in a buffer that t may read; `own` is as in buffer().
  void stored(const kernel::Work& t, int x, bool own) const {
    const int b = plan_.tensor_of(x);
    if (b < 0) wrong(t, "reads %{}, which lies neither in its registers nor in shared memory", x);
    buffer(t, b, own);
  }

  /// Rejects work t unless another work writes buffer b, and t may read b: either there is a barrier before t, or each
  /// thread reads only elements that the same thread wrote. `own` says whether a thread reads exactly the coordinates
  /// of its own elements in t's thread-value layout.
  void buffer(const kernel::Work& t, int b, bool own) const {
    const auto w = writers_.find(b);
    if (w == writers_.end()) wrong(t, "reads {}, which no step writes", plan_.tensors[b].name);
    const kernel::Access* read = names(step_->reads, b);
    if (!read) wrong(t, "reads {}, and its step does not say so", plan_.tensors[b].name);
    if (read->same_thread)
      for (const kernel::Work& writer : w->second) proof_.same_thread(t, writer, b, own);
  }

  /// Returns the work that left the value of node x in registers for work t. Rejects t if there is no such work, or if
  /// x is a loop state that has not been updated in this iteration.
  const kernel::Work& left(const kernel::Work& t, int x) const {
    const auto found = accumulators_.find(x);
    const int root = node(x).kind == tile::NodeKind::running_diff ? node(x).in[0] : x;
    const bool stale = section_ == tile::Section::inside && found != accumulators_.end() && found->second.carried &&
                       node(x).kind != tile::NodeKind::matmul && !updated_.count(root);
    if (found == accumulators_.end() || stale)
      wrong(t, "reads %{} in registers, where no step before it in this section leaves it", x);
    waited_for(t, [&](int product) { return product == x; });
    return *found->second.work;
  }

  /// Returns whether a pipelined matmul, which runs one iteration after its operands were computed, reads `operand`.
  bool takes_pipelined(int operand) const {
    return kernel::find_step(plan_, [&](const kernel::Step& step) {
      const kernel::Mma* mma = kernel::as<kernel::Mma>(step);
      return mma && mma->pipelined && step.work.node >= 0 && node(step.work.node).in[0] == operand;
    });
  }

  /// Rejects work t, which stores an operator's result, such as a matmul's accumulators, from registers to shared
  /// memory, unless the registers contain that operator's values, and the buffer has room for the partial results.
  void check_stored(const kernel::Work& t) {
    proof_.agree(left(t, t.node), t, t.node, true);
    const int parts = context(t).replicated() ? 1 : context(t).holders();
    if (plan_.tensors[t.buffer].partials != parts)
      wrong(t, "stores {} partial results into {}, which has room for {}", parts, plan_.tensors[t.buffer].name,
            plan_.tensors[t.buffer].partials);
  }

  /// Rejects matmul work t unless its warps, accumulators, operands and rescaling are those selected; records its
  /// result.
  void product(const kernel::Work& t) {
    const kernel::Context& c = context(t);
    const kernel::MatmulChoice& choice = t.matmul;
    const kernel::WarpLayout w = c.row ? kernel::warps(c) : kernel::WarpLayout{}, &selected = choice.warps;
    if (w != selected)
      wrong(t, "runs under warps {}x{}x{}x{}, {}x{}x{}x{} were selected (batch, M, N, K)", w.b, w.m, w.n, w.k,
            selected.b, selected.m, selected.n, selected.k);
    if (c.domain != node(t.node).shape)
      wrong(t, "has accumulators of {}; its product is {}", graph::to_string(c.domain),
            graph::to_string(node(t.node).shape));
    const bool side_by_side = c.row && choice.row && choice.columns() != choice.n &&
                              selection::leaves_as(*choice.row, *c.row, node(t.node).shape, w);
    if (!c.row || !choice.row || (!kernel::equivalent(*c.row, *choice.row) && !side_by_side))
      wrong(t, "leaves its accumulators as {} does, {} was selected", c.row ? c.row->name : "no instruction",
            choice.row ? choice.row->name : "no instruction");
    if (w.count() * 32 > p_.threads())
      wrong(t, "runs under {} warps of 32 threads; the block has {} threads", w.count(), p_.threads());
    proof_.covers(t);
    if (plan_.has_fragments(t.node))
      fragments(t);
    else
      stored(t, node(t.node).in[0], false);  // ldmatrix: elements of other threads
    stored(t, node(t.node).in[1], false);
    if (kernel::rescaled_by(node(t.node)) >= 0 && (pipelined_ ? before_ : now_).rescaled.erase(t.node) == 0)
      wrong(t, "adds to accumulators that no step before it in {} has multiplied by %{}",
            pipelined_ ? "the iteration before" : "this iteration", kernel::rescaled_by(node(t.node)));
    if (node(t.node).carried) return state(t, accumulators_, t.node);
    accumulators_[t.node] = {&t, false};
  }

  /// Rejects matmul work t unless a preceding work left its A fragments in registers as the instruction expects.
  void fragments(const kernel::Work& t) {
    const int operand = node(t.node).in[0];
    std::map<int, RegisterValue>& left = (pipelined_ ? before_ : now_).fragments;
    const auto found = left.find(operand);
    if (found == left.end())
      wrong(t, "takes %{} as fragments, which no step before it in {} leaves in registers", operand,
            pipelined_ ? "the iteration before" : "this section");
    proof_.chained(t, *found->second.work);
    if (pipelined_) left.erase(found);
  }

  /// Rejects work t, which adds up partial results across lanes, unless earlier work left them and each is added once.
  void finish(const kernel::Work& t) {
    const auto found = sums_.find(t.node);
    if (found == sums_.end()) wrong(t, "adds up partial results that no step before it in this section leaves");
    proof_.sums(t, *found->second.work);
    if (t.buffer < 0) accumulators_[t.node] = {&t, false};
  }

  const kernel::Kernel& plan_;
  const tile::TileProgram& p_;
  tile::Sections sections_;
  RegisterProof proof_;
  tile::Section section_ = tile::Section::inside;
  std::map<int, RegisterValue> accumulators_, sums_;  // by node
  std::map<int, std::vector<kernel::Work>> writers_;  // buffer -> works
  const kernel::Step* step_ = nullptr;                // the step that is checked
  const kernel::Agent* agent_ = nullptr;              // whose steps are executed
  bool asynchronous_ = false;                         // it starts products by wgmma
  std::vector<int> started_;                          // matmuls that no commit has closed in a group
  std::vector<std::vector<int>> in_flight_;           // those in groups that nothing has waited for
  bool whole_ = false;                                // the accumulators include the other ranks' parts of K
  /// What an iteration leaves for pipelined matmuls of the next one.
  struct Left {
    std::map<int, RegisterValue> fragments;  // by node
    std::set<int> rescaled;                  // matmuls whose accumulators have been rescaled but not yet added to
  } now_, before_;
  bool pipelined_ = false;                     // the current step uses what the preceding iteration left
  std::set<int> updated_;                      // states updated in this iteration
  std::set<std::pair<int, kernel::At>> seen_;  // what read() has checked for the current work
};

}  // namespace

void verify_registers(const kernel::Kernel& plan) { RegisterFlow(plan).run(); }

}  // namespace zellige::verify
