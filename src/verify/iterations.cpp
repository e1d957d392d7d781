#include <algorithm>
#include <span>
#include <tuple>

#include "selection/loop_bounds.hpp"
#include "tile/sections.hpp"
#include "verify/proofs.hpp"
#include "verify/rejected.hpp"

namespace zellige::verify {
namespace {

/// What a work does with which node, and the part of a work that has several (kernel/widened.hpp).
struct WorkOfNode {
  WorkKind kind{};
  int node = -1, part = -1;
  explicit WorkOfNode(const Work& w) : kind(w.kind), node(w.node), part(w.kind == WorkKind::to_operand ? w.part : -1) {}
  auto operator<=>(const WorkOfNode&) const = default;
};

/// The iterations from <= i < to in which a step does its work.
struct Done {
  WorkOfNode what;
  std::int64_t from = 0, to = 0;
  auto operator<=>(const Done&) const = default;
};

/// Follows the steps of one warp role.
class RoleIterations {
 public:
  RoleIterations(const Kernel& k, const Agent& agent) : k_(k), agent_(agent), sections_(k.program) {}

  void run() {
    steps(agent_.steps, nullptr, nullptr);
    std::ranges::sort(done_);
    for (std::size_t i = 0, next = 0; i < done_.size(); i = next) {
      while (next < done_.size() && done_[next].what == done_[i].what) ++next;
      check_once(std::span(done_).subspan(i, next - i));
    }
  }

 private:
  bool is_done(const WorkOfNode& what) const { return std::ranges::find(done_, what, &Done::what) != done_.end(); }
  static std::string text(const WorkOfNode& what) {
    return fmt::format("'{} %{}{}'", kernel::name(what.kind), what.node,
                       what.part < 0 ? "" : fmt::format(" part {}", what.part));
  }

  /// Follows the steps of a list, in the loop `over` over iterations or of a prologue, and the loop `slices`; nullptr: none.
  void steps(const std::vector<Step>& list, const Loop* over, const Loop* slices) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Step& step = list[i];
      const Loop* loop = as<Loop>(step);
      if (step.work.node >= 0) (as<Start>(step) ? start(step.work, over) : work(step, over, slices));
      if (!loop) continue;
      if (loop->kind == Loop::slices) {
        if (slices) reject(k_, "{} has a loop over slices in another", agent_.name);
        steps(loop->body, over, loop);
        continue;
      }
      if (over || slices)
        reject(k_, "{} has a loop in a loop over {}; only a loop over tiles has loops in it", agent_.name,
               over ? "iterations" : "slices");
      if (loop->kind == Loop::iterations) check_bounds(list, i), check_ring();
      if (loop->kind == Loop::prologue && loop->bounded != kernel::has_open_loop(k_))
        reject(k_, "{} fills stages of {} iterations before its loop, {}", agent_.name, loop->trip_count,
               loop->bounded ? "of as many as a size leaves (bounded), and none does"
                             : "and a size or a length may leave fewer (bounded)");
      steps(loop->body, loop->kind == Loop::tiles ? nullptr : loop, nullptr);
    }
  }

  /// Notes that the state of a work starts, and rejects one that starts twice, in a loop, or after it was used.
  void start(const Work& w, const Loop* over) {
    const Node& n = k_.program.nodes[w.node];
    const bool in_iteration = w.kind == WorkKind::reduce && !n.carried;
    if (over && !in_iteration) reject(k_, "%{} starts in each iteration, and the loop carries it", w.node);
    if (std::ranges::find(started_, WorkOfNode(w)) != started_.end()) reject(k_, "%{} starts twice", w.node);
    started_.emplace_back(w);
    if (is_done(WorkOfNode(w))) reject(k_, "%{} starts after {}", w.node, describe(w));
  }

  /// Notes in which iterations a step does its work.
  void work(const Step& step, const Loop* over, const Loop* slices) {
    const Work& w = step.work;
    const WorkOfNode what(w);
    check_slices(w, slices);
    if (const Mma* mma = as<Mma>(step)) check_first(*mma, what, over);
    const std::int64_t n = k_.iterations_per_block();
    const int guard_lag = kernel::guard_lag_of(step);
    if (kernel::section_of(w, sections_) != Section::inside) {
      if (over || guard_lag > 0)
        reject(k_, w, "belongs {} the loop, once, and is in a loop of {}, or runs ahead of one",
               tile::name(kernel::section_of(w, sections_)), agent_.name);
      done_.push_back({what, 0, n});
      return;
    }
    if (!over) {
      if (guard_lag > 0) reject(k_, w, "runs {} iterations ahead, and is in no loop", guard_lag);
      done_.push_back({what, 0, 1});
    } else if (over->kind == Loop::prologue) {
      if (guard_lag > 0) reject(k_, w, "runs {} iterations ahead in a prologue", guard_lag);
      done_.push_back({what, over->from, over->trip_count});
    } else {
      const std::int64_t lag = as<Mma>(step) && !step.reads.empty() ? step.reads.front().lag : guard_lag;
      const std::int64_t end = over->trip_count + lag;
      done_.push_back({what, over->from + lag, guard_lag > 0 ? std::min(end, n) : end});
    }
  }

  /// Rejects an asynchronous product that overwrites its accumulators and is not the first of its sum, or the other way round.
  void check_first(const Mma& mma, const WorkOfNode& what, const Loop* over) {
    const bool first = !is_done(what), carried = k_.program.nodes[what.node].carried;
    const bool begins = find_step(agent_.steps, [&](const Step& s) {
      const Mma* of = as<Mma>(s);
      return of && of->peeled && s.work.node == what.node;
    });
    const bool once = !over || (over->kind == Loop::iterations && over->from == 0 && over->trip_count == 1);
    if (mma.peeled && (!once || !carried || !first))
      reject(k_, "{} overwrites its accumulators (peeled), and is not the first product of a sum, before its loop",
             text(what));
    if (begins && first && !mma.peeled)
      reject(k_, "{} adds to accumulators that its first product, a later one, overwrites (peeled)", text(what));
  }

  /// Rejects a work whose layout has several slices outside of a loop over them.
  void check_slices(const Work& w, const Loop* slices) const {
    const std::int64_t passes = w.context < 0 || w.kind == WorkKind::finish ? 1 : k_.layout_of(w).repeats();
    const std::int64_t trip_count = slices ? slices->trip_count : 1;
    if (passes != trip_count) reject(k_, w, "has a layout of {} slices, and is in a loop over {}", passes, trip_count);
  }

  /// Rejects a second loop over iterations of a block that counts the stages of its rings by itself: from the first iteration to
  /// the last, in one loop.
  void check_ring() {
    const bool round = !k_.warp_specialized() && k_.stages() > 1 && k_.stages() < k_.program.loop;
    if (++loops_ > 1 && round)
      reject(k_, "{} has {} loops over iterations, and counts {} stages in one", agent_.name, loops_, k_.stages());
  }

  /// Rejects the loop over iterations number `at` of a list unless its bounds depend on a mask as Kernel::loop_bounds says.
  void check_bounds(const std::vector<Step>& list, std::size_t at) const {
    const Loop& loop = *as<Loop>(list[at]);
    const std::optional<kernel::MaskedLoopBounds>& of = k_.loop_bounds;
    const std::int64_t n = k_.iterations_per_block();
    const bool one = loop.trip_count == loop.from + 1 && (loop.from == 0 || loop.from == n) && n > 1;
    const bool sized = k_.program.has_sized_loop();
    if (loop.bounded != ((of || sized) && !(one && !loop.bounded)))
      reject(k_, "{} has a loop from {} to {} whose bounds {} on a {}; {}", agent_.name, loop.from, loop.trip_count,
             loop.bounded ? "depend" : "do not depend", sized ? "size" : "mask",
             sized ? "the number of iterations is known at launch"
             : of  ? "a mask leaves some blocks fewer iterations"
                   : "no mask lets blocks skip iterations");
    const Loop* before = at == 0 ? nullptr : as<Loop>(list[at - 1]);
    const bool follows = before && before->kind == Loop::iterations && before->whole;
    const bool trailing = loop.bounded && loop.from == loop.trip_count;
    if (loop.whole && !(loop.bounded && of && of->all))
      reject(k_, "{} has a loop over iterations without a mask (whole), of which the bounds say nothing", agent_.name);
    if (trailing != follows || (follows && before->trip_count != loop.trip_count) ||
        (loop.whole && (at + 1 == list.size() || !as<Loop>(list[at + 1]))))
      reject(k_,
             "{} has a loop from {} to {} over the iterations that another one leaves; a loop over those without a "
             "mask (whole) comes first, and has the same end",
             agent_.name, loop.from, loop.trip_count);
    if (follows && !equal(before->body, loop.body))
      reject(k_, "{} does other steps in iterations with a mask than in those without", agent_.name);
  }

  /// Returns whether two lists of steps do the same.
  static bool equal(const std::vector<Step>& a, const std::vector<Step>& b) {
    return std::ranges::equal(a, b, [](const Step& x, const Step& y) {
      return x.work == y.work && kernel::name(x) == kernel::name(y) && kernel::channel_of(x) == kernel::channel_of(y) &&
             x.global == y.global && x.reads == y.reads && x.writes == y.writes;
    });
  }

  /// Rejects a work unless the ranges have each iteration once.
  void check_once(std::span<const Done> sorted) const {
    const WorkOfNode& what = sorted.front().what;
    const std::int64_t n = k_.iterations_per_block();
    std::int64_t next = 0;
    for (const Done& r : sorted) {
      if (r.from >= r.to) continue;
      if (r.from > next) missing(what, next);
      if (r.from < next) {
        const Work work{.kind = what.kind, .node = what.node};
        const bool all = kernel::section_of(work, sections_) != Section::inside;
        reject(k_, "{} is done twice{}; once is right", text(what),
               all ? std::string() : fmt::format(" in iteration {}", r.from));
      }
      next = r.to;
    }
    if (next < n) missing(what, next);
    if (next > n) reject(k_, "{} is done in iteration {}, of {}", text(what), next - 1, n);
  }
  [[noreturn]] void missing(const WorkOfNode& what, std::int64_t iteration) const {
    reject(k_, "no step does {} in iteration {} of {}; each iteration once", text(what), iteration,
           k_.iterations_per_block());
  }
  const Kernel& k_;
  const Agent& agent_;
  tile::Sections sections_;
  std::vector<Done> done_;
  std::vector<WorkOfNode> started_;
  int loops_ = 0;  // over iterations
};

/// Rejects a work that two warp roles do.
void check_disjoint(const Kernel& k, const Agent& agent, const Agent& other) {
  walk(agent.steps, [&](const Step& step, const StepPosition&) {
    const Work& w = step.work;
    if (w.node >= 0 &&
        find_step(other.steps, [&](const Step& s) { return s.work.node == w.node && s.work.kind == w.kind; }))
      reject(k, w, "is done by {} and by {}; once is right", agent.name, other.name);
  });
}

/// Rejects a state of the loop that is read and that no work updates, or more than one.
void check_updated(const Kernel& k) {
  const TileProgram& p = k.program;
  const std::vector<bool> needed = p.needed();
  for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i) {
    const Node& n = p.nodes[i];
    if (!needed[i] || !(tile::over_loop(n) || n.kind == NodeKind::running_max)) continue;
    const Step* first = nullptr;
    const Step* other = find_step(k, [&](const Step& s) {
      using enum WorkKind;
      const WorkKind kind = s.work.kind;
      if (s.work.node != i || as<Start>(s) || (kind != mma && kind != reduce && kind != accumulate)) return false;
      if (!first) first = &s;
      return first->work.kind != kind;
    });
    if (!first) reject(p, "%{} is carried over {} iterations, and no step updates it", i, k.iterations_per_block());
    if (other) reject(p, first->work, "and {} update one state; one does", describe(other->work));
  }
}

}  // namespace

void verify_iterations(const Kernel& k) {
  if (k.loop_bounds) {
    const std::optional<kernel::MaskedLoopBounds> right = selection::masked_loop_bounds(k);
    if (right && right->lengths != k.loop_bounds->lengths)
      reject(k, "its iterations end at a length %{} (-1: none); the mask %{} ends at %{}", k.loop_bounds->lengths,
             k.loop_bounds->mask, right->lengths);
    if (right && right->starts != k.loop_bounds->starts)
      reject(k, "its iterations begin at a key %{} (-1: none); those that masks leave begin at %{}",
             k.loop_bounds->starts, right->starts);
    if (right != k.loop_bounds)
      reject(k, "its bounds of iterations are not those that %{} leaves{}", k.loop_bounds->mask,
             right ? fmt::format(": %{} last {} each {} all {} from {} end {}", right->mask, right->last, right->each,
                                 right->all ? std::to_string(*right->all) : "-",
                                 right->from ? std::to_string(*right->from) : "-",
                                 right->end ? std::to_string(*right->end) : "-")
                   : "");
  }
  for (const Agent& agent : k.agents) {
    for (const Agent& other : k.agents)
      if (&other != &agent) check_disjoint(k, agent, other);
    RoleIterations(k, agent).run();
  }
  check_updated(k);
}

}  // namespace zellige::verify
