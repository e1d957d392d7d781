// Defines the elementwise operators in one table: each operator's definition for any type of numbers, its source code
// in a kernel, and the error of its float32 arithmetic. All other code about elementwise operators reads this table.
//
//   const Elementwise& row = elementwise(OpKind::silu);              // row.text == "zellige::silu({0})"
//   double y = apply(OpKind::div, {}, std::array{1.0, 2.0}.data());  // 0.5, in float64
//   // z = exp(x[0]), in the numbers of `arithmetic`
//   with_elementwise(OpKind::exp, [&](const auto& f, auto) { z = f(arithmetic, attributes, x); });
//
// A definition calls the operations of an arithmetic `m`: Doubles below for the reference, or, for `zellige equal`,
// finite fields and real numbers with a proved error bound (src/search). So the reference and `zellige equal` cannot
// disagree about an operator. Some operators accept the attribute `scalar` in place of a tensor as their last operand.
#pragma once
#include <cmath>
#include <numbers>
#include <tuple>
#include <type_traits>

#include "graph/dtype.hpp"
#include "graph/graph.hpp"

namespace zellige::graph {

/// Arithmetic on float64 with the C library's functions, for the reference.
struct Doubles {
  using Number = double;
  DType from = DType::f32;  // of a cast's operand
  static double integer(std::int64_t n) { return static_cast<double>(n); }
  static double constant(double c) { return c; }
  static double neg(double x) { return -x; }
  static double add(double x, double y) { return x + y; }
  static double sub(double x, double y) { return x - y; }
  static double mul(double x, double y) { return x * y; }
  static double div(double x, double y) { return x / y; }
  static double sqrt(double x) { return std::sqrt(x); }
  static double exp(double x) { return std::exp(x); }
  static double log(double x) { return std::log(x); }
  static double pow(double x, double y) { return std::pow(x, y); }
  static double sin(double x) { return std::sin(x); }
  static double cos(double x) { return std::cos(x); }
  static double tanh(double x) { return std::tanh(x); }
  static double abs(double x) { return std::fabs(x); }
  /// Returns the standard normal distribution's cumulative probability at x. Uses erfc, because 1 + erf would
  /// cancel for negative x.
  static double normal(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
  static double max(double x, double y) { return x > y || x != x ? x : y; }  // NaN if an operand is NaN
  static double min(double x, double y) { return x < y || x != x ? x : y; }
  double converted(double x, const Attributes& a) const { return cast_number(x, a, from); }
  static double less(double x, double y) { return x < y; }  // 1 or 0; 0 for a NaN
  static double less_equal(double x, double y) { return x <= y; }
  static double same(double x, double y) { return x == y; }
  static double choose(double c, double x, double y) { return c != 0 ? x : y; }
};

/// Arithmetic on integers stored in doubles: two's complement, wrapping as in PyTorch. int64 is exact up to 2^53. Operators
/// with source code for integers use only the operations that are defined here, comparisons, and choose.
struct Integers : Doubles {
  Format format = graph::format(DType::int32);
  double wrap(std::uint64_t x) const { return wrapped(static_cast<std::int64_t>(x), format); }
  /// Returns an integer, in whose type sums and products wrap.
  static std::uint64_t whole(double x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); }
  double neg(double x) const { return wrap(-whole(x)); }
  double add(double x, double y) const { return wrap(whole(x) + whole(y)); }
  double sub(double x, double y) const { return wrap(whole(x) - whole(y)); }
  double mul(double x, double y) const { return wrap(whole(x) * whole(y)); }
  double abs(double x) const { return x < 0 ? neg(x) : x; }
  static double converted(double x, const Attributes& a) { return cast_integer(x, a); }
};

/// How the error analysis (rounding.hpp) propagates errors of the operands to the result.
enum class Spread : std::uint8_t {
  corners,   // monotonic in each operand, or nearly: evaluate at the ends of the intervals
  slope,     // slope at most 1, but may be non-monotonic
  quotient,  // like corners, and unbounded if the divisor may be 0
  step,      // discontinuous where the operands are equal
  choice     // one operand selects among the others
};

/// In which operands an operator is linear, up to rounding.
enum class Linearity : std::uint8_t {
  no,
  first,  // in the first operand, the other one fixed
  each,   // in each operand, the other one fixed
  all     // in all operands together: f(x + x', y + y') = f(x, y) + f(x', y')
};

/// Whether an operator never decreases as an operand grows, the others fixed. This is meant of the kernel's float32
/// arithmetic, rounding included, which is not known of approximations such as exp.
enum class Monotone : std::uint8_t {
  never,
  up,         // as the first operand grows
  every,      // as any operand grows
  down,       // it never increases as the first operand grows
  by_scalar,  // `up` if the attribute `scalar`, which the operator takes, is positive
};

/// What is known of a value at some indices: those beyond a tensor's end, or of an iteration that a mask empties.
enum class Image : std::uint8_t {
  anything,
  zero,
  one,
  lowest,    // minus infinity
  floor,     // a value that is not above that at any other index, so that a maximum does not need it
  same,      // a finite number, the same at all indices
  unchanged  // a finite number, that of the previous iteration
};

/// Issue slots (warp instructions) that an operator takes per 32 elements, without those of the special function unit.
struct IssueSlots {
  constexpr IssueSlots(int issued, int of_special) : issue(issued), special(of_special) {}
  int issue, special;
  /// Returns the slots in all. The special function unit works at a quarter of the usual rate.
  constexpr int count() const { return issue + 4 * special; }
};

/// Laws of an operator, which rewriting, fusion, retiling and the cost model use. None of them has a default: an operator
/// that lacks one does not compile.
struct Law {
  constexpr Law(Linearity l, Monotone m, Image of_zero, Image of_lowest, IssueSlots s)
      : linear(l), monotone(m), zero(of_zero), lowest(of_lowest), slots(s) {}
  Linearity linear;
  Monotone monotone;
  Image zero;    // the result if all operands are 0
  Image lowest;  // the result if the first operand is minus infinity and the others are finite
  IssueSlots slots;
};

/// Properties of one elementwise operator. ElementwiseRow adds its definition.
struct Elementwise {
  OpKind kind;
  std::string_view name, mirage;  // as in OpInfo (ops.hpp); `mirage` is empty if Mirage lacks the operator
  int operands;
  bool scalar;  // whether the last operand may be the attribute `scalar`
  // source code in a kernel, with operands {0}, {1}, {2} and attributes {scalar}, {lo}, {hi}, {dtype}
  std::string_view text;
  Spread spread;
  Law law;
  /// Returns a bound of the error that a kernel's float32 arithmetic adds to y = f(x): the error of CUDA's
  /// function, and of the rounding of an intermediate argument. `r` is half an ulp of y; `tiny` is the
  /// largest number that may be flushed to zero.
  double (*own)(const double* x, double y, double r, double tiny);
  std::string_view integers;  // source code for int32 operands; empty: floating point only
};

/// A row of the table with the operator's definition, for N operands.
template <int N, class F>
struct ElementwiseRow : Elementwise {
  static constexpr std::integral_constant<int, N> count{};  // number of operands
  F meaning;                                                // called as meaning(arithmetic, attributes, operands)
};

namespace rows {

/// Returns whether the source code `text` mentions each of the operands {0}, {1}, ... {count - 1}.
constexpr bool has_operands(std::string_view text, int count) {
  for (int i = 0; i < count; ++i)
    if (const char operand[] = {'{', static_cast<char>('0' + i), '}'};
        text.find(std::string_view(operand, 3)) == text.npos)
      return false;
  return true;
}

/// Makes a row of the table of elementwise operators; the parameters are the row's members (see Elementwise).
/// `meaning` defines the operator on its N operands. `text` is the operator's source code in a kernel;
/// `integers` is its source code for int32 operands, or empty if it is not defined on integers. Does not
/// compile if one of these source codes omits an operand.
template <int N, class F>
constexpr ElementwiseRow<N, F> row(OpKind kind, std::string_view name, std::string_view mirage, bool scalar,
                                   std::string_view text, Spread spread, Law law,
                                   double (*own)(const double*, double, double, double), F meaning,
                                   std::string_view integers = {}) {
  if (!has_operands(text, N) || (!integers.empty() && !has_operands(integers, N)))
    throw "a format that omits an operand";
  return {{kind, name, mirage, N, scalar, text, spread, law, own, integers}, meaning};
}

using enum Spread;
using enum Linearity;
using enum Monotone;
using enum Image;
constexpr bool tensors = false, or_scalar = true;  // values of `scalar`: whether the last operand may be one

constexpr auto exact = [](const double*, double, double, double) { return 0.0; };
constexpr auto rounded = [](const double*, double, double r, double tiny) { return r + tiny; };
constexpr auto few_units = [](const double*, double, double r, double tiny) { return 4 * r + tiny; };
/// Returns the error of up to two roundings: that of the result, and that of a scalar to float32.
constexpr auto with_scalar = [](const double*, double, double r, double tiny) { return 2 * r + tiny; };
/// Returns a bound of the float32 error of an activation y that is about x e^-z for negative x, such as silu
/// with z = -x. Rounding z, and z log2 e, adds 3 z half-ulps of y. `units`: error of the other operations in
/// half-ulps of y; `r`: half an ulp of y; `tiny`: largest number that may be flushed to zero.
inline double by_exponent(double x, double z, double units, double r, double tiny) {
  return (units + (x < 0 ? 3 * z : 0)) * r + (1 + std::fabs(x)) * tiny;
}
/// Returns |2 z| where gelu_tanh(x) = x (1 + tanh z) / 2.
inline double gelu_tanh_argument(double x) { return 1.5957691216057308 * std::fabs(x + 0.044715 * x * x * x); }

// The rows are in the order of OpKind.
// clang-format off
inline constexpr std::tuple elementwise_rows{
    row<1>(OpKind::exp, "exp", "exp", tensors, "zellige::exp({0})", corners, {no, never, one, zero, {2, 1}},
              [](const double* x, double, double r, double tiny) { return (4 + 2 * std::fabs(x[0])) * r + tiny; },
              [](auto& m, const Attributes&, const auto* x) { return m.exp(x[0]); }),
    row<1>(OpKind::square, "square", "square", tensors, "zellige::square({0})", corners, {no, never, zero, anything, {1, 0}}, with_scalar,
              [](auto& m, const Attributes&, const auto* x) { return m.mul(x[0], x[0]); },
              "zellige::wrap_mul({0}, {0})"),
    row<1>(OpKind::sqrt, "sqrt", "sqrt", tensors, "zellige::sqrt({0})", corners, {no, never, zero, anything, {2, 1}}, with_scalar,
              [](auto& m, const Attributes&, const auto* x) { return m.sqrt(x[0]); }),
    row<1>(OpKind::mul_scalar, "mul_scalar", "mul_scalar", tensors, "({0} * {scalar})", corners, {all, by_scalar, zero, lowest, {1, 0}}, with_scalar,
              [](auto& m, const Attributes& a, const auto* x) { return m.mul(x[0], m.constant(a.scalar)); },
              "zellige::wrap_mul({0}, {scalar})"),
    row<1>(OpKind::silu, "silu", "silu", tensors, "zellige::silu({0})", corners, {no, never, zero, anything, {4, 2}},
              [](const double* x, double, double r, double tiny) { return by_exponent(x[0], -x[0], 7, r, tiny); },
              [](auto& m, const Attributes&, const auto* x) {
                return m.div(x[0], m.add(m.integer(1), m.exp(m.neg(x[0]))));
              }),
    row<1>(OpKind::sigmoid, "sigmoid", "sigmoid", tensors, "zellige::sigmoid({0})", corners, {no, never, anything, zero, {4, 2}},
              [](const double* x, double, double r, double tiny) { return (6 + (x[0] < 0 ? -2 * x[0] : 0)) * r + tiny; },
              [](auto& m, const Attributes&, const auto* x) {
                return m.div(m.integer(1), m.add(m.integer(1), m.exp(m.neg(x[0]))));
              }),
    row<1>(OpKind::gelu, "gelu", "gelu", tensors, "zellige::gelu({0})", corners, {no, never, zero, anything, {4, 2}},
              [](const double* x, double, double r, double tiny) {
                return by_exponent(x[0], 2 * x[0] * x[0], 10, r, tiny);
              },
              [](auto& m, const Attributes&, const auto* x) { return m.mul(x[0], m.normal(x[0])); }),
    row<1>(OpKind::gelu_tanh, "gelu_tanh", "", tensors, "zellige::gelu_tanh({0})", corners, {no, never, zero, anything, {4, 2}},
              [](const double* x, double, double r, double tiny) {
                return by_exponent(x[0], 6 * gelu_tanh_argument(x[0]), 12, r, tiny);
              },
              [](auto& m, const Attributes&, const auto* x) {  // (1 + tanh z) / 2 = 1 / (1 + e^-2z)
                const auto cube = m.mul(m.constant(0.044715), m.mul(x[0], m.mul(x[0], x[0])));
                const auto twice = m.mul(m.constant(1.5957691216057308), m.add(x[0], cube));  // sqrt(8 / pi)
                return m.div(x[0], m.add(m.integer(1), m.exp(m.neg(twice))));
              }),
    row<1>(OpKind::relu, "relu", "relu", tensors, "zellige::relu({0})", corners, {no, up, zero, zero, {1, 0}}, exact,
              [](auto& m, const Attributes&, const auto* x) { return m.max(x[0], m.integer(0)); },
              "zellige::relu({0})"),
    row<1>(OpKind::clamp, "clamp", "clamp", tensors, "zellige::clamp({0}, {lo}, {hi})", corners, {no, up, anything, floor, {1, 0}},
              // Only a bound has an error: it is rounded to float32.
              [](const double* x, double y, double r, double) { return y == x[0] ? 0.0 : r; },
              [](auto& m, const Attributes& a, const auto* x) {
                return m.min(m.max(x[0], m.constant(a.lo)), m.constant(a.hi));
              },
              "zellige::min(zellige::max({0}, {lo}), {hi})"),
    row<1>(OpKind::log, "log", "log", tensors, "zellige::log({0})", corners, {no, never, lowest, anything, {12, 0}},
              [](const double*, double, double r, double) { return 4 * r; },
              [](auto& m, const Attributes&, const auto* x) { return m.log(x[0]); }),
    row<1>(OpKind::log1p, "log1p", "", tensors, "zellige::log1p({0})", corners, {no, never, zero, anything, {24, 1}},
              [](const double*, double, double r, double tiny) { return 8 * r + tiny; },
              [](auto& m, const Attributes&, const auto* x) {
                if constexpr (std::is_same_v<decltype(m), Doubles&>)
                  return std::log1p(x[0]);  // near 0, where 1 + x would lose the digits of x
                else
                  return m.log(m.add(m.integer(1), x[0]));
              }),
    row<1>(OpKind::neg, "neg", "", tensors, "(-{0})", corners, {all, down, zero, anything, {1, 0}}, exact,
              [](auto& m, const Attributes&, const auto* x) { return m.neg(x[0]); },
              "zellige::wrap_neg({0})"),
    row<1>(OpKind::abs, "abs", "", tensors, "zellige::abs({0})", corners, {no, never, zero, anything, {6, 0}}, exact,
              [](auto& m, const Attributes&, const auto* x) { return m.abs(x[0]); },
              "zellige::wrap_abs({0})"),
    row<1>(OpKind::rsqrt, "rsqrt", "", tensors, "zellige::rsqrt({0})", corners, {no, never, anything, anything, {2, 1}}, few_units,
              [](auto& m, const Attributes&, const auto* x) { return m.div(m.integer(1), m.sqrt(x[0])); }),
    row<1>(OpKind::tanh, "tanh", "", tensors, "zellige::tanh({0})", corners, {no, never, zero, anything, {4, 2}}, few_units,
              [](auto& m, const Attributes&, const auto* x) { return m.tanh(x[0]); }),
    row<1>(OpKind::sin, "sin", "", tensors, "zellige::sin({0})", slope, {no, never, zero, anything, {6, 0}}, few_units,
              [](auto& m, const Attributes&, const auto* x) { return m.sin(x[0]); }),
    row<1>(OpKind::cos, "cos", "", tensors, "zellige::cos({0})", slope, {no, never, one, anything, {6, 0}}, few_units,
              [](auto& m, const Attributes&, const auto* x) { return m.cos(x[0]); }),

    row<1>(OpKind::cast, "cast", "", tensors, "zellige::cast<{dtype}{saturate}>({0})", corners, {all, up, zero, lowest, {1, 0}}, exact,
                 [](auto& m, const Attributes& a, const auto* x) { return m.converted(x[0], a); },
                 "zellige::cast<{dtype}{saturate}>({0})"),

    row<2>(OpKind::add, "add", "add", or_scalar, "({0} + {1})", corners, {all, every, zero, lowest, {1, 0}}, rounded,
              [](auto& m, const Attributes&, const auto* x) { return m.add(x[0], x[1]); },
              "zellige::wrap_add({0}, {1})"),
    row<2>(OpKind::sub, "sub", "sub", or_scalar, "({0} - {1})", corners, {all, up, zero, lowest, {1, 0}}, rounded,
              [](auto& m, const Attributes&, const auto* x) { return m.sub(x[0], x[1]); },
              "zellige::wrap_sub({0}, {1})"),
    row<2>(OpKind::mul, "mul", "mul", tensors, "({0} * {1})", corners, {each, never, zero, anything, {1, 0}}, rounded,
              [](auto& m, const Attributes&, const auto* x) { return m.mul(x[0], x[1]); },
              "zellige::wrap_mul({0}, {1})"),
    row<2>(OpKind::div, "div", "div", or_scalar, "({0} / {1})", quotient, {first, by_scalar, anything, lowest, {8, 1}}, with_scalar,
              [](auto& m, const Attributes&, const auto* x) { return m.div(x[0], x[1]); }),
    row<2>(OpKind::pow, "pow", "pow", or_scalar, "zellige::pow({0}, {1})", corners, {no, never, anything, anything, {4, 2}},
              [](const double*, double, double r, double tiny) { return 16 * r + tiny; },
              [](auto& m, const Attributes&, const auto* x) { return m.pow(x[0], x[1]); }),
    row<2>(OpKind::maximum, "maximum", "", or_scalar, "zellige::max({0}, {1})", corners, {no, every, zero, floor, {6, 0}}, exact,
              [](auto& m, const Attributes&, const auto* x) { return m.max(x[0], x[1]); },
              "zellige::max({0}, {1})"),
    row<2>(OpKind::minimum, "minimum", "", or_scalar, "zellige::min({0}, {1})", corners, {no, every, zero, lowest, {6, 0}}, exact,
              [](auto& m, const Attributes&, const auto* x) { return m.min(x[0], x[1]); },
              "zellige::min({0}, {1})"),
    row<2>(OpKind::logaddexp, "logaddexp", "", tensors,
              // Where the maximum is near 0, so is the result: hence log1p.
              "[](auto x, auto y) {{ return zellige::max(x, y) + "
              "zellige::log1p(zellige::exp(x == y ? decltype(x)(0) : -zellige::abs(x - y))); }}({0}, {1})", corners,
              {no, never, anything, anything, {24, 1}},
              [](const double*, double, double r, double) { return r + 12 * 0x1p-24; },
              [](auto& m, const Attributes&, const auto* x) {
                if constexpr (std::is_same_v<decltype(m), Doubles&>)  // without overflow; infinities differ by 0 or infinity
                  return m.max(x[0], x[1]) + std::log1p(std::exp(x[0] == x[1] ? 0 : -std::fabs(x[0] - x[1])));
                else
                  return m.log(m.add(m.exp(x[0]), m.exp(x[1])));
              }),
    row<2>(OpKind::eq, "eq", "", or_scalar, "({0} == {1} ? 1.0f : 0.0f)", step, {no, never, one, anything, {6, 0}}, exact,
              [](auto& m, const Attributes&, const auto* x) { return m.same(x[0], x[1]); },
              "({0} == {1} ? 1 : 0)"),
    row<2>(OpKind::ne, "ne", "", or_scalar, "({0} != {1} ? 1.0f : 0.0f)", step, {no, never, zero, anything, {6, 0}}, exact,
              [](auto& m, const Attributes&, const auto* x) { return m.sub(m.integer(1), m.same(x[0], x[1])); },
              "({0} != {1} ? 1 : 0)"),
    row<2>(OpKind::lt, "lt", "", or_scalar, "({0} < {1} ? 1.0f : 0.0f)", step, {no, never, zero, anything, {6, 0}}, exact,
              [](auto& m, const Attributes&, const auto* x) { return m.less(x[0], x[1]); },
              "({0} < {1} ? 1 : 0)"),
    row<2>(OpKind::le, "le", "", or_scalar, "({0} <= {1} ? 1.0f : 0.0f)", step, {no, never, one, anything, {6, 0}}, exact,
              [](auto& m, const Attributes&, const auto* x) { return m.less_equal(x[0], x[1]); },
              "({0} <= {1} ? 1 : 0)"),
    row<2>(OpKind::gt, "gt", "", or_scalar, "({0} > {1} ? 1.0f : 0.0f)", step, {no, never, zero, anything, {6, 0}}, exact,
              [](auto& m, const Attributes&, const auto* x) { return m.less(x[1], x[0]); },
              "({0} > {1} ? 1 : 0)"),
    row<2>(OpKind::ge, "ge", "", or_scalar, "({0} >= {1} ? 1.0f : 0.0f)", step, {no, never, one, anything, {6, 0}}, exact,
              [](auto& m, const Attributes&, const auto* x) { return m.less_equal(x[1], x[0]); },
              "({0} >= {1} ? 1 : 0)"),
    row<3>(OpKind::where, "where", "", or_scalar, "({0} != 0.0f ? {1} : {2})", choice, {no, never, zero, anything, {6, 0}}, exact,
              [](auto& m, const Attributes&, const auto* x) { return m.choose(x[0], x[1], x[2]); },
              "({0} != 0 ? {1} : {2})"),
};
// clang-format on

}  // namespace rows

using rows::elementwise_rows;

constexpr int max_operands = 3;  // largest number of operands of an elementwise operator

bool is_elementwise(OpKind);
const Elementwise& elementwise(OpKind);  // throws Error if the operator is not elementwise
/// Returns whether an operator with `tensors` tensor operands takes its attribute `scalar` as a further, last operand.
bool takes_scalar(OpKind, std::size_t tensors);
/// Returns the attribute `scalar` as an operand of this dtype: rounded to float32 for floating-point dtypes but f64,
/// unchanged for f64 and integers.
inline double scalar_operand(const Attributes& a, DType dtype) {
  return is_integer(dtype) || dtype == DType::f64 ? a.scalar : static_cast<double>(static_cast<float>(a.scalar));
}

/// Returns whether the operator, of this number of tensor operands, is linear in all of them together, up to rounding:
/// its attribute `scalar`, if it takes one, is fixed. False for a cast to integers, or one that saturates.
bool is_linear(OpKind, const Attributes&, std::size_t tensors);
/// Returns what is known of x after its conversion to the dtype, given what is known before. Minus infinity becomes a
/// finite number or NaN in a dtype without infinity, and in a conversion that saturates.
Image converted(Image x, DType, bool saturate);
/// Returns what is known of an elementwise operator's result, given what is known of its tensor operands.
Image image(OpKind, const Attributes&, std::vector<Image> operands);
/// Returns what is known of a number: zero, one, lowest or anything.
Image image(double);

/// Calls use(m) with the arithmetic m that computes operators on operands of this dtype: Integers or Doubles.
template <class Use>
void with_arithmetic(DType operands, const Use& use) {
  if (!is_integer(operands)) return use(Doubles{.from = operands});
  Integers integers;
  integers.format = graph::format(operands);
  use(integers);
}

/// Returns the result of an elementwise operator for one number per operand. All operands have the given dtype.
double apply(OpKind, const Attributes&, const double* operands, DType = DType::f32);

/// Calls use(f, n) with the operator's definition f and its number of operands n (an integral_constant). f is
/// called as f(arithmetic, attributes, operands). `use` is compiled once per operator, so that a loop around
/// f is specialized. Throws Error if the operator is not elementwise.
template <class Use>
void with_elementwise(OpKind kind, const Use& use) {
  const bool found =
      std::apply([&](const auto&... row) { return ((row.kind == kind && (use(row.meaning, row.count), true)) || ...); },
                 elementwise_rows);
  if (!found) fail("{} is not an elementwise operator", name(kind));
}

}  // namespace zellige::graph
