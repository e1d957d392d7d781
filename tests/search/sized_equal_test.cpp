// Graphs with sizes that are compared (search/sized_equal.hpp), and dimensions along which elements are computed independently
// (search/independent.hpp), against the reference.
#include "search/sized_equal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "graph/builder.hpp"
#include "reference/reference.hpp"
#include "search/describe.hpp"
#include "search/independent.hpp"

namespace zellige::search {
namespace {

using graph::Builder, graph::DType, graph::KernelGraph, graph::SymbolicExtent, graph::TensorHandle;

template <class Work>
std::string message(const Work& work) {
  const auto error = refused(work);
  return error ? error->what() : "no error";
}

using Body = std::function<TensorHandle(Builder&, SymbolicExtent, SymbolicExtent, TensorHandle)>;

/// A graph of x(T, 8) with T from 1 to 40 and P from 2 to 9.
KernelGraph sized(const Body& body, const std::string& name = "g", std::int64_t greatest = 40) {
  Builder b(name);
  const SymbolicExtent T = b.size({.name = "T", .max = greatest, .typical = {5}}),
                       P = b.size({.name = "P", .min = 2, .max = 9});
  b.output(body(b, T, P, b.input("x", {T, 8}, DType::f32)), "y");
  return b.build();
}

Equality compared(const Body& one, const Body& other) { return equal(sized(one, "a"), sized(other, "b"), {.seed = 3}); }

TensorHandle times_weights(Builder& b, SymbolicExtent, SymbolicExtent P, TensorHandle x) {
  return matmul(x, b.input("w", {8, P}, DType::f32));
}

TEST(SizedEqual, TheSameOperatorsAreEqualForAllValues) {
  const Equality e = compared(times_weights, times_weights);
  EXPECT_EQ(
      describe(e, "a", "b"),
      "a and b: equal\n  for all values of T, P: the same operators on the same operands, which proves it\n  seed 3\n");
}

TEST(SizedEqual, AttributesThatDifferForSomeValuesAreSeen) {
  const auto cut = [](const std::function<SymbolicExtent(SymbolicExtent, SymbolicExtent)>& tril) {
    return [tril](Builder& b, SymbolicExtent T, SymbolicExtent P, TensorHandle x) {
      return sized_mask(matmul(x, b.input("w", {8, T + P}, DType::f32)), {.tril = tril(T, P)}, 0);
    };
  };
  const auto p = cut([](SymbolicExtent, SymbolicExtent P) { return P; });
  const auto nine = cut([](SymbolicExtent, SymbolicExtent) { return SymbolicExtent(9); });  // P at its greatest
  EXPECT_EQ(compared(p, p).answer, Answer::equal);
  const Equality e = compared(p, nine);
  EXPECT_EQ(e.answer, Answer::different);
  EXPECT_TRUE(e.why.starts_with("at P = 3, T = 2: ") || e.why.starts_with("at P = 2, T = 1: ")) << e.why;
}

TEST(SizedEqual, IndependentRowsAreEqualForAllValues) {
  const Equality e = compared(
      [](Builder& b, SymbolicExtent, SymbolicExtent P, TensorHandle x) {
        return x * b.input("s", {P, 1, 8}, DType::f32) + x;
      },
      [](Builder& b, SymbolicExtent, SymbolicExtent P, TensorHandle x) {
        return (b.input("s", {P, 1, 8}, DType::f32) + 1.0) * x;
      });
  EXPECT_EQ(e.answer, Answer::equal);
  EXPECT_TRUE(
      e.why.starts_with("for all values of T, P, along which each element is computed apart: at P = 2, T = 1: "))
      << e.why;
}

TEST(SizedEqual, ElseItSaysAtWhichValuesItLooked) {
  const Equality e =
      compared([](Builder&, SymbolicExtent, SymbolicExtent, TensorHandle x) { return sum(x + x, 0, true); },
               [](Builder&, SymbolicExtent, SymbolicExtent, TensorHandle x) { return mul_scalar(sum(x, 0, true), 2); });
  EXPECT_EQ(e.answer, Answer::undecided);
  EXPECT_TRUE(e.why.starts_with("equal at the ") && e.why.ends_with("); not proved for the others")) << e.why;
  for (const char* looked : {"T = 1;", "T = 40;", "T = 2;", "T = 39;", "T = 5;"})
    EXPECT_NE(e.why.find(looked), e.why.npos) << e.why;
  ASSERT_EQ(e.notes.size(), 1u);
  EXPECT_EQ(e.notes[0], "along P each element is computed apart, so one value stands for all");
}

TEST(SizedEqual, WhatDiffersAtOneEndIsFound) {
  const auto up_to = [](std::int64_t length) {
    return [length](Builder& b, SymbolicExtent, SymbolicExtent, TensorHandle x) {
      return mask(matmul(b.input("z", {4, 8}, DType::f32), permute(x, {1, 0})), graph::Kept{.length = length}, 0);
    };
  };
  EXPECT_EQ(compared(up_to(39), up_to(40)).answer, Answer::different);
  EXPECT_EQ(compared(up_to(40), up_to(41)).answer, Answer::undecided);  // equal for all, and not the same operators
}

TEST(SizedEqual, SizesMustBeTheSame) {
  EXPECT_EQ(message([] {
              Builder b("b");
              b.output(graph::exp(b.input("x", {40, 8}, DType::f32)), "y");
              equal(sized(times_weights, "a"), b.build());
            }),
            "a and b: expected two graphs with the size T, found none in b");
}

TEST(SizedEqual, ValuesHaveEndsTypicalOnesAndNoOthers) {
  const std::vector<graph::NamedSize> sizes{{.name = "T", .min = 3, .max = 50, .multiple = 8, .typical = {16, 40}},
                                            {.name = "P", .min = 0, .max = 3}};
  const auto values = looked_at(sizes, 1);
  ASSERT_GE(values.size(), 6u);
  EXPECT_EQ(values[0], (graph::SizeValues{{"P", 0}, {"T", 8}}));
  EXPECT_EQ(values[1], (graph::SizeValues{{"P", 3}, {"T", 48}}));
  EXPECT_EQ(values[4], (graph::SizeValues{{"P", 3}, {"T", 16}}));
  for (const auto& v : values)
    for (const graph::NamedSize& s : sizes) check_value("looked", s, v.at(s.name));
}

/// Returns the part of an array along a dimension that is its element `at`.
reference::Array part(const reference::Array& x, int dim, std::int64_t at) {
  graph::Shape shape = x.shape;
  shape[static_cast<std::size_t>(dim)] = 1;
  reference::Array y = reference::make_array(shape);
  for (std::size_t e = 0; e < y.values.size(); ++e) {
    graph::Shape c = graph::coordinates(static_cast<std::int64_t>(e), shape);
    c[static_cast<std::size_t>(dim)] = at;
    std::int64_t from = 0;
    for (std::size_t d = 0; d < c.size(); ++d) from = from * x.shape[d] + c[d];
    y.values[e] = x.values[static_cast<std::size_t>(from)];
  }
  return y;
}

int dim_with(const graph::SymbolicShape& shape, std::string_view name) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d].size() && shape[d].size()->name == name) return static_cast<int>(d);
  return -1;
}

/// Returns whether the graph at T = 4 computes for each element along T what it computes at T = 1 of that part of its inputs.
bool parts_are_the_whole(const KernelGraph& g) {
  const KernelGraph four = graph::at(g, {{"T", 4}, {"P", 3}}), one = graph::at(g, {{"T", 1}, {"P", 3}});
  const auto shapes = graph::extents(g);
  std::vector<reference::Array> inputs;
  double v = 0.1;
  for (int t : four.inputs) {
    inputs.push_back(reference::make_array(four.tensors[t].shape));
    for (double& x : inputs.back().values) x = std::sin(v += 1.7);
  }
  const auto whole = run_reference(four, inputs);
  for (std::int64_t at = 0; at < 4; ++at) {
    std::vector<reference::Array> parts;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const int d = dim_with(shapes[g.inputs[i]], "T");
      parts.push_back(d < 0 ? inputs[i] : part(inputs[i], d, at));
    }
    const auto some = run_reference(one, parts);
    for (std::size_t o = 0; o < some.size(); ++o) {
      const int d = dim_with(shapes[g.outputs[o]], "T");
      const reference::Array expected = d < 0 ? whole[o] : part(whole[o], d, at);
      if (expected.values != some[o].values) return false;
    }
  }
  return true;
}

TEST(Independent, WhatIsIndependentComputesParts) {
  using H = TensorHandle;
  using E = SymbolicExtent;
  const std::vector<std::pair<bool, Body>> cases{
      {true, times_weights},
      {true, [](Builder&, E, E, H x) { return softmax(x, 1); }},
      {false, [](Builder&, E, E, H x) { return softmax(x, 0); }},
      {true, [](Builder&, E, E, H x) { return rms_norm(x, 1e-5) + exp(x); }},
      {true,
       [](Builder&, E, E, H x) {
         return permute(x, {1, 0});
       }},
      {true,
       [](Builder&, E T, E, H x) {
         return reshape(x, {T, 2, 4});
       }},
      {true,
       [](Builder&, E T, E, H x) {
         return reshape(permute(x, {1, 0}), {2, 4, T});
       }},
      {false,
       [](Builder&, E T, E, H x) {
         return reshape(x, {8, T});
       }},
      {false, [](Builder&, E T, E, H x) { return reshape(x, {8 * T}); }},
      {true,
       [](Builder&, E T, E P, H x) {
         return expand(x, {P, T, 8});
       }},
      {true,
       [](Builder& b, E T, E, H x) {
         return x + b.input("z", {T, 1}, DType::f32);
       }},
      {false,
       [](Builder& b, E T, E, H x) {
         return reshape(x, {T, 8, 1}) * b.input("z", {T}, DType::f32);
       }},
      {true, [](Builder&, E, E, H x) { return concat(x, x, 1); }},
      {false, [](Builder&, E, E, H x) { return concat(x, x, 0); }},
      {true, [](Builder&, E, E, H x) { return slice(x, 1, 2, 5); }},
      {false,
       [](Builder&, E, E, H x) {
         return matmul(permute(x, {1, 0}), x);
       }},
      {false,
       [](Builder&, E, E, H x) {
         return matmul(x, permute(x, {1, 0}));
       }},
      {true,
       [](Builder& b, E T, E, H x) {
         return matmul(reshape(x, {T, 1, 8}), b.input("z", {T, 8, 3}, DType::f32));
       }},
      {true, [](Builder&, E, E, H x) { return sum(x, 1, false); }},
      {false, [](Builder&, E, E, H x) { return sum(x, 0, true); }},
      {false, [](Builder&, E, E, H x) { return mask(x, graph::Kept{.tril = 1}, 0); }},
      {true,
       [](Builder&, E T, E, H x) {
         return mask(reshape(x, {T, 2, 4}), graph::Kept{.tril = 1}, 0);
       }},
      {false,
       [](Builder& b, E T, E P, H x) {
         return x + slice(b.input("z", {T + P, 8}, DType::f32), 0, P, T + P);
       }},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const KernelGraph g = sized([&](Builder& b, E T, E P, H x) {
      const H y = cases[i].second(b, T, P, x);
      b.output(exp(b.input("p", {P}, DType::f32)), "p_");  // P is a size of the graph
      return y;
    });
    EXPECT_EQ(independent(g, "T"), cases[i].first) << i;
    if (independent(g, "T")) {
      EXPECT_TRUE(parts_are_the_whole(g)) << i;
    }
  }
}

}  // namespace
}  // namespace zellige::search
