// Pairs of graphs that are equal by a law of algebra: nearly all of them are proved
// equal.
#include <gtest/gtest.h>

#include <cmath>

#include "../all_cases.hpp"
#include "pairs.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::search {
namespace {

using namespace test;

TensorHandle transposed(const TensorHandle& x) { return permute(x, {1, 0}); }

TensorHandle exp_softmax(const TensorHandle& x) { return exp(x) / sum(exp(x), 1, true); }

std::vector<Rule> rules() {
  std::vector<Rule> all;
  using In = const Inputs&;
  const auto add = [&](std::string name, Formula f, Formula g) {
    all.push_back({std::move(name), [f = std::move(f), g = std::move(g)](Rng&) { return std::pair{f, g}; }});
  };
  const auto scaled = [&](std::string name, const std::function<std::pair<Formula, Formula>(double)>& of) {
    all.push_back({std::move(name), [of](Rng& rng) {
                     return of(rng.pick(std::vector{0.5, 0.125, 2.0, 3.0, 1.0 / 3, 0.3}));
                   }});
  };
  // Additions and products.
  add(
      "distributes", [](In in) { return matmul(in.x + in.y, in.u); },
      [](In in) { return matmul(in.y, in.u) + matmul(in.x, in.u); });
  add(
      "distributes_right", [](In in) { return matmul(in.x, in.u - in.v); },
      [](In in) { return matmul(in.x, in.u) - matmul(in.x, in.v); });
  add(
      "associates", [](In in) { return matmul(matmul(in.x, in.u), in.v); },
      [](In in) { return matmul(in.x, matmul(in.u, in.v)); });
  add(
      "transposes", [](In in) { return matmul(in.x, in.u); },
      [](In in) { return transposed(matmul(transposed(in.u), transposed(in.x))); });
  add(
      "binomial", [](In in) { return square(in.x + in.y); },
      [](In in) { return square(in.x) + 2.0 * (in.x * in.y) + square(in.y); });
  add(
      "difference_of_squares", [](In in) { return (in.x + in.y) * (in.x - in.y); },
      [](In in) { return square(in.x) - square(in.y); });
  scaled("scales_a_product", [](double c) -> std::pair<Formula, Formula> {
    return {[c](In in) { return matmul(in.x * c, in.u); }, [c](In in) { return c * matmul(in.x, in.u); }};
  });
  add(
      "sums_in_parts", [](In in) { return in.y * sum(in.x, 1, true); },
      [](In in) { return in.y * (sum(slice(in.x, 1, 0, 3), 1, true) + sum(slice(in.x, 1, 3, in.n), 1, true)); });
  add(
      "sums_of_a_concat", [](In in) { return in.y * sum(concat(in.x, in.y, 1), 1, true); },
      [](In in) { return in.y * (sum(in.x, 1, true) + sum(in.y, 1, true)); });
  add(
      "product_by_blocks", [](In in) { return matmul(in.x, in.u); },
      [](In in) {
        return matmul(slice(in.x, 1, 0, 2), slice(in.u, 0, 0, 2)) +
               matmul(slice(in.x, 1, 2, in.n), slice(in.u, 0, 2, in.n));
      });
  add(
      "columns_by_blocks", [](In in) { return matmul(in.x, in.u); },
      [](In in) { return concat(matmul(in.x, slice(in.u, 1, 0, 2)), matmul(in.x, slice(in.u, 1, 2, in.n)), 1); });
  add(
      "sum_as_a_product", [](In in) { return in.y * sum(matmul(in.x, in.u), 1, true); },
      [](In in) { return in.y * matmul(in.x, sum(in.u, 1, true)); });
  add(
      "reshapes", [](In in) { return exp(in.x) * in.y; },
      [](In in) {
        const auto flat = [&](const TensorHandle& t) { return reshape(t, {in.m * in.n}); };
        return reshape(exp(flat(in.x)) * flat(in.y), {in.m, in.n});
      });
  add(
      "divides_twice", [](In in) { return in.x / 3.0 / 2.0; }, [](In in) { return in.x / 6.0; });
  add(
      "divides_late", [](In in) { return matmul(in.x / (square(in.y) + 1.0), in.u); },
      [](In in) { return matmul(in.x * (1.0 / 2) / ((square(in.y) + 1.0) * 0.5), in.u); });
  // Exponentials.
  add(
      "exp_of_a_sum", [](In in) { return exp(in.x + in.y); }, [](In in) { return exp(in.x) * exp(in.y); });
  add(
      "exp_of_a_difference", [](In in) { return exp(in.x - in.y); }, [](In in) { return exp(in.x) / exp(in.y); });
  add(
      "exp_squared", [](In in) { return square(exp(in.x)); }, [](In in) { return exp(2.0 * in.x); });
  add(
      "root_of_exp", [](In in) { return sqrt(exp(in.x)); }, [](In in) { return exp(in.x * 0.5); });
  add(
      "log_of_exp", [](In in) { return log(exp(in.x)); }, [](In in) { return in.x * 1.0; });
  add(
      "log_of_a_product", [](In in) { return log(exp(in.x) * exp(in.y)); }, [](In in) { return in.x + in.y; });
  add(
      "exp_of_log", [](In in) { return exp(log(square(in.x) + 1.0)); }, [](In in) { return square(in.x) + 1.0; });
  add(
      "sigmoid_of_minus", [](In in) { return sigmoid(-in.x); }, [](In in) { return -sigmoid(in.x) + 1.0; });
  add(
      "silu_by_sigmoid", [](In in) { return silu(in.x); }, [](In in) { return sigmoid(in.x) * in.x; });
  add(
      "tanh_by_sigmoid", [](In in) { return tanh(in.x); }, [](In in) { return 2.0 * sigmoid(2.0 * in.x) + -1.0; });
  // Softmax.
  add(
      "softmax_by_exp", [](In in) { return softmax(in.x, 1); }, [](In in) { return exp_softmax(in.x); });
  add(
      "softmax_of_a_shift", [](In in) { return softmax(in.x + sum(in.y, 1, true), 1); },
      [](In in) { return softmax(in.x, 1); });
  add(
      "safe_softmax", [](In in) { return safe_softmax(in.x, 1); }, [](In in) { return softmax(in.x, 1); });
  add(
      "safe_softmax_of_a_mask", [](In in) { return safe_softmax(graph::mask(in.x, {.tril = 0}), 1); },
      [](In in) { return softmax(graph::mask(in.x, {.tril = 0}), 1); });
  add(
      "softmax_of_a_mask_by_zeros", [](In in) { return softmax(graph::mask(in.x, {.tril = 0}), 1); },
      [](In in) {
        const TensorHandle e = graph::mask(exp(in.x), {.tril = 0}, 0);
        return e / sum(e, 1, true);
      });
  add(
      "softmax_behind_a_product", [](In in) { return matmul(softmax(in.x, 1), in.u); },
      [](In in) { return matmul(exp(in.x), in.u) / sum(exp(in.x), 1, true); });
  add(
      "softmax_with_its_maximum", [](In in) { return softmax(in.x, 1); },
      [](In in) { return exp_softmax(in.x - amax(in.x, 1, true)); });
  add(
      "log_softmax", [](In in) { return log_softmax(in.x, 1); }, [](In in) { return in.x - logsumexp(in.x, 1, true); });
  add(
      "log_of_softmax", [](In in) { return log(softmax(in.x, 1)); }, [](In in) { return log_softmax(in.x, 1); });
  add(
      "exp_of_log_softmax", [](In in) { return exp(log_softmax(in.x, 1)); }, [](In in) { return softmax(in.x, 1); });
  add(
      "logsumexp", [](In in) { return in.y * logsumexp(in.x, 1, true); },
      [](In in) { return in.y * log(sum(exp(in.x), 1, true)); });
  add(
      "logsumexp_of_parts", [](In in) { return in.y * logsumexp(in.x, 1, true); },
      [](In in) {
        const std::vector<TensorHandle> parts = split(in.x, 1, {1, in.x.shape()[1] - 1});
        return in.y * logaddexp(logsumexp(parts[0], 1, true), logsumexp(parts[1], 1, true));
      });
  // Norms.
  add(
      "rms_norm_by_steps", [](In in) { return rms_norm(in.x, 0.01); },
      [](In in) { return in.x / sqrt(mean(square(in.x), 1, true) + 0.01); });
  add(
      "rms_norm_by_rsqrt", [](In in) { return rms_norm(in.x, 0.01); },
      [](In in) { return in.x * rsqrt(mean(square(in.x), 1, true) + 0.01); });
  add(
      "rms_norm_behind_a_product", [](In in) { return matmul(rms_norm(in.x, 0.01), in.u); },
      [](In in) { return matmul(in.x, in.u) / sqrt(mean(square(in.x), 1, true) + 0.01); });
  add(
      "layer_norm_by_steps", [](In in) { return layer_norm(in.x, 0.01); },
      [](In in) {
        const TensorHandle off = in.x - mean(in.x, 1, true);
        return off / sqrt(mean(square(off), 1, true) + 0.01);
      });
  add(
      "variance_by_squares", [](In in) { return layer_norm(in.x, 0.01); },
      [](In in) {
        const TensorHandle m = mean(in.x, 1, true);
        return (in.x - m) / sqrt(mean(square(in.x), 1, true) - square(m) + 0.01);
      });
  add(
      "layer_norm_of_a_shift", [](In in) { return layer_norm(in.x + 3.0, 0.01); },
      [](In in) { return layer_norm(in.x, 0.01); });
  add(
      "mean_by_sum", [](In in) { return in.x - mean(in.x, 1, true); },
      [](In in) { return in.x - sum(in.x, 1, true) * (1.0 / static_cast<double>(in.n)); });
  // Maxima.
  scaled("relu_of_a_multiple", [](double c) -> std::pair<Formula, Formula> {
    return {[c](In in) { return relu(c * in.x); }, [c](In in) { return c * relu(in.x); }};
  });
  scaled("amax_of_a_multiple", [](double c) -> std::pair<Formula, Formula> {
    return {[c](In in) { return in.y * amax(c * in.x, 1, true); },
            [c](In in) { return in.y * (c * amax(in.x, 1, true)); }};
  });
  add(
      "amax_of_a_shift", [](In in) { return in.y * amax(in.x + 2.0, 1, true); },
      [](In in) { return in.y * (amax(in.x, 1, true) + 2.0); });
  add(
      "amin_by_amax", [](In in) { return in.y * amin(in.x, 1, true); },
      [](In in) { return in.y * -amax(-in.x, 1, true); });
  add(
      "amax_in_parts", [](In in) { return in.y * amax(in.x, 1, true); },
      [](In in) {
        return in.y * maximum(amax(slice(in.x, 1, 0, 3), 1, true), amax(slice(in.x, 1, 3, in.n), 1, true));
      });
  add(
      "amax_of_relu", [](In in) { return in.y * amax(relu(in.x), 1, true); },
      [](In in) { return in.y * relu(amax(in.x, 1, true)); });
  add(
      "amax_of_abs", [](In in) { return in.y * amax(abs(in.x), 1, true); },
      [](In in) { return in.y * maximum(amax(in.x, 1, true), -amin(in.x, 1, true)); });
  add(
      "amax_of_exp", [](In in) { return in.y * amax(exp(in.x), 1, true); },
      [](In in) { return in.y * exp(amax(in.x, 1, true)); });
  add(
      "relu_twice", [](In in) { return relu(relu(in.x)); }, [](In in) { return maximum(in.x, 0.0); });
  add(
      "relu_less_relu", [](In in) { return relu(in.x) - relu(-in.x); }, [](In in) { return in.x * 1.0; });
  add(
      "relus_are_abs", [](In in) { return relu(in.x) + relu(-in.x); }, [](In in) { return abs(in.x); });
  add(
      "relu_by_abs", [](In in) { return relu(in.x); }, [](In in) { return 0.5 * (in.x + abs(in.x)); });
  add(
      "relu_squared", [](In in) { return square(relu(in.x)); }, [](In in) { return relu(in.x) * in.x; });
  add(
      "relu_of_a_square", [](In in) { return relu(square(in.x)); }, [](In in) { return square(in.x); });
  add(
      "relu_by_where", [](In in) { return relu(in.x); }, [](In in) { return where(gt(in.x, 0.0), in.x, 0.0); });
  add(
      "maximum_and_minimum", [](In in) { return maximum(in.x, in.y) + minimum(in.x, in.y); },
      [](In in) { return in.x + in.y; });
  add(
      "maximum_by_relu", [](In in) { return maximum(in.x, in.y); }, [](In in) { return in.y + relu(in.x - in.y); });
  add(
      "minimum_by_where", [](In in) { return minimum(in.x, in.y); },
      [](In in) { return where(lt(in.x, in.y), in.x, in.y); });
  add(
      "clamp_by_both", [](In in) { return clamp(in.x, -0.5, 2); },
      [](In in) { return maximum(minimum(in.x, 2.0), -0.5); });
  add(
      "clamp_of_a_clamp", [](In in) { return clamp(clamp(in.x, -3, 5), -2, 2); },
      [](In in) { return clamp(in.x, -2, 2); });
  add(
      "clamp_of_minus", [](In in) { return clamp(-in.x, -2, 2); }, [](In in) { return -clamp(in.x, -2, 2); });
  add(
      "absorbs", [](In in) { return maximum(in.x, minimum(in.x, in.y)); }, [](In in) { return in.x * 1.0; });
  add(
      "maximum_distributes", [](In in) { return maximum(in.x, minimum(in.y, 1.0)); },
      [](In in) { return minimum(maximum(in.x, in.y), maximum(in.x, 1.0)); });
  add(
      "amax_of_multiples_of_maxima", [](In in) { return in.y * amax(2.0 * maximum(in.x, 0.5), 1, true); },
      [](In in) { return in.y * (2.0 * maximum(amax(in.x, 1, true), 0.5)); });
  // Views.
  add(
      "softmax_of_an_expanded_row",
      [](In in) {
        return softmax(in.x + expand(sum(in.y, 1, true), {in.m, in.n}), 1);
      },
      [](In in) { return softmax(in.x, 1); });
  // Roots and absolute values.
  add(
      "root_of_a_square", [](In in) { return sqrt(square(in.x)); }, [](In in) { return abs(in.x); });
  add(
      "abs_of_a_product", [](In in) { return abs(in.x * in.y); }, [](In in) { return abs(in.x) * abs(in.y); });
  add(
      "abs_squared", [](In in) { return square(abs(in.x)); }, [](In in) { return square(in.x); });
  add(
      "square_of_a_root", [](In in) { return square(sqrt(square(in.x) + 1.0)); },
      [](In in) { return square(in.x) + 1.0; });
  add(
      "root_of_a_product", [](In in) { return sqrt((square(in.x) + 1.0) * (square(in.y) + 2.0)); },
      [](In in) { return sqrt(square(in.x) + 1.0) * sqrt(square(in.y) + 2.0); });
  // Masks, lengths, comparisons.
  add(
      "mask_by_lengths", [](In in) { return graph::mask(in.x * 2.0, in.lengths, {}, 0); },
      [](In in) { return 2.0 * graph::mask(in.x, in.lengths, {}, 0); });
  add(
      "softmax_by_lengths", [](In in) { return softmax(graph::mask(in.x * 0.5, in.lengths), 1); },
      [](In in) { return softmax(0.5 * graph::mask(in.x, in.lengths), 1); });
  add(
      "less_the_other_way", [](In in) { return in.x * lt(in.x, in.y); }, [](In in) { return in.x * gt(in.y, in.x); });
  add(
      "choices_of_two", [](In in) { return where(lt(in.y, 0.0), in.x, 2.0 * in.x); },
      [](In in) { return in.x * where(lt(in.y, 0.0), in.x * 0.0 + 1.0, 2.0); });
  return all;
}

TEST(Algebra, IsTold) {
  int pairs = 0, undecided = 0;
  double slowest = 0, all = 0;
  std::map<std::string, int> methods, open;
  const std::uint64_t seeds = seeds_of_a_rule(zellige::test::all_cases() ? 6 : 3);
  for (const Rule& r : rules())
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Pair pair = draw_pair(r, seed, seed % 3 == 1);
      const Equality e = equal(pair.a, pair.b, {.seed = seed});
      EXPECT_NE(e.answer, Answer::different) << describe(e, pair.name, "rewritten");
      if (e.answer == Answer::undecided) {
        ++undecided, ++open[r.name];
        std::printf("%s", describe(e, pair.name, "rewritten").c_str());
      }
      if (e.log2_chance) EXPECT_LE(*e.log2_chance, -40) << pair.name;
      ++methods[e.method], ++pairs;
      slowest = std::max(slowest, e.seconds), all += e.seconds;
    }
  EXPECT_GE(pairs, 65 * static_cast<int>(seeds));
  EXPECT_LE(undecided, pairs / 100);
  std::printf("%d pairs, %d undecided, slowest %.2f s, %.1f s in all; by", pairs, undecided, slowest, all);
  for (const auto& [method, count] : methods) std::printf(" %s %d", method.c_str(), count);
  std::printf("\n");
  for (const auto& [name, count] : open) std::printf("  undecided: %s %d\n", name.c_str(), count);
}

}  // namespace
}  // namespace zellige::search
