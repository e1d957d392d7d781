#include "fuse/choose.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "fuse/groups.hpp"
#include "fuse/steps.hpp"
#include "graph/error.hpp"
#include "graph/parallel.hpp"
#include "graph/view.hpp"

namespace zellige::fuse {
namespace {

constexpr std::size_t most_groups = 3000, most_ops = 16, widest = 2000;
constexpr double never = std::numeric_limits<double>::infinity();
/// A custom operator takes a plain one's place alone only where it is clearly faster by price.
constexpr double alone_gain = 0.85;
/// What a kernel costs beside its price, so that of equals the fewer are taken.
constexpr double each = 0.01;

struct Candidate {
  Set ops, before;  // before: who must be done
  Group group;
  bool planned = false;
};

class Choosing {
 public:
  Choosing(const graph::KernelGraph& g, const target::Target& target, Prices& known)
      : g_(g), target_(target), order_(order_of(g)), prices_(known) {}

  Choice run() {
    singles();
    grow();
    std::vector<std::size_t> way = cheapest();
    while (plan(way)) way = cheapest();
    while (join(way)) {
    }
    way = *in_order(way);
    for (std::size_t c : way) choice_.groups.push_back(candidates_[c].group);
    explain(way);
    return std::move(choice_);
  }

 private:
  Set set(const std::vector<int>& ops) const {
    Set s(g_.ops.size());
    for (int i : ops) s.add(i);
    return s;
  }
  Set before(const Set& s) const {
    Set b(g_.ops.size());
    for (int i : s.list())
      for (int p : order_.direct[i].list())
        if (!s.has(p)) b.add(p);
    return b;
  }

  /// Every operator as it is. What nobody can fuse costs the same in any choice.
  void singles() {
    all_free_ = Set(g_.ops.size());
    for (std::size_t i = 0; i < g_.ops.size(); ++i) {
      const int op = static_cast<int>(i);
      Candidate c{set({op}), order_.direct[i], {{op}, {}, 0}, true};
      free_.push_back(!fusable(g_, op));
      if (!graph::is_view(g_.ops[i].kind)) {
        Refusal refusal;
        const auto us = planned_us(g_, op, target_, prices_, refusal);
        if (!us && (free_.back() || !refusal.rejected)) raise(refusal);
        if (!us) alone_ = refusal;  // a group may have another plan
        c.group.us = us.value_or(never);
      }
      if (free_.back()) all_free_.add(op);
      candidates_.push_back(std::move(c));
    }
  }

  void grow() {
    std::map<Set, bool> seen;
    std::vector<Set> open;
    const auto visit = [&](const Set& s) {
      if (s.count() > most_ops || !seen.insert({s, true}).second || !is_convex(s, order_)) return;
      if (seen.size() > most_groups) {
        cut_short_ = true;
        return;
      }
      std::string why;
      std::vector<Kernel> kernels = kernels_of(g_, s.list(), target_, why);
      if (kernels.empty()) {
        refused_[s] = why;
        return;
      }
      open.push_back(s);
      const double us = std::ranges::min_element(kernels, {}, &Kernel::least)->least;
      candidates_.push_back({s, before(s), {s.list(), std::move(kernels), us}, false});
    };
    for (std::size_t i = 0; i < g_.ops.size(); ++i)
      if (fusable(g_, static_cast<int>(i))) {
        visit(set({static_cast<int>(i)}));
        if (refused_.count(set({static_cast<int>(i)})) > 0) open.push_back(set({static_cast<int>(i)}));
      }
    for (std::size_t at = 0; at < open.size(); ++at) {
      const Set from = open[at];
      for (int x : neighbours(g_, from, order_)) {
        Set s = from;
        s.add(x);
        visit(s);
      }
    }
    if (cut_short_)
      choice_.notes.push_back(
          fmt::format("of more than {} groups the first {} were looked at", most_groups, most_groups));
  }

  struct Reached {
    double us = never;
    Set from;
    std::size_t by = 0;
    double rest = never;  // from here to the end
  };

  /// With all that nobody can fuse and that is ready.
  Set ready(Set done) const {
    if (done.has(all_free_)) return done;
    for (std::size_t i = 0; i < free_.size(); ++i)  // in the graph's order: once is enough
      if (free_[i] && done.has(order_.direct[i])) done.add(static_cast<int>(i));
    return done;
  }

  /// Groups by their first operator, those that have a price, as the words of their sets one behind the other: a way is looked for
  /// in many thousand sets, each of which asks all of these.
  struct Nexts {
    std::vector<std::size_t> candidates;
    std::vector<std::uint64_t> words;  // of each: its operators, then those that must be done
  };
  void list_nexts() {
    nexts_.assign(g_.ops.size(), {});
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      const Candidate& one = candidates_[c];
      if (one.group.us == never) continue;
      Nexts& to = nexts_[static_cast<std::size_t>(one.group.ops.front())];
      to.candidates.push_back(c);
      for (const Set* s : {&one.ops, &one.before})
        to.words.insert(to.words.end(), s->words().begin(), s->words().end());
    }
  }

  /// Every group that may come next, with what is done then.
  template <class Visit>
  void after(const Set& done, Visit visit) const {
    const std::span<const std::uint64_t> has = done.words();
    for (std::size_t first = 0; first < g_.ops.size(); ++first) {
      if (done.has(static_cast<int>(first)) || !done.has(order_.direct[first])) continue;
      const Nexts& nexts = nexts_[first];
      const std::uint64_t* ops = nexts.words.data();
      for (std::size_t c : nexts.candidates) {
        std::uint64_t wrong = 0;  // done already, or to be done and not
        for (std::size_t w = 0; w < has.size(); ++w)
          wrong |= (ops[w] & has[w]) | (ops[has.size() + w] & ~has[w]);
        ops += 2 * has.size();
        if (wrong != 0) continue;
        Set then = done;
        then.add(candidates_[c].ops);
        visit(c, ready(std::move(then)));
      }
    }
  }

  /// The cheapest way of all; and of every group what the cheapest way with it costs.
  std::vector<std::size_t> cheapest() {
    list_nexts();
    const Set start = ready(Set(g_.ops.size()));
    std::vector<std::map<Set, Reached>> by_count(g_.ops.size() + 1);
    by_count[start.count()][start].us = 0;
    for (std::size_t n = start.count(); n < g_.ops.size(); ++n) {
      narrow(by_count[n]);
      for (const auto& [done, reached] : by_count[n])
        after(done, [&](std::size_t c, const Set& then) {
          Reached& r = by_count[then.count()].try_emplace(then).first->second;
          const double us = reached.us + candidates_[c].group.us + each;
          if (us < r.us) r.us = us, r.from = done, r.by = c;
        });
    }
    if (by_count.back().empty()) raise(alone_);
    with_.assign(candidates_.size(), never);
    by_count.back().begin()->second.rest = 0;
    for (std::size_t n = g_.ops.size(); n-- > start.count();)
      for (auto& [done, reached] : by_count[n])
        after(done, [&](std::size_t c, const Set& then) {
          const auto next = by_count[then.count()].find(then);
          if (next == by_count[then.count()].end()) return;  // outside of the beam
          const double rest = candidates_[c].group.us + each + next->second.rest;
          reached.rest = std::min(reached.rest, rest);
          with_[c] = std::min(with_[c], reached.us + rest);
        });
    std::vector<std::size_t> way;
    Set at = by_count.back().begin()->first;
    while (at != start) {
      const Reached& r = by_count[at.count()].at(at);
      way.push_back(r.by);
      at = r.from;
    }
    std::ranges::reverse(way);
    return way;
  }

  /// Each behind what it reads, and what nobody can fuse as soon as it can; none where two would wait for each other.
  std::optional<std::vector<std::size_t>> in_order(std::vector<std::size_t> way) const {
    std::vector<std::size_t> result;
    Set done(g_.ops.size());
    while (true) {
      for (std::size_t i = 0; i < free_.size(); ++i)
        if (free_[i] && !done.has(static_cast<int>(i)) && done.has(order_.direct[i])) {
          done.add(static_cast<int>(i));
          result.push_back(i);
        }
      if (way.empty()) return result;
      const auto next =
          std::ranges::find_if(way, [&](std::size_t c) { return done.has(candidates_[c].before); });
      if (next == way.end()) return std::nullopt;
      result.push_back(*next);
      done.add(candidates_[*next].ops);
      way.erase(next);
    }
  }

  static std::size_t kernels(const Candidate& c) {
    return c.group.kernels.empty() ? 1 : c.group.kernels[0].parts.size();
  }

  /// Prices that differ by less than they err are a tie, and the fewer kernels are taken: joins some groups of the way.
  bool join(std::vector<std::size_t>& way) {
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      Candidate& one = candidates_[c];
      if (one.group.ops.size() < 2 || one.group.us == never) continue;
      double us = 0;
      std::size_t launches = 0;
      std::vector<std::size_t> rest;
      bool whole = true;
      for (std::size_t w : way)
        if (!candidates_[w].ops.meets(one.ops)) {
          rest.push_back(w);
        } else {
          whole = whole && w != c && one.ops.has(candidates_[w].ops);
          us += candidates_[w].group.us, launches += kernels(candidates_[w]);
        }
      if (!whole || one.group.us > (1 + tie) * us) continue;
      if (!one.planned)
        if (const std::string why = plan(one); !why.empty()) refused_[one.ops] = why;
      if (one.group.us > (1 + tie) * us || kernels(one) >= launches) continue;
      rest.push_back(c);
      if (!in_order(rest)) continue;
      way = std::move(rest);
      return true;
    }
    return false;
  }

  void narrow(std::map<Set, Reached>& states) {
    if (states.size() <= widest) return;
    std::vector<double> costs;
    for (const auto& [s, r] : states) costs.push_back(r.us);
    std::ranges::nth_element(costs, costs.begin() + widest);
    std::erase_if(states, [&](const auto& s) { return s.second.us > costs[widest]; });
    if (!beam_)
      choice_.notes.push_back(fmt::format("groups were chosen by a beam of {} states, not exactly", widest));
    beam_ = true;
  }

  /// Plans what of the way has been estimated alone; true where that changed a price. With it what may be of the next ways, since a
  /// way costs more to find than a group to plan: as many as the graph has operators, those first with which ways are cheapest.
  bool plan(const std::vector<std::size_t>& way) {
    std::vector<std::size_t> open, others;
    for (std::size_t c : way)
      if (!candidates_[c].planned) open.push_back(c);
    if (open.empty()) return false;
    for (std::size_t c = 0; c < candidates_.size(); ++c)
      if (!candidates_[c].planned && with_[c] < never && !std::ranges::count(open, c)) others.push_back(c);
    std::ranges::stable_sort(others, {}, [&](std::size_t c) { return with_[c]; });
    others.resize(std::min(others.size(), g_.ops.size()));
    open.insert(open.end(), others.begin(), others.end());
    std::vector<std::string> why(open.size());
    graph::parallel_for(std::ssize(open), graph::hardware_threads(), [&](std::int64_t i, int) {
      const auto at = static_cast<std::size_t>(i);
      why[at] = plan(candidates_[open[at]]);
    });
    for (std::size_t i = 0; i < open.size(); ++i)
      if (!why[i].empty()) refused_[candidates_[open[i]].ops] = why[i];
    return true;
  }

  /// Says why the planner refuses it, where it does.
  std::string plan(Candidate& c) {
    c.planned = true;
    // Sums one by one are planned slowly, since all that they read of shared memory is counted, and estimates order them well.
    const std::size_t tried = c.group.kernels[0].one_by_one ? 3 : 32;
    Refusal refusal;
    std::size_t best = 0;
    c.group.us = never;
    for (std::size_t k = 0; k < std::min(tried, c.group.kernels.size()); ++k) {
      if (c.group.kernels[k].least > c.group.us) continue;
      if (const auto us = planned_us(g_, c.group.kernels[k], target_, prices_, refusal);
          us && *us < c.group.us)
        c.group.us = *us, best = k;
    }
    if (c.group.us == never) return refusal.why;
    std::swap(c.group.kernels[0], c.group.kernels[best]);
    if (c.group.ops.size() == 1) c.group.us /= alone_gain;
    return "";
  }

  /// Two kernels one of which reads the other: why they are not one.
  void explain(const std::vector<std::size_t>& way) {
    for (std::size_t i = 0; i < way.size(); ++i)
      for (std::size_t j = i + 1; j < way.size(); ++j) {
        const Candidate &a = candidates_[way[i]], &b = candidates_[way[j]];
        if (!b.before.meets(a.ops) || free_[a.group.ops[0]] || free_[b.group.ops[0]]) continue;
        Set both = a.ops;
        both.add(b.ops);
        const std::string what = fmt::format("{} and {} stay apart: ", last(a), last(b));
        const auto found =
            std::ranges::find_if(candidates_, [&](const Candidate& c) { return c.ops == both; });
        if (found != candidates_.end() && found->group.us != never)
          choice_.notes.push_back(fmt::format("{}{:.1f} us together, {:.1f} us in two", what, found->group.us,
                                              a.group.us + b.group.us));
        else if (!is_convex(both, order_))
          choice_.notes.push_back(what + "others come between");
        else
          choice_.notes.push_back(what + reason(both));
      }
  }
  std::string last(const Candidate& c) const {
    return g_.tensors[g_.ops[c.group.ops.back()].outputs[0]].name;
  }
  std::string reason(const Set& s) {
    if (const auto known = refused_.find(s); known != refused_.end()) return known->second;
    std::string why;
    const std::vector<Kernel> kernels = kernels_of(g_, s.list(), target_, why);
    return kernels.empty() ? why : fmt::format("{:.1f} us together, by estimate", kernels[0].us);
  }

  const graph::KernelGraph& g_;
  const target::Target& target_;
  Order order_;
  std::vector<Candidate> candidates_;  // first every operator by itself
  std::vector<bool> free_;             // of no group but its own
  Set all_free_;
  std::vector<Nexts> nexts_;  // by a group's first operator: what makes it must be done
  std::vector<double> with_;  // by candidate: what the cheapest way with it costs
  std::map<Set, std::string> refused_;
  Prices& prices_;
  Refusal alone_;  // of an operator as it is, which the proof rejects
  bool cut_short_ = false, beam_ = false;
  Choice choice_;
};

}  // namespace

Choice choose(const graph::KernelGraph& g, const target::Target& target, Prices& known) {
  return Choosing(g, target, known).run();
}

}  // namespace zellige::fuse
