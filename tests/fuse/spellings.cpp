#include "fuse/spellings.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "fuse/written.hpp"
#include "graph/compose.hpp"
#include "graph/elementwise.hpp"

namespace zellige::fuse {
namespace {

// Elementwise functions.

bool silu_product(Written& w) { return w.last(graph::OpKind::mul, {w.in(), w.add(graph::OpKind::sigmoid, {w.in()})}); }
bool silu_quotient(Written& w) {
  const int e = w.add(graph::OpKind::exp, {w.add(graph::OpKind::neg, {w.in()})});
  return w.last(graph::OpKind::div, {w.in(), w.scalar(graph::OpKind::add, e, 1)});
}
bool gelu_tanh_out(Written& w) {
  const int x = w.in(), cube = w.scalar(graph::OpKind::pow, x, 3);
  const int inner = w.add(graph::OpKind::add, {x, w.scalar(graph::OpKind::mul_scalar, cube, 0.044715)});
  const int t =
      w.add(graph::OpKind::tanh, {w.scalar(graph::OpKind::mul_scalar, inner, std::sqrt(2 / std::numbers::pi))});
  return w.last(graph::OpKind::mul, {w.scalar(graph::OpKind::mul_scalar, x, 0.5), w.scalar(graph::OpKind::add, t, 1)});
}
bool relu_maximum(Written& w) { return w.last_scalar(graph::OpKind::maximum, w.in(), 0); }
bool relu_where(Written& w) {
  return w.last(graph::OpKind::where, {w.scalar(graph::OpKind::gt, w.in(), 0), w.in()}, {.scalar = 0});
}
bool square_product(Written& w) { return w.last(graph::OpKind::mul, {w.in(), w.in()}); }
bool square_power(Written& w) { return w.last_scalar(graph::OpKind::pow, w.in(), 2); }
bool rsqrt_power(Written& w) { return w.last_scalar(graph::OpKind::pow, w.in(), -0.5); }
bool rsqrt_inverse(Written& w) { return w.last_scalar(graph::OpKind::pow, w.add(graph::OpKind::sqrt, {w.in()}), -1); }
bool scalar_quotient(Written& w) {
  const double s = w.attributes().scalar;
  return is_power_of_two(s) && s != 1 && w.last_scalar(graph::OpKind::div, w.in(), 1 / s);
}
bool scalar_rounded_quotient(Written& w) {
  const double s = w.attributes().scalar;
  return !is_power_of_two(s) && s != 0 && w.last_scalar(graph::OpKind::div, w.in(), 1 / s);
}
bool scalar_twice(Written& w) {
  const double s = w.attributes().scalar;
  return s != 1 && w.last_scalar(graph::OpKind::mul_scalar, w.scalar(graph::OpKind::mul_scalar, w.in(), s * 4), 0.25);
}
bool quotient_scalar(Written& w) {
  const double s = w.attributes().scalar;
  return is_power_of_two(s) && w.last_scalar(graph::OpKind::mul_scalar, w.in(), 1 / s);
}
bool sub_neg(Written& w) { return w.last(graph::OpKind::add, {w.in(0), w.add(graph::OpKind::neg, {w.in(1)})}); }
bool neg_scalar(Written& w) { return w.last_scalar(graph::OpKind::mul_scalar, w.in(), -1); }
bool div_inverse(Written& w) {
  return w.last(graph::OpKind::mul, {w.in(0), w.scalar(graph::OpKind::pow, w.in(1), -1)});
}
bool swapped(Written& w) { return w.in(0) != w.in(1) && w.last(w.kind(), {w.in(1), w.in(0)}); }
bool copied(Written& w) { return w.last(w.kind(), {w.scalar(graph::OpKind::mul_scalar, w.in(0), 1), w.in(1)}); }

// Rows.

bool softmax_out(Written& w) {
  const graph::Attributes along{.dim = w.attributes().dim, .keepdim = true};
  const int e =
      w.add(graph::OpKind::exp, {w.add(graph::OpKind::sub, {w.in(), w.add(graph::OpKind::amax, {w.in()}, along)})});
  return w.last(graph::OpKind::div, {e, w.add(graph::OpKind::sum, {e}, along)});
}
bool softmax_logsumexp(Written& w) {
  const int l = w.add(graph::OpKind::logsumexp, {w.in()}, {.dim = w.attributes().dim, .keepdim = true});
  return w.last(graph::OpKind::exp, {w.add(graph::OpKind::sub, {w.in(), l})});
}
bool softmax_log(Written& w) {
  return w.last(graph::OpKind::exp, {w.add(graph::OpKind::log_softmax, {w.in()}, {.dim = w.attributes().dim})});
}
/// As torch computes a softmax of bf16 or f16: in float32, and rounded.
bool softmax_cast(Written& w) {
  const graph::DType dtype = w.dtype(w.in());
  if (dtype == graph::DType::f32) return false;
  return w.last(graph::OpKind::cast,
                {w.add(graph::OpKind::softmax, {w.cast(w.in(), graph::DType::f32)}, w.attributes())}, {.dtype = dtype});
}
bool log_softmax_out(Written& w) {
  const int l = w.add(graph::OpKind::logsumexp, {w.in()}, {.dim = w.attributes().dim, .keepdim = true});
  return w.last(graph::OpKind::sub, {w.in(), l});
}
bool logsumexp_out(Written& w) {
  if (!w.attributes().sizes.empty()) return false;
  const graph::Attributes along{.dim = w.attributes().dim, .keepdim = true}, given = w.attributes();
  const int m = w.add(graph::OpKind::amax, {w.in()}, along);
  const int e = w.add(graph::OpKind::exp, {w.add(graph::OpKind::sub, {w.in(), m})});
  const int l = w.add(graph::OpKind::log, {w.add(graph::OpKind::sum, {e}, given)});
  const int to = given.keepdim ? m : w.add(graph::OpKind::reshape, {m}, {.sizes = w.shape(l)});
  return w.last(graph::OpKind::add, {l, to});
}
std::int64_t count(const Written& w) {
  std::int64_t n = 1;
  for (const int d : graph::composed_dims(w.kind(), w.attributes(), w.shape(w.in()))) n *= w.shape(w.in())[d];
  return n;
}
bool mean_sum(Written& w) {
  return w.last_scalar(graph::OpKind::div, w.add(graph::OpKind::sum, {w.in()}, w.attributes()),
                       static_cast<double>(count(w)));
}
bool mean_scaled_sum(Written& w) {
  const auto n = static_cast<double>(count(w));
  return is_power_of_two(n) &&
         w.last_scalar(graph::OpKind::mul_scalar, w.add(graph::OpKind::sum, {w.in()}, w.attributes()), 1 / n);
}
bool kept(Written& w) {
  if (!w.attributes().keepdim) return false;
  graph::Attributes a = w.attributes();
  a.keepdim = false;
  const int x = w.add(w.kind(), {w.in()}, a);
  graph::Shape whole = w.shape(w.in());
  for (const int d : graph::composed_dims(w.kind(), a, whole)) whole[d] = 1;
  return w.last(graph::OpKind::reshape, {x}, {.sizes = whole});
}
/// The rest of a norm: times the weight, plus the bias.
bool weighted(Written& w, graph::OpKind kind, std::vector<int> in) {
  if (w.operands() == 1) return w.last(kind, std::move(in));
  const int x = w.add(kind, std::move(in));
  if (w.operands() == 2) return w.last(graph::OpKind::mul, {x, w.in(1)});
  return w.last(graph::OpKind::add, {w.add(graph::OpKind::mul, {x, w.in(1)}), w.in(2)});
}
graph::Attributes rows(const Written& w) {
  graph::Attributes a{.keepdim = true};
  const std::vector<int> dims = graph::composed_dims(w.kind(), w.attributes(), w.shape(w.in()));
  if (dims.size() == 1)
    a.dim = dims[0];
  else
    a.sizes.assign(dims.rbegin(), dims.rend());
  return a;
}
int shifted(Written& w, int x) {
  return w.attributes().eps == 0 ? x : w.scalar(graph::OpKind::add, x, w.attributes().eps);
}
bool rms_norm_out(Written& w) {
  const int s = w.add(graph::OpKind::mean, {w.scalar(graph::OpKind::pow, w.in(), 2)}, rows(w));
  return weighted(w, graph::OpKind::mul, {w.in(), w.add(graph::OpKind::rsqrt, {shifted(w, s)})});
}
bool rms_norm_quotient(Written& w) {
  const int s = w.add(graph::OpKind::mean, {w.add(graph::OpKind::mul, {w.in(), w.in()})}, rows(w));
  return weighted(w, graph::OpKind::div, {w.in(), w.add(graph::OpKind::sqrt, {shifted(w, s)})});
}
bool norm_weight(Written& w) {
  if (w.operands() == 1) return false;
  if (w.attributes().sizes.empty() && w.shape(w.in(1)).size() > 1) return false;
  const int x = w.add(w.kind(), {w.in()}, w.attributes());
  if (w.operands() == 2) return w.last(graph::OpKind::mul, {x, w.in(1)});
  return w.last(graph::OpKind::add, {w.add(graph::OpKind::mul, {x, w.in(1)}), w.in(2)});
}
bool layer_norm_out(Written& w) {
  const int c = w.add(graph::OpKind::sub, {w.in(), w.add(graph::OpKind::mean, {w.in()}, rows(w))});
  const int v = w.add(graph::OpKind::mean, {w.add(graph::OpKind::square, {c})}, rows(w));
  return weighted(w, graph::OpKind::mul, {c, w.add(graph::OpKind::rsqrt, {shifted(w, v)})});
}
bool layer_norm_quotient(Written& w) {
  const int c = w.add(graph::OpKind::sub, {w.in(), w.add(graph::OpKind::mean, {w.in()}, rows(w))});
  const int v = w.add(graph::OpKind::mean, {w.scalar(graph::OpKind::pow, c, 2)}, rows(w));
  return weighted(w, graph::OpKind::div, {c, w.add(graph::OpKind::sqrt, {shifted(w, v)})});
}

constexpr SpellingRule table[] = {
    {"silu as a product", "silu(x) = x sigmoid(x)", on<graph::OpKind::silu, 1, silu_product>},
    {"silu as a quotient", "silu(x) = x / (1 + exp(-x))", on<graph::OpKind::silu, 1, silu_quotient>},
    {"gelu_tanh written out", "x/2 (1 + tanh(...))", on<graph::OpKind::gelu_tanh, 1, gelu_tanh_out>},
    {"relu as a maximum", "max(x, 0)", on<graph::OpKind::relu, 1, relu_maximum>},
    {"relu as a choice", "x > 0 ? x : 0", on<graph::OpKind::relu, 1, relu_where>},
    {"square as a product", "x x", on<graph::OpKind::square, 1, square_product>},
    {"square as a power", "x^2", on<graph::OpKind::square, 1, square_power>},
    {"rsqrt as a power", "x^-0.5", on<graph::OpKind::rsqrt, 1, rsqrt_power>},
    {"rsqrt as an inverse", "(sqrt x)^-1", on<graph::OpKind::rsqrt, 1, rsqrt_inverse>},
    {"factor as a quotient", "x s = x / (1/s), s a power of two", on<graph::OpKind::mul_scalar, 1, scalar_quotient>},
    {"factor by two", "x s = (x 4s) / 4", on<graph::OpKind::mul_scalar, 1, scalar_twice>},
    {"quotient as a factor", "x / s, s a power of two", on<graph::OpKind::div, 1, quotient_scalar>},
    {"difference as a sum", "x - y = x + (-y)", on<graph::OpKind::sub, 2, sub_neg>},
    {"negative as a factor", "-x = x (-1)", on<graph::OpKind::neg, 1, neg_scalar>},
    {"sum swapped", "x + y = y + x", on<graph::OpKind::add, 2, swapped>},
    {"product swapped", "x y = y x", on<graph::OpKind::mul, 2, swapped>},
    {"operand copied", "x = x 1", on<graph::OpKind::mul, 2, copied>},
    {"softmax written out", "exp(x - max) / sum", on<graph::OpKind::softmax, 1, softmax_out>},
    {"softmax by logsumexp", "exp(x - logsumexp(x))", on<graph::OpKind::softmax, 1, softmax_logsumexp>},
    {"softmax by log_softmax", "exp(log_softmax(x))", on<graph::OpKind::softmax, 1, softmax_log>},
    {"softmax cast", "softmax in float32", on<graph::OpKind::softmax, 1, softmax_cast>},
    {"log_softmax by logsumexp", "x - logsumexp(x)", on<graph::OpKind::log_softmax, 1, log_softmax_out>},
    {"mean as a sum", "sum / n", on<graph::OpKind::mean, 1, mean_sum>},
    {"mean as a scaled sum", "sum (1/n), n a power of two", on<graph::OpKind::mean, 1, mean_scaled_sum>},
    {"sum not kept", "keepdim by a reshape", on<graph::OpKind::sum, 1, kept>},
    {"mean not kept", "keepdim by a reshape", on<graph::OpKind::mean, 1, kept>},
    {"maximum not kept", "keepdim by a reshape", on<graph::OpKind::amax, 1, kept>},
    {"rms_norm's weight apart", "norm(x) w", on<graph::OpKind::rms_norm, 0, norm_weight>},
    {"layer_norm's weight apart", "norm(x) w + b", on<graph::OpKind::layer_norm, 0, norm_weight>},
};

// The condition says why the spelling is not the same to the last bit.
constexpr SpellingRule differing[] = {
    {"factor as a rounded quotient", "x s = x / (1/s): 1/s is rounded",
     on<graph::OpKind::mul_scalar, 1, scalar_rounded_quotient>},
    {"quotient as a product", "x / y = x y^-1: a division is rounded once, this twice",
     on<graph::OpKind::div, 2, div_inverse>},
    {"logsumexp written out", "m + log(sum(exp(x - m))): NaN for a row of -inf alone, of which the operator makes -inf",
     on<graph::OpKind::logsumexp, 1, logsumexp_out>},
    {"rms_norm written out", "x rsqrt(mean(x^2) + eps): a division is rounded once, this twice",
     on<graph::OpKind::rms_norm, 0, rms_norm_out>},
    {"rms_norm as a quotient",
     "x / sqrt(mean(x x) + eps): the statistics are rounded if they are stored, those of the operator are "
     "not",
     on<graph::OpKind::rms_norm, 0, rms_norm_quotient>},
    {"layer_norm written out", "c rsqrt(mean(c^2) + eps): a division is rounded once, this twice",
     on<graph::OpKind::layer_norm, 0, layer_norm_out>},
    {"layer_norm as a quotient",
     "c / sqrt(mean(c^2) + eps): the statistics are rounded if they are stored, those of the operator are "
     "not",
     on<graph::OpKind::layer_norm, 0, layer_norm_quotient>},
};

std::vector<SpellingRule> joined(std::span<const SpellingRule> a, std::span<const SpellingRule> b) {
  std::vector<SpellingRule> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

}  // namespace

std::span<const SpellingRule> spelling_rules() {
  static const std::vector<SpellingRule> all = joined(table, product_spellings());
  return all;
}
std::span<const SpellingRule> differing_rules() {
  static const std::vector<SpellingRule> all = joined(differing, differing_product_spellings());
  return all;
}

graph::KernelGraph spelled_by(const SpellingRule& rule, const graph::KernelGraph& g) {
  const rewrite::Known known(g);
  rewrite::Rewrite out(g);
  for (const graph::KernelOp& op : g.ops)
    if (!rule.apply(known, op, out)) out.keep(op);
  return out.finished();
}

graph::KernelGraph spelled(graph::KernelGraph g, std::uint64_t seed, std::vector<std::string>* names) {
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2; ++round) {
    const rewrite::Known known(g);
    rewrite::Rewrite out(g);
    for (const graph::KernelOp& op : g.ops) {
      std::vector<const SpellingRule*> order;
      for (const SpellingRule& rule : spelling_rules()) order.push_back(&rule);
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
      const bool skip = random() % 3 == 0;
      const auto rule =
          skip ? order.end()
               : std::ranges::find_if(order, [&](const SpellingRule* r) { return r->apply(known, op, out); });
      if (rule == order.end())
        out.keep(op);
      else if (names)
        names->push_back(std::string((*rule)->name));
    }
    g = out.finished();
  }
  return g;
}

}  // namespace zellige::fuse
