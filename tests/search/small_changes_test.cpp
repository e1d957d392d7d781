// Pairs of graphs that differ by a small change: none is called equal. float64 decides which of them differ.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/error.hpp"
#include "pairs.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"
#include "search/given_sizes.hpp"
#include "search/match.hpp"

namespace zellige::search {
namespace {

using namespace test;

Rule rule(std::string name, Formula f, Formula g) {
  return {std::move(name), [f = std::move(f), g = std::move(g)](Rng&) { return std::pair{f, g}; }};
}

/// All but the last of a row.
TensorHandle shorter(const TensorHandle& x, std::int64_t n) { return slice(x, 1, 0, n - 1); }
TensorHandle wide(const TensorHandle& column, const Inputs& in) { return column * in.y; }

TensorHandle masked(const TensorHandle& x, const graph::Kept& kept) { return graph::mask(x, kept); }

TensorHandle normed(const TensorHandle& x, double inside, double outside) {
  return x / (sqrt(mean(square(x), 1, true) + inside) + outside);
}

std::vector<Rule> rules() {
  std::vector<Rule> all;
  const auto add = [&](std::string name, Formula f, Formula g) {
    all.push_back(rule(std::move(name), std::move(f), std::move(g)));
  };
  using In = const Inputs&;
  add(
      "amax_drops_the_last", [](In in) { return wide(amax(in.x, 1, true), in); },
      [](In in) { return wide(amax(shorter(in.x, in.n), 1, true), in); });
  add(
      "amin_drops_the_first", [](In in) { return wide(amin(in.x, 1, true), in); },
      [](In in) { return wide(amin(slice(in.x, 1, 1, in.n), 1, true), in); });
  add(
      "sum_drops_the_last", [](In in) { return wide(sum(in.x, 1, true), in); },
      [](In in) { return wide(sum(shorter(in.x, in.n), 1, true), in); });
  add(
      "logsumexp_drops_the_last", [](In in) { return wide(logsumexp(in.x, 1, true), in); },
      [](In in) { return wide(logsumexp(shorter(in.x, in.n), 1, true), in); });
  add(
      "softmax_by_a_sum_that_drops_the_last", [](In in) { return exp(in.x) / sum(exp(in.x), 1, true); },
      [](In in) { return exp(in.x) / sum(exp(shorter(in.x, in.n)), 1, true); });
  all.push_back({"mask_shifted_by_one", [](Rng& rng) {
                   const std::int64_t k = rng.between(-1, 1);
                   return std::pair<Formula, Formula>{[k](In in) { return softmax(masked(in.x, {.tril = k + 1}), 1); },
                                                      [k](In in) { return softmax(masked(in.x, {.tril = k}), 1); }};
                 }});
  all.push_back({"window_shifted_by_one", [](Rng& rng) {
                   const std::int64_t k = rng.between(0, 2);
                   return std::pair<Formula, Formula>{
                       [k](In in) { return safe_softmax(masked(in.x, {.tril = 2, .triu = -k}), 1); },
                       [k](In in) { return safe_softmax(masked(in.x, {.tril = 2, .triu = 1 - k}), 1); }};
                 }});
  add(
      "length_off_by_one", [](In in) { return safe_softmax(masked(in.x, {.length = in.n - 1}), 1); },
      [](In in) { return safe_softmax(masked(in.x, {.length = in.n - 2}), 1); });
  add(
      "length_of_all", [](In in) { return safe_softmax(masked(in.x, {.length = in.n}), 1); },
      [](In in) { return safe_softmax(masked(in.x, {.length = in.n - 1}), 1); });
  add(
      "amax_for_sum", [](In in) { return wide(amax(in.x, 1, true), in); },
      [](In in) { return wide(sum(in.x, 1, true), in); });
  add(
      "amax_for_mean", [](In in) { return in.x - amax(in.x, 1, true); },
      [](In in) { return in.x - mean(in.x, 1, true); });
  add(
      "amax_and_amin_for_sum", [](In in) { return wide(amax(in.x, 1, true) + amin(in.x, 1, true), in); },
      [](In in) { return wide(sum(in.x, 1, true), in); });
  add(
      "maximum_for_minimum", [](In in) { return maximum(in.x, in.y); }, [](In in) { return minimum(in.x, in.y); });
  add(
      "maximum_for_add", [](In in) { return maximum(in.x, relu(in.y)); }, [](In in) { return in.x + relu(in.y); });
  add(
      "another_dimension_of_softmax", [](In in) { return softmax(in.x, 1); }, [](In in) { return softmax(in.x, 0); });
  add(
      "another_dimension_of_amax", [](In in) { return in.x - amax(in.x, 1, true); },
      [](In in) { return in.x - amax(in.x, 0, true); });
  add(
      "another_dimension_of_sum", [](In in) { return in.x * sum(square(in.y), 1, true); },
      [](In in) { return in.x * sum(square(in.y), 0, true); });
  add(
      "a_sign", [](In in) { return in.x + in.y; }, [](In in) { return in.x - in.y; });
  add(
      "a_sign_under_relu", [](In in) { return relu(matmul(in.x, in.u)); },
      [](In in) { return relu(matmul(in.x, -in.u)); });
  add(
      "a_sign_under_exp", [](In in) { return sigmoid(in.x); }, [](In in) { return sigmoid(-in.x); });
  add(
      "a_factor", [](In in) { return matmul(in.x, in.u); }, [](In in) { return matmul(in.x, in.u) * (1 + 0x1p-10); });
  add(
      "a_factor_under_exp", [](In in) { return softmax(in.x, 1); },
      [](In in) { return softmax(in.x * (1 + 0x1p-10), 1); });
  add(
      "a_factor_under_gelu", [](In in) { return gelu(in.x); }, [](In in) { return gelu(in.x * (1 + 0x1p-10)); });
  add(
      "a_transpose_of_weights", [](In in) { return matmul(in.x, in.u); },
      [](In in) {
        return matmul(in.x, permute(in.u, {1, 0}));
      });
  add(
      "a_transpose_inside", [](In in) { return matmul(relu(matmul(in.x, in.u)), in.v); },
      [](In in) {
        return matmul(relu(matmul(in.x, permute(in.u, {1, 0}))), in.v);
      });
  add(
      "products_the_other_way", [](In in) { return matmul(matmul(in.x, in.u), in.v); },
      [](In in) { return matmul(matmul(in.x, in.v), in.u); });
  add(
      "abs_outside_of_amax", [](In in) { return wide(amax(abs(in.x), 1, true), in); },
      [](In in) { return wide(abs(amax(in.x, 1, true)), in); });
  add(
      "abs_outside_of_sum", [](In in) { return wide(sum(abs(in.x), 1, true), in); },
      [](In in) { return wide(abs(sum(in.x, 1, true)), in); });
  add(
      "abs_left_out", [](In in) { return sqrt(square(in.x)); }, [](In in) { return in.x * 1.0; });
  add(
      "relu_outside", [](In in) { return relu(in.x + in.y); }, [](In in) { return relu(in.x) + relu(in.y); });
  add(
      "relu_left_out", [](In in) { return relu(in.x + 1.5); }, [](In in) { return in.x + 1.5; });
  add(
      "square_outside", [](In in) { return wide(sum(square(in.x), 1, true), in); },
      [](In in) { return wide(square(sum(in.x, 1, true)), in); });
  add(
      "softmax_for_safe_softmax", [](In in) { return softmax(masked(in.x, {.tril = -1}), 1); },
      [](In in) { return safe_softmax(masked(in.x, {.tril = -1}), 1); });
  add(
      "softmax_for_safe_softmax_by_lengths", [](In in) { return softmax(graph::mask(in.x, in.lengths), 1); },
      [](In in) { return safe_softmax(graph::mask(in.x, in.lengths), 1); });
  add(
      "eps_left_out", [](In in) { return normed(in.x, 0.01, 0); }, [](In in) { return normed(in.x, 0, 0); });
  add(
      "eps_moved_out_of_the_root", [](In in) { return normed(in.x, 0.01, 0); },
      [](In in) { return normed(in.x, 0, 0.01); });
  add(
      "eps_of_another_size", [](In in) { return layer_norm(in.x, 1e-3); },
      [](In in) { return layer_norm(in.x, 2e-3); });
  add(
      "lengths_left_out", [](In in) { return safe_softmax(graph::mask(in.x, in.lengths), 1); },
      [](In in) { return safe_softmax(in.x, 1); });
  add(
      "lengths_with_a_length", [](In in) { return safe_softmax(graph::mask(in.x, in.lengths), 1); },
      [](In in) { return safe_softmax(graph::mask(in.x, in.lengths, {.length = in.n - 1}), 1); });
  add(
      "lengths_less_one", [](In in) { return graph::mask(in.x, in.lengths, {}, 0); },
      [](In in) { return graph::mask(in.x, in.lengths, {.tril = in.n - 2}, 0); });
  add(
      "another_value_of_a_mask", [](In in) { return graph::mask(in.x, {.tril = 0}, 0); },
      [](In in) { return graph::mask(in.x, {.tril = 0}, 1); });
  add(
      "a_quotient_that_is_none", [](In in) { return relu(in.x) / relu(in.x); }, [](In in) { return in.x * 0.0 + 1.0; });
  add(
      "a_root_that_is_none", [](In in) { return square(sqrt(in.x)); }, [](In in) { return in.x * 1.0; });
  add(
      "a_logarithm_that_is_none", [](In in) { return log(in.x) - log(in.x); }, [](In in) { return in.x * 0.0; });
  add(
      "a_wider_clamp", [](In in) { return clamp(in.x, -1, 1); }, [](In in) { return clamp(in.x, -1, 1.125); });
  add(
      "a_clamp_for_a_relu", [](In in) { return relu(in.x); }, [](In in) { return clamp(in.x, 0, 6); });
  add(
      "a_choice_the_other_way", [](In in) { return where(lt(in.x, in.y), in.x, in.y); },
      [](In in) { return where(lt(in.x, in.y), in.y, in.x); });
  add(
      "equals_on_the_other_side", [](In in) { return where(lt(in.y, 0.0), in.x, in.x * 2.0); },
      [](In in) { return where(le(in.y, 0.0), in.x, in.x * 2.0); });
  add(
      "a_cast_of_the_sum", [](In in) { return cast(cast(in.x + in.y, graph::DType::int32), graph::DType::f16); },
      [](In in) {
        const auto cut = [](const TensorHandle& t) { return cast(cast(t, graph::DType::int32), graph::DType::f16); };
        return cut(in.x) + cut(in.y);
      });
  add(
      "tanh_for_its_argument_scaled", [](In in) { return tanh(in.x); },
      [](In in) { return 2.0 * sigmoid(in.x) + -1.0; });
  add(
      "rows_exchanged", [](In in) { return concat(slice(in.x, 0, 1, in.m), slice(in.x, 0, 0, 1), 0); },
      [](In in) { return concat(slice(in.x, 0, in.m - 1, in.m), slice(in.x, 0, 0, in.m - 1), 0) + in.x * 0.0; });
  return all;
}

TEST(SmallChanges, AreNeverCalledEqual) {
  int pairs = 0, different = 0, undecided = 0, same = 0;
  double slowest = 0;
  std::map<std::string, int> open;
  for (const Rule& r : rules())
    for (std::uint64_t seed = 1; seed <= seeds_of_a_rule(9); ++seed) {
      const Pair pair = draw_pair(r, seed, seed % 3 == 1);
      // Differ they must, or float64 does not see it: then they say nothing.
      const Pairing pairing = match(pair.a, pair.b);
      double distance = 0;
      for (std::uint64_t n = 0; n < 8 && distance < 1e-9; ++n)
        for (const Scale& s : {Scale{1, Scale::Kind::dense}, {1, Scale::Kind::zeros}, {4, Scale::Kind::dense}})
          distance = std::max(distance, given_sizes({pair.a, pair.b, pairing}, 1000 * seed + n, s).distance);
      if (distance < 1e-9) {
        ++same;
        continue;
      }
      ++pairs;
      const Equality e = equal(pair.a, pair.b, {.seed = seed});
      EXPECT_NE(e.answer, Answer::equal) << distance << " from each other: " << describe(e, pair.name, "changed");
      different += e.answer == Answer::different, undecided += e.answer == Answer::undecided;
      if (e.answer == Answer::undecided) ++open[r.name];
      slowest = std::max(slowest, e.seconds);
    }
  EXPECT_GE(pairs, 400);
  EXPECT_LE(undecided, pairs / 20);
  std::printf(
      "%d pairs that differ: %d different, %d undecided; %d changes that float64 does not see; slowest %.2f "
      "s\n",
      pairs, different, undecided, same, slowest);
  for (const auto& [name, count] : open) std::printf("  undecided: %s %d\n", name.c_str(), count);
}

}  // namespace
}  // namespace zellige::search
