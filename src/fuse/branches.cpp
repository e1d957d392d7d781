#include "fuse/branches.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "candidate/excerpt.hpp"

namespace zellige::fuse {
namespace {

/// Maximum number of operators of a branch: it is covered once for each part that a group may leave.
constexpr std::size_t max_places = 16;

/// Returns operator `from` and all operators that are connected to it by paths without operator `at`. Returns
/// an empty set if an operator among them does not depend on `at`, or if there are more than max_places.
std::set<int> follows(int at, int from, const Dependences& order, const GroupNeighbours& neighbours) {
  std::set<int> met{from};
  for (std::vector<int> open{from}; !open.empty();) {
    const int op = open.back();
    open.pop_back();
    if (!order.all[op].has(at) || met.size() > max_places) return {};
    for (int x : neighbours.of({op}))
      if (x != at && met.insert(x).second) open.push_back(x);
  }
  return met;
}

/// Finds the cheapest selection of pieces (candidate groups of operators) that contains each place (operator
/// number) exactly once, with branches covered separately. A branch is a set of places that only one other
/// place connects to the rest. The stem is all places that are in no branch.
class BranchCovering {
 public:
  BranchCovering(std::size_t places, const std::vector<Piece>& pieces, std::size_t widest,
                 const std::vector<Branch>& branches)
      : pieces_(pieces),
        widest_(widest),
        branches_(branches),
        in_(places, -1),
        at_(places, -1),
        number_(places),
        own_(branches.size()) {
    for (std::size_t b = 0; b < branches.size(); ++b)
      if (keep_to(branches[b])) {
        at_[branches[b].at] = static_cast<int>(b);
        for (int place : branches[b].places) in_[place] = static_cast<int>(b);
      }
    for (std::size_t place = 0; place < places; ++place)
      if (in_[place] < 0) number_[place] = stem_++;
  }

  /// Returns the cheapest cover: a selection of pieces (candidate groups) that contains each place (operator)
  /// exactly once. Covers the stem (the places that are in no branch) first. Then adds, for each branch, the
  /// cheapest cover of its places that no selected piece contains.
  Cover run() {
    std::vector<std::size_t> on_stem;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      if (pieces_[p].cost == never) continue;
      const auto outside = std::ranges::find(pieces_[p].places, -1, [&](int place) { return in_[place]; });
      if (outside == pieces_[p].places.end())
        own_[in_[pieces_[p].places[0]]].push_back(p);
      else
        on_stem.push_back(p);
    }
    for (std::size_t p : on_stem) add(p);
    Cover stem = cheapest_cover(static_cast<std::size_t>(stem_), reduced_, widest_);
    Cover cover{{}, stem.cost, weigh(stem), stem.states, stem.exact};
    for (const auto& [left, rest] : rests_) {
      cover.states += rest.cover.states;
      cover.exact = cover.exact && rest.cover.exact;
    }
    for (std::size_t r : stem.pieces) {
      const Laid& laid = laid_[best_[r]];
      cover.pieces.push_back(laid.piece);
      for (const Rest* rest : laid.rests)
        for (std::size_t p : rest->cover.pieces) cover.pieces.push_back(rest->pieces[p]);
    }
    std::ranges::sort(cover.pieces, {}, [&](std::size_t p) { return pieces_[p].places[0]; });
    return cover;
  }

 private:
  /// The cheapest cover of the places (operators) of a branch that a piece (candidate group) of the stem leaves out.
  struct Rest {
    Cover cover;
    std::vector<std::size_t> pieces;  // by the cover's pieces: index in pieces_
  };
  /// A piece (candidate group) that has places (operators) of the stem, with the cheapest covers of the places
  /// that it does not contain of the branches that join at its places.
  struct Laid {
    std::size_t piece = 0, reduced = 0;  // indices in pieces_ and reduced_
    double cost = 0;                     // of the piece and of the covers in `rests`
    std::vector<const Rest*> rests;
  };

  /// Returns whether branch `b` can be covered separately. This holds if every piece (candidate group) that
  /// has places (operators) both inside and outside of the branch contains b.at, the one place outside that
  /// is connected to the branch.
  bool keep_to(const Branch& b) const {
    return std::ranges::all_of(pieces_, [&](const Piece& p) {
      if (p.cost == never || std::ranges::binary_search(p.places, b.at)) return true;
      const auto inside = [&](int place) { return std::ranges::binary_search(b.places, place); };
      return std::ranges::all_of(p.places, inside) || std::ranges::none_of(p.places, inside);
    });
  }

  /// Returns the cheapest cover of those places (operators) of branch `b` that piece `p`, a candidate group,
  /// does not contain. The cover is computed once per set of uncovered places.
  const Rest& rest(int b, const Piece& p) {
    const std::vector<int>& all = branches_[b].places;
    std::vector<int> left;
    std::ranges::set_difference(all, p.places, std::back_inserter(left));
    const auto [found, is_new] = rests_.try_emplace({b, left});
    if (!is_new) return found->second;
    Rest& made = found->second;
    std::vector<Piece> fit;
    for (std::size_t q : own_[b]) {
      if (!std::ranges::includes(left, pieces_[q].places)) continue;
      Piece& renumbered = fit.emplace_back(pieces_[q]);
      for (int& place : renumbered.places)
        place = static_cast<int>(std::ranges::lower_bound(left, place) - left.begin());
      made.pieces.push_back(q);
    }
    made.cover = cheapest_cover(left.size(), fit, widest_);
    return made;
  }

  /// Makes piece `p` (a candidate group) a candidate for the cover of the stem, which is all places (operators) that
  /// are in no branch. Only the piece's places on the stem count. The cheapest covers of what `p` leaves of the
  /// branches that join at its places are added to its cost. If several pieces have the same places on the stem, only
  /// the cheapest one is used. Does nothing if a branch's remaining places cannot be covered.
  void add(std::size_t p) {
    Laid laid{p, 0, pieces_[p].cost, {}};
    Piece stem;
    for (int place : pieces_[p].places) {
      if (in_[place] >= 0) continue;
      stem.places.push_back(number_[place]);
      if (const int b = at_[place]; b >= 0) {
        laid.rests.push_back(&rest(b, pieces_[p]));
        laid.cost += laid.rests.back()->cover.cost;
      }
    }
    if (laid.cost == never) return;
    const auto [found, is_new] = by_places_.try_emplace(stem.places, reduced_.size());
    laid.reduced = found->second;
    if (is_new) reduced_.push_back({std::move(stem.places), never}), best_.push_back(0);
    if (laid.cost < reduced_[laid.reduced].cost)
      reduced_[laid.reduced].cost = laid.cost, best_[laid.reduced] = laid_.size();
    laid_.push_back(std::move(laid));
  }

  /// Returns, for each piece (candidate group), the cost of the cheapest cover that contains the piece, or
  /// `never` (infinity) if there is none. `stem` is the cheapest cover of the stem: of the places (operators)
  /// that are in no branch.
  std::vector<double> weigh(const Cover& stem) const {
    std::vector<double> with(pieces_.size(), never);
    for (const Laid& laid : laid_) {
      if (stem.with[laid.reduced] == never) continue;
      const double all = stem.with[laid.reduced] - reduced_[laid.reduced].cost + laid.cost;
      with[laid.piece] = all;
      for (const Rest* rest : laid.rests)
        for (std::size_t i = 0; i < rest->pieces.size(); ++i) {
          double& minimum = with[rest->pieces[i]];
          minimum = std::min(minimum, all - rest->cover.cost + rest->cover.with[i]);
        }
    }
    return with;
  }

  const std::vector<Piece>& pieces_;
  std::size_t widest_;
  const std::vector<Branch>& branches_;
  // By place: the branch that contains it, and the branch that joins there; -1: none.
  std::vector<int> in_, at_;
  std::vector<int> number_;                                 // by place of the stem: its number in reduced_'s pieces
  int stem_ = 0;                                            // number of places of the stem
  std::vector<std::vector<std::size_t>> own_;               // by branch: pieces with all places in it
  std::map<std::pair<int, std::vector<int>>, Rest> rests_;  // by branch and its uncovered places
  std::vector<Laid> laid_;
  std::vector<Piece> reduced_;     // candidates for the stem's cover, without duplicates
  std::vector<std::size_t> best_;  // by piece in reduced_: the cheapest of laid_ with its places
  std::map<std::vector<int>, std::size_t> by_places_;
};

}  // namespace

std::vector<Branch> branches_of(const Dependences& order, const GroupNeighbours& neighbours) {
  std::vector<Branch> found;
  for (int at : neighbours.of_many()) {
    std::set<int> all;
    for (int x : neighbours.of({at}))
      if (!all.contains(x) && order.all[x].has(at)) all.merge(follows(at, x, order, neighbours));
    const auto is_in = [&](int x) { return all.contains(x); };
    if (!all.empty() && all.size() <= max_places && !std::ranges::all_of(neighbours.of({at}), is_in))
      found.push_back({at, {all.begin(), all.end()}});
  }
  // A branch of a branch is part of the larger one.
  std::ranges::stable_sort(found, std::ranges::greater{}, [](const Branch& b) { return b.places.size(); });
  std::vector<Branch> kept;
  std::set<int> taken;
  for (Branch& b : found) {
    if (taken.contains(b.at) || std::ranges::any_of(b.places, [&](int x) { return taken.contains(x); })) continue;
    taken.insert(b.places.begin(), b.places.end());
    kept.push_back(std::move(b));
  }
  return kept;
}

Patterns::Patterns(const graph::KernelGraph& g, const std::vector<Branch>& of_operators)
    : branches_(of_operators), in_(g.ops.size(), -1), at_(g.ops.size(), -1) {
  const candidate::Excerpts excerpts(g);
  std::map<std::string, int> kinds;
  for (std::size_t b = 0; b < branches_.size(); ++b) {
    std::vector<int> all = branches_[b].places;
    for (int op : all) in_[op] = static_cast<int>(b);
    at_[branches_[b].at] = static_cast<int>(b);
    all.push_back(branches_[b].at);
    std::ranges::sort(all);
    kind_.push_back(kinds.try_emplace(candidate::key(excerpts.of(all)), static_cast<int>(kinds.size())).first->second);
  }
}

std::optional<std::vector<int>> Patterns::of(const std::vector<int>& ops) const {
  std::vector<int> pattern;               // where branches join others, and what is in none
  std::map<int, std::vector<int>> parts;  // by branch: its kind, and places in the branch
  for (int op : ops) {
    if (in_[op] < 0) pattern.push_back(op);
    if (const int b = at_[op]; b >= 0) parts[b] = {kind_[b]};
  }
  if (parts.size() < 2) return std::nullopt;
  for (int op : ops) {
    const int b = in_[op];
    if (b < 0) continue;
    const auto part = parts.find(b);
    if (part == parts.end()) return std::nullopt;
    const std::vector<int>& places = branches_[b].places;
    part->second.push_back(static_cast<int>(std::ranges::lower_bound(places, op) - places.begin()));
  }
  std::vector<std::vector<int>> sorted;
  for (auto& [b, part] : parts) sorted.push_back(std::move(part));
  std::ranges::sort(sorted);
  for (const std::vector<int>& part : sorted) {
    pattern.push_back(-1);
    pattern.insert(pattern.end(), part.begin(), part.end());
  }
  return pattern;
}

Cover cheapest_cover(std::size_t places, const std::vector<Piece>& pieces, std::size_t widest,
                     const std::vector<Branch>& branches) {
  return branches.empty() ? cheapest_cover(places, pieces, widest)
                          : BranchCovering(places, pieces, widest, branches).run();
}

}  // namespace zellige::fuse
