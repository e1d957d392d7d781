// Pairs that `equal` accepts, refuses, and leaves undecided.
#include "search/equal.hpp"

#include <gtest/gtest.h>

#include "expect_equal.hpp"
#include "graph/error.hpp"
#include "search/describe.hpp"

namespace zellige::search {
namespace {

using namespace test;
using graph::BlockBuilder;
using graph::TileHandle;

TEST(Equal, LawsOfAlgebra) {
  const std::vector<Shape> three = {{64, 64}, {64, 64}, {64, 64}};
  expect(
      Answer::equal, three, [](const Inputs& x) { return matmul(matmul(x[0], x[1]), x[2]); },
      [](const Inputs& x) { return matmul(x[0], matmul(x[1], x[2])); }, "field");
  expect(
      Answer::equal, three, [](const Inputs& x) { return matmul(x[0] + x[1], x[2]); },
      [](const Inputs& x) { return matmul(x[1], x[2]) + matmul(x[0], x[2]); }, "field");
  expect(
      Answer::different, three, [](const Inputs& x) { return matmul(matmul(x[0], x[1]), x[2]); },
      [](const Inputs& x) { return matmul(x[0], matmul(x[2], x[1])); }, "real");
  expect(
      Answer::equal, square_pair, [](const Inputs& x) { return exp(x[0]) * exp(x[1]); },
      [](const Inputs& x) { return exp(x[0] + x[1]); }, "field");
  expect(
      Answer::different, square_pair, [](const Inputs& x) { return exp(x[0]) + exp(x[1]); },
      [](const Inputs& x) { return exp(x[0] + x[1]); }, "real");
  // Unknown functions: for any gelu, equal arguments give equal values; the other equalities are decided over
  // the reals.
  expect(
      Answer::equal, square_pair, [](const Inputs& x) { return gelu(x[0] + x[1]); },
      [](const Inputs& x) { return gelu(x[1] + x[0]); }, "structure");
  expect(
      Answer::equal, square_pair, [](const Inputs& x) { return relu(2.0 * x[0]); },
      [](const Inputs& x) { return 2.0 * relu(x[0]); }, "field");
  expect(
      Answer::different, square_pair, [](const Inputs& x) { return relu(-2.0 * x[0]); },
      [](const Inputs& x) { return -2.0 * relu(x[0]); }, "real");
}

TEST(Equal, NormMovedAfterAProduct) {
  const std::vector<Shape> shapes = {{8, 4096}, {4096, 512}};
  const auto original = [](const Inputs& x) { return matmul(rms_norm(x[0]), x[1]); };
  const auto moved = [](double s) {
    return [s](const Inputs& x) { return matmul(x[0], x[1]) / sqrt(s * reduction(square(x[0]), 1)); };
  };
  expect(Answer::equal, shapes, original, moved(1.0 / 4096), "field");  // a scalar that represents an extent
  expect(Answer::different, shapes, original, moved(1.0 / 4095));
  expect(Answer::different, shapes, original, moved(1.0 / 4));  // what the small sizes have, perhaps
  for (std::int64_t n : {2, 4, 8, 16}) expect(Answer::different, shapes, original, moved(1.0 / static_cast<double>(n)));
}

TEST(Equal, Roots) {
  const std::vector<Shape> one = {{4, 16}};
  expect(
      Answer::different, one, [](const Inputs& x) { return sqrt(square(x[0])); },
      [](const Inputs& x) { return x[0] * 1.0; });
  expect(
      Answer::equal, one, [](const Inputs& x) { return sqrt(square(exp(x[0]))); },
      [](const Inputs& x) { return exp(x[0]); }, "field");
  expect(
      Answer::equal, one, [](const Inputs& x) { return sqrt(square(reduction(square(x[0]), 1))); },
      [](const Inputs& x) { return reduction(square(x[0]), 1); });
  expect(
      Answer::equal, one, [](const Inputs& x) { return rms_norm(rms_norm(x[0])); },
      [](const Inputs& x) { return rms_norm(x[0]); });
  expect(
      Answer::equal, one, [](const Inputs& x) { return rms_norm(3.0 * x[0]); },
      [](const Inputs& x) { return rms_norm(x[0]); });
  expect(
      Answer::different, one, [](const Inputs& x) { return rms_norm(-3.0 * x[0]); },
      [](const Inputs& x) { return rms_norm(x[0]); });
  // No number at all where the other has one.
  expect(
      Answer::different, one, [](const Inputs& x) { return square(sqrt(x[0])); },
      [](const Inputs& x) { return x[0] * 1.0; });
}

TEST(Equal, Scalars) {
  const std::vector<Shape> one = {{4, 16}};
  const auto times = [](double s) { return [s](const Inputs& x) { return s * x[0]; }; };
  const auto twice = [](double s, double t) { return [s, t](const Inputs& x) { return s * (t * x[0]); }; };
  expect(Answer::equal, one, twice(0.1, 0.2), times(0.02));
  expect(Answer::equal, one, twice(0.1, 0.2), times(0.1 * 0.2));  // 0.020000000000000004
  expect(Answer::equal, one, twice(1.0 / 3, 3), times(1));
  expect(Answer::different, one, times(0.1), times(0.1000001));
  expect(Answer::different, one, times(0.1), times(0.1 + 1e-12));
  // Proved to differ, but float64 cannot see it.
  expect(
      Answer::undecided, one, [](const Inputs& x) { return x[0] + 1e-30 * x[0]; }, times(1));
  // A bound that only large inputs reach.
  const auto clamped = [](double c) { return [c](const Inputs& x) { return clamp(x[0], -c, c); }; };
  expect(Answer::different, one, clamped(1e6), times(1));
  expect(Answer::different, one, clamped(1e6), clamped(1.001e6));
  expect(Answer::different, one, clamped(1e-6), clamped(1.001e-6));
  expect(Answer::equal, one, clamped(2), [](const Inputs& x) { return clamp(clamp(x[0], -3, 5), -2, 2); });
}

KernelGraph mlp(std::int64_t grid, std::int64_t loop, graph::Split rows = {.loop = 1},
                graph::Split columns = {.x = 1, .loop = 0}) {
  return make({{16, 256}, {256, 4096}}, [&](Builder& b, const Inputs& x) {
    return b
        .custom(
            {.grid = {grid}, .block = {128}, .loop = loop},
            [&](BlockBuilder& t) { t.store(silu(accum(matmul(t.load(x[0], rows), t.load(x[1], columns)))), {.x = 1}); })
        .at(0);
  });
}

TEST(Equal, GridsAndLoops) {
  const KernelGraph original =
      make({{16, 256}, {256, 4096}}, [](Builder&, const Inputs& x) { return silu(matmul(x[0], x[1])); });
  for (std::int64_t grid : {1, 64, 128})
    for (std::int64_t loop : {1, 2, 16}) expect(Answer::equal, original, mlp(grid, loop), "field");
  expect(Answer::equal, mlp(64, 4), mlp(128, 8), "field");
  // Squares of partial results depend on their number, even if small sizes do not show it.
  const auto partial = [](std::int64_t grid, bool custom) {
    return make({{4, 256}}, [&](Builder& b, const Inputs& x) {
      const auto sums = b.custom({.grid = {grid}, .block = {64}, .loop = 1}, [&](BlockBuilder& t) {
                           const TileHandle tile = t.load(x[0], {.x = 1});
                           t.store(custom ? square(reduction(tile, 1)) : reduction(square(tile), 1), {.x = 1});
                         }).at(0);
      return reduction(sums, 1);
    });
  };
  expect(Answer::different, partial(16, true), partial(32, true));
  expect(Answer::equal, partial(32, true), partial(32, true));
  expect(Answer::equal, partial(16, false), partial(32, false), "field");
}

TEST(Equal, ALoopThatCounts) {
  // A sum of the same over 4 iterations is 4 times it, whatever the loop has shrunk to.
  const auto looped = [](std::int64_t loop) {
    return make({{16, 64}}, [&](Builder& b, const Inputs& x) {
      return b
          .custom({.grid = {1}, .block = {64}, .loop = loop}, [&](BlockBuilder& t) { t.store(accum(t.load(x[0]))); })
          .at(0);
    });
  };
  const auto times = [](double s) { return make({{16, 64}}, [&](Builder&, const Inputs& x) { return s * x[0]; }); };
  expect(Answer::equal, looped(4), times(4));
  expect(Answer::different, looped(4), times(2));
  expect(Answer::different, looped(4), looped(8));
  const KernelGraph summed = make({{16, 64}}, [](Builder&, const Inputs& x) { return x[0] + x[0] + x[0] + x[0]; });
  expect(Answer::equal, looped(4), summed);
  expect(Answer::different, looped(2), summed);
}

TEST(Equal, OnlineSoftmaxIsSoftmax) {
  const std::vector<Shape> shapes = {{2, 64, 64}, {2, 64, 512}, {2, 512, 64}};
  const KernelGraph original = make(shapes, [](Builder&, const Inputs& x) { return attention(x[0], x[1], x[2]); });
  const auto online = [&](bool rescaled) {
    return make(shapes, [&](Builder& b, const Inputs& x) {
      return b
          .custom({.grid = {2, 4}, .block = {128}, .loop = 8},
                  [&](BlockBuilder& t) {
                    const TileHandle q = t.load(x[0], {.x = 0, .y = 1}), k = t.load(x[1], {.x = 0, .loop = 2}),
                                     v = t.load(x[2], {.x = 0, .loop = 1});
                    const TileHandle s = matmul(q, k);
                    const auto [top, fell] = reduction_max(s, 2);
                    const TileHandle p = exp(s - top), r = exp(fell);
                    if (rescaled)
                      t.store(accum_rescale(matmul(p, v), r) / accum_red_sum_rescale(p, r), {.x = 0, .y = 1});
                    else
                      t.store(accum(matmul(p, v)) / accum_red_sum(p), {.x = 0, .y = 1});
                  })
          .at(0);
    });
  };
  expect(Answer::equal, original, online(true), "field");
  expect(Answer::different, original, online(false), "real");
}

// A mask by tiles, whose coordinates are the whole's, and at once; one diagonal further it is another.
TEST(Equal, MasksByIndex) {
  const std::vector<Shape> one = {{32, 48}};
  const auto whole = [&](const graph::Kept& kept, double value) {
    return make(one, [&](Builder&, const Inputs& x) { return softmax(graph::mask(x[0], kept, value) * 0.5, 1); });
  };
  const auto tiled = [&](const graph::Kept& kept, double value) {
    return make(one, [&](Builder& b, const Inputs& x) {
      return softmax(b.custom({.grid = {4, 2, 1}, .block = {32}},
                              [&](BlockBuilder& t) {
                                const graph::Split split{.x = 0, .y = 1};
                                t.store(t.mask(t.load(x[0], split), kept, split, value) * 0.5, split);
                              })
                         .at(0),
                     1);
    });
  };
  const double infinity = std::numeric_limits<double>::infinity();
  expect(Answer::equal, whole({.tril = 0}, 0), tiled({.tril = 0}, 0));
  expect(Answer::different, whole({.tril = 0}, 0), tiled({.tril = 1}, 0));
  expect(Answer::different, whole({.tril = 0}, 0), whole({.tril = 0}, 1));
  expect(Answer::different, whole({.tril = 3, .triu = -4}, -infinity), tiled({.tril = 3, .triu = -5}, -infinity));
  expect(Answer::different, whole({.length = 40}, -infinity), tiled({.length = 41}, -infinity));
  const Equality e = equal(whole({.tril = 3, .length = 40}, -infinity), tiled({.tril = 3, .length = 40}, -infinity));
  EXPECT_NE(e.answer, Answer::different) << describe(e, "a", "b");
}

// Rotary embeddings as operators and in their usual forms: halves by slices, interleaved pairs by a view.
TEST(Equal, RotaryEmbeddings) {
  const std::vector<Shape> three = {{4, 2, 8}, {4, 1, 4}, {4, 1, 4}};
  const auto rotated = [](const TensorHandle& a, const TensorHandle& b, const Inputs& x, int dim) {
    const auto table = [&](const TensorHandle& t) { return dim == 2 ? t : reshape(t, {4, 1, 4, 1}); };
    const TensorHandle c = table(x[1]), s = table(x[2]);
    return concat(a * c - b * s, b * c + a * s, dim);
  };
  const auto halves = [&](const Inputs& x) { return rotated(slice(x[0], 2, 0, 4), slice(x[0], 2, 4, 8), x, 2); };
  const auto pairs = [&](const Inputs& x) {
    const TensorHandle seen = reshape(x[0], {4, 2, 4, 2});
    return reshape(rotated(slice(seen, 3, 0, 1), slice(seen, 3, 1, 2), x, 3), {4, 2, 8});
  };
  const auto rotary = [](const Inputs& x) { return graph::rotary(x[0], x[1], x[2]); };
  const auto interleaved = [](const Inputs& x) { return graph::rotary_interleaved(x[0], x[1], x[2]); };
  expect(Answer::equal, three, rotary, halves, "field");
  expect(Answer::equal, three, interleaved, pairs, "field");
  expect(Answer::different, three, rotary, pairs);
  expect(Answer::different, three, interleaved, halves);
}

TEST(Equal, UndecidedWhereNothingHasAValue) {
  const std::vector<Shape> one = {{4, 16}};
  const auto negative = [](const Inputs& x) { return -1.0 * (square(x[0]) + 1.0); };
  expect(
      Answer::undecided, one, [&](const Inputs& x) { return log(negative(x)); },
      [&](const Inputs& x) { return sqrt(negative(x)); });
  expect(
      Answer::undecided, one, [&](const Inputs& x) { return x[0] / (x[0] - x[0]); },
      [&](const Inputs& x) { return (2.0 * x[0]) / (x[0] - x[0]); });
}

/// x^n by squares and products.
TensorHandle to_the(TensorHandle x, std::string bits) {
  TensorHandle y = x;
  for (std::size_t i = 1; i < bits.size(); ++i) {
    y = square(y);
    if (bits[i] == '1') y = y * x;
  }
  return y;
}

TEST(Equal, DegreesThatFieldsCannotTellAreNotTakenForEqual) {
  const std::vector<Shape> one = {{2, 2}};
  const auto power = [](std::string bits) { return [bits](const Inputs& x) { return to_the(x[0], bits); }; };
  const std::string twenty = "1" + std::string(20, '0');
  expect(Answer::equal, one, power(twenty), power(twenty), "structure");
  // x^(2^20) against a power that is the same modulo p - 1 for many a prime: in float64 both are seen near 1 alone.
  const Equality e = equal(make(one, [&](Builder&, const Inputs& x) { return to_the(x[0], twenty); }),
                           make(one, [&](Builder&, const Inputs& x) {
                             return to_the(x[0], "1" + std::string(230, '0') + "1" + std::string(20, '0'));
                           }));
  EXPECT_NE(name(e.answer), "equal") << describe(e, "a", "b");
  // A chain of 1,000 squares equals itself by structure; a field cannot represent the degree 2^1000.
  const auto chain = [](bool by_products) {
    return [by_products](const Inputs& x) {
      TensorHandle y = x[0];
      for (int i = 0; i < 1000; ++i) y = by_products && i == 500 ? y * y : square(y);
      return y;
    };
  };
  expect(Answer::equal, one, chain(false), chain(false), "structure");
  expect(Answer::undecided, one, chain(false), chain(true));
}

/// Pairs that were called equal.
TEST(Equal, WhatIsTooNearToTellIsFound) {
  const std::vector<Shape> wide = {{4, 64}};
  const double infinity = std::numeric_limits<double>::infinity();
  const auto column = [](const Inputs& x, const TensorHandle& c) { return x[0] * c; };
  expect(
      Answer::different, wide, [&](const Inputs& x) { return column(x, amax(x[0], 1, true)); },
      [&](const Inputs& x) { return column(x, amax(slice(x[0], 1, 0, 63), 1, true)); });
  expect(
      Answer::different, wide, [&](const Inputs& x) { return column(x, amax(abs(x[0]), 1, true)); },
      [&](const Inputs& x) { return column(x, abs(amax(x[0], 1, true))); });
  expect(
      Answer::different, wide, [&](const Inputs& x) { return relu(x[0]) / relu(x[0]); },
      [&](const Inputs& x) { return 0.0 * x[0] + 1.0; });
  expect(
      Answer::different, wide, [&](const Inputs& x) { return softmax(graph::mask(x[0], {.tril = -1}, -infinity), 1); },
      [&](const Inputs& x) { return safe_softmax(graph::mask(x[0], {.tril = -1}, -infinity), 1); });
  // With two numbers of a row the greatest and the least are all of it; with more they are not.
  expect(
      Answer::different, wide, [&](const Inputs& x) { return column(x, amax(x[0], 1, true) + amin(x[0], 1, true)); },
      [&](const Inputs& x) { return column(x, sum(x[0], 1, true)); });
}

/// Lengths are drawn from all there are: none, and the whole.
TEST(Equal, Lengths) {
  const auto with = [](const auto& body) {
    Builder b("g");
    const TensorHandle x = b.input("X", {3, 4, 6}), n = b.input("lengths", {3, 1, 1}, graph::DType::int32);
    b.output(body(x, n), "Y");
    return b.build();
  };
  const auto masked = [](const TensorHandle& x, const TensorHandle& n) { return graph::mask(x, n); };
  const KernelGraph original =
      with([&](const TensorHandle& x, const TensorHandle& n) { return softmax(masked(x * 0.5, n), 2); });
  expect(Answer::equal, original,
         with([&](const TensorHandle& x, const TensorHandle& n) { return softmax(0.5 * masked(x, n), 2); }), "field");
  expect(Answer::different, original,  // of no key at all one is NaN, and the other 0
         with([&](const TensorHandle& x, const TensorHandle& n) { return safe_softmax(masked(x * 0.5, n), 2); }));
  expect(Answer::different, original,  // the last key is omitted
         with([&](const TensorHandle& x, const TensorHandle& n) {
           return softmax(graph::mask(x * 0.5, n, {.length = 5}), 2);
         }));
}

/// Rows by their numbers: each of them is tried.
TEST(Equal, Rows) {
  const auto with = [](const auto& body) {
    Builder b("g");
    const TensorHandle x = b.input("X", {5, 4}), n = b.input("numbers", {3}, graph::DType::int32);
    b.output(body(x, n), "Y");
    return b.build();
  };
  const KernelGraph delayed = with([](const TensorHandle& x, const TensorHandle& n) { return exp(gather(x, n)); });
  expect(Answer::equal, delayed, with([](const TensorHandle& x, const TensorHandle& n) { return gather(exp(x), n); }),
         "field");
  expect(Answer::different, delayed, with([](const TensorHandle& x, const TensorHandle& n) {
           return gather(exp(slice_scatter(x, slice(x, 0, 0, 1) * 2.0, 0, 4)), n);
         }));
}

TEST(Equal, InputsGoTogetherByNameElseByOrder) {
  const auto minus = [](const std::string& first, const std::string& second, bool swapped) {
    Builder b("minus");
    const TensorHandle x = b.input(first, {4, 16}), y = b.input(second, {4, 16});
    b.output(swapped ? y - x : x - y);
    return b.build();
  };
  expect(Answer::equal, minus("X", "Y", false), minus("Y", "X", true));
  expect(Answer::different, minus("X", "Y", false), minus("Y", "X", false));
  expect(Answer::equal, minus("X", "Y", false), minus("A", "B", false));
  expect(Answer::different, minus("X", "Y", false), minus("A", "B", true));
}

void expect_error(const KernelGraph& a, const KernelGraph& b, const std::string& text) {
  try {
    equal(a, b);
    ADD_FAILURE() << "compared";
  } catch (const Error& e) {
    EXPECT_EQ(e.what(), text);
  }
}

// An input may equal the number with which it is compared, alone or while another exceeds its own.
TEST(Equal, InputsOnABoundCount) {
  expect(
      Answer::different, {{4, 64}}, [](const Inputs& x) { return eq(x[0], 3.25); },
      [](const Inputs& x) { return x[0] * 0.0; }, "real");
  expect(
      Answer::different, {{4, 64}}, [](const Inputs& x) { return gt(x[0], 100.0); },
      [](const Inputs& x) { return gt(x[0], 101.0); }, "real");
  expect(
      Answer::different, {{4, 64}}, [](const Inputs& x) { return x[0] * lt(x[0], 0.375); },
      [](const Inputs& x) { return x[0] * le(x[0], 0.375); }, "real");
  expect(
      Answer::different, {{4, 64}, {4, 64}}, [](const Inputs& x) { return eq(x[0], 3.25) * gt(x[1], 1000.0); },
      [](const Inputs& x) { return x[0] * 0.0 * x[1]; }, "real");
  expect(
      Answer::undecided, {{4, 64}}, [](const Inputs& x) { return ge(x[0], 0.1) * x[0]; },
      [](const Inputs& x) { return gt(x[0], 0.1) * x[0]; });
  expect(
      Answer::equal, {{4, 64}}, [](const Inputs& x) { return where(ge(x[0], 0.5), x[0], x[0] * 0.0 + 0.5); },
      [](const Inputs& x) { return where(gt(x[0], 0.5), x[0], x[0] * 0.0 + 0.5); });
}

TEST(Equal, WhatCannotBeComparedIsOneSentence) {
  const auto one = [](const Shape& s) { return make({s}, [](Builder&, const Inputs& x) { return square(x[0]); }); };
  expect_error(one({4, 16}), one({4, 8}),
               "g and g: expected inputs of one name of the same shape, found X0 of (4, 16) and X0 of (4, 8)");
  expect_error(one({4, 16}), make(square_pair, [](Builder&, const Inputs& x) { return x[0] + x[1]; }),
               "g and g: expected two graphs with the same number of inputs, found 1 and 2");
  expect_error(one({4, 16}), make({{4, 16}}, [](Builder&, const Inputs& x) { return reduction(x[0], 1); }),
               "g and g: expected outputs in one place of the same shape, found Y of (4, 16) and Y of (4, 1)");
}

TEST(Equal, TheSameSeedGivesTheSameAnswer) {
  const KernelGraph a = ntrans(), b = lora();
  for (const KernelGraph* g : {&a, &b}) {
    Equality first = equal(*g, *g, {.seed = 7}), second = equal(*g, *g, {.seed = 7});
    first.seconds = second.seconds = 0;
    EXPECT_EQ(to_json(first, "a", "b"), to_json(second, "a", "b"));
  }
}

}  // namespace
}  // namespace zellige::search
