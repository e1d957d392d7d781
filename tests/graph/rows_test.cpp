// gather, scatter and slice_scatter: their definition, and the results that may alias an input's
// memory.
#include "graph/rows.hpp"

#include <gtest/gtest.h>

#include "../loaded.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "json/json.hpp"
#include "reference/inputs.hpp"

namespace zellige::graph {
namespace {

reference::Array counted(Shape shape, double from = 0) {
  reference::Array a = reference::make_array(std::move(shape));
  for (double& v : a.values) v = from++;
  return a;
}

template <class Run>
std::string message(const Run& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Rows, AreThoseThatTheNumbersName) {
  Builder b("rows");
  const TensorHandle X = b.input("X", {7, 2, 3}, DType::f32), I = b.input("I", {2, 2}, DType::int32),
                     U = b.input("U", {2, 2, 2, 3}, DType::f32);
  b.output(gather(X, I), "G");
  b.output(scatter(X, I, U), "S");
  const KernelGraph g = b.build();
  EXPECT_EQ(g.tensors[g.outputs[0]].shape, (Shape{2, 2, 2, 3}));
  const reference::Array x = counted({7, 2, 3}), u = counted({2, 2, 2, 3}, 100);
  const std::vector<reference::Array> y = reference::run_reference(g, {x, {{2, 2}, {6, 0, 3, 2}}, u});
  const std::vector<int> rows{6, 0, 3, 2};
  reference::Array expected = x;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_EQ(y[0].values[i * 6 + k], rows[i] * 6.0 + static_cast<double>(k));
      expected.values[static_cast<std::size_t>(rows[i]) * 6 + k] = 100.0 + static_cast<double>(i * 6 + k);
    }
  EXPECT_EQ(y[1].values, expected.values);
}

TEST(Rows, PartsOfADimension) {
  Builder b("parts");
  const TensorHandle X = b.input("X", {2, 5, 3}, DType::f32), P = b.input("P", {2, 2, 3}, DType::f32),
                     S = b.input("S", {1}, DType::int32);
  b.output(slice_scatter(X, P, 1, 3), "A");
  b.output(slice_scatter(X, P, 1, S), "B");
  const reference::Array x = counted({2, 5, 3}), p = counted({2, 2, 3}, 100);
  const std::vector<reference::Array> y = reference::run_reference(b.build(), {x, p, {{1}, {1}}});
  for (int which = 0; which < 2; ++which) {
    const int start = which == 0 ? 3 : 1;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 5; ++j)
        for (int k = 0; k < 3; ++k) {
          const bool inside = j >= start && j < start + 2;
          EXPECT_EQ(y[static_cast<std::size_t>(which)].values[static_cast<std::size_t>((i * 5 + j) * 3 + k)],
                    inside ? 100 + (i * 2 + j - start) * 3 + k : (i * 5 + j) * 3 + k);
        }
  }
}

TEST(Rows, OfNumbersThatNameNoneAreRefused) {
  Builder b("none");
  const TensorHandle X = b.input("X", {7, 3}, DType::f32), I = b.input("I", {2}, DType::int32),
                     U = b.input("U", {2, 3}, DType::f32);
  b.output(scatter(X, I, gather(X, I) + U), "Y");
  const KernelGraph g = b.build();
  const auto of = [&](double i, double j) {
    return message([&] { reference::run_reference(g, {counted({7, 3}), {{2}, {i, j}}, counted({2, 3})}); });
  };
  EXPECT_EQ(of(1, 7), "gather: expected row indices from 0 to 6, found 7 at (1)");
  EXPECT_EQ(of(-1, 2), "gather: expected row indices from 0 to 6, found -1 at (0)");
  EXPECT_EQ(of(4, 4), "scatter: expected each row once, found 4 again at (1)");
  EXPECT_EQ(of(4, 5), "");
}

TEST(Rows, RandomNumbersNameThem) {
  Builder b("drawn");
  const TensorHandle X = b.input("X", {11, 3}), I = b.input("I", {2, 4}, DType::int32),
                     J = b.input("J", {11}, DType::int32), S = b.input("S", {1}, DType::int32),
                     Z = b.input("Z", {3, 3}, DType::int32);
  b.output(gather(X, reshape(I, {8})), "G");
  const TensorHandle Y = scatter(X, J, X * X);
  b.output(slice_scatter(Y, slice(X, 0, 0, 4), 0, S), "Y");
  b.output(Z + Z, "W");
  const KernelGraph g = b.build();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const reference::RandomInputs in = reference::random_inputs(g, seed);
    for (double v : in.arrays[1].values) EXPECT_TRUE(v >= 0 && v < 11) << v;
    std::vector<double> all = in.arrays[2].values;
    std::ranges::sort(all);
    EXPECT_EQ(all, counted({11}).values);
    EXPECT_TRUE(in.arrays[3].values[0] >= 0 && in.arrays[3].values[0] <= 7);
    EXPECT_EQ(in.arrays[1].values,
              reference::input_part(g, in, 1, reference::whole({2, 4})).values);  // drawn equally if requested alone
  }
}

class InPlace : public testing::Test {
 protected:
  Builder b{"cache"};
  TensorHandle K = b.input("K", {8, 4}), I = b.input("I", {2}, DType::int32), U = b.input("U", {2, 4});
};

TEST_F(InPlace, OldValuesAreReadFirst) {
  const TensorHandle N = b.in_place(scatter(K, I, U), K);  // operator 0
  b.output(N, "N");
  b.output(sum(K, 1), "old");                       // operator 1 reads what was there
  b.output(sum(permute(K, {1, 0}), 1), "as_well");  // 2 and 3, through a view
  b.output(N * 2.0, "new");
  const KernelGraph g = b.build();
  EXPECT_EQ(in_place_order(g), (std::vector<int>{1, 2, 3, 0, 4}));
  const std::string text = json::to_json(g);
  EXPECT_NE(text.find("\"name\":\"N\",\"memory\":\"K\""), std::string::npos) << text;
  EXPECT_EQ(json::to_json(json::load_text(text, "json", "again").at(0).graph), text);
}

TEST_F(InPlace, WhatCannotBeIsRefused) {
  const auto refused = [](const auto& make) {
    Builder b("cache");
    const TensorHandle K = b.input("K", {8, 4}), I = b.input("I", {2}, DType::int32), U = b.input("U", {2, 4});
    return message([&] {
      make(b, K, I, U);
      b.build();
    });
  };
  EXPECT_EQ(
      refused([](Builder& b, TensorHandle K, TensorHandle, TensorHandle) { b.output(b.in_place(K + K, K), "N"); }),
      "graph cache, operator 0 (add): expected scatter or slice_scatter to make N, which takes the "
      "memory of K");
  EXPECT_EQ(refused([](Builder& b, TensorHandle K, TensorHandle I, TensorHandle U) {
              b.output(b.in_place(scatter(K * 2.0, I, U), K), "N");
            }),
            "graph cache, operator 1 (scatter): expected N, which takes the memory of K, to replace a part "
            "of it, found a "
            "part of t3");
  EXPECT_EQ(refused([](Builder& b, TensorHandle, TensorHandle I, TensorHandle U) {
              const TensorHandle W = b.constant("W", {8, 4});
              b.output(b.in_place(scatter(W, I, U), W), "N");
            }),
            "graph cache, operator 0 (scatter): expected N to take the memory of an input that is not "
            "constant, found W");
  EXPECT_EQ(refused([](Builder& b, TensorHandle K, TensorHandle I, TensorHandle) {
              b.output(b.in_place(scatter(K, I, slice(K, 0, 0, 2)), K), "N");
            }),
            "graph cache, operator 1 (scatter): expected N to be made of memory that it does not take, found "
            "t3, which "
            "shows K");
  EXPECT_EQ(refused([](Builder& b, TensorHandle K, TensorHandle I, TensorHandle U) {
              const TensorHandle N = b.in_place(scatter(K, I, U), K);
              b.output(N, "N");
              b.output(K + N, "both");
            }),
            "graph cache, operator 0 (scatter): expected all that reads K to come before N takes its memory, found "
            "operator 1 (add), which cannot");
  EXPECT_EQ(refused([](Builder& b, TensorHandle K, TensorHandle I, TensorHandle U) {
              const TensorHandle N = b.in_place(scatter(K, I, U), K);
              b.output(N, "N");
              b.output(b.in_place(scatter(N, I, U * 2.0), K), "M");
            }),
            "graph cache, operator 2 (scatter): expected M to be the only output in the memory of K, found N too");
}

}  // namespace
}  // namespace zellige::graph
