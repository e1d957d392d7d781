#include "graph/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/dtype.hpp"
#include "graph/mix.hpp"
#include "graph/parallel.hpp"
#include "graph/where.hpp"

namespace zellige::graph {
namespace {

constexpr int least_exponent = -12;

/// A counter's hash: each row draws from a stream of its own, in any order.
std::uint64_t hash(std::uint64_t x) { return mix(x + mix_step); }

/// Four 16-bit uniforms summed: bell-shaped, mean 0, variance 1, within 3.5.
double bell(std::uint64_t bits) {
  const auto sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (static_cast<double>(sum) - 131070.0) * (1.7320508075688772 / 65536.0);
}

void fill(Array& a, DType dtype, std::uint64_t key, int exponent, bool positive) {
  const std::int64_t n = a.shape.back(), rows = size(a.shape) / n,
                     chunk = std::max<std::int64_t>(1, (1 << 16) / n);
  const Format f = format(dtype);
  parallel_for((rows + chunk - 1) / chunk, hardware_threads(), [&](std::int64_t c, int) {
    for (std::int64_t row = c * chunk; row < std::min(rows, (c + 1) * chunk); ++row) {
      const std::uint64_t stream = hash(key ^ hash(static_cast<std::uint64_t>(row)));
      // 2^-2 to 2^2 in steps of 2^(1/16), written so that no libm can disagree: a power of two times a ratio.
      const auto step = static_cast<int>(stream % 65);
      const double factor = std::ldexp(1.0 + (step % 16) / 16.0, step / 16 - 2 + exponent);
      double* to = a.values.data() + row * n;
      for (std::int64_t i = 0; i < n; ++i) {
        const double x = factor * bell(hash(stream + static_cast<std::uint64_t>(i)));
        to[i] = round_to(f, positive ? std::fabs(x) + factor / 64 : x);  // off zero, for logarithms
      }
    }
  });
}

class Search {
 public:
  Search(const KernelGraph& g, std::uint64_t seed) : g_(g), seed_(seed), exponents_(g.inputs.size(), 0) {
    check_memory(g);
    for (int t : g.inputs) result_.arrays.push_back(make_array(g.tensors[t].shape));
    filled_.assign(g.inputs.size(), 1);  // no exponent is 1: nothing is filled yet
  }

  RandomInputs run() {
    tile_limit_ = finite_limit;
    for (bool positive : {false, true})
      if (search(magnitude_limit, positive)) return finish();
    // The limits cannot be kept: no more than four times what the smallest inputs come to.
    tile_limit_ = float32_limit;
    for (bool positive : {false, true}) {
      double least = std::numeric_limits<double>::infinity();
      for (bool small : {false, true})
        if (tries(small, float32_limit, positive)) least = std::min(least, greatest());
      if (least <= float32_limit && search(std::max(magnitude_limit, 4 * least), positive)) return finish();
    }
    // Infinity is a value too: what passes the end of its dtype everywhere leaves something else to compare.
    for (bool positive : {false, true})
      for (bool small : {false, true}) {
        tries(small, std::numeric_limits<double>::infinity(), positive);
        if (comparable()) return finish();
      }
    tries(false, float32_limit, false);  // what to complain of
    fail_at({g_.name},
            "expected a scale of 2^{} to 1 at which random inputs keep every tensor finite, found none: {}; "
            "there is nothing to compare",
            least_exponent, offender());
  }

 private:
  static constexpr double float32_limit = 0x1p127;

  /// Inputs within a limit: arguments of exp within theirs if that can be, too.
  bool search(double limit, bool positive) {
    result_.positive = positive, limit_ = limit;
    for (double exp_limit : {exponent_limit, std::numeric_limits<double>::infinity()}) {
      exp_limit_ = exp_limit;
      filled_.assign(g_.inputs.size(), 1);
      if (fits(none(), 0) || one_alone() || all_together()) return true;
      if (!exponential()) break;
    }
    return false;
  }

  /// All inputs at the least scale or at 1.
  bool tries(bool small, double limit, bool positive) {
    result_.positive = positive, limit_ = limit, exp_limit_ = std::numeric_limits<double>::infinity();
    filled_.assign(g_.inputs.size(), 1);
    return fits(std::vector<bool>(g_.inputs.size(), small), least_exponent);
  }

  double greatest() const {
    double most = 0;
    for (const Magnitude& m : result_.reference.magnitudes) most = std::max(most, m.greatest);
    for (const BlockOperand& o : result_.reference.operands) most = std::max(most, o.magnitude.greatest);
    return most;
  }

  /// No NaN anywhere, and something finite in every output.
  bool comparable() const {
    const Reference& r = result_.reference;
    if (r.stopped) return false;
    for (const Array& a : r.tensors)
      for (double v : a.values)
        if (v != v) return false;
    return std::ranges::all_of(g_.outputs, [&](int t) {
      return r.tensors[t].values.empty() ||
             std::ranges::any_of(r.tensors[t].values, [](double v) { return std::isfinite(v); });
    });
  }

  bool exponential() const {
    for (const KernelOp& op : g_.ops) {
      if (op.kind == OpKind::exp) return true;
      if (op.block)
        for (const BlockOp& inner : op.block->ops)
          if (inner.kind == OpKind::exp) return true;
    }
    return false;
  }

  std::vector<bool> none() const { return std::vector<bool>(g_.inputs.size(), false); }

  /// Runs the reference with the chosen inputs scaled by 2^exponent and the others by 1.
  bool fits(const std::vector<bool>& chosen, int exponent) {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      exponents_[i] = chosen[i] ? exponent : 0;
      if (filled_[i] == exponents_[i]) continue;
      fill(result_.arrays[i], g_.tensors[g_.inputs[i]].dtype, hash(seed_) + i, exponents_[i],
           result_.positive);
      filled_[i] = exponents_[i];
    }
    ReferenceOptions options;
    options.limit = limit_;
    options.exp_limit = exp_limit_;
    options.tile_limit = tile_limit_;
    ++result_.trials;
    result_.reference = graph::run(g_, result_.arrays, options);
    return result_.reference.within(limit_);
  }

  /// The greatest exponent that fits, by bisection; false if the least does not.
  bool bisect(const std::vector<bool>& chosen) {
    if (!fits(chosen, least_exponent)) return false;
    int good = least_exponent, bad = 0, last = good;
    while (bad - good > 1) {
      last = good + (bad - good) / 2;
      (fits(chosen, last) ? good : bad) = last;
    }
    return last == good || fits(chosen, good);
  }

  bool one_alone() {
    for (std::size_t i = 0; i < g_.inputs.size(); ++i) {
      std::vector<bool> chosen = none();
      chosen[i] = true;
      if (bisect(chosen)) return true;
    }
    return false;
  }

  bool all_together() { return bisect(std::vector<bool>(g_.inputs.size(), true)); }

  RandomInputs finish() {
    result_.exponents = exponents_;
    return std::move(result_);
  }

  std::string offender() const {
    const auto show = [](const Magnitude& m) {
      return m.finite ? fmt::format("reaches {:.3g}, past the end of float32", m.greatest)
                      : std::string("is not finite");
    };
    const Reference& r = result_.reference;
    for (const BlockOperand& o : r.operands)
      if (!o.magnitude.within(limit_))
        return fmt::format("block tensor {} of operator {} {}", g_.ops[o.op].block->tensors[o.tensor].name,
                           o.op, show(o.magnitude));
    for (std::size_t t = 0; t < r.magnitudes.size(); ++t)
      if (!r.magnitudes[t].within(limit_))
        return fmt::format("tensor {} {}", g_.tensors[t].name, show(r.magnitudes[t]));
    return "nothing";
  }

  const KernelGraph& g_;
  const std::uint64_t seed_;
  std::vector<int> exponents_, filled_;
  RandomInputs result_;
  double limit_ = magnitude_limit, exp_limit_ = exponent_limit, tile_limit_ = finite_limit;
};

}  // namespace

RandomInputs random_inputs(const KernelGraph& g, std::uint64_t seed) { return Search(g, seed).run(); }

std::string describe_scales(const KernelGraph& g, const RandomInputs& in) {
  std::string text;
  for (std::size_t i = 0; i < in.exponents.size(); ++i) {
    const std::string scale = in.exponents[i] == 0 ? "1" : fmt::format("2^{}", in.exponents[i]);
    text += fmt::format("{}{} x {}", i ? ", " : "", g.tensors[g.inputs[i]].name, scale);
  }
  return in.positive ? text + " (absolute values)" : text;
}

}  // namespace zellige::graph
