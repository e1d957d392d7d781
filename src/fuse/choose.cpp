#include "fuse/choose.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <queue>
#include <set>

#include "candidate/steps.hpp"
#include "cost/better.hpp"
#include "fuse/branches.hpp"
#include "fuse/candidates.hpp"
#include "graph/error.hpp"
#include "graph/view.hpp"
#include "reference/parallel.hpp"

namespace zellige::fuse {
namespace {

constexpr std::size_t max_ops = 16;      // in a group that grows by single operators
constexpr std::size_t max_joined = 64;   // in a union of two selected groups
constexpr std::size_t max_groups = 200;  // candidates with the same first operator
constexpr std::size_t widest = 64;       // search states (partial covers) with the same first uncovered place
constexpr std::size_t at_once = 16;      // groups that are extended in parallel
constexpr std::size_t plans_each = 16;   // limit of plans: times the kinds of single operators plus four

/// Returns why the first operator that has no kernel has none.
candidate::NoPlan no_kernel(const graph::KernelGraph& g, const std::vector<Candidate>& candidates) {
  for (int op = 0; op < std::ssize(g.ops); ++op)
    if (const Candidate& c = candidates[op]; c.kind && c.us() == never) return c.kind->refusal;
  fault("{}: operators have kernels, and no cover has them all", g.name);
}

/// The candidates of one graph, found at construction: single operators, and groups that grow by one operator at a time.
/// Unions of selected groups can be added. Also has the progress of the search, and what it reports.
class GrownCandidates : protected Candidates {
 public:
  /// Throws Error if an operator that cannot be fused has no plan.
  GrownCandidates(const graph::KernelGraph& g, const target::Target& target, candidate::CostCache& known,
                  const rewrite::Watch& watch)
      : Candidates(g),
        target_(target),
        costs_(known),
        watch_(watch),
        kinds_(g, target, known),
        neighbours_(g),
        twins_(g, order_),
        branches_(branches_of(order_, neighbours_)),
        patterns_(g, branches_) {
    singles();
    grow();
  }

 protected:
  /// Reports to the callback that `done` of `of` items of a phase are done. Returns false if it has ended the search.
  bool goes_on(std::string_view phase, std::size_t done, std::size_t of) {
    if (!ended_ && watch_ && !watch_({phase, done, of})) ended_ = true;
    return !ended_;
  }

  /// Adds unions of selected groups as candidates, because a search that adds one operator at a time may not
  /// reach them. `way` is the current cover: the selected groups, as indices of candidates_. Considers each
  /// pair of groups in which one group reads a result of the other, and adds their union if its estimated cost
  /// is not more than that of the two. If the reading group consists of interchangeable operators (Twins), the
  /// union takes the same number of such operators, but the first ones in the graph's order, so that the
  /// others stay adjacent. Returns whether a union was added.
  bool add_unions(const std::vector<std::size_t>& way) {
    std::vector<Candidate> unions;
    std::vector<double> alone;
    for (const auto& [i, j] : readers(way)) {
      const Candidate &a = candidates_[i], &b = candidates_[j];
      Candidate both{a.ops, OperatorSet(), a.list};
      for (int x : twins_.first(b.list, a.ops)) both.list.push_back(x), both.ops.add(x);
      std::ranges::sort(both.list);
      if (both.list.size() > max_joined || !seen_.insert(both.ops).second || !is_convex(both.ops, order_)) continue;
      alone.push_back(a.us() + b.us());
      unions.push_back(std::move(both));
    }
    if (ended_ || unions.empty()) return false;
    choice_.work.groups += unions.size();
    find_kinds(unions);
    const std::size_t before_them = candidates_.size();
    for (std::size_t u = 0; u < unions.size(); ++u)
      if (Candidate& c = unions[u];
          !c.kind->kernels.empty() && c.kind->us < alone[u] + target_.costs.search.of_launches(1)) {
        c.before = before(c.ops);
        candidates_.push_back(std::move(c));
      }
    return candidates_.size() > before_them;
  }

 private:
  /// Adds each operator as a candidate. Numbers the operators that can be fused (place_), because the selected groups must
  /// contain each of them exactly once. Throws Error if an operator that cannot be fused has no plan; a group with one that
  /// can be may be planned though the operator by itself is not.
  void singles() {
    for (int op : branch_by_branch(g_))
      if (candidate::fusable(g_, op)) place_[op] = places_++;
    for (Branch& b : branches_) {
      b.at = place_[b.at];
      for (int& x : b.places) x = place_[x];
      std::ranges::sort(b.places);
    }
    for (int op = 0; op < std::ssize(g_.ops); ++op) candidates_.push_back({set({op}), order_.direct[op], {op}});
    std::vector<std::vector<int>> computed;
    for (int op = 0; op < std::ssize(g_.ops); ++op)
      if (candidate::computes(g_, op)) computed.push_back({op});
    const std::vector<std::shared_ptr<GroupKind>> kinds = kinds_.of(computed);
    for (std::size_t i = 0; i < computed.size(); ++i) candidates_[computed[i][0]].kind = kinds[i];
    for (int op = 0; op < std::ssize(g_.ops); ++op) {
      goes_on("operators estimated", op, g_.ops.size());
      Candidate& c = candidates_[op];
      if (!c.kind && !graph::is_view(g_.ops[op].kind)) {
        candidate::NoPlan refusal;
        const auto us = candidate::planned_us(g_, op, target_, costs_, refusal);
        if (!us) candidate::raise(refusal);
        c.own_us = *us;
      } else if (c.kind && never_grouped(op)) {  // it is in no group that the search grows
        if (!c.kind->planned) kinds_.plan(*c.kind);
        if (c.kind->us == never) candidate::raise(c.kind->refusal);
      }
    }
  }

  /// Grows candidate groups by one neighbouring operator at a time. Extends alternately the groups with the
  /// smallest span() and those that save the most time. So the groups that are not found, because the number
  /// of groups is limited, are wide ones that save little.
  void grow() {
    std::vector<std::vector<int>> grown;
    std::vector<bool> done;
    using Rank = std::pair<double, std::size_t>;  // rank, and index into `grown`
    std::array<std::priority_queue<Rank, std::vector<Rank>, std::greater<>>, 2> next;
    std::vector<std::size_t> tried(g_.ops.size());
    std::set<std::vector<int>> seen_patterns;  // of groups seen so far (branches.hpp)
    bool cut_short = false;
    const auto is_new = [&](const std::vector<int>& ops, const OperatorSet& s) {
      if (ops.size() > max_ops || !seen_.insert(s).second || !is_convex(s, order_)) return false;
      if (auto pattern = patterns_.of(ops); pattern && !seen_patterns.insert(*std::move(pattern)).second) return false;
      ++choice_.work.groups;
      const bool taken = tried[ops.front()]++ < max_groups;
      cut_short = cut_short || !taken;
      return taken;
    };
    const auto look_at = [&](std::vector<Candidate> groups) {
      find_kinds(groups);
      for (Candidate& c : groups) {
        if (c.kind->kernels.empty() && c.list.size() > 1) continue;
        next[0].emplace(span(c.list), grown.size());
        next[1].emplace(change(*c.kind, c.list), grown.size());
        grown.push_back(c.list), done.push_back(false);
        if (c.kind->kernels.empty() || (c.list.size() == 1 && candidates_[c.list[0]].kind)) continue;
        c.before = before(c.ops);
        candidates_.push_back(std::move(c));
      }
    };
    std::vector<Candidate> first;
    for (int op = 0; op < std::ssize(g_.ops); ++op)
      if (OperatorSet s = set({op}); !never_grouped(op) && is_new({op}, s))
        first.push_back({std::move(s), OperatorSet(), {op}});
    look_at(std::move(first));
    max_plans_ = plans_each * (kinds_.count() + 4);
    for (std::size_t round = 0, looked_at = 0; goes_on("groups grown", looked_at, grown.size()); ++round) {
      std::vector<std::size_t> groups;
      for (auto& queue = next[round % 2]; !queue.empty() && groups.size() < at_once; queue.pop())
        if (const std::size_t at = queue.top().second; !done[at]) groups.push_back(at), done[at] = true;
      if (groups.empty()) break;
      looked_at += groups.size();
      std::vector<Candidate> larger;
      for (std::size_t at : groups)
        for (int x : neighbours_.of(grown[at])) {
          std::vector<int> ops = grown[at];
          ops.insert(std::ranges::lower_bound(ops, x), x);
          if (OperatorSet s = set(ops); is_new(ops, s)) larger.push_back({std::move(s), OperatorSet(), std::move(ops)});
        }
      look_at(std::move(larger));
    }
    if (cut_short)
      choice_.limits.push_back(
          fmt::format("of more than {} groups that begin with the same operator the first {} were looked at",
                      max_groups, max_groups));
  }

  /// Sets the kind of each group (the class of groups that are equal up to names, which is estimated and planned once).
  void find_kinds(std::vector<Candidate>& groups) {
    std::vector<std::vector<int>> ops;
    for (const Candidate& c : groups) ops.push_back(c.list);
    std::vector<std::shared_ptr<GroupKind>> kinds = kinds_.of(ops);
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i].kind = std::move(kinds[i]);
  }

  /// Returns the estimated cost of a group minus that of its operators unfused, in us; negative if fusing saves time.
  double change(const GroupKind& kind, const std::vector<int>& ops) const {
    double us = kind.kernels.empty() ? 0 : kind.us;
    for (int x : ops) us -= candidates_[x].us();
    return us;
  }

  /// Returns the distance between the group's first and last operator in the cover search's numbering.
  int span(const std::vector<int>& ops) const {
    const auto [first, last] = std::ranges::minmax(ops, {}, [&](int x) { return place_[x]; });
    return place_[last] - place_[first];
  }

 protected:
  const target::Target& target_;
  candidate::CostCache& costs_;
  const rewrite::Watch& watch_;
  Kinds kinds_;
  GroupNeighbours neighbours_;
  Twins twins_;
  int places_ = 0;                // number of operators that can be fused
  std::vector<Branch> branches_;  // after singles() their operators are numbered as in place_
  Patterns patterns_;
  std::set<OperatorSet> seen_;       // operators of all groups seen so far
  std::atomic<bool> ended_ = false;  // the Watch callback stopped the search
  std::size_t max_plans_ = 0;        // limit of kinds that are planned, each with any number of tilings
  Choice choice_;
};

/// Searches for the cheapest groups of one graph.
class Choosing : GrownCandidates {
 public:
  using GrownCandidates::GrownCandidates;

  /// Selects the cheapest groups and plans them, until all groups of the cover are planned. Adds unions of selected groups
  /// as long as that helps, and replaces groups by their union if that costs nearly the same. Returns the selected groups.
  Choice run(Reasons reasons) {
    std::vector<std::size_t> way;
    do way = cheapest();
    while (plan(way) || add_unions(way));
    join(way);
    way = *in_order(way);
    for (std::size_t at : way) {
      const Candidate& c = candidates_[at];
      Group& group = choice_.groups.emplace_back(Group{c.list, {}, c.us()});
      if (c.kind) group.kernels.push_back(kinds_.kernel(*c.kind, c.list));  // refers to the graph's tensors
    }
    choice_.ended = ended_, choice_.work.kinds = kinds_.count();
    if (ended_)
      choice_.limits.push_back(
          fmt::format("the search was ended with {} groups looked at, and {} of their {} kinds planned",
                      choice_.work.groups, choice_.work.plans, choice_.work.kinds));
    else if (reasons == Reasons::told)
      explain(way);
    return std::move(choice_);
  }

 private:
  /// Returns the cheapest cover: candidates that together contain each operator that can be fused exactly
  /// once. Cover::pieces are indices of candidates_.
  Cover cover() {
    std::vector<Piece> pieces;
    for (const Candidate& c : candidates_) {
      Piece& piece = pieces.emplace_back();
      piece.cost = never_grouped(c.list[0]) ? never : c.us();
      if (piece.cost == never) continue;
      piece.cost += target_.costs.search.of_launches(c.launches());
      for (int op : c.list) piece.places.push_back(place_[op]);
      std::ranges::sort(piece.places);
    }
    Cover found = cheapest_cover(static_cast<std::size_t>(places_), pieces, widest, branches_);
    choice_.work.states = std::max(choice_.work.states, found.states);
    return found;
  }

  /// Returns the cheapest cover whose groups do not depend on each other in a cycle, as indices of
  /// candidates. Excludes one group per cycle that is found. Sets with_, the cost of the cheapest cover that
  /// contains each candidate. Throws Error if there is no cover.
  std::vector<std::size_t> cheapest() {
    while (true) {
      Cover found = cover();
      if (found.cost == never) candidate::raise(no_kernel(g_, candidates_));
      if (!found.exact && !beam_)
        choice_.limits.push_back(fmt::format("groups were selected by a beam of {} states, not exactly", widest));
      beam_ = beam_ || !found.exact;
      with_ = std::move(found.with);
      if (in_order(found.pieces)) return found.pieces;
      ban_one(found.pieces);  // one candidate less
      goes_on("kernels planned", choice_.work.plans, choice_.work.plans);
    }
  }

  /// Excludes one group of a dependence cycle in cover `way`: the one without which the cheapest cover costs least.
  void ban_one(const std::vector<std::size_t>& way) {
    std::optional<std::size_t> worst;
    double min_cost = never;
    for (std::size_t c : waiting(way).circle()) {
      if (candidates_[c].list.size() == 1) continue;
      candidates_[c].banned = true;
      const double cost = cover().cost;
      candidates_[c].banned = false;
      if (!worst || cost < min_cost) min_cost = cost, worst = c;
    }
    if (!worst) fault("{}: operators that are not fused wait for each other", g_.name);
    candidates_[*worst].banned = true;
  }

  /// Replaces several groups of cover `way` by one candidate with the same operators if that has fewer
  /// kernels and is better (cost/better.hpp).
  void join(std::vector<std::size_t>& way) {
    std::vector<std::size_t> owner(g_.ops.size());
    const auto own = [&](std::size_t c) {
      for (int op : candidates_[c].list) owner[op] = c;
    };
    std::ranges::for_each(way, own);
    for (bool joined = true; joined;) {
      joined = false;
      for (std::size_t c = 0; c < candidates_.size(); ++c) {
        const Candidate& one = candidates_[c];
        if (one.list.size() < 2 || one.us() == never) continue;
        std::set<std::size_t> parts;
        for (int op : one.list) parts.insert(owner[op]);
        double us = 0;
        std::size_t launches = 0;
        bool whole = parts.count(c) == 0;
        for (std::size_t p : parts) {
          const Candidate& part = candidates_[p];
          whole = whole && one.ops.has(part.ops);
          us += part.us();
          launches += part.launches();
        }
        const auto is_better = [&] {
          return cost::better({.us = one.us(), .launches = one.launches()}, {.us = us, .launches = launches},
                              target_.costs.search);
        };
        if (!whole || !is_better()) continue;
        if (!one.kind->planned && ended_) continue;
        if (!one.kind->planned) ++choice_.work.plans, kinds_.plan(*one.kind);
        if (!is_better() || one.launches() >= launches) continue;
        std::vector<std::size_t> rest{c};
        for (std::size_t w : way)
          if (parts.count(w) == 0) rest.push_back(w);
        if (!in_order(rest)) continue;
        way = std::move(rest);
        own(c);
        joined = true;
      }
    }
  }

  /// Excludes all candidate groups that are not yet planned, when the plans' limit is reached or the search has ended.
  void drop_unplanned() {
    for (const Candidate& c : candidates_) {
      if (!c.kind || c.kind->planned || c.list.size() == 1) continue;
      c.kind->planned = true, c.kind->us = never;
      c.kind->refusal = {"others were planned before it"};
    }
    if (!ended_)
      choice_.limits.push_back(
          fmt::format("of {} kinds of groups {} were planned, those first that are cheapest by estimate",
                      kinds_.count(), choice_.work.plans));
  }

  /// Plans the groups of cover `way` that have only an estimate; groups of one kind (equal up to names) are planned
  /// once. Also plans groups that are likely to be selected next, those in the cheapest covers first, at most one kind
  /// per operator of the graph. Returns false if all groups of the cover are planned already.
  bool plan(const std::vector<std::size_t>& way) {
    std::vector<GroupKind*> open;
    const auto add = [&](std::size_t c) {
      GroupKind* kind = candidates_[c].kind.get();
      if (kind && !kind->planned && std::ranges::count(open, kind) == 0) open.push_back(kind);
    };
    std::ranges::for_each(way, add);
    if (open.empty()) return false;
    if (ended_ || choice_.work.plans >= max_plans_) {
      drop_unplanned();
      for (GroupKind* kind : open)
        if (!kind->planned) kinds_.plan(*kind), ++choice_.work.plans;
      return true;
    }
    std::vector<std::size_t> others;
    for (std::size_t c = 0; c < candidates_.size(); ++c)
      if (candidates_[c].kind && !candidates_[c].kind->planned && with_[c] < never) others.push_back(c);
    std::ranges::stable_sort(others, {}, [&](std::size_t c) { return with_[c]; });
    const std::size_t limit = open.size() + std::min(g_.ops.size(), max_plans_ / 8);
    for (std::size_t i = 0; i < others.size() && open.size() < limit; ++i) add(others[i]);
    goes_on("kernels planned", choice_.work.plans, choice_.work.plans + open.size());
    std::atomic<std::size_t> planned = 0;
    reference::parallel_for(std::ssize(open), reference::hardware_threads(), [&](std::int64_t i, int worker) {
      if (worker == 0) goes_on("kernels planned", choice_.work.plans + planned, choice_.work.plans + open.size());
      if (!ended_) kinds_.plan(*open[i]), ++planned;
    });
    choice_.work.plans += planned;
    return true;
  }

  /// Adds a note, why they were not fused, for each pair of kernels in which one reads the other's result.
  void explain(const std::vector<std::size_t>& way) {
    const auto pairs = readers(way);
    choice_.notes.resize(pairs.size());
    reference::on_all_cores(pairs.size(), [&](std::size_t i) {
      const Candidate &a = candidates_[pairs[i].first], &b = candidates_[pairs[i].second];
      choice_.notes[i] = fmt::format("{} and {} are not fused: {}", last(a), last(b), reason(a, b));
    });
  }
  /// Returns why groups `a` and `b` were not fused: the times of one kernel and of two, or why there is no such kernel.
  std::string reason(const Candidate& a, const Candidate& b) const {
    OperatorSet both = a.ops;
    both.add(b.ops);
    const auto found = std::ranges::find(candidates_, both, &Candidate::ops);
    if (found != candidates_.end() && found->us() != never)
      return fmt::format("{:.1f} us together, {:.1f} us in two", found->us(), a.us() + b.us());
    if (!is_convex(both, order_)) return "operators between them are in neither kernel";
    return kinds_.reason(both.list(), found != candidates_.end());
  }
  /// Returns the name of the last tensor that the group computes.
  std::string last(const Candidate& c) const { return g_.tensors[g_.ops[c.list.back()].outputs[0]].name; }

  std::vector<double> with_;  // by candidate: cost of the cheapest cover that contains it
  bool beam_ = false;         // some cover was selected by a beam, not exactly
};

}  // namespace

Choice choose(const graph::KernelGraph& g, const target::Target& target, candidate::CostCache& known,
              const rewrite::Watch& watch, Reasons reasons) {
  return Choosing(g, target, known, watch).run(reasons);
}

}  // namespace zellige::fuse
