// The reference against simple loops over coordinates, which share no code with it.
#include "reference/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "graph/ops.hpp"
#include "json/json.hpp"

namespace zellige::graph {
namespace {

const reference::ReferenceOptions exact = [] {
  reference::ReferenceOptions o;
  o.round = false;
  return o;
}();

reference::Array random_array(const Shape& shape, std::mt19937_64& random, double minimum = -2, double greatest = 2) {
  reference::Array a = reference::make_array(shape);
  std::uniform_real_distribution<double> uniform(minimum, greatest);
  for (double& v : a.values) v = uniform(random);
  return a;
}

double at(const reference::Array& a, const Shape& index) {
  std::int64_t i = 0;
  for (std::size_t d = 0; d < a.shape.size(); ++d) i = i * a.shape[d] + (a.shape[d] == 1 ? 0 : index[d]);
  return a.values[i];
}

/// An array from a function of the coordinate.
template <class F>
reference::Array from(const Shape& shape, const F& f) {
  reference::Array a = reference::make_array(shape);
  Shape index(shape.size(), 0);
  for (double& v : a.values) {
    v = f(index);
    for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
  return a;
}

void expect_near(const reference::Array& found, const reference::Array& expected, double tolerance = 1e-12) {
  ASSERT_EQ(found.shape, expected.shape);
  for (std::size_t i = 0; i < found.values.size(); ++i)
    ASSERT_NEAR(found.values[i], expected.values[i], tolerance * (1 + std::fabs(expected.values[i]))) << "at " << i;
}

TEST(Reference, UnaryOperators) {
  std::mt19937_64 random(1);
  Builder b("g");
  const TensorHandle X = b.input("X", {3, 5, 7});
  std::vector<TensorHandle> made = {exp(X),     square(X), sqrt(X), X * 0.3,          silu(X),
                                    sigmoid(X), gelu(X),   relu(X), clamp(X, 0.5, 1), log(X)};
  double (*meaning[])(double) = {[](double x) { return std::exp(x); },
                                 [](double x) { return x * x; },
                                 [](double x) { return std::sqrt(x); },
                                 [](double x) { return x * 0.3; },
                                 [](double x) { return x * (1 / (1 + std::exp(-x))); },
                                 [](double x) { return 1 / (1 + std::exp(-x)); },
                                 [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); },
                                 [](double x) { return std::fmax(x, 0); },
                                 [](double x) { return std::fmin(std::fmax(x, 0.5), 1); },
                                 [](double x) { return std::log(x); }};
  for (TensorHandle t : made) b.output(t);
  const reference::Array x = random_array({3, 5, 7}, random, 0.01, 3);
  const std::vector<reference::Array> found = reference::run_reference(b.build(), {x}, exact);
  for (std::size_t k = 0; k < made.size(); ++k)
    expect_near(found[k], from(x.shape, [&](const Shape& i) { return meaning[k](at(x, i)); }));
}

TEST(Reference, NegativeArguments) {
  Builder b("g");
  const TensorHandle X = b.input("X", {4}, DType::f32);
  for (TensorHandle t : {relu(X), silu(X), gelu(X), clamp(X, -1, 1), sigmoid(X)}) b.output(t);
  const std::vector<reference::Array> y = reference::run_reference(b.build(), {{{4}, {-3, -1000, 0, NAN}}}, exact);
  EXPECT_EQ(y[0].values[0], 0);
  EXPECT_NEAR(y[1].values[0], -3 / (1 + std::exp(3.0)), 1e-15);
  EXPECT_EQ(y[1].values[1], 0);
  EXPECT_NEAR(y[2].values[0], -1.5 * std::erfc(3 / std::sqrt(2.0)), 1e-12);
  EXPECT_EQ(y[3].values[0], -1);
  EXPECT_EQ(y[4].values[1], 0);
  for (const reference::Array& a : y) EXPECT_TRUE(std::isnan(a.values[3]));
}

TEST(Reference, BinaryOperatorsBroadcast) {
  std::mt19937_64 random(2);
  const OpKind kinds[] = {OpKind::add, OpKind::sub, OpKind::mul, OpKind::div, OpKind::pow};
  double (*meaning[])(double, double) = {
      [](double x, double y) { return x + y; }, [](double x, double y) { return x - y; },
      [](double x, double y) { return x * y; }, [](double x, double y) { return x / y; },
      [](double x, double y) { return std::pow(x, y); }};
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t rank = 1 + random() % 4;
    Shape sx, sy, sz;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t n = 1 + static_cast<std::int64_t>(random() % 5), which = random() % 4;
      sx.push_back(which == 0 ? 1 : n);
      sy.push_back(which == 1 ? 1 : n);
      sz.push_back(std::max(sx[d], sy[d]));
    }
    Builder b("g");
    const TensorHandle X = b.input("X", sx), Y = b.input("Y", sy);
    for (OpKind kind : kinds) b.output(append<KernelLevel>(kind, {X, Y})[0]);
    const reference::Array x = random_array(sx, random, 0.5, 2), y = random_array(sy, random, 0.5, 2);
    const std::vector<reference::Array> found = reference::run_reference(b.build(), {x, y}, exact);
    for (std::size_t k = 0; k < std::size(kinds); ++k)
      expect_near(found[k], from(sz, [&](const Shape& i) { return meaning[k](at(x, i), at(y, i)); }));
  }
}

reference::Array matmul_by_hand(const reference::Array& a, const reference::Array& b) {
  const std::size_t r = a.shape.size();
  Shape shape = a.shape;
  shape[r - 1] = b.shape[r - 1];
  return from(shape, [&](Shape i) {
    double sum = 0;
    Shape ia = i, ib = i;
    for (std::int64_t k = 0; k < a.shape[r - 1]; ++k) {
      ia[r - 1] = ib[r - 2] = k;
      sum += at(a, ia) * at(b, ib);
    }
    return sum;
  });
}

TEST(Reference, MatmulOfAnySize) {
  std::mt19937_64 random(3);
  const std::int64_t sizes[] = {1, 2, 3, 5, 11, 12, 13, 19, 24, 64, 127, 300};
  for (int trial = 0; trial < 60; ++trial) {
    const std::int64_t m = sizes[random() % 11], n = sizes[random() % 11], k = sizes[random() % 12],
                       t = 1 + random() % 2;
    Builder b("g");
    const TensorHandle A = b.input("A", {t, m, k}), B = b.input("B", {t, k, n});
    b.output(matmul(A, B));
    const reference::Array x = random_array({t, m, k}, random), y = random_array({t, k, n}, random);
    expect_near(reference::run_reference(b.build(), {x, y}, exact)[0], matmul_by_hand(x, y), 1e-11);
  }
}

// Above the size at which the work is divided into pieces.
TEST(Reference, MatmulInPieces) {
  std::mt19937_64 random(11);
  Builder b("g");
  const TensorHandle A = b.input("A", {131, 300}), B = b.input("B", {300, 101});
  b.output(matmul(A, B));
  const reference::Array x = random_array({131, 300}, random), y = random_array({300, 101}, random);
  expect_near(reference::run_reference(b.build(), {x, y}, exact)[0], matmul_by_hand(x, y), 1e-11);
}

TEST(Reference, ReductionsAreStrided) {
  std::mt19937_64 random(4);
  const reference::Array x = random_array({4, 6, 12}, random);
  for (int dim = 0; dim < 3; ++dim)
    for (std::int64_t to : {1, 2, 4}) {
      if (x.shape[dim] % to != 0) continue;
      Builder b("g");
      b.output(reduction(b.input("X", x.shape), dim, to));
      Shape shape = x.shape;
      shape[dim] = to;
      expect_near(reference::run_reference(b.build(), {x}, exact)[0], from(shape, [&](Shape i) {
                    double sum = 0;
                    for (; i[dim] < x.shape[dim]; i[dim] += to) sum += at(x, i);
                    return sum;
                  }));
    }
}

TEST(Reference, ConcatAndSplit) {
  std::mt19937_64 random(5);
  const reference::Array x = random_array({3, 4, 5}, random), y = random_array({3, 2, 5}, random);
  Builder b("g");
  const TensorHandle X = b.input("X", x.shape), Y = b.input("Y", y.shape), joined = concat(X, Y, 1);
  const std::vector<TensorHandle> parts = split(joined, 1, {1, 3, 2});
  b.output(joined);
  for (TensorHandle t : parts) b.output(t);
  const std::vector<reference::Array> found = reference::run_reference(b.build(), {x, y}, exact);
  const auto whole = [&](Shape i) { return i[1] < 4 ? at(x, i) : at(y, {i[0], i[1] - 4, i[2]}); };
  expect_near(found[0], from({3, 6, 5}, whole));
  expect_near(found[1], from({3, 1, 5}, [&](Shape i) { return whole({i[0], i[1], i[2]}); }));
  expect_near(found[2], from({3, 3, 5}, [&](Shape i) { return whole({i[0], i[1] + 1, i[2]}); }));
  expect_near(found[3], from({3, 2, 5}, [&](Shape i) { return whole({i[0], i[1] + 4, i[2]}); }));
}

TEST(Reference, RmsNorm) {
  std::mt19937_64 random(6);
  const reference::Array x = random_array({3, 7}, random);
  Builder b("g");
  b.output(rms_norm(b.input("X", x.shape)));
  expect_near(reference::run_reference(b.build(), {x}, exact)[0], from(x.shape, [&](Shape i) {
                double squares = 0;
                for (std::int64_t k = 0; k < 7; ++k) squares += at(x, {i[0], k}) * at(x, {i[0], k});
                return at(x, i) / std::sqrt(squares / 7);
              }));
}

// However a matmul is cut into blocks and iterations, it stays the matmul.
TEST(Reference, GridsAndLoopsDoNotChangeAMatmul) {
  std::mt19937_64 random(7);
  const std::int64_t T = 2, M = 12, N = 30, K = 24;
  const reference::Array x = random_array({T, M, K}, random), y = random_array({T, K, N}, random);
  const reference::Array expected = matmul_by_hand(x, y);
  const int orders[][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}};  // which dimension of the output x, y, z split
  for (const auto& order : orders)
    for (std::int64_t loop : {1, 2, 8, 24})
      for (const Dim3 parts : {Dim3{1, 1, 1}, Dim3{2, 3, 5}, Dim3{1, 12, 2}, Dim3{2, 1, 30}}) {
        Builder b("g");
        const TensorHandle X = b.input("X", x.shape), Y = b.input("Y", y.shape);
        CustomLaunch launch;
        std::array<std::int64_t, 3> grid{};
        Split left{.loop = 2}, right{.loop = 1}, out;
        int* of[][3] = {{&left.x, &left.y, &left.z}, {&right.x, &right.y, &right.z}, {&out.x, &out.y, &out.z}};
        for (int axis = 0; axis < 3; ++axis) {
          const int dim = order[axis];
          grid[axis] = parts[dim];
          *of[2][axis] = dim;
          if (dim != 2) *of[0][axis] = dim;
          if (dim != 1) *of[1][axis] = dim;
        }
        launch.grid = {grid[0], grid[1], grid[2]};
        launch.loop = loop;
        b.output(b.custom(launch, [&](BlockBuilder& t) {
                    t.store(accum(matmul(t.load(X, left), t.load(Y, right))), out);
                  }).at(0));
        expect_near(reference::run_reference(b.build(), {x, y}, exact)[0], expected, 1e-11);
      }
}

// A dimension that grid and loop both split: a block's iterations are consecutive.
TEST(Reference, BlocksOwnConsecutiveIterations) {
  Builder b("g");
  b.output(b.custom({.grid = {2}, .block = {32}, .loop = 3}, [&](BlockBuilder& t) {
              t.store(accum(t.load(b.input("X", {12}), {.x = 0, .loop = 0})), {.x = 0});
            }).at(0));
  const std::vector<reference::Array> y =
      reference::run_reference(b.build(), {{{12}, {1, 2, 3, 4, 5, 6, 70, 80, 90, 100, 110, 120}}}, exact);
  EXPECT_EQ(y[0].values, (std::vector<double>{1 + 3 + 5, 2 + 4 + 6, 70 + 90 + 110, 80 + 100 + 120}));
}

// An output may be a slice of the blocks' concatenated results.
TEST(Reference, BlocksStoreSlices) {
  Builder b("g");
  const std::vector<TensorHandle> y = b.custom({.grid = {3}, .block = {32}}, [&](BlockBuilder& t) {
    const TileHandle x = t.load(b.input("X", {2, 6}), {.x = 1});
    t.store(x, {.x = 1}, {}, {}, {1, 2, 6});
    t.store(x * 10.0, {.x = 1}, {}, {}, {1, 0, 2});
  });
  b.output(y[0]), b.output(y[1]);
  const std::vector<reference::Array> found =
      reference::run_reference(b.build(), {{{2, 6}, {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6}}}, exact);
  EXPECT_EQ(found[0].shape, (Shape{2, 4}));
  EXPECT_EQ(found[0].values, (std::vector<double>{3, 4, 5, 6, -3, -4, -5, -6}));
  EXPECT_EQ(found[1].shape, (Shape{2, 2}));
  EXPECT_EQ(found[1].values, (std::vector<double>{10, 20, -10, -20}));
}

TEST(Reference, Accumulators) {
  std::mt19937_64 random(8);
  const std::int64_t loop = 3, n = 8;
  const reference::Array x = random_array({4, loop * n}, random);
  Builder b("g");
  for (TensorHandle t : b.custom({.block = {32}, .loop = loop}, [&](BlockBuilder& t) {
         const TileHandle tile = t.load(b.input("X", x.shape), {.loop = 1});
         for (TileHandle y : {accum(tile), accum_red_sum(tile), accum_red_mean(tile), accum_red_rms(tile),
                              accum_redtox_sum(tile, 2), accum_max(tile)})
           t.store(y);
       }))
    b.output(t);
  const std::vector<reference::Array> found = reference::run_reference(b.build(), {x}, exact);
  const auto element = [&](const Shape& i, std::int64_t iteration, std::int64_t j) {
    return at(x, {i[0], iteration * n + j});
  };
  const auto over_all = [&](const Shape& i, auto f) {
    double sum = 0;
    for (std::int64_t k = 0; k < loop; ++k)
      for (std::int64_t j = 0; j < n; ++j) sum += f(element(i, k, j));
    return sum;
  };
  const auto same = [](double v) { return v; };
  expect_near(found[0],
              from({4, n}, [&](Shape i) { return element(i, 0, i[1]) + element(i, 1, i[1]) + element(i, 2, i[1]); }));
  expect_near(found[1], from({4, 1}, [&](Shape i) { return over_all(i, same); }));
  expect_near(found[2], from({4, 1}, [&](Shape i) { return over_all(i, same) / (loop * n); }));
  expect_near(found[3], from({4, 1}, [&](Shape i) {
                return std::sqrt(over_all(i, [](double v) { return v * v; }) / (loop * n));
              }));
  expect_near(found[4], from({4, 2}, [&](Shape i) {
                double sum = 0;
                for (std::int64_t k = 0; k < loop; ++k)
                  for (std::int64_t j = i[1]; j < n; j += 2) sum += element(i, k, j);
                return sum;
              }));
  expect_near(found[5], from({4, n}, [&](Shape i) {
                return std::fmax(element(i, 0, i[1]), std::fmax(element(i, 1, i[1]), element(i, 2, i[1])));
              }));
}

// Attention with the running maximum is softmax, however long the loop and however large the scores.
TEST(Reference, OnlineSoftmaxIsSoftmax) {
  std::mt19937_64 random(9);
  for (std::int64_t loop : {1, 2, 16}) {
    const reference::Array q = random_array({2, 6, 8}, random, -30, 30), k = random_array({2, 8, 32}, random),
                           v = random_array({2, 32, 5}, random);
    Builder b("g");
    const TensorHandle Q = b.input("Q", q.shape), K = b.input("K", k.shape), V = b.input("V", v.shape);
    const auto results = b.custom({.grid = {2, 3}, .block = {32}, .loop = loop}, [&](BlockBuilder& t) {
      const TileHandle s = matmul(t.load(Q, {.x = 0, .y = 1}), t.load(K, {.x = 0, .loop = 2}));
      const auto [now, fell] = reduction_max(s, 2);
      const TileHandle p = exp(s - now), r = exp(fell);
      t.store(accum_rescale(matmul(p, t.load(V, {.x = 0, .loop = 1})), r) / accum_red_sum_rescale(p, r),
              {.x = 0, .y = 1});
      t.store(accum_max(now), {.x = 0, .y = 1});
    });
    b.output(results[0]);
    b.output(results[1]);
    const std::vector<reference::Array> found = reference::run_reference(b.build(), {q, k, v}, exact);
    const reference::Array s = matmul_by_hand(q, k);
    const auto greatest = [&](const Shape& i) {
      double m = -INFINITY;
      for (std::int64_t j = 0; j < 32; ++j) m = std::fmax(m, at(s, {i[0], i[1], j}));
      return m;
    };
    expect_near(found[1], from({2, 6, 1}, greatest));
    expect_near(found[0],
                from({2, 6, 5},
                     [&](Shape i) {
                       double up = 0, down = 0;
                       for (std::int64_t j = 0; j < 32; ++j) {
                         const double p = std::exp(at(s, {i[0], i[1], j}) - greatest(i));
                         up += p * at(v, {i[0], j, i[2]});
                         down += p;
                       }
                       return up / down;
                     }),
                1e-10);
  }
}

TEST(Reference, TheFirstDifferenceOfARunningMaximumIsZero) {
  Builder b("g");
  const auto results = b.custom({.block = {32}, .loop = 3}, [&](BlockBuilder& t) {
    const auto [now, fell] = reduction_max(t.load(b.input("X", {1, 6}), {.loop = 1}), 1);
    t.store(accum(fell));
    t.store(accum(now));
  });
  b.output(results[0]);
  b.output(results[1]);
  const std::vector<reference::Array> y = reference::run_reference(b.build(), {{{1, 6}, {-5, -7, 1, 2, 0, -3}}}, exact);
  EXPECT_EQ(y[0].values[0], 0 + (-5 - 2) + 0);
  EXPECT_EQ(y[1].values[0], -5 + 2 + 2);
}

// 1 + 2^-11 is no f16: it shows whether a value was rounded.
constexpr double fine = 1 + 0x1p-11;

TEST(Rounding, KernelTensorsAreRounded) {
  Builder b("g");
  const TensorHandle Y = b.input("X", {1}, DType::f16) * fine;
  b.output(Y);
  const TensorHandle Z = b.input("Z", {1}, DType::f16);
  b.output(Y - Z);
  const reference::Reference r = reference::run(b.build(), {{{1}, {1.0}}, {{1}, {1.0}}});
  EXPECT_EQ(r.tensors[1].values[0], 1.0);
  EXPECT_EQ(r.tensors[3].values[0], 0.0);
  EXPECT_TRUE(r.tensors[0].values.empty());
  const std::vector<reference::Array> unrounded =
      reference::run_reference(b.build(), {{{1}, {1.0}}, {{1}, {1.0}}}, exact);
  EXPECT_EQ(unrounded[1].values[0], 0x1p-11);
}

TEST(Rounding, InputsAreRounded) {
  Builder b("g");
  b.output(b.input("X", {1}, DType::f16) * 1024);
  EXPECT_EQ(reference::run_reference(b.build(), {{{1}, {fine}}})[0].values[0], 1024);
}

// Inside a block only what a matmul reads is rounded, and only for the matmul.
TEST(Rounding, BlockTensorsAreRoundedForMatmulsOnly) {
  const auto result = [](bool matmul_too, bool read_other) {
    Builder b("g");
    const TensorHandle X = b.input("X", {1, 1}), W = b.input("W", {1, 1});
    b.output(b.custom({.block = {32}}, [&](BlockBuilder& t) {
                const TileHandle w = t.load(W), s = t.load(X) * fine;
                const TileHandle p = matmul_too ? matmul(s, w) : s;
                t.store(((read_other ? s : p) - w) * 4096.0);
              }).at(0));
    return reference::run_reference(b.build(), {{{1, 1}, {1.0}}, {{1, 1}, {1.0}}})[0].values[0];
  };
  EXPECT_EQ(result(false, false), 2);  // no matmul: s keeps its 2^-11
  EXPECT_EQ(result(true, false), 0);   // rounded on the way into the matmul
  EXPECT_EQ(result(true, true), 2);    // but not for who else reads it
}

TEST(Rounding, AnAccumulatorIsRoundedOnce) {
  Builder b("g");
  const TensorHandle X = b.input("X", {2, 1}), Z = b.input("Z", {2, 1}), W = b.input("W", {1, 1});
  b.output(b.custom({.block = {32}, .loop = 2}, [&](BlockBuilder& t) {
              // 1 + 2^-11, then -1: together 2^-11, but 0 if the sum were rounded in each iteration.
              const TileHandle sum = accum(t.load(X, {.loop = 0}) * fine + t.load(Z, {.loop = 0}));
              t.store(matmul(sum, t.load(W)));
            }).at(0));
  const std::vector<reference::Array> y =
      reference::run_reference(b.build(), {{{2, 1}, {1, 0}}, {{2, 1}, {0, -1}}, {{1, 1}, {1}}});
  EXPECT_EQ(y[0].values[0], 0x1p-11);
}

TEST(Rounding, OverflowBecomesInfinityAndIsReported) {
  Builder b("g");
  const TensorHandle X = b.input("X", {1, 1}), Y = X * 65520.0;
  b.output(Y);
  const KernelGraph g = b.build();
  const reference::Reference r = reference::run(g, {{{1, 1}, {1.0}}});
  EXPECT_EQ(r.tensors[1].values[0], INFINITY);
  EXPECT_FALSE(r.magnitudes[1].finite);
  EXPECT_FALSE(r.within(1e300));
  reference::ReferenceOptions limited;
  limited.limit = 1e5;
  EXPECT_TRUE(reference::run(g, {{{1, 1}, {1.0}}}, limited).stopped);
  EXPECT_FALSE(reference::run(g, {{{1, 1}, {0.5}}}, limited).stopped);
}

TEST(Reference, ThreadsDoNotChangeIt) {
  std::mt19937_64 random(10);
  for (const char* file : {"lora.json", "attention.json", "mlp.json"}) {
    const KernelGraph g = json::load(std::string(ZELLIGE_SOURCE_DIR) + "/examples/" + file).at(0);
    std::vector<reference::Array> inputs;
    for (int t : g.inputs) inputs.push_back(random_array(g.tensors[t].shape, random, -1, 1));
    reference::ReferenceOptions one, three;
    one.threads = 1;
    three.threads = 3;
    EXPECT_EQ(reference::run_reference(g, inputs, one)[0].values, reference::run_reference(g, inputs, three)[0].values)
        << file;
  }
}

TEST(Reference, RefusesMoreThanTheMachineHolds) {
  Builder b("g");
  b.output(exp(b.input("X", {1 << 20, 1 << 20})));
  try {
    reference::check_memory(b.build());
    FAIL();
  } catch (const Error& e) {
    EXPECT_TRUE(std::string(e.what()).ends_with("for the reference, found more at tensor X (1048576, 1048576)"))
        << e.what();
  }
}

TEST(Reference, RefusesWrongInputs) {
  Builder b("g");
  b.output(exp(b.input("X", {2, 3})));
  const KernelGraph g = b.build();
  const auto message = [&](const std::vector<reference::Array>& inputs) {
    try {
      reference::run(g, inputs);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({}), "graph g: expected 1 input arrays, found 0");
  EXPECT_EQ(message({reference::make_array({3, 2})}),
            "graph g: expected an array of shape (2, 3) for input X, found (3, 2) with 6 values");
}

}  // namespace
}  // namespace zellige::graph
