// Every candidate of the eight files against the closed formula of its program, in float64 without any
// rounding: the 124 outside qknorm equal it, none of the 190 of qknorm does. By default some twelve of a file, spread over it;
// all with ZELLIGE_ALL=1.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "../all_cases.hpp"
#include "json/json.hpp"
#include "mugraphs.hpp"
#include "reference/reference.hpp"

namespace zellige::graph {
namespace {

using test::mugraph_file;

/// Values in (-2, 2), rows of different magnitude, by a linear congruential generator: all rows differ.
reference::Array random_array(const Shape& shape, std::uint64_t seed) {
  reference::Array a = reference::make_array(shape);
  std::uint64_t state = seed * 2 + 1;
  const std::size_t n = static_cast<std::size_t>(shape.back());
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double row = std::exp2(static_cast<double>((i / n) % 5) - 3);
    a.values[i] = row * (static_cast<double>(state >> 11) * 0x1p-53 - 0.5);
  }
  return a;
}

// The formulas below share no code with the interpreter under test.

/// Over the last two dimensions, batched over the others.
reference::Array times(const reference::Array& a, const reference::Array& b) {
  const std::size_t r = a.shape.size();
  const std::int64_t m = a.shape[r - 2], k = a.shape[r - 1], n = b.shape[r - 1];
  Shape shape = a.shape;
  shape[r - 1] = n;
  reference::Array c = reference::make_array(shape);
  for (std::int64_t t = 0; t < size(a.shape) / (m * k); ++t)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t p = 0; p < k; ++p) {
        const double x = a.values[(t * m + i) * k + p];
        const double* from = b.values.data() + (t * k + p) * n;
        double* to = c.values.data() + (t * m + i) * n;
        for (std::int64_t j = 0; j < n; ++j) to[j] += x * from[j];
      }
  return c;
}

reference::Array over_rms(reference::Array a) {
  const auto n = static_cast<std::size_t>(a.shape.back());
  for (std::size_t row = 0; row < a.values.size(); row += n) {
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += a.values[row + i] * a.values[row + i];
    for (std::size_t i = 0; i < n; ++i) a.values[row + i] /= std::sqrt(squares / static_cast<double>(n));
  }
  return a;
}

template <class F>
reference::Array pointwise(reference::Array a, const reference::Array& b, const F& f) {
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] = f(a.values[i], b.values[i]);
  return a;
}

double sum_of(double x, double y) { return x + y; }

reference::Array attention(const reference::Array& q, const reference::Array& k, const reference::Array& v) {
  reference::Array s = times(q, k);
  const auto n = static_cast<std::size_t>(s.shape.back());
  for (double& x : s.values) x = std::exp(x);
  reference::Array o = times(s, v);
  const auto width = static_cast<std::size_t>(o.shape.back());
  for (std::size_t row = 0; row * n < s.values.size(); ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += s.values[row * n + i];
    for (std::size_t i = 0; i < width; ++i) o.values[row * width + i] /= sum;
  }
  return o;
}

using Formula = reference::Array (*)(const std::vector<reference::Array>&);

reference::Array rmsnorm(const std::vector<reference::Array>& x) { return times(over_rms(x[0]), x[1]); }
reference::Array gated_mlp(const std::vector<reference::Array>& x) {
  return pointwise(times(x[0], x[1]), times(x[0], x[2]), [](double g, double u) { return g / (1 + std::exp(-g)) * u; });
}
reference::Array lora(const std::vector<reference::Array>& x) {
  return pointwise(times(x[0], x[1]), times(times(x[0], x[2]), x[3]), sum_of);
}
reference::Array gqa(const std::vector<reference::Array>& x) { return attention(x[0], x[1], x[2]); }
reference::Array qknorm(const std::vector<reference::Array>& x) {
  return attention(over_rms(x[0]), x[1], over_rms(x[2]));
}
reference::Array ntrans(const std::vector<reference::Array>& x) {
  const reference::Array inner = pointwise(over_rms(x[0]), x[1], sum_of);
  const reference::Array scaled = pointwise(x[2], inner, [](double a, double v) { return a * v; });
  return over_rms(pointwise(x[1], scaled, sum_of));
}

double distance(const reference::Array& found, const reference::Array& expected) {
  if (found.shape != expected.shape) return INFINITY;
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const double d = found.values[i] - expected.values[i];
    difference += d * d;
    norm += expected.values[i] * expected.values[i];
  }
  return std::sqrt(difference / norm);
}

struct File {
  const char* name;
  std::size_t candidates;
  Formula formula;
  bool equal;
};

class ClosedFormula : public testing::TestWithParam<File> {};

TEST_P(ClosedFormula, HoldsForEveryCandidate) {
  const File& file = GetParam();
  const std::string path = mugraph_file(std::string(file.name) + ".json");
  if (path.empty()) GTEST_SKIP() << file.name << ".json is not here: set ZELLIGE_MUGRAPHS to the folder that has it";
  const std::vector<KernelGraph> graphs = json::load(path);
  ASSERT_EQ(graphs.size(), file.candidates);
  std::vector<reference::Array> inputs;
  for (int t : graphs[0].inputs) inputs.push_back(random_array(graphs[0].tensors[t].shape, inputs.size() + 1));
  const reference::Array expected = file.formula(inputs);
  reference::ReferenceOptions exact;
  exact.round = false;
  double minimum = INFINITY, greatest = 0;
  const std::size_t step = zellige::test::every(std::max<std::size_t>(1, graphs.size() / 5));
  for (std::size_t i = 0; i < graphs.size(); i += step) {
    const KernelGraph& g = graphs[i];
    const double error = distance(reference::run_reference(g, inputs, exact).at(0), expected);
    minimum = std::min(minimum, error);
    greatest = std::max(greatest, error);
    if (file.equal)
      EXPECT_LE(error, 1e-13) << g.name << " differs from its program";
    else
      EXPECT_GT(error, 1e-2) << g.name << " equals its program";
  }
  std::printf("%-15s %3zu candidates: relative error %.2g to %.2g, %s\n", file.name, (graphs.size() + step - 1) / step,
              minimum, greatest, file.equal ? "all equal their program" : "none equals its program");
}

INSTANTIATE_TEST_SUITE_P(Mugraphs, ClosedFormula,
                         testing::Values(File{"rmsnorm_bs1", 18, rmsnorm, true}, File{"gated_mlp", 32, gated_mlp, true},
                                         File{"lora", 4, lora, true}, File{"gqa_bs1", 28, gqa, true},
                                         File{"mqa_bs1", 12, gqa, true}, File{"mha_bs1", 21, gqa, true},
                                         File{"ntrans_bs1", 9, ntrans, true},
                                         File{"qknorm_gqa_bs1", 190, qknorm, false}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace zellige::graph
