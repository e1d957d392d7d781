// Matmuls with small M: any K and N, every dtype, weights contiguous along K or along N, unaligned rows, and
// the operators around them in models (a bias, an activation, a residual, a gate, a preceding norm).
#include <cmath>

#include "generate.hpp"

namespace zellige::random_graphs {
namespace {

using graph::DType;
using graph::TensorHandle;

constexpr std::int64_t few_rows = 77, max_rows = 330;
constexpr double max_weights = 6e6, max_weights_of_large = 4e7;  // elements

/// Any number up to `maximum`, small ones as likely as large; at times one that chunks of 16 bytes divide.
std::int64_t extent(Rng& rng, double maximum) {
  const double share = static_cast<double>(rng.below(1 << 20)) / (1 << 20);
  const auto n = static_cast<std::int64_t>(8 * std::pow(maximum / 8, share));
  const std::int64_t divisor = rng.pick(std::vector<std::int64_t>{1, 1, 1, 2, 4, 8, 8, 16, 64});
  return std::max<std::int64_t>(1, n / divisor * divisor);
}

struct Drawn {
  Rng rng;
  graph::Builder builder;
  DType dtype;
  std::int64_t rows = 1, k = 1, n = 1;
  graph::Shape batch{};  // of X, Y and at times of the weights
  int inputs = 0;

  std::string name() { return fmt::format("X{}", inputs++); }

  /// Rows of `width` elements: contiguous, or with a pitch, or column-major.
  TensorHandle matrix(const graph::Shape& shape, DType type) {
    graph::Strides strides = graph::row_major(shape);
    const std::size_t rank = shape.size();
    if (rank == 2 && rng.chance(15)) strides = {1, shape[0]};
    if (rank == 2 && strides[1] == 1 && rng.chance(25)) strides[0] += rng.between(1, 9);
    return builder.input(name(), shape, type, strides);
  }
  TensorHandle weights() {
    graph::Shape shape{k, n};
    const bool along_k = rng.chance(65);
    const std::int64_t gap = rng.chance(15) ? rng.between(1, 9) : 0;
    graph::Strides strides = along_k ? graph::Strides{1, k + gap} : graph::Strides{n + gap, 1};
    if (!batch.empty() && rng.chance(50)) {
      shape.insert(shape.begin(), batch[0]);
      strides.insert(strides.begin(), along_k ? n * (k + gap) : k * (n + gap));
    }
    return rng.chance(75) ? builder.constant(name(), shape, dtype, strides)
                          : builder.input(name(), shape, dtype, strides);
  }
  graph::Shape result() const {
    graph::Shape shape = batch;
    shape.insert(shape.end(), {rows, n});
    return shape;
  }
};

TensorHandle activated(Rng& rng, TensorHandle x) {
  switch (rng.below(5)) {
    case 0:
      return graph::silu(x);
    case 1:
      return graph::gelu(x);
    case 2:
      return graph::relu(x);
    case 3:
      return graph::sigmoid(x);
    default:
      return graph::tanh(x);
  }
}

}  // namespace

graph::KernelGraph random_product(std::uint64_t seed) {
  Rng rng(seed * 7919 + 13);
  const DType dtype =
      rng.pick(std::vector<DType>{DType::f32, DType::f32, DType::f32, DType::f16, DType::f16, DType::f16, DType::bf16,
                                  DType::bf16, DType::bf16, DType::e4m3, DType::e5m2, DType::int8});
  Drawn d{rng, graph::Builder(fmt::format("product_{}", seed)), dtype};
  d.rows = d.rng.between(1, d.rng.chance(60) ? 17 : d.rng.chance(75) ? few_rows : max_rows);
  const double maximum = d.rows > few_rows ? max_weights / 2 : d.rng.chance(25) ? max_weights_of_large : max_weights;
  d.k = extent(d.rng, 9000);
  d.n = extent(d.rng, std::min(9000.0, maximum / static_cast<double>(d.k)));
  if (d.rng.chance(10)) d.batch = {d.rng.between(2, 5)}, d.n = std::max<std::int64_t>(1, d.n / d.batch[0]);

  graph::Shape left = d.batch;
  left.insert(left.end(), {d.rows, d.k});
  TensorHandle x = d.matrix(left, dtype);
  const bool wide = dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
  if (wide && d.rng.chance(10)) x = graph::mul_scalar(x, 0.5);  // made in this program, not read
  const bool tf32 = dtype == DType::f32 && d.rng.chance(20);
  TensorHandle y = graph::matmul(x, d.weights(), tf32);
  if (wide && d.rng.chance(15)) y = graph::silu(graph::matmul(x, d.weights(), tf32)) * y;
  if (dtype == DType::int8) y = graph::cast(y, DType::f32);
  if (d.rng.chance(50)) {
    const graph::Shape bias = d.rng.chance(50) ? graph::Shape{d.n} : graph::Shape{1, d.n};
    y = y + d.builder.constant(d.name(), bias, y.dtype());
  }
  if (d.rng.chance(30)) y = activated(d.rng, y);
  if (d.rng.chance(25)) y = y + d.matrix(d.result(), y.dtype());
  if (y.dtype() == DType::f32 && d.rng.chance(20)) y = graph::cast(y, d.rng.chance(50) ? DType::f16 : DType::bf16);
  d.builder.output(y, "Y", d.rng.chance(70) ? graph::row_major(d.result()) : graph::Strides{});
  return d.builder.build();
}

}  // namespace zellige::random_graphs
