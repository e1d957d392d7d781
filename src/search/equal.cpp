#include "search/equal.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "graph/collective.hpp"
#include "graph/error.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "number/modular.hpp"
#include "search/any_op.hpp"
#include "search/field_trials.hpp"
#include "search/given_sizes.hpp"
#include "search/match.hpp"
#include "search/real_trials.hpp"
#include "search/scalars.hpp"
#include "search/shrink.hpp"
#include "search/sized_equal.hpp"

namespace zellige::search {
namespace {

// Float64 loses about 1e-13 of a well-conditioned row. Graphs that differ do so by far more.
constexpr double same_in_float64 = 1e-9, other_in_float64 = 1e-5;

// Limit of the multiplications in both graphs for which the errors of float64 are bounded: about two seconds.
constexpr double bounded_work = 1e8;

// Limit of operations in all fields of one kind: about a second.
constexpr double small_fields = 6e6, given_fields = 1e7;

/// Returns whether a number in the graph may represent an extent: a scalar, such as 1/4096 in a mean, or
/// the trip count of a loop that adds the same value repeatedly. If so, a difference at small sizes may
/// vanish at the sizes that the graph declares.
bool counts(const KernelGraph& g) {
  return any_op(g, [](const auto& op, const graph::BlockGraph* block) {
    if (has_scalar(op.kind, op.inputs.size())) return true;
    return block && graph::is_accumulator(op.kind) && block->loop > 1 && !graph::varies(*block)[op.inputs[0]];
  });
}

/// Returns whether a graph adds or multiplies integers, or casts numbers to integers.
bool computes_integers(const KernelGraph& g) {
  const auto computes = [](const auto& op, const auto& tensors) {
    return !op.outputs.empty() && !op.inputs.empty() && graph::is_integer(tensors[op.outputs[0]].dtype) &&
           (graph::adds_integers(op.kind) ||
            (graph::is_elementwise(op.kind) && graph::elementwise(op.kind).spread != graph::Spread::step));
  };
  return any_op(g, [&](const auto& op, const graph::BlockGraph* block) {
    return block ? computes(op, block->tensors) : computes(op, g.tensors);
  });
}

/// Two graphs that are compared, with what is computed of them once.
struct ComparedGraphs : GraphPair {
  const EqualOptions& options;
  double given_products;  // multiplications of both graphs at the given sizes
  std::uint64_t seed;

  /// Returns whether evaluation at the given sizes takes no more work than the options allow.
  bool affordable() const { return given_products <= options.given_work; }
};

/// Compares `at`, the graphs `g` at some sizes, in finite fields. If one field would take more than
/// options.field_work multiplications, returns a result without agreement. `steps` is the limit of operations in all
/// fields of one Field::Order. `loose`: the same only if scalars are known to 50 bits.
FieldTrials in_fields(const ComparedGraphs& g, bool loose, const GraphPair& at, double steps) {
  const double one = work(at.a) + work(at.b);
  if (one > g.options.field_work)
    return {.why_not = fmt::format("one finite field would take {:.2g} products, more than {:.2g}", one,
                                   g.options.field_work)};
  FieldOptions options{.seed = g.seed, .trials = g.options.trials, .steps = steps};
  if (loose) options.folded = folded(g.a, g.b);
  return field_trials(at, options);
}

/// Returns whether the graphs agree in finite fields at small sizes at which different extents stay different.
bool distinct_agree(const ComparedGraphs& g, bool loose) {
  bool agree = false;
  const auto error = refused([&] {
    const std::vector<SmallPair> pairs = shrink_distinct(g);
    agree = !pairs.empty() && std::ranges::all_of(pairs, [&](const SmallPair& pair) {
      return in_fields(g, loose, {pair.a, pair.b, g.pairing}, small_fields).agrees;
    });
  });
  return agree && !error;
}

/// Returns whether the graphs are proved to differ at `inputs` of the given sizes: by more than the errors that
/// float64, or balls if those take little work, may have made.
bool proves(const ComparedGraphs& g, const std::vector<reference::Array>& inputs, std::vector<std::string>& notes) {
  bool proved = false;
  if (const auto error = refused([&] {
        proved = (g.given_products <= bounded_work && proved_in_float64(g, inputs)) ||
                 (g.given_products <= g.options.real_work && proved_in_balls(g, inputs));
      }))
    notes.push_back(error->what());
  return proved;
}

/// Returns inputs of the given sizes that repeat `small`, inputs of small sizes, along every dimension.
std::vector<reference::Array> repeated(const KernelGraph& g, const std::vector<reference::Array>& small) {
  std::vector<reference::Array> result;
  for (std::size_t i = 0; i < small.size(); ++i) {
    reference::Array x = reference::make_array(g.tensors[g.inputs[i]].shape);
    for (std::size_t e = 0; e < x.values.size(); ++e) {
      const graph::Shape at = graph::coordinates(static_cast<std::int64_t>(e), x.shape);
      std::int64_t from = 0;
      for (std::size_t d = 0; d < at.size(); ++d) from = from * small[i].shape[d] + at[d] % small[i].shape[d];
      x.values[e] = small[i].values[static_cast<std::size_t>(from)];
    }
    result.push_back(std::move(x));
  }
  return result;
}

/// Returns how many inputs to try so that each element of each row is the largest once and the smallest
/// once, but no more than about a second allows. Returns 0 if the graphs compare no numbers.
int peaks(const ComparedGraphs& g) {
  if (!has_order(g.a) && !has_order(g.b)) return 0;
  std::int64_t longest = 1;
  for (int t : g.a.inputs) {
    const graph::Shape& shape = g.a.tensors[t].shape;
    longest = std::max(longest, (shape.back() * shape.back() + graph::size(shape) - 1) / graph::size(shape));
  }
  return static_cast<int>(std::min(2.0 * static_cast<double>(longest), 2e7 / g.given_products));
}

/// Compares the graphs in float64 at the sizes that they declare (the given sizes), at `points` random inputs of each
/// scale (a magnitude and pattern of the values), first of scale `also` if there is one. If the reference throws
/// Error, for example for lack of memory, adds a note and returns a result that compared nothing.
GivenSizes at_given_sizes(const ComparedGraphs& g, std::optional<Scale> also, int points, Equality& e) {
  GivenSizes given;
  if (const auto error = refused([&] { given = given_sizes(g, g.seed, also, points, peaks(g)); }))
    e.notes.push_back(error->what());
  if (given.compared) e.given_distance = given.distance;
  return given;
}

/// Compares two graphs: by structure, then over the real numbers and finite fields at small tensor sizes,
/// then at the given sizes (those that the graphs declare).
class Decision {
 public:
  explicit Decision(const ComparedGraphs& g) : g_(g) { e_.seed = g.seed, e_.by_name = g.pairing.by_name; }

  Equality run() {
    if (computes_integers(g_.a) || computes_integers(g_.b))
      e_.notes.push_back("integers wrap: int8 and int32 results are taken modulo 2^8 and 2^32");
    if (same_structure(g_)) {
      at_sizes(g_.a);
      return answer(Answer::equal, "structure", "the same operators on the same operands, which proves it");
    }
    small_ = {g_.a, g_.b, false};
    if (const auto error = refused([&] { small_ = shrink(g_); }))
      e_.notes.push_back(fmt::format("decided at the given sizes: {}", error->what()));
    return at_small_sizes();
  }

 private:
  /// Returns the answer that follows from comparing the graphs with small tensor sizes (small_), and then,
  /// if that is possible, with the sizes that they declare (the given sizes).
  Equality at_small_sizes() {
    const GraphPair small{small_.a, small_.b, g_.pairing};
    at_sizes(small_.a);
    if (const auto error = refused([&] {
          if (work(small_) <= g_.options.real_work) real_ = real_trials(small, g_.seed);
        }))
      e_.notes.push_back(error->what());
    const std::string loose =
        "the two have different scalars, and are the same only if those are taken as rounded, known to 50 bits";
    if (real_.loose && !real_.difference && std::ranges::find(e_.notes, loose) == e_.notes.end())
      e_.notes.push_back(loose);
    if (real_.difference) return small_difference();
    const FieldTrials fields = in_fields(g_, real_.loose, small, small_fields);
    if (fields.agrees && !real_.unseen) return small_agreement(fields);
    return no_agreement(real_.unseen ? "they are proved to differ, but by too little for float64 to see"
                                     : fields.why_not);
  }

  /// Records the input shapes of graph `g` in the result, as the sizes at which the answer was found.
  void at_sizes(const KernelGraph& g) {
    e_.sizes.clear();
    for (int t : g.inputs) e_.sizes.push_back({g.tensors[t].name, g.tensors[t].shape, {}});
    e_.shrunk = &g != &g_.a && small_.shrunk;
  }

  /// Returns the answer `a`. `method` and `why` say how it was found.
  Equality answer(Answer a, std::string method, std::string why) {
    e_.answer = a, e_.method = std::move(method), e_.why = std::move(why);
    return std::move(e_);
  }

  /// Returns the answer "equal", found by the finite fields `fields`; with `given` at the sizes that the graphs declare.
  Equality equal(const FieldTrials& fields, bool given = false) {
    if (given) at_sizes(g_.a);
    e_.log2_chance = fields.log2_chance, e_.chance_proved = fields.proved, e_.fields = fields.fields;
    return answer(Answer::equal, "field",
                  fmt::format("the same in {} random finite field{}", fields.fields, fields.fields == 1 ? "" : "s"));
  }

  /// Returns the answer "undecided" with the reason `why`.
  Equality undecided(std::string why) { return answer(Answer::undecided, "", std::move(why)); }

  /// Returns the answer "different" with a counterexample. `method` and `why` say how it was found.
  Equality different(Counterexample c, std::string method, std::string why) {
    e_.counterexample = std::move(c);
    return answer(Answer::different, std::move(method), std::move(why));
  }

  /// Returns the answer if the graphs differ at small sizes (shrink.hpp). If a number in the graphs may
  /// represent an extent, as 1/4096 in a mean does, they may be equal nevertheless at the given sizes
  /// (those that the graphs declare); then checks those sizes, too.
  Equality small_difference() {
    const auto proved = [&] {
      return different(*real_.difference, "real",
                       "the values are proved to differ: farther from each other than what was lost in computing them");
    };
    if (!small_.shrunk) return proved();
    const bool may_count = (counts(g_.a) || counts(g_.b)) && !small_.kept;
    if (!may_count && (!g_.affordable() || !g_.options.given_sizes)) return proved();
    if (!g_.affordable())
      return undecided(
          fmt::format("different at small sizes, but a number may represent an extent, and the given sizes take {:.2g} "
                      "products, more than {:.2g}",
                      g_.given_products, g_.options.given_work));
    if (g_.given_products <= 1e6 && proves(g_, repeated(g_.a, real_.inputs), e_.notes)) return proved();
    const GivenSizes given = at_given_sizes(g_, real_.scale, g_.given_products <= 1e7 ? 4 : 1, e_);
    const double minimum = std::max(1e-12, 1e-3 * std::min(real_.difference->distance, 1e-2));
    if (given.compared && given.distance >= minimum && (!may_count || proves(g_, given.inputs, e_.notes)))
      return proved();
    const FieldTrials fields = in_fields(g_, real_.loose, g_, given_fields);
    if (fields.agrees) {
      e_.notes.push_back("the two differ at smaller sizes: a number in them represents an extent");
      return equal(fields, true);
    }
    return undecided("different at small sizes; at the given ones, no point tried shows it in float64");
  }

  /// Returns the answer if the graphs are equal at small sizes, as the finite fields `fields` have shown, and the
  /// sizes that they declare (the given sizes) are not checked. A mean over 2048 and a mean over 8192 may be equal at
  /// small sizes, so the graphs must also be equal at other small sizes, at which different extents stay different.
  Equality only_small_agreement(const FieldTrials& fields) {
    std::string out_of_reach = "the given sizes are not to be checked";
    if (g_.options.given_sizes) {
      out_of_reach = fmt::format("the given sizes take {:.2g} products, more than {:.2g}", g_.given_products,
                                 g_.options.given_work);
      if (has_order(g_.a) || has_order(g_.b))
        return undecided("the same at small sizes, but they compare numbers, and " + out_of_reach);
    }
    if (!distinct_) {
      distinct_ = shrink_distinct(g_);
      if (distinct_->empty() || work(distinct_->back()) > g_.options.field_work)
        return undecided(
            "the same at small sizes, but extents that differ became the same there, sizes that keep them apart take "
            "too much work, and " +
            out_of_reach);
    }
    if (!distinct_->empty()) {
      small_ = std::move(distinct_->back());
      distinct_->pop_back();
      return at_small_sizes();
    }
    if (g_.options.given_sizes) e_.notes.push_back("not checked at the given sizes: " + out_of_reach);
    return equal(fields);
  }

  /// Returns the answer if the graphs are equal at small sizes, as the finite fields `fields` have shown. Checks the
  /// sizes that the graphs declare (the given sizes), too, unless that takes too long.
  Equality small_agreement(const FieldTrials& fields) {
    if (!small_.shrunk && !distinct_) return equal(fields);
    if (!g_.options.given_sizes || !g_.affordable()) return only_small_agreement(fields);
    const FieldTrials given = in_fields(g_, real_.loose, g_, given_fields);
    if (given.agrees) return equal(given, true);
    const GivenSizes seen = at_given_sizes(g_, {}, g_.given_products <= 1e7 ? 4 : 1, e_);
    if (seen.compared && seen.distance >= other_in_float64 && proves(g_, seen.inputs, e_.notes))
      return float64_difference(seen);
    if (given.differs) return given_difference(given.why_not);
    if (given.fields == 0 && !distinct_ &&  // else only_small_agreement() has tried them
        !distinct_agree(g_, real_.loose))
      return undecided(
          "the same at small sizes, but the given ones take too much work for finite fields, and so do small ones that "
          "keep apart what differs");
    e_.notes.push_back("at the given sizes, not decided by finite fields: " + given.why_not);
    if (!seen.compared || seen.distance > same_in_float64)
      return undecided(fmt::format("the same at small sizes, but {} at the given ones",
                                   seen.compared ? fmt::format("{:.2g} from each other in float64", seen.distance)
                                                 : "without a finite value in float64"));
    return equal(fields);
  }

  /// Returns the answer if the graphs are equal at small sizes, but finite fields distinguish them at the given ones,
  /// for the reason `why`. What fields distinguish is never called equal, but different if real numbers prove that.
  Equality given_difference(const std::string& why) {
    if (g_.given_products <= g_.options.real_work) {
      real_ = real_trials(g_, g_.seed);
      at_sizes(g_.a);
      if (real_.difference)
        return different(*real_.difference, "real",
                         "the values are proved to differ at the given sizes: farther from each other than what was "
                         "lost in computing them");
    }
    return undecided("the same at small sizes, but at the given ones " + why);
  }

  /// Returns the answer if finite fields do not show equality at small sizes, for the reason `why`. Looks for inputs
  /// of the sizes that the graphs declare (the given sizes) at which the graphs differ.
  Equality no_agreement(const std::string& why) {
    if (!g_.options.given_sizes || !g_.affordable()) return undecided(why);
    const int points = g_.given_products <= 1e7 ? 8 : g_.given_products <= 1e8 ? 2 : 1;
    const GivenSizes given = at_given_sizes(g_, {}, points, e_);
    if (given.compared && given.distance >= other_in_float64 && proves(g_, given.inputs, e_.notes))
      return float64_difference(given);
    if (small_.shrunk && !real_.unseen) {
      const FieldTrials fields = in_fields(g_, real_.loose, g_, given_fields);
      if (fields.agrees) return equal(fields, true);
    }
    return undecided(why);
  }

  /// Returns the answer "different" with the counterexample that float64 shows at the sizes that the graphs declare.
  Equality float64_difference(const GivenSizes& given) {
    Counterexample c{g_.a, g_.b, shown(g_.a, given.inputs), "float64", given.output, given.element};
    c.in_a = fmt::format("{}", given.in_a), c.in_b = fmt::format("{}", given.in_b);
    c.distance = given.distance;
    at_sizes(g_.a);
    return different(std::move(c), "float64",
                     std::isinf(given.distance)
                         ? "one is a number and the other none at the given sizes, in float64"
                         : fmt::format("{:.2g} from each other in float64 at the given sizes", given.distance));
  }

  const ComparedGraphs& g_;
  SmallPair small_;
  std::optional<std::vector<SmallPair>> distinct_;  // what shrink_distinct() found and is not yet compared
  RealTrials real_;
  Equality e_;
};

}  // namespace

std::string_view name(Answer a) {
  return a == Answer::equal ? "equal" : a == Answer::different ? "different" : "undecided";
}

std::vector<Shown> shown(const KernelGraph& g, const std::vector<reference::Array>& inputs) {
  std::size_t count = 0;
  for (const reference::Array& x : inputs) count += x.values.size();
  std::vector<Shown> all;
  if (count > 4096) return all;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    all.push_back({g.tensors[g.inputs[i]].name, inputs[i].shape, {}});
    for (double x : inputs[i].values) all.back().values.push_back(fmt::format("{}", x));
  }
  return all;
}

Equality equal(const KernelGraph& a, const KernelGraph& b, const EqualOptions& options) {
  for (const KernelGraph* g : {&a, &b})
    graph::refuse_collectives(*g, "compare the graph that unsharded() makes of it, as `zellige equal --shard` does");
  const auto start = std::chrono::steady_clock::now();
  if (a.sizes || b.sizes) {
    Equality e = equal_sized(a, b, options);
    e.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return e;
  }
  const std::uint64_t seed =
      options.seed ? *options.seed : (std::uint64_t{std::random_device{}()} << 32 | std::random_device{}()) >> 11;
  const ComparedGraphs graphs{{a, b, match(a, b)}, options, work(a) + work(b), seed};
  Equality e = Decision(graphs).run();
  e.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return e;
}

}  // namespace zellige::search
