// Convolutions of random sizes: the graph's reference is compared with their definition, and fused kernels on the emulator with the
// reference, to the bit, as all numbers are small integers.
#include "graph/convolution.hpp"

#include <algorithm>

#include "../all_cases.hpp"
#include "../random/rng.hpp"
#include "emulate_graph.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using graph::Shape;
using graph::TensorHandle;
using reference::Array;

constexpr std::uint64_t seed = 61;

/// A convolution of x(N, C, ...) and weights, its epilogue, and how x and the result lie in memory.
struct DrawnConvolution {
  Shape x, w, sizes;
  graph::Convolution c;
  DType dtype = DType::f16;
  bool bias = false, relu = false, residual = false;

  /// The larger, the more multiplications a draw has.
  DrawnConvolution(random_graphs::Rng& rng, std::int64_t limit) {
    do {
      *this = DrawnConvolution(rng);
    } while (graph::size(sizes) * w[1] * graph::size(w) / w[0] / w[1] > limit || graph::size(x) > limit / 8);
  }

  Shape memory(const Shape& shape) const {
    if (!c.channels_last) return graph::row_major(shape);
    Shape strides(shape.size());
    std::int64_t step = shape[1];
    for (std::size_t d = shape.size() - 1; d > 1; --d) strides[d] = step, step *= shape[d];
    strides[0] = step, strides[1] = 1;
    return strides;
  }

  graph::KernelGraph graph() const {
    graph::Builder b("convolution");
    const TensorHandle X = b.input("X", x, dtype, memory(x)), W = b.input("W", w, dtype, memory(w));
    std::optional<TensorHandle> B;
    if (bias) B = b.input("B", {w[0]}, dtype);
    TensorHandle y = convolution(X, W, c, B);
    if (residual) y = y + b.input("R", sizes, dtype, memory(sizes));
    if (relu) y = graph::relu(y);
    b.output(y, "Y", memory(sizes));
    return b.build();
  }

  std::vector<Array> inputs() const {
    std::vector<Array> all{integers(x, 1), integers(w, 2)};
    if (bias) all.push_back(integers({w[0]}, 3));
    if (residual) all.push_back(integers(sizes, 4));
    return all;
  }

  /// Returns the result by its definition.
  Array expected(const std::vector<Array>& in) const {
    Array y = reference::make_array(sizes);
    const Shape taps(w.begin() + 2, w.end());
    const std::int64_t each = w[0] / c.groups;
    for (std::int64_t e = 0; e < graph::size(sizes); ++e) {
      const Shape at = graph::coordinates(e, sizes);
      double sum = bias ? in[2].values[static_cast<std::size_t>(at[1])] : 0;
      for (std::int64_t i = 0; i < w[1]; ++i)
        for (std::int64_t t = 0; t < graph::size(taps); ++t) {
          const Shape tap = graph::coordinates(t, taps);
          std::int64_t pixel = at[0] * x[1] + at[1] / each * w[1] + i;
          bool inside = true;
          for (std::size_t d = 0; d < taps.size(); ++d) {
            const std::int64_t here = at[d + 2] * c.stride[d] + tap[d] * c.dilation[d] - c.padding[d];
            inside = inside && here >= 0 && here < x[d + 2];
            pixel = pixel * x[d + 2] + here;
          }
          if (inside)
            sum += in[0].values[static_cast<std::size_t>(pixel)] *
                   in[1].values[static_cast<std::size_t>((at[1] * w[1] + i) * graph::size(taps) + t)];
        }
      if (residual) sum += in.back().values[static_cast<std::size_t>(e)];
      y.values[static_cast<std::size_t>(e)] = graph::round_to(dtype, relu ? std::max(sum, 0.0) : sum);
    }
    return y;
  }

  std::string text() const {
    return fmt::format("x {} w {} stride {} padding {} dilation {} groups {} {} {}{}{}", graph::to_string(x),
                       graph::to_string(w), graph::to_string(c.stride), graph::to_string(c.padding),
                       graph::to_string(c.dilation), c.groups, c.channels_last ? "channels last" : "channels first",
                       bias ? "bias " : "", residual ? "residual " : "", relu ? "relu" : "");
  }

 private:
  explicit DrawnConvolution(random_graphs::Rng& rng) {
    const std::int64_t dims = rng.pick<std::int64_t>({1, 2, 2, 2, 3});
    const std::vector<std::int64_t> channels{1, 3, 8, 16, 33, 64};
    x = {rng.between(1, 3), rng.pick(channels)}, w = {rng.pick(channels), x[1]};
    sizes = {x[0], w[0]};
    const bool patches = rng.chance(10);
    for (std::int64_t d = 0; d < dims; ++d) {
      const std::int64_t kernel = rng.pick<std::int64_t>({1, 3, 3, 5, 7});
      c.stride.push_back(patches ? kernel : rng.between(1, 2));
      c.dilation.push_back(rng.between(1, 2));
      c.padding.push_back(patches ? 0 : rng.between(0, (kernel - 1) * c.dilation.back()));
      const graph::Unfold u{kernel, c.stride.back(), c.dilation.back(), c.padding.back(), c.padding.back()};
      x.push_back(rng.between(std::max<std::int64_t>(1, u.reach() - 2 * u.before), u.reach() + 17));
      w.push_back(kernel), sizes.push_back(u.windows(x.back()));
    }
    if (rng.chance(20)) {  // depthwise
      c.groups = x[1], w[0] = sizes[1] = x[1] * rng.between(1, 2), w[1] = 1;
    } else if (rng.chance(20)) {
      for (const std::int64_t g : {4, 3, 2})
        if (x[1] % g == 0 && w[0] % g == 0) c.groups = g;
      w[1] = x[1] / c.groups;
    }
    c.channels_last = rng.chance(60);
    dtype = rng.chance(60) ? DType::f16 : DType::f32;
    bias = rng.chance(50), relu = rng.chance(40), residual = rng.chance(30);
  }
};

TEST(Convolutions, AreWhatTheirDefinitionSays) {
  random_graphs::Rng rng(seed);
  for (int i = 0; i < (test::all_cases() ? 400 : 60); ++i) {
    const DrawnConvolution drawn(rng, 1 << 20);
    SCOPED_TRACE(drawn.text());
    const std::vector<Array> in = drawn.inputs();
    const Array found = reference::run_reference(drawn.graph(), in).at(0), expected = drawn.expected(in);
    ASSERT_EQ(found.shape, expected.shape);
    ASSERT_EQ(found.values, expected.values);
  }
}

TEST(Convolutions, AreExactOnTheEmulator) {
  random_graphs::Rng rng(seed + 1);
  for (int i = 0; i < (test::all_cases() ? 60 : 5); ++i) {
    const DrawnConvolution drawn(rng, 1 << 19);
    const char* target = i % 2 == 0 ? "sm_80" : "sm_90a";
    SCOPED_TRACE(fmt::format("{} on {}", drawn.text(), target));
    const graph::KernelGraph fused = fuse::optimize(drawn.graph(), target::find(target)).graph;
    expect_as_reference(fused, drawn.inputs(), 0, 0, target);
    if (HasFailure()) return;
  }
}

TEST(Convolutions, AreRefusedWithBothNumbers) {
  graph::Builder b("refused");
  const TensorHandle X = b.input("X", {2, 6, 9}, DType::f16), W = b.input("W", {4, 5, 3}, DType::f16);
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] { convolution(X, W); }),
            "convolution: expected weights of 6 channels for x (2, 6, 9) in 1 groups, found 5 in (4, 5, 3)");
  EXPECT_EQ(message([&] { convolution(X, W, {.groups = 4}); }),
            "convolution: expected groups that divide 6 channels of x and 4 of the weights, found 4");
}

}  // namespace
}  // namespace zellige::run
