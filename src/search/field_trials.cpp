#include "search/field_trials.hpp"

#include <algorithm>
#include <cmath>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/ops.hpp"
#include "graph/view.hpp"
#include "number/fraction.hpp"
#include "reference/inputs.hpp"
#include "reference/rounding.hpp"
#include "search/any_op.hpp"
#include "search/boundaries.hpp"
#include "search/evaluate_graph.hpp"
#include "search/point.hpp"

namespace zellige::search {
namespace {

using Order = number::Field::Order;

/// Arithmetic that remembers which of its operations a definition called: maxima and minima; comparisons and selections;
/// absolute values; square roots, which absolute values and powers may be; logarithms, which powers may be.
struct Called : graph::Doubles {
  bool domains = false;  // what is NaN for negative numbers
  bool maxima = false, sides = false, absolutes = false, roots = false, logs = false;
  double max(double x, double) { return maxima = true, x; }
  double min(double x, double) { return maxima = true, x; }
  double less(double x, double) { return sides = true, x; }
  double less_equal(double x, double) { return sides = true, x; }
  double same(double x, double) { return sides = true, x; }
  double choose(double, double x, double) { return sides = true, x; }
  double abs(double x) { return absolutes = roots = true, x; }
  double sqrt(double x) { return roots = domains = true, x; }
  double log(double x) { return logs = domains = true, x; }
  double pow(double x, double) { return roots = logs = domains = true, x; }
};

/// Adds to `called` what the definition of an operator calls. `operands`: the shapes of its operands.
void call(OpKind kind, const graph::Attributes& a, const std::vector<graph::Shape>& operands, Called& called) {
  if (graph::is_elementwise(kind)) {
    graph::with_elementwise(kind, [&](const auto& meaning, auto) {
      const double x[graph::max_operands] = {1, 1, 1};
      meaning(called, a, static_cast<const double*>(x));
    });
  } else if (graph::is_composed(kind) && !graph::is_primitive_fold(kind, a)) {
    for (const graph::ComposedStep& step : graph::compose(kind, a, operands))
      call(step.kind, step.attributes, {}, called);
  } else if (const graph::ReductionRow* row = graph::reduction_of(kind)) {
    call(row->of->join, {}, {}, called);
    called.roots = called.roots || row->then == graph::Then::root_of_mean;
  }
}
/// Returns `called` with what the definitions of the graph's operators call.
Called called_by(const KernelGraph& g, Called called = {}) {
  each_op(g, [&](const auto& op, const graph::BlockGraph* block) {
    std::vector<graph::Shape> operands;
    for (int t : op.inputs) operands.push_back(block ? block->tensors[t].shape : g.tensors[t].shape);
    call(op.kind, op.attributes, operands, called);
  });
  return called;
}

/// What was found for one element of an output in all fields of one kind.
struct ElementTrials {
  // Number of fields in which it was compared; of these, with drawn integers enumerated in sequence, or at
  // random; number of fields in which it was missing.
  int compared = 0, sequential = 0, at_random = 0, missing = 0;
  double comparisons = 0;        // largest number of comparisons whose numbers may be equal
  double degree = 1, sides = 0;  // largest degree; largest number of comparisons
  number::Field::Cases cases;
};

/// The inputs of the graphs, of which each field has others.
struct DrawnInputs {
  DrawnInputs(const KernelGraph& graph, std::vector<graph::Numbers> drawn) : a(graph), numbers(std::move(drawn)) {
    for (const graph::Numbers& n : numbers)
      if (n.bound > 0) range = std::max(range, n.bound), distinct = distinct || n.distinct;
  }

  /// Returns whether the integers (row indices or lengths) of the inputs in the n-th field are enumerated in
  /// sequence instead of drawn at random.
  bool sequential(int n) const { return range > 0 && !distinct && n / range % 2 == 0; }

  /// Returns the inputs of the n-th field. Another `attempt` draws other numbers.
  FieldInputs in(number::Field& field, int n, std::uint64_t attempt) const {
    FieldInputs result;
    std::uint64_t place = attempt << 40;  // of an element, among those of all inputs
    for (std::size_t i = 0; i < a.inputs.size(); ++i) {
      const graph::KernelTensor& t = a.tensors[a.inputs[i]];
      const std::int64_t bound = numbers[i].bound;
      result.push_back(reference::make_array(t.shape, number::FieldNumber{}));
      std::vector<double> whole(result.back().values.size());  // the integers that must be distinct
      if (numbers[i].distinct)
        reference::draw_numbers(numbers[i], number::draw(field.p(), i), 0, graph::size(t.shape), whole.data());
      for (std::size_t e = 0; e < whole.size(); ++e, ++place) {
        number::FieldNumber& x = result.back().values[e];
        if (bound > 0) {
          const std::int64_t drawn = static_cast<std::int64_t>(number::draw(field.p(), place) % bound);
          const std::int64_t value = numbers[i].distinct ? static_cast<std::int64_t>(whole[e])
                                     : sequential(n)     ? n % bound
                                                         : drawn;
          x = field.one_of(field.integer(value), bound, place);
        } else {
          x = field.random(place);
          x.whole = graph::is_integer(t.dtype);
          if (x.whole) {
            x.greatest = graph::format(t.dtype).greatest, x.lowest = graph::format(t.dtype).lowest;
            field.ranges_of_inputs[x.p] = {x.lowest, x.greatest};
          }
        }
      }
    }
    return result;
  }

  const KernelGraph& a;
  std::vector<graph::Numbers> numbers;  // per input: constraints on its integers
  std::int64_t range = 0;               // the largest bound of integers
  bool distinct = false;                // some integers must be distinct
};

/// Makes `field` evaluate each folded scalar as the product, quotient or sum of the scalars from which it was folded.
void fold_scalars(number::Field& field, const std::vector<Folded>& folded) {
  for (const Folded& f : folded) {
    const number::FieldNumber x = field.constant(f.x), y = field.constant(f.y);
    field.alias(f.scalar, f.op == '*' ? field.mul(x, y) : f.op == '/' ? field.div(x, y) : field.add(x, y));
  }
}

/// Records the degree of an element, whose values are x and y, and on how many comparisons and integers it depends.
void record_degrees(number::Field& field, const number::FieldNumber& x, const number::FieldNumber& y,
                    ElementTrials& e) {
  const auto of_difference = [](const number::Degrees& a, const number::Degrees& b) {
    return std::max(double{a.numerator} + b.denominator, double{b.numerator} + a.denominator) + a.denominator +
           b.denominator;
  };
  e.degree = std::max(e.degree, of_difference(x.degrees, y.degrees));
  const double sides = of_difference(x.sides, y.sides);
  const number::Field::Cases cases = field.cases(field.both(x.decisions, y.decisions));
  e.sides = std::max(e.sides, cases.many ? sides : std::min(sides, cases.decisions));
  e.comparisons = std::max(e.comparisons, cases.many ? sides : cases.comparisons);
  e.cases.many = e.cases.many || cases.many;
  e.cases.whole = std::max(e.cases.whole, cases.whole);
  e.cases.whole_numbers = std::max(e.cases.whole_numbers, cases.whole_numbers);
}

/// Compares two graphs in fields with one kind of order.
class Tier {
 public:
  Tier(const GraphPair& pair, const FieldOptions& options, Order order, bool keeps_sums, bool lines)
      : pair_(pair), a_(pair.a), b_(pair.b), options_(options), order_(order), keeps_sums_(keeps_sums), lines_(lines) {
    for (int t : a_.outputs) elements_.emplace_back(graph::size(a_.tensors[t].shape));
  }

  /// Compares the graphs in as many fields as an error probability of 2^-40 requires, or as the limit of
  /// operations (options_.steps) allows.
  FieldTrials run() {
    for (int n = 0, maximum = 1; n < maximum; ++n) {
      if (!one_field(n)) return result_;
      maximum = static_cast<int>(std::clamp(options_.steps / steps_, 2.0, max_fields));
      result_.log2_chance = chance();
      if (n + 1 >= options_.trials && result_.log2_chance <= log2_max_chance) {
        result_.agrees = any_value_;
        if (!any_value_) result_.why_not = "no element of the outputs has a value anywhere";
        return result_;
      }
      if (!result_.why_not.empty() || sides_needed_ > maximum) break;
    }
    if (result_.why_not.empty())
      result_.why_not = fmt::format("they agree in {} random finite fields, but {}", result_.fields, reason_);
    return result_;
  }

 private:
  static constexpr double max_fields = 4000;

  /// Compares all outputs in the n-th field. Returns false and sets result_.why_not if an element differs or
  /// cannot be decided.
  bool one_field(int n) {
    number::Field field(
        number::draw(options_.seed, static_cast<std::uint64_t>(n) + (static_cast<std::uint64_t>(order_) << 32)),
        order_);
    field.tells_logs = called_.logs;
    field.tells_order = called_.maxima || called_.sides || called_.absolutes;
    field.tells_roots = called_.roots;
    field.keeps_sums = keeps_sums_, field.lines = lines_;
    fold_scalars(field, options_.folded);
    const auto draw_inputs = [&](std::uint64_t attempt) { return inputs_.in(field, n, attempt); };
    FieldInputs ya, yb;
    if (order_ == Order::ties) {
      auto point = tie_point(field, pair_, number::draw(options_.seed, static_cast<std::uint64_t>(n)), draw_inputs);
      if (!point) {
        result_.why_not = "they may differ where two numbers that are compared are the same: no such inputs were found";
        return false;
      }
      each_element(point->drawn_a, point->drawn_b,
                   [&](const number::FieldNumber& x, const number::FieldNumber& y, ElementTrials& e) {
                     record_degrees(field, x, y, e);  // of ties, fewer comparisons take sides
                     return true;
                   });
      ya = std::move(point->a), yb = std::move(point->b);
    } else {
      const FieldInputs drawn = draw_inputs(0);
      ya = evaluate_graph(field, a_, drawn), yb = evaluate_graph(field, b_, paired(drawn, pair_.pairing));
    }
    result_.compared = result_.compared || field.compared;
    result_.proved = !field.took_exp && !field.took_unknown && (n == 0 || result_.proved);
    steps_ = std::max(steps_, field.steps);
    result_.nested = result_.nested || field.took_nested;
    arguments_ = std::max(arguments_, field.argument_degree), calls_ = std::max(calls_, field.calls);
    return each_element(ya, yb, [&](const number::FieldNumber& x, const number::FieldNumber& y, ElementTrials& e) {
      return compare(field, x, y, n, e);
    });
  }

  /// Calls use(x, y, e) for each element e of the outputs, whose values in the two graphs are x and y, until it returns
  /// false; then names the element in result_.why_not, with reason_.
  template <class Use>
  bool each_element(const FieldInputs& ya, const FieldInputs& yb, const Use& use) {
    for (std::size_t o = 0; o < ya.size(); ++o)
      for (std::size_t i = 0; i < ya[o].values.size(); ++i)
        if (!use(ya[o].values[i], yb[o].values[i], elements_[o][i])) {
          result_.why_not = fmt::format("element {} of {} {}",
                                        graph::to_string(graph::coordinates(static_cast<std::int64_t>(i), ya[o].shape)),
                                        a_.tensors[a_.outputs[o]].name, reason_);
          result_.differs = true;
          return false;
        }
    return true;
  }

  /// Compares element `e` of an output in the n-th field: its value x in the first graph and y in the second.
  /// Returns false and sets reason_ if the values differ or cannot be decided.
  bool compare(number::Field& field, const number::FieldNumber& x, const number::FieldNumber& y, int n,
               ElementTrials& e) {
    using Kind = number::FieldNumber::Kind;
    const bool no_divisor =
        order_ == Order::ties && x.kind == Kind::unclear && y.kind == Kind::unclear;  // it happens to be 0
    if (x.kind == Kind::missing || y.kind == Kind::missing || no_divisor) {
      ++e.missing;
      return true;
    }
    reason_ = "may be infinite, and nothing is known of its sign";
    if (x.kind == Kind::unclear || y.kind == Kind::unclear) return false;
    reason_ = order_ == Order::ties ? "differs in a finite field, where two numbers that are compared are the same"
                                    : "differs in a finite field";
    if (x.kind != y.kind || (x.kind == Kind::number && x.p != y.p)) return false;
    reason_ = "is no number under other conditions, as far as finite fields show";
    if (x.kind != Kind::nan && (x.domain != y.domain || x.fragile != y.fragile || x.domain == number::Sets::many))
      return false;
    ++e.compared;
    ++(inputs_.sequential(n) ? e.sequential : e.at_random);
    any_value_ = any_value_ || x.kind == Kind::number;
    record_degrees(field, x, y, e);
    return true;
  }

  /// Returns log2 of the probability that element `e` agreed in all fields by chance, although it differs
  /// over the real numbers. In one field that happens in three cases: the difference, a polynomial, has a
  /// root there (degree / 2^53); p divides all coefficients of the polynomial (few of about 2^46 primes); or
  /// two arguments of uninterpreted functions collide.
  double chance(const ElementTrials& e) {
    const double primes = order_ == Order::unknown ? 0x1p-45 : 0x1p-39;
    const double luck = (e.degree + 2 * arguments_) * primes + calls_ * calls_ * (1 + arguments_) * 0x1p-53;
    const auto never = [&](std::string why) {
      reason_ = std::move(why), sides_needed_ = INFINITY;
      return 0.0;
    };
    if (!(luck < 0.5)) return never("their degree is too high for the fields to decide");
    if (e.cases.many && inputs_.range > 0) return never("it depends on too many whole numbers");
    if (e.sides == 0 && e.cases.whole_numbers == 0) return e.compared * std::log2(luck);
    double hit = std::exp2(-e.sides), n = e.compared;
    if (order_ == Order::ties) hit *= std::pow(2.0 / 3, std::min(e.comparisons, e.sides));  // of three outcomes each
    if (e.cases.whole_numbers == 1 && !inputs_.distinct && e.missing == 0)
      n = std::floor(e.sequential / e.cases.whole);  // each case once
    else if (e.cases.whole_numbers > 0)
      hit /= e.cases.whole, n = e.at_random;
    const char* more = "a chance of error of 2^-40 takes more: comparisons, roots or whole numbers have many cases";
    if (hit == 1) return n * std::log2(luck);
    if (hit < 100 * luck) return never(more);
    reason_ = more;
    sides_needed_ = std::max(sides_needed_, log2_max_chance / std::log2(1 - 0.98 * hit));
    return n * std::log2(1 - 0.98 * hit);
  }

  /// Returns log2 of the largest probability, over all elements of the outputs, that an element agreed by
  /// chance. Sets reason_ to what makes this probability large.
  double chance() {
    double worst = -1e9;
    result_.fields = 1 << 30;
    std::string reason = "nothing was compared";
    sides_needed_ = 0;
    for (const std::vector<ElementTrials>& output : elements_)
      for (const ElementTrials& e : output) {
        const double c = e.compared == 0 ? 0 : chance(e);
        if (c > worst || e.compared == 0)
          worst = c, reason = e.compared == 0 ? "no field was found that has all roots of an element" : reason_;
        result_.fields = std::min(result_.fields, e.compared);
      }
    reason_ = reason;
    return worst;
  }

  const GraphPair& pair_;
  const KernelGraph &a_, &b_;
  const FieldOptions& options_;
  Order order_;
  bool keeps_sums_, lines_;
  const Called called_ = called_by(b_, called_by(a_));
  const DrawnInputs inputs_{a_, drawn_numbers(pair_)};
  bool any_value_ = false;
  std::vector<std::vector<ElementTrials>> elements_;
  double steps_ = 1, arguments_ = 0, calls_ = 0, sides_needed_ = 0;
  std::string reason_ = "nothing was compared";
  FieldTrials result_;
};

}  // namespace

bool has_order(const KernelGraph& g) {
  const Called called = called_by(g);
  return called.maxima || called.sides || called.absolutes;
}

FieldTrials field_trials(const GraphPair& pair, const FieldOptions& options) {
  const Called called = called_by(pair.b, called_by(pair.a));
  const bool maxima = called.maxima;
  const bool sides = maxima || called.sides || called.absolutes || called.roots || called.logs;
  FieldTrials first;
  int max_equal = 0;  // number of fields of one kind in which no element differed
  const auto tier = [&](Order order, bool keeps_sums, bool lines) {
    FieldTrials found;
    try {
      found = Tier(pair, options, order, keeps_sums, lines).run();
      if (!found.agrees || !found.compared) return found;
      const FieldTrials ties = Tier(pair, options, Order::ties, keeps_sums, lines).run();
      found.log2_chance = std::max(found.log2_chance, ties.log2_chance);
      found.proved = found.proved && ties.proved;
      found.agrees = ties.agrees;
      found.differs = ties.differs;
      if (!ties.agrees) found.why_not = ties.why_not;
    } catch (const Error& error) {
      found.why_not = error.what();
    }
    return found;
  };
  constexpr std::pair<Order, bool> kinds[] = {
      {Order::unknown, false}, {Order::ordered, false}, {Order::ordered, true}, {Order::scaled, false}};
  for (const auto& [order, lines] : kinds) {
    if ((order == Order::scaled && !maxima) || (order == Order::ordered && !sides) || (lines && called.domains))
      continue;
    FieldTrials found = tier(order, false, lines);
    if (!found.agrees && found.nested) {
      const FieldTrials other = tier(order, true, lines);
      if (other.agrees) found = other;
    }
    if (found.agrees) return found;
    max_equal = std::max(max_equal, found.differs ? 0 : found.fields);
    if (order == Order::unknown || (!lines && !found.why_not.starts_with("element"))) first = found;
  }
  first.differs = first.differs && max_equal == 0, first.fields = max_equal;
  return first;
}

}  // namespace zellige::search
