#include "search/equal.hpp"

#include <chrono>

#include "graph/error.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "search/any_op.hpp"
#include "search/field_trials.hpp"
#include "search/given_sizes.hpp"
#include "search/match.hpp"
#include "search/real_trials.hpp"
#include "search/shrink.hpp"

namespace zellige::search {
namespace {

using graph::KernelGraph;
using graph::OpKind;

// Float64 loses some 1e-13 of a well-conditioned row; a graph that is another is off by far more.
constexpr double same_in_float64 = 1e-9, other_in_float64 = 1e-5;

/// Does a number of the graph stand for an extent, perhaps: a scalar (1/4096 in a mean), or how often a loop
/// adds the same? Then what differs at small sizes may be equal at the given ones.
bool counts(const KernelGraph& g) {
  return any_op(g, [](const auto& op, const graph::BlockGraph* block) {
    if (has_scalar(op.kind, op.inputs.size())) return true;
    return block && graph::is_accumulator(op.kind) && block->loop > 1 && !graph::varies(*block)[op.inputs[0]];
  });
}

bool takes_roots(const KernelGraph& g) {
  return any_op(g, [](const auto& op, const graph::BlockGraph*) {
    return op.kind == OpKind::sqrt || op.kind == OpKind::rsqrt || op.kind == OpKind::abs ||
           op.kind == OpKind::rms_norm || op.kind == OpKind::layer_norm || op.kind == OpKind::accum_red_rms;
  });
}

class Decision {
 public:
  Decision(const KernelGraph& a, const KernelGraph& b, const EqualOptions& options)
      : a_(a), b_(b), options_(options), pairing_(match(a, b)) {}

  Equality run() {
    e_.by_name = pairing_.by_name;
    make_small();
    const double products = work(small_.a) + work(small_.b);
    // A field sees the sign of a root in one trial of two, so that more points have to.
    const bool signs = takes_roots(a_) || takes_roots(b_);
    const int more = !signs ? 0 : products <= 2e4 ? 32 : 8;
    try {
      if (products <= options_.real_work)
        real_ = real_trials(small_.a, small_.b, pairing_, options_.seed, more);
    } catch (const Error& error) {
      real_.refused = error.what();
    }
    if (real_.difference)
      return different(*real_.difference, "real",
                       "the values are proved to differ: further apart than what was lost in computing them");
    if (real_.loose)
      e_.notes.push_back(
          "the two have different scalars, "
          "and are the same only if those are taken as rounded, known to 50 bits");
    try {
      if (products <= options_.field_work)
        field_ = field_trials(small_.a, small_.b, pairing_, options_);
      else
        field_.refused = fmt::format("one field would take {:.2g} products", products);
    } catch (const Error& error) {
      field_.refused = error.what();
    }
    if (field_.differs_for_sure() && !real_.loose)
      return different(*field_.difference, "field",
                       "the values differ in a finite field, and no operator has a law that fields lack");
    agree();
    if (e_.answer == Answer::undecided) return in_float64();
    if (e_.answer == Answer::equal && small_.shrunk && options_.given_sizes) check_given_sizes();
    return std::move(e_);
  }

 private:
  void make_small() {
    small_ = {a_, b_, false};
    try {
      small_ = shrink(a_, b_, pairing_);
    } catch (const Error& error) {
      e_.notes.push_back(fmt::format("decided at the given sizes: {}", error.what()));
    }
    e_.shrunk = small_.shrunk;
    for (int t : small_.a.inputs)
      e_.sizes.push_back({small_.a.tensors[t].name, small_.a.tensors[t].shape, {}});
  }

  /// No difference was found: what does that say?
  void agree() {
    e_.points = real_.points;
    if (field_.refused.empty() && !field_.difference && field_.fields > 0) {
      e_.answer = Answer::equal;
      e_.method = "field";
      e_.fields = field_.fields;
      e_.log2_chance = field_.log2_chance;
      if (field_.roots)
        e_.log2_chance = std::max(e_.log2_chance, -static_cast<double>(e_.fields + e_.points));
      e_.chance_proved = !field_.roots && !field_.unknown && !field_.exponentials;
      e_.why = fmt::format("the same in {} random finite fields", e_.fields);
      return;
    }
    const std::string why_no_field =
        !field_.refused.empty() ? field_.refused
        : field_.difference ? "they differ in a finite field, but a law that fields lack may make them equal"
                            : "no field was found that has the square roots";
    if (real_.points >= 2) {
      e_.answer = Answer::equal;
      e_.method = "real";
      e_.why = fmt::format("the same at {} points of several scales, to {} bits", real_.points,
                           real_.loose ? 36 : 100);
      e_.notes.push_back("not decided by finite fields: " + why_no_field);
      return;
    }
    e_.why = fmt::format("{}; and {}", why_no_field,
                         !real_.refused.empty() ? real_.refused
                         : real_.unseen.empty()
                             ? "one point over the reals would take too many products"
                             : real_.unseen + " has no value that is known at enough of the points tried");
  }

  Equality different(const Counterexample& c, std::string method, std::string why) {
    // Where numbers stand for extents, an answer far off at small sizes may be right at the given ones.
    const bool may_count = counts(a_) || counts(b_) || work(a_) + work(b_) <= 2e7;
    if (small_.shrunk && may_count && affordable() && c.distance > 1e-6) {
      const GivenSizes given = at_given_sizes(real_.scale);
      if (given.compared) e_.given_distance = given.distance;
      if (given.compared && given.distance <= same_in_float64) {
        e_.answer = Answer::equal;
        e_.method = "float64";
        e_.why =
            "the same at the given sizes, in float64, though not at smaller ones: "
            "a number in them stands for an extent";
        return std::move(e_);
      }
      if (given.compared && given.distance < other_in_float64) {
        e_.why = fmt::format(
            "different at small sizes, where a number may stand for an extent, "
            "and {:.2g} apart in float64 at the given ones, which does not tell",
            given.distance);
        return std::move(e_);
      }
    }
    const bool may_mean_more = (counts(a_) || counts(b_)) && !small_.kept;
    if (small_.shrunk && may_mean_more && !affordable() && c.distance > 1e-6) {
      e_.why = fmt::format(
          "different at small sizes, but a number may stand for an extent, "
          "and the given sizes take {:.2g} products, more than {:.2g}",
          work(a_) + work(b_), options_.given_work);
      return std::move(e_);
    }
    e_.answer = Answer::different;
    e_.method = std::move(method);
    e_.why = std::move(why);
    e_.counterexample = c;
    return std::move(e_);
  }

  /// All that is left where neither fields nor reals say anything.
  Equality in_float64() {
    if (!affordable()) return std::move(e_);
    const GivenSizes given = at_given_sizes();
    if (!given.compared) return std::move(e_);
    e_.given_distance = given.distance;
    e_.method = "float64";
    e_.notes.push_back(e_.why);
    e_.answer = given.distance <= same_in_float64    ? Answer::equal
                : given.distance >= other_in_float64 ? Answer::different
                                                     : Answer::undecided;
    e_.why = fmt::format("{:.2g} apart in float64 at the given sizes", given.distance);
    if (e_.answer == Answer::different) e_.counterexample = counterexample(given);
    return std::move(e_);
  }

  Counterexample counterexample(const GivenSizes& given) const {
    return {a_,
            b_,
            {},
            "float64",
            given.output,
            given.element,
            fmt::format("{}", given.in_a),
            fmt::format("{}", given.in_b),
            given.distance};
  }

  /// What the reference refuses, for want of memory say, was not compared.
  GivenSizes at_given_sizes(std::optional<Scale> also = {}) {
    try {
      return given_sizes(a_, b_, pairing_, options_.seed, also);
    } catch (const Error& error) {
      e_.notes.push_back(error.what());
      return {};
    }
  }

  bool affordable() const { return work(a_) + work(b_) <= options_.given_work; }

  void check_given_sizes() {
    if (!affordable()) {
      e_.notes.push_back(
          fmt::format("not checked at the given sizes: that takes {:.2g} products, more than {:.2g}",
                      work(a_) + work(b_), options_.given_work));
      return;
    }
    const GivenSizes given = at_given_sizes();
    if (!given.compared) {
      e_.notes.push_back(
          "not checked at the given sizes: most values were not finite, or none could be computed");
      return;
    }
    e_.given_distance = given.distance;
    if (given.distance <= same_in_float64) return;
    e_.answer = given.distance >= other_in_float64 ? Answer::different : Answer::undecided;
    e_.method = "float64";
    e_.why =
        fmt::format("the same at small sizes, but {:.2g} apart in float64 at the given ones", given.distance);
    if (e_.answer == Answer::different) e_.counterexample = counterexample(given);
  }

  const KernelGraph &a_, &b_;
  const EqualOptions& options_;
  Pairing pairing_;
  SmallPair small_;
  RealTrials real_;
  FieldTrials field_;
  Equality e_;
};

}  // namespace

std::string_view name(Answer a) {
  return a == Answer::equal ? "equal" : a == Answer::different ? "different" : "undecided";
}

Equality equal(const KernelGraph& a, const KernelGraph& b, const EqualOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Equality e = Decision(a, b, options).run();
  e.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return e;
}

}  // namespace zellige::search
