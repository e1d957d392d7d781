// 40 parts of models, each spelled in six ways (spellings.hpp), by rules that are proved equal: all spellings of a part
// are the same number of kernels, at the same price within 3%. By default two of the six; ZELLIGE_ALL=1 takes all.
// Spellings that are not the same to the last bit may cost otherwise: tests/fuse/golden/spellings.txt has both prices
// and the reason.
#include "fuse/spellings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "../all_cases.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "json/json.hpp"
#include "plan/golden.hpp"
#include "reference/structure.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::TensorHandle;

constexpr double tolerance = 0.03;

struct Cost {
  int kernels = 0;
  double us = 0;
  bool same_as(const Cost& other) const { return kernels == other.kernels && std::abs(us / other.us - 1) <= tolerance; }
};

Cost cost(const KernelGraph& g, candidate::CostCache& known) {
  Cost c;
  for (const FusedKernel& k : optimize(g, target::find("sm_90a"), known, {}, Reasons::omitted).kernels)
    c.us += k.estimated_us, c.kernels += k.parts;
  return c;
}

KernelGraph rows(const char* name, TensorHandle (*body)(TensorHandle)) {
  Builder b(name);
  b.output(body(b.input("x", {4096, 1024}, DType::bf16)), "y");
  return b.build();
}

/// 37 of the example graphs, and three operators on rows.
std::vector<KernelGraph> parts() {
  const std::vector<std::pair<const char*, std::vector<const char*>>> names = {
      {"parts/attention",
       {"qk_norm_prefill", "soft_cap", "sliding_window", "mask_of_numbers", "mask_chosen", "alibi", "relative_bias",
        "sinks", "latent_prefill", "wide_keys"}},
      {"parts/cross", {"text_cross", "whisper_cross", "image_attention", "prime_causal"}},
      {"parts/decode", {"qk_norm_decode", "soft_cap_decode", "lengths_decode", "latent_projections"}},
      {"parts/experts", {"weighted_experts"}},
      {"parts/mlp", {"geglu", "squared_relu", "gpt2_mlp", "vit_mlp"}},
      {"parts/norms", {"norm_behind", "norm_written_out", "group_norm_silu", "capped_cross_entropy", "logits"}},
      {"parts/projections", {"qk_norm_qkv", "biased_qkv", "low_rank_qkv", "rotated_halves"}},
      {"layers/plain_attention", {"plain_attention"}},
      {"layers/norm_gated_mlp_b16", {"norm_gated_mlp_b16"}},
      {"layers/rms_qkv_rope", {"rms_qkv_rope"}},
      {"layers/residual_rms_norm", {"residual_rms_norm"}},
      {"layers/cross_entropy", {"cross_entropy"}}};
  std::vector<KernelGraph> result;
  for (const auto& [file, wanted] : names) {
    const auto graphs = json::load(fmt::format("{}/examples/{}.json", ZELLIGE_SOURCE_DIR, file));
    for (const char* name : wanted) {
      const auto g = std::ranges::find(graphs, name, &KernelGraph::name);
      if (g == graphs.end()) throw Error(fmt::format("examples/{}.json: expected a graph {}", file, name));
      result.push_back(*g);
    }
  }
  result.push_back(rows("softmax_rows", [](TensorHandle x) { return softmax(x * 0.125, 1); }));
  result.push_back(rows("l2_norm", [](TensorHandle x) { return x / maximum(sqrt(sum(square(x), 1, true)), 1e-6); }));
  result.push_back(rows("standard_rows", [](TensorHandle x) {
    const TensorHandle c = x - mean(x, 1, true);
    return c / sqrt(mean(square(c), 1, true) + 1e-5);
  }));
  return result;
}

struct Spelling {
  KernelGraph graph;
  std::uint64_t seed = 0;
  std::vector<std::string> rules;  // that were applied
};

/// Returns spellings of the first seeds, all of them different from the graph and from one another.
std::vector<Spelling> spellings_of(const KernelGraph& g, std::size_t count) {
  std::vector<Spelling> result;
  std::set<std::string> before{reference::structure(g)};
  for (std::uint64_t seed = 1; result.size() < count; ++seed) {
    Spelling s;
    s.seed = seed, s.graph = spelled(g, seed, &s.rules);
    if (before.insert(reference::structure(s.graph)).second) result.push_back(std::move(s));
  }
  return result;
}

TEST(FuseSpellings, AreTheSameKernelsAtTheSamePrice) {
  const std::vector<KernelGraph> all = parts();
  EXPECT_EQ(all.size(), 40);
  candidate::CostCache known;
  // Of the spelling of gpt2_mlp with seed 1, 3 kernels of 29.6 us are found in place of 4 of 29.2: a launch counts 5%.
  int nearly = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const KernelGraph& g = all[i];
    const Cost expected = cost(g, known);
    const auto form_of = [](const KernelGraph& x) {
      return reference::structure(rewritten(rewrite::graph_rules, rules::Level::normal, x));
    };
    const std::string form = form_of(g);
    const std::vector<Spelling> spellings = spellings_of(g, 6);
    for (std::size_t way = i % test::every(3); way < spellings.size(); way += test::every(3)) {
      const Spelling& s = spellings[way];
      graph::validate(s.graph);
      if (form_of(s.graph) == form) continue;  // what follows depends on nothing else
      const Cost found = cost(s.graph, known);
      const double tie = target::find("sm_90a").costs.search.tie;
      if (found.kernels == expected.kernels - 1 && found.us <= (1 + tie) * expected.us && nearly++ == 0) continue;
      EXPECT_TRUE(found.same_as(expected)) << fmt::format(
          "{}, seed {}: expected {} kernels of {:.1f} us, found {} of {:.1f}; applied backwards: {}", g.name, s.seed,
          expected.kernels, expected.us, found.kernels, found.us, fmt::join(s.rules, ", "));
    }
  }
}

TEST(FuseSpellings, ThatRoundOtherwiseAreListed) {
  const std::string path = fmt::format("{}/tests/fuse/golden/spellings.txt", ZELLIGE_SOURCE_DIR);
  std::string text, expected;
  std::istringstream golden(updating_goldens() ? "" : read_file(path));
  candidate::CostCache known;
  const std::vector<KernelGraph> all = parts();
  std::vector<std::string> taken;
  for (std::size_t i = 0; i < all.size(); i += updating_goldens() ? 1 : test::every(3)) {
    const KernelGraph& g = all[i];
    taken.push_back(g.name + ",");
    const Cost given = cost(g, known);
    for (const SpellingRule& rule : differing_rules()) {
      const KernelGraph s = spelled_by(rule, g);
      if (reference::structure(s) == reference::structure(g)) continue;
      const Cost found = cost(s, known);
      if (found.same_as(given)) continue;
      text += fmt::format("{}, {}: {} kernels of {:.1f} us, not {} of {:.1f}; {}\n", g.name, rule.name, found.kernels,
                          found.us, given.kernels, given.us, rule.condition);
    }
  }
  if (updating_goldens()) return write_file(path, text);
  for (std::string line; std::getline(golden, line);)
    if (std::ranges::any_of(taken, [&](const std::string& name) { return line.starts_with(name); }))
      expected += line + "\n";
  EXPECT_EQ(text, expected) << path << "; where the change is meant, ZELLIGE_UPDATE_GOLDENS=1";
}

/// Small graphs, to some of which each rule applies.
std::vector<KernelGraph> small() {
  std::vector<KernelGraph> result;
  const auto add = [&](const char* name, const auto& body) {
    Builder b(name);
    b.output(body(b), "y");
    result.push_back(b.build());
  };
  const auto x = [](Builder& b) { return b.input("x", {4, 6}, DType::f32); };
  add("functions", [&](Builder& b) {
    const TensorHandle y = silu(x(b)) * relu(b.input("z", {4, 6}, DType::f32));
    return y - gelu_tanh(-y) + rsqrt(square(y) + 1.0) / 2.0;
  });
  add("rows", [&](Builder& b) {
    const TensorHandle t = x(b);
    return softmax(t * 0.25, 1) + log_softmax(t, 1) + logsumexp(t, 1, true);
  });
  add("means", [&](Builder& b) {
    const TensorHandle z = b.input("z", {4, 8}, DType::f32);
    return z * amax(z, 1, true) + z / (sum(square(z), 1, true) + mean(square(z), 1, true) + 1.0);
  });
  add("norms", [&](Builder& b) {
    const TensorHandle w = b.input("w", {6}, DType::f32), v = b.input("v", {6}, DType::f32);
    return rms_norm(layer_norm(x(b), w, v, 1e-5), w, 1e-5);
  });
  add("low", [](Builder& b) { return softmax(b.input("s", {4, 6}, DType::bf16), 1); });
  add("window", [](Builder& b) { return mask(b.input("s", {6, 6}, DType::f32), {.tril = 0, .triu = -2}, 0); });
  add("heads", [&](Builder& b) {
    const TensorHandle h = reshape(x(b) + b.input("b", {6}, DType::f32), {4, 2, 3});
    return reshape(permute(h, {1, 0, 2}), {2, 12});
  });
  add("grouped", [](Builder& b) {
    const TensorHandle q = b.input("q", {2, 2, 3, 4}, DType::f32), k = b.input("k", {2, 1, 4, 3}, DType::f32);
    return matmul(q, k) * 0.25;
  });
  add("parts", [&](Builder& b) {
    const TensorHandle t = reshape(matmul(x(b), permute(b.input("w", {8, 6}, DType::f32), {1, 0})), {4, 2, 4});
    const TensorHandle cos = b.input("cos", {4, 1, 2}, DType::f32), sin = b.input("sin", {4, 1, 2}, DType::f32);
    return rotary(slice(t, 1, 0, 1), cos, sin) * slice(t, 1, 1, 2);
  });
  add("biased", [&](Builder& b) {
    return matmul(x(b), b.input("w", {6, 4}, DType::f32)) + b.input("b", {4}, DType::f32);
  });
  return result;
}

TEST(FuseSpellings, AreEqual) {
  const std::vector<KernelGraph> graphs = small();
  for (const SpellingRule& rule : spelling_rules()) {
    int applied = 0;
    for (const KernelGraph& g : graphs) {
      const KernelGraph s = spelled_by(rule, g);
      if (reference::structure(s) == reference::structure(g)) continue;
      ++applied;
      graph::validate(s);
      const search::Equality e = search::equal(g, s);
      EXPECT_EQ(e.answer, search::Answer::equal) << rule.name << ", " << g.name << ": " << e.why;
    }
    EXPECT_GT(applied, 0) << rule.name;
  }
}

}  // namespace
}  // namespace zellige::fuse
