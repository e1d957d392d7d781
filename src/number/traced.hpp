// Arithmetic that follows how numbers depend on the inputs of a graph: each number carries its slopes, the partial
// derivatives by the elements of inputs. It records every comparison with the slopes of the difference, so that inputs
// can be found at which the two numbers are equal (boundary.hpp).
//
//   Traced<Field, FieldSlopes> traced(field, FieldSlopes{field});
//   auto y = evaluate_graph(traced, g, inputs);       // inputs[i].values[e] = traced.input(x, place)
//   traced.differences                                // one per comparison, in the order of evaluation
#pragma once
#include <memory>
#include <vector>

#include "number/values.hpp"

namespace zellige::number {

/// The slopes of a number, whose type `Slope` a policy defines, such as FieldSlopes.
template <class Slope>
struct Slopes {
  static constexpr std::size_t capacity = 512;
  struct Term {
    std::uint64_t place;  // the input element's number
    Slope slope;
  };
  std::vector<Term> terms;  // by ascending place; elements that are missing have slope 0
  bool hidden = false;      // it depends on inputs in a way that the terms do not show
  bool straight = true;     // the slopes are constants, as far as the outcomes of comparisons stay the same

  bool none() const { return terms.empty() && !hidden; }
};

/// What happens where a difference is 0: a pole or the end of a domain; a kink, as of a maximum; or a jump, as of a
/// comparison, whose outcome for equal numbers is its own.
enum class Edge : std::uint8_t { pole, kink, jump };

/// A difference of two numbers that a graph compares, or a number that it compares with 0.
template <class Number, class Slope>
struct TracedDifference {
  Number number;
  Slopes<Slope> slopes;
  Edge edge = Edge::pole;
};

/// The arithmetic A, with slopes. `Policy` computes with slopes: of(number), plus, times, minus, over, and is_zero. It
/// reports whether a number is a known constant, and whether it is positive at all inputs.
template <class A, class Policy>
class Traced {
 public:
  using Slope = typename Policy::Slope;
  struct Number {
    typename A::Number value;
    Slopes<Slope> slopes = {};
    std::shared_ptr<const Number> core = {};      // a number that is 0 at the same inputs; null: none but this one
    std::shared_ptr<const Number> exponent = {};  // of an exponential
  };
  using Seen = TracedDifference<typename A::Number, Slope>;

  Traced(A& a, Policy policy) : a_(a), policy_(policy) {}

  /// Returns x as the input element with the number `place`.
  Number input(const typename A::Number& x, std::uint64_t place) const { return {x, {{{place, policy_.one()}}}}; }

  std::vector<Seen> differences;

  Number integer(std::int64_t n) { return {a_.integer(n)}; }
  Number constant(double c) { return {a_.constant(c)}; }
  Number neg(const Number& x) { return {a_.neg(x.value), scaled(x.slopes, policy_.minus(policy_.one())), x.core}; }
  Number add(const Number& x, const Number& y) {
    Number z{a_.add(x.value, y.value), sum(x.slopes, y.slopes)};
    if (Policy::constant(x.value, 0)) z.core = y.core;
    if (Policy::constant(y.value, 0)) z.core = x.core;
    return z;
  }
  Number sub(const Number& x, const Number& y) {
    Number z = add(x, neg(y));
    const auto one = [](const Number& v) { return Policy::constant(v.value, 1); };
    if ((x.exponent || one(x)) && (y.exponent || one(y)) && (x.exponent || y.exponent)) {
      const Number zero = integer(0);
      z.core = std::make_shared<Number>(sub(x.exponent ? *x.exponent : zero, y.exponent ? *y.exponent : zero));
    }
    return z;
  }
  Number mul(const Number& x, const Number& y) {
    Number z{a_.mul(x.value, y.value)};
    if (Policy::positive(y.value))
      z.core = core(x);
    else if (Policy::positive(x.value) || (!Policy::follows_curves && policy_.same(x.value, y.value)))
      z.core = core(y);
    if (x.slopes.none() && y.slopes.none()) return z;
    z.slopes = sum(scaled(x.slopes, policy_.of(y.value)), scaled(y.slopes, policy_.of(x.value)));
    z.slopes.straight = z.slopes.straight && (x.slopes.none() || y.slopes.none());
    return z;
  }
  Number div(const Number& x, const Number& y) {
    see(y, Edge::pole);
    Number z{a_.div(x.value, y.value)};
    if (Policy::positive(y.value)) z.core = core(x);
    if ((x.slopes.none() && y.slopes.none()) || policy_.is_zero(policy_.of(y.value))) return z;
    const Slope per = policy_.over(policy_.one(), policy_.of(y.value));
    z.slopes = scaled(x.slopes, per);
    if (y.slopes.none()) return z;
    z.slopes = sum(z.slopes, scaled(y.slopes, policy_.minus(policy_.times(policy_.of(z.value), per))));
    z.slopes.straight = false;
    return z;
  }
  Number sqrt(const Number& x) {
    see(x, Edge::pole);
    const typename A::Number z = a_.sqrt(x.value);
    return curved(z, x, policy_.over(policy_.one(), policy_.plus(policy_.of(z), policy_.of(z))));
  }
  Number log(const Number& x) {
    see(x, Edge::kink);
    return curved(a_.log(x.value), x, policy_.over(policy_.one(), policy_.of(x.value)));
  }
  Number exp(const Number& x) {
    Number z{a_.exp(x.value)};
    z = curved(z.value, x, policy_.of(z.value));
    if (!Policy::follows_curves) z.exponent = std::make_shared<Number>(x);
    return z;
  }
  Number pow(const Number& x, const Number& y) {
    see(x, Edge::kink);
    const typename A::Number power = a_.pow(x.value, y.value);
    const Slope slope = policy_.times(policy_.of(y.value), policy_.over(policy_.of(power), policy_.of(x.value)));
    Number z = curved(power, x, slope);
    z.slopes.hidden = z.slopes.hidden || !y.slopes.none();
    return z;
  }
  Number sin(const Number& x) { return curved(a_.sin(x.value), x, policy_.of(a_.cos(x.value))); }
  Number cos(const Number& x) { return curved(a_.cos(x.value), x, policy_.minus(policy_.of(a_.sin(x.value)))); }
  Number tanh(const Number& x) {
    const typename A::Number z = a_.tanh(x.value);
    return curved(z, x, policy_.of(a_.sub(a_.integer(1), a_.mul(z, z))));
  }
  Number normal(const Number& x) { return curved(a_.normal(x.value), x, policy_.one()); }
  Number converted(const Number& x, const graph::Attributes& to) {
    if (!graph::is_integer(to.dtype)) return {a_.converted(x.value, to), x.slopes};
    see(x, Edge::kink);
    return curved(a_.converted(x.value, to), x, policy_.one());
  }
  Number wrapped(const Number& x, int bits) {
    const typename A::Number z = a_.wrapped(x.value, bits);
    if (policy_.same(z, x.value)) return x;
    return curved(z, x, policy_.one());
  }
  Number abs(const Number& x) {
    see(x, Edge::kink);
    Number z{a_.abs(x.value), x.slopes};
    return policy_.same(z.value, x.value) ? z : Number{z.value, neg(x).slopes};
  }
  Number max(const Number& x, const Number& y) { return max_of({x, y}); }
  Number min(const Number& x, const Number& y) { return neg(max(neg(x), neg(y))); }
  Number max_of(const std::vector<Number>& all) {
    std::vector<typename A::Number> values;
    for (const Number& x : all) {
      values.push_back(x.value);
      if (&x != &all.front()) see(sub(x, all.front()), Edge::kink);
    }
    Number z{a_.max_of(values)};
    bool found = false;
    for (const Number& x : all)
      if (!found && policy_.same(x.value, z.value)) z.slopes = x.slopes, found = true;
    for (const Number& x : all)
      if (!found) z.slopes.hidden = z.slopes.hidden || !x.slopes.none();
    return z;
  }
  Number less(const Number& x, const Number& y) {
    see(sub(y, x), Edge::jump);
    return {a_.less(x.value, y.value)};
  }
  Number less_equal(const Number& x, const Number& y) {
    see(sub(y, x), Edge::jump);
    return {a_.less_equal(x.value, y.value)};
  }
  Number same(const Number& x, const Number& y) {
    see(sub(y, x), Edge::jump);
    return {a_.same(x.value, y.value)};
  }
  Number choose(const Number& c, const Number& x, const Number& y) {
    see(c, Edge::jump);
    Number z{a_.choose(c.value, x.value, y.value)};
    const bool first = policy_.same(z.value, x.value), second = policy_.same(z.value, y.value);
    if (first || second)
      z.slopes = first ? x.slopes : y.slopes;
    else
      z.slopes.hidden = !c.slopes.none() || !x.slopes.none() || !y.slopes.none();
    return z;
  }
  std::optional<std::int64_t> whole(const Number& x) const { return a_.whole(x.value); }
  Number marked(Number x, const Number& by) {
    x.value = a_.marked(x.value, by.value);
    return x;
  }
  Number one_of(Number x, std::int64_t range, std::uint64_t place) {
    x.value = a_.one_of(x.value, range, place);
    return x;
  }

 private:
  /// Records that x is compared with 0.
  void see(const Number& x, Edge edge) {
    const Number& of = x.core ? *x.core : x;
    policy_.compares(!of.slopes.hidden);
    differences.push_back({of.value, of.slopes, edge});
  }
  static std::shared_ptr<const Number> core(const Number& x) { return x.core ? x.core : std::make_shared<Number>(x); }

  /// Returns z, a function of x whose slope there is `slope`.
  Number curved(typename A::Number z, const Number& x, const Slope& slope) const {
    if (x.slopes.none()) return {std::move(z)};
    Number y{std::move(z), Policy::follows_curves ? scaled(x.slopes, slope) : Slopes<Slope>{}};
    y.slopes.straight = false, y.slopes.hidden = x.slopes.hidden || !Policy::follows_curves;
    return y;
  }

  Slopes<Slope> scaled(const Slopes<Slope>& x, const Slope& by) const {
    Slopes<Slope> z = x;
    for (auto& term : z.terms) term.slope = policy_.times(term.slope, by);
    std::erase_if(z.terms, [&](const auto& term) { return policy_.is_zero(term.slope); });
    return z;
  }

  Slopes<Slope> sum(const Slopes<Slope>& x, const Slopes<Slope>& y) const {
    if (y.none()) return x;
    if (x.none()) return y;
    Slopes<Slope> z;
    z.hidden = x.hidden || y.hidden, z.straight = x.straight && y.straight;
    auto i = x.terms.begin(), j = y.terms.begin();
    while (i != x.terms.end() || j != y.terms.end()) {
      if (j == y.terms.end() || (i != x.terms.end() && i->place < j->place)) {
        z.terms.push_back(*i++);
      } else if (i == x.terms.end() || j->place < i->place) {
        z.terms.push_back(*j++);
      } else {
        const Slope both = policy_.plus(i->slope, j->slope);
        if (!policy_.is_zero(both)) z.terms.push_back({i->place, both});
        ++i, ++j;
      }
    }
    if (z.terms.size() > Slopes<Slope>::capacity) z.terms.clear(), z.hidden = true;
    return z;
  }

  A& a_;
  Policy policy_;
};

}  // namespace zellige::number
