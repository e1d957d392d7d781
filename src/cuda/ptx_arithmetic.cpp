// Arithmetic of PTX: addition, multiplication, comparisons and functions, of integers and floating-point numbers.
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "cuda/ptx_machine.hpp"

namespace zellige::cuda {

namespace {

using Kind = PtxType::Kind;
using Wide = unsigned __int128;

// Applies a function to the elements of floating-point operands 1, 2, ..., and writes operand 0.
template <class F>
void on_floats(PtxMachine& m, const PtxInstruction& i, F compute) {
  const PtxType t = i.type;
  std::uint64_t result = 0;
  double x[3] = {};
  for (unsigned at = 0; at < t.count; ++at) {
    for (unsigned k = 1; k < i.operands.size() && k < 4; ++k) x[k - 1] = m.read_float(i.operands[k], t, at);
    double y = t.bits == 32 ? double(float(compute(x[0], x[1], x[2]))) : compute(x[0], x[1], x[2]);
    if (i.has("sat")) y = std::isnan(y) ? 0 : std::fmin(std::fmax(y, 0), 1);
    if (i.has("relu")) y = y > 0 || std::isnan(y) ? y : 0;
    if (i.has("ftz") && t.bits == 32 && std::fabs(y) < 0x1p-126) y = std::copysign(0, y);
    result |= ptx_low(ptx_round(t, y), t.bits) << (at * t.bits);
  }
  m.write(i.operands[0], result);
}

// Writes an integer result of the instruction's type.
void write_integer(PtxMachine& m, const PtxInstruction& i, std::uint64_t x) {
  m.write(i.operands[0], ptx_low(x, i.type.bits));
}
std::uint64_t low(PtxMachine& m, const PtxInstruction& i, unsigned operand) {
  return ptx_low(m.read(i, operand), i.type.bits);
}
std::int64_t number(PtxMachine& m, const PtxInstruction& i, unsigned operand) {
  const std::uint64_t x = low(m, i, operand);
  return i.type.is_signed() ? ptx_signed(x, i.type.bits) : std::int64_t(x);
}

// add and sub with the carry: of a - b it is the borrow.
void add_integers(PtxMachine& m, const PtxInstruction& i, bool minus, bool with_carry) {
  const unsigned bits = i.type.bits;
  const std::uint64_t a = low(m, i, 1), b = low(m, i, 2), c = with_carry && m.f.carry;
  if (i.has("sat")) {
    const __int128 x = __int128(ptx_signed(a, bits)) + (minus ? -__int128(ptx_signed(b, bits)) : ptx_signed(b, bits));
    return write_integer(m, i, std::uint64_t(x > 2147483647 ? 2147483647 : x < -2147483648LL ? -2147483648LL : x));
  }
  const Wide x = minus ? Wide(a) - b - c : Wide(a) + b + c;
  if (i.has("cc")) m.f.carry = x >> bits & 1;
  write_integer(m, i, std::uint64_t(x));
}
template <bool minus>
void run_add(PtxMachine& m, const PtxInstruction& i) {
  if (!i.type.is_float()) return add_integers(m, i, minus, false);
  on_floats(m, i, [](double a, double b, double) { return minus ? a - b : a + b; });
}
template <bool minus>
void run_add_carry(PtxMachine& m, const PtxInstruction& i) {
  add_integers(m, i, minus, true);
}

// Returns the product that an instruction of integers takes: its low or high half, or all of it.
std::uint64_t product(PtxMachine& m, const PtxInstruction& i) {
  const unsigned bits = i.type.bits;
  const Wide p =
      i.type.is_signed() ? Wide(__int128(number(m, i, 1)) * number(m, i, 2)) : Wide(low(m, i, 1)) * low(m, i, 2);
  return i.has("hi") ? std::uint64_t(p >> bits) : std::uint64_t(p);
}
void run_mul(PtxMachine& m, const PtxInstruction& i) {
  if (i.type.is_float()) return on_floats(m, i, [](double a, double b, double) { return a * b; });
  const std::uint64_t p = product(m, i);
  m.write(i.operands[0], ptx_low(p, i.has("wide") ? 2 * i.type.bits : i.type.bits));
}
void run_fma(PtxMachine& m, const PtxInstruction& i) {
  if (i.type.is_float())
    return on_floats(m, i, [&](double a, double b, double c) {
      return i.type.bits == 32 ? double(std::fma(float(a), float(b), float(c))) : std::fma(a, b, c);
    });
  const unsigned bits = i.has("wide") ? 2 * i.type.bits : i.type.bits;
  const Wide sum = Wide(ptx_low(product(m, i), bits)) + ptx_low(m.read(i, 3), bits);
  if (i.has("cc")) m.f.carry = sum >> bits & 1;
  m.write(i.operands[0], ptx_low(std::uint64_t(sum), bits));
}
void run_fma_carry(PtxMachine& m, const PtxInstruction& i) {
  const unsigned bits = i.type.bits;
  const Wide sum = Wide(ptx_low(product(m, i), bits)) + low(m, i, 3) + m.f.carry;
  if (i.has("cc")) m.f.carry = sum >> bits & 1;
  write_integer(m, i, std::uint64_t(sum));
}

template <bool remainder>
void run_div(PtxMachine& m, const PtxInstruction& i) {
  if (i.type.is_float()) return on_floats(m, i, [](double a, double b, double) { return a / b; });
  const std::uint64_t b = low(m, i, 2);
  if (b == 0) return write_integer(m, i, ~std::uint64_t(0));
  if (!i.type.is_signed()) return write_integer(m, i, remainder ? low(m, i, 1) % b : low(m, i, 1) / b);
  const __int128 x = number(m, i, 1), y = number(m, i, 2);
  write_integer(m, i, std::uint64_t(remainder ? x % y : x / y));
}

template <bool largest>
void run_min(PtxMachine& m, const PtxInstruction& i) {
  if (i.type.is_float())
    return on_floats(m, i, [&](double a, double b, double) {
      if (i.has("NaN") && (std::isnan(a) || std::isnan(b))) return std::nan("");
      return largest ? std::fmax(a, b) : std::fmin(a, b);
    });
  const bool first =
      i.type.is_signed() ? (number(m, i, 1) < number(m, i, 2)) != largest : (low(m, i, 1) < low(m, i, 2)) != largest;
  write_integer(m, i, low(m, i, first ? 1 : 2));
}
void run_neg(PtxMachine& m, const PtxInstruction& i) {
  if (i.type.is_float()) return on_floats(m, i, [](double a, double, double) { return -a; });
  write_integer(m, i, ~m.read(i, 1) + 1);
}
void run_abs(PtxMachine& m, const PtxInstruction& i) {
  if (i.type.is_float()) return on_floats(m, i, [](double a, double, double) { return std::fabs(a); });
  const std::int64_t x = ptx_signed(low(m, i, 1), i.type.bits);
  write_integer(m, i, x < 0 ? ~std::uint64_t(x) + 1 : std::uint64_t(x));
}

// A function of one floating-point number.
template <double (*function)(double)>
void run_function(PtxMachine& m, const PtxInstruction& i) {
  on_floats(m, i, [](double a, double, double) { return function(a); });
}
double reciprocal(double x) { return 1 / x; }
double reciprocal_root(double x) { return 1 / std::sqrt(x); }
double root(double x) { return std::sqrt(x); }
double power_of_two(double x) { return std::exp2(x); }
double logarithm(double x) { return std::log2(x); }
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double tangent(double x) { return std::tanh(x); }

// Returns whether a comparison holds, by its word ("lt", "ltu").
bool compares(PtxMachine& m, const PtxInstruction& i, std::string_view how) {
  if (i.type.is_float()) {
    const double a = m.read_float(i.operands[1], i.type), b = m.read_float(i.operands[2], i.type);
    const bool unordered = std::isnan(a) || std::isnan(b);
    if (how == "num") return !unordered;
    if (how == "nan") return unordered;
    if (how.size() == 3 && how[2] == 'u' && unordered) return true;
    if (how == "neu" || how == "ne") return a != b && (!unordered || how == "neu");
    how = how.substr(0, 2);
    return how == "eq" ? a == b : how == "lt" ? a < b : how == "le" ? a <= b : how == "gt" ? a > b : a >= b;
  }
  const std::uint64_t a = low(m, i, 1), b = low(m, i, 2);
  if (how == "eq") return a == b;
  if (how == "ne") return a != b;
  const bool less = i.type.is_signed() ? number(m, i, 1) < number(m, i, 2) : a < b;
  if (how == "lt" || how == "lo") return less;
  if (how == "le" || how == "ls") return less || a == b;
  return how == "gt" || how == "hi" ? !less && a != b : !less;
}
bool setp_result(PtxMachine& m, const PtxInstruction& i) {
  const bool holds = compares(m, i, i.words[1]);
  if (i.operands.size() < 4) return holds;
  const bool c = m.read_predicate(i.operands[3]);
  return i.has("and") ? holds && c : i.has("or") ? holds || c : holds != c;
}
void run_setp(PtxMachine& m, const PtxInstruction& i) {
  const bool p = setp_result(m, i);
  m.write_pair(i.operands[0], p, !p);
}
void run_selp(PtxMachine& m, const PtxInstruction& i) { m.write(i.operands[0], m.read(i, m.read(i, 3) & 1 ? 1 : 2)); }

constexpr auto arithmetic_rows = std::to_array<PtxRow>({
    {"add", run_add<false>, "rn ftz sat cc"},
    {"sub", run_add<true>, "rn ftz sat cc"},
    {"addc", run_add_carry<false>, "cc"},
    {"subc", run_add_carry<true>, "cc"},
    {"mul", run_mul, "rn ftz sat lo hi wide"},
    {"mad", run_fma, "rn ftz sat lo hi wide cc"},
    {"madc", run_fma_carry, "lo hi cc"},
    {"fma", run_fma, "rn ftz sat relu"},
    {"div", run_div<false>, "rn approx full ftz"},
    {"rem", run_div<true>, ""},
    {"min", run_min<false>, "ftz NaN"},
    {"max", run_min<true>, "ftz NaN relu"},
    {"neg", run_neg, "ftz"},
    {"abs", run_abs, "ftz"},
    {"rcp", run_function<reciprocal>, "rn approx ftz"},
    {"rsqrt", run_function<reciprocal_root>, "approx ftz"},
    {"sqrt", run_function<root>, "rn approx ftz"},
    {"ex2", run_function<power_of_two>, "approx ftz"},
    {"lg2", run_function<logarithm>, "approx ftz"},
    {"sin", run_function<sine>, "approx ftz"},
    {"cos", run_function<cosine>, "approx ftz"},
    {"tanh", run_function<tangent>, "approx"},
    {"setp", run_setp, "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz"},
    {"selp", run_selp, ""},
});

}  // namespace

std::span<const PtxRow> ptx_arithmetic() { return arithmetic_rows; }

}  // namespace zellige::cuda
