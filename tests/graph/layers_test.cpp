// The layers of examples/layers at their full sizes, an element here and there, against their formulas written out as loops.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "graph/candidates.hpp"
#include "graph/cut.hpp"
#include "graph/inputs.hpp"
#include "graph/load.hpp"

namespace zellige::graph {
namespace {

using Row = std::vector<double>;

/// A graph, and its inputs by name and row.
class Layer {
 public:
  explicit Layer(const std::string& name) {
    Candidates file(ZELLIGE_SOURCE_DIR "/examples/layers/" + name + ".json");
    Loaded loaded = file.next().value();
    EXPECT_EQ(loaded.error, "");
    graph = std::move(loaded.graph);
    choice = choose_inputs(graph, 1);
  }

  /// Row `row` of an input, or column `row` of a weight, which is given (into, out) as it is multiplied.
  Row row(const std::string& name, std::int64_t row) const {
    const int i = input(name);
    Row values(static_cast<std::size_t>(graph.tensors[graph.inputs[i]].shape.back()));
    input_row(graph, choice, i, row, 0, static_cast<std::int64_t>(values.size()), values.data());
    return values;
  }

  /// x times an input of (into, out), of which only columns from `from` on are wanted.
  Row times(const Row& x, const std::string& name, std::int64_t from, std::int64_t count) const {
    Row y(static_cast<std::size_t>(count)), part(y.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      input_row(graph, choice, input(name), static_cast<std::int64_t>(k), from, count, part.data());
      for (std::size_t j = 0; j < y.size(); ++j) y[j] += x[k] * part[j];
    }
    return y;
  }

  /// That elements of an output are those values, within what bf16 leaves of them after a layer of it.
  void expect(const std::string& output, const Region& r, const Row& values) const {
    int t = -1;
    for (int o : graph.outputs)
      if (graph.tensors[o].name == output) t = o;
    ASSERT_GE(t, 0) << output;
    const Cut c = cut(graph, t, r);
    std::vector<Array> arrays;
    for (const Cut::Part& p : c.inputs)
      arrays.push_back(input_part(graph, choice, by_tensor(p.tensor), p.region));
    const Row found = run_reference(c.graph, arrays).at(0).values;
    ASSERT_EQ(found.size(), values.size());
    double squares = 0;
    for (double v : values) squares += v * v;
    const double size = std::sqrt(squares / static_cast<double>(values.size()));
    EXPECT_GT(size, 0);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], values[i], 0.1 * size) << output << " " << i;
  }

  KernelGraph graph;
  InputChoice choice;

 private:
  int by_tensor(int t) const {
    return static_cast<int>(std::find(graph.inputs.begin(), graph.inputs.end(), t) - graph.inputs.begin());
  }
  int input(const std::string& name) const {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i)
      if (graph.tensors[graph.inputs[i]].name == name) return static_cast<int>(i);
    ADD_FAILURE() << "no input " << name;
    return 0;
  }
};

double dot(const Row& x, const Row& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

Row rms_norm(const Row& x, const Row& g) {
  const double r = 1 / std::sqrt(dot(x, x) / static_cast<double>(x.size()) + 1e-5);
  Row y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * r * g[i];
  return y;
}

Row softmax(Row s) {
  double sum = 0;
  for (double& v : s) v = std::exp(v), sum += v;
  for (double& v : s) v /= sum;
  return s;
}

/// Each head's first and second half, as coordinates of a plane that turns.
Row turned(const Row& x, const Row& cos, const Row& sin) {
  Row y(x.size());
  for (std::size_t at = 0; at < x.size(); at += 128)
    for (std::size_t i = 0; i < 64; ++i) {
      const double a = x[at + i], b = x[at + 64 + i];
      y[at + i] = a * cos[i] - b * sin[i], y[at + 64 + i] = b * cos[i] + a * sin[i];
    }
  return y;
}

Row gated_mlp(const Layer& l, const Row& x, const Row& gain, std::int64_t from, std::int64_t count) {
  const Row n = rms_norm(x, gain), up = l.times(n, "wu", 0, 14336);
  Row h = l.times(n, "wg", 0, 14336);
  for (std::size_t i = 0; i < h.size(); ++i) h[i] = h[i] / (1 + std::exp(-h[i])) * up[i];
  Row y = l.times(h, "wd", from, count);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[static_cast<std::size_t>(from) + i];
  return y;
}

TEST(Layers, AttentionWrittenOut) {
  const Layer l("plain_attention_32x4096x128");
  const std::int64_t head = 17, at = 3001;
  const Row q = l.row("q", head * 4096 + at);
  Row s(4096), o(128);
  for (int j = 0; j < 4096; ++j) s[j] = dot(q, l.row("k", head * 4096 + j)) / std::sqrt(128);
  const Row p = softmax(s);
  for (int j = 0; j < 4096; ++j) {
    const Row v = l.row("v", head * 4096 + j);
    for (int i = 0; i < 128; ++i) o[i] += p[j] * v[i];
  }
  l.expect("O", {{head, at, 0}, {1, 1, 128}}, o);
}

TEST(Layers, GptMlp) {
  const Layer l("gpt_mlp_4096");
  const Row x = l.row("x", 77), g = l.row("g", 0), b = l.row("b", 0);
  double mean = 0, variance = 0;
  for (double v : x) mean += v / 1024;
  for (double v : x) variance += (v - mean) * (v - mean) / 1024;
  Row n(1024);
  for (int i = 0; i < 1024; ++i) n[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) * g[i] + b[i];
  Row h = l.times(n, "w1", 0, 4096);
  const Row b1 = l.row("b1", 0), b2 = l.row("b2", 0);
  for (int i = 0; i < 4096; ++i) {
    const double z = h[i] + b1[i];
    h[i] = z / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (z + 0.044715 * z * z * z)));
  }
  Row y = l.times(h, "w2", 100, 20);
  for (int i = 0; i < 20; ++i) y[i] += x[100 + i] + b2[100 + i];
  l.expect("Y", {{77, 100}, {1, 20}}, y);
}

TEST(Layers, ResidualNormAndCrossEntropy) {
  const Layer r("residual_rms_norm_8192x4096");
  Row s = r.row("x", 8191);
  const Row other = r.row("r", 8191);
  for (int i = 0; i < 4096; ++i) s[i] += other[i];
  r.expect("S", {{8191, 0}, {1, 4096}}, s);
  r.expect("N", {{8191, 0}, {1, 4096}}, rms_norm(s, r.row("g", 0)));
  const Layer c("cross_entropy_256x32000");
  const Row z = c.times(c.row("x", 200), "w", 0, 32000);
  double sum = 0;
  const double most = *std::max_element(z.begin(), z.end());
  for (double v : z) sum += std::exp(v - most);
  c.expect("L", {{200}, {1}}, {std::log(sum) + most});
}

TEST(Layers, Decode) {
  for (const std::string name : {"llama_decode_b1", "llama_decode_b8"}) {
    const Layer l(name);
    const std::int64_t token = name == "llama_decode_b8" ? 5 : 0;
    const Row x = l.row("x", token), cos = l.row("cos", token), sin = l.row("sin", token);
    const Row t = l.times(rms_norm(x, l.row("g1", 0)), "wqkv", 0, 6144);
    const Row q = turned({t.begin(), t.begin() + 4096}, cos, sin),
              k = turned({t.begin() + 4096, t.begin() + 5120}, cos, sin);
    l.expect("K", {{token, 0, 0}, {1, 8, 128}}, k);
    l.expect("V", {{token, 0, 0}, {1, 8, 128}}, {t.begin() + 5120, t.end()});
    if (token != 0) continue;  // one token through the whole layer
    Row o(4096);
    for (int head = 0; head < 32; ++head) {
      const Row mine(q.begin() + head * 128, q.begin() + head * 128 + 128);
      Row s(4096);
      for (int j = 0; j < 4096; ++j) s[j] = dot(mine, l.row("ck", head / 4 * 4096 + j)) / std::sqrt(128);
      const Row p = softmax(s);
      for (int j = 0; j < 4096; ++j) {
        const Row v = l.row("cv", head / 4 * 4096 + j);
        for (int i = 0; i < 128; ++i) o[head * 128 + i] += p[j] * v[i];
      }
    }
    Row after = l.times(o, "wo", 0, 4096);
    for (int i = 0; i < 4096; ++i) after[i] += x[i];
    l.expect("Y", {{0, 64}, {1, 16}}, gated_mlp(l, after, l.row("g2", 0), 64, 16));
  }
}

TEST(Layers, GatedMlpAndProjections) {
  const Layer m("norm_gated_mlp_b16");
  m.expect("Y", {{9, 4000}, {1, 16}}, gated_mlp(m, m.row("x", 9), m.row("g", 0), 4000, 16));
  const Layer p("rms_qkv_rope_b16");
  const Row t = p.times(rms_norm(p.row("x", 15), p.row("g", 0)), "w", 0, 6144);
  const Row q = turned({t.begin(), t.begin() + 4096}, p.row("cos", 15), p.row("sin", 15));
  p.expect("Q", {{15, 30, 0}, {1, 2, 128}}, {q.begin() + 30 * 128, q.end()});
}

TEST(Layers, AllAreValid) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(ZELLIGE_SOURCE_DIR "/examples/layers")) {
    if (file.path().extension() != ".json") continue;
    Candidates one(file.path().string());
    const Loaded loaded = one.next().value();
    EXPECT_EQ(loaded.error, "");
    EXPECT_EQ(loaded.graph.name, file.path().stem());
    ++count;
  }
  EXPECT_EQ(count, 13);
}

}  // namespace
}  // namespace zellige::graph
