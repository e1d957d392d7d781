// Graphs with sizes (graph/sized_graph.hpp): the graph at values is what its JSON with numbers for names is, inference finds what it
// finds of constants, and what does not hold for all values is refused with the whole message.
#include "graph/sized_graph.hpp"

#include <gtest/gtest.h>

#include <random>

#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "json/json.hpp"
#include "reference/reference.hpp"

namespace zellige::graph {
namespace {

using json::Json;

template <class Work>
std::string message(const Work& work) {
  const auto error = refused(work);
  return error ? error->what() : "no error";
}

SizeValues random_values(const std::vector<NamedSize>& sizes, std::mt19937_64& random) {
  SizeValues values;
  for (const NamedSize& s : sizes)
    values[s.name] =
        s.multiple * std::uniform_int_distribution(s.minimum() / s.multiple, s.greatest() / s.multiple)(random);
  return values;
}

/// Returns the JSON with numbers for all texts of sizes: terms of normal forms are added up, and their factors multiplied.
Json numbers_for_names(Json j, const SizeValues& values) {
  if (j.is_array() || j.is_object()) {
    for (Json& part : j) part = numbers_for_names(part, values);
    j.is_object() ? j.erase("sizes") : 0;
    return j;
  }
  if (!j.is_string()) return j;
  std::istringstream words(j.get<std::string>());
  std::int64_t all = 0, one = 0, sign = 1;
  std::string word;
  bool multiply = false;
  while (words >> word) {
    if (word == "*") {
      multiply = true;
      continue;
    }
    if (word == "+" || word == "-") {
      all += one, one = 0, sign = word == "-" ? -1 : 1;
      continue;
    }
    if (word[0] == '-') sign = -1, word.erase(0, 1);
    const auto value = values.find(word);
    if (value == values.end() && word.find_first_not_of("0123456789") != word.npos) return j;  // no text of sizes
    const std::int64_t n = value == values.end() ? std::stoll(word) : value->second;
    one = multiply ? one * n : sign * n;
    multiply = false, sign = 1;
  }
  return all + one;
}

/// Draws graphs of tensors with sizes.
class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : random_(seed) {
    T = b_.size({.name = "T", .min = 1, .max = 9, .typical = {2, 5}});
    P = b_.size({.name = "P", .min = 1, .max = 6});
    B = b_.size({.name = "B", .min = 2, .max = 6, .multiple = 2});
  }

  KernelGraph graph() {
    TensorHandle x = b_.input("x", {B, T, 4}, DType::f32);
    SymbolicShape shape{B, T, 4};
    for (int i = 0, n = 2 + below(5); i < n; ++i) x = step(x, shape);
    b_.output(x, "y");
    return b_.build();
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  TensorHandle input(const SymbolicShape& shape) {
    return b_.input("i" + std::to_string(inputs_++), shape, DType::f32);
  }

  TensorHandle step(TensorHandle x, SymbolicShape& shape) {
    const int last = static_cast<int>(shape.size()) - 1, dim = below(last + 1);
    switch (below(10)) {
      case 0:
        return x + input(SymbolicShape(shape.begin() + 1, shape.end()));
      case 1: {
        SymbolicShape other = shape;
        other[static_cast<std::size_t>(dim)] = P;
        shape[static_cast<std::size_t>(dim)] = shape[static_cast<std::size_t>(dim)] + P;
        return concat(input(other), x, dim);
      }
      case 2: {  // the first two dimensions become one
        const SymbolicExtent product = shape[0] * shape[1];
        if (shape.size() < 3) return exp(x);
        shape.erase(shape.begin());
        shape[0] = product;
        return reshape(x, shape);
      }
      case 3: {
        std::vector<std::int64_t> dims;
        SymbolicShape permuted;
        for (int d = last; d >= 0; --d) dims.push_back(d), permuted.push_back(shape[static_cast<std::size_t>(d)]);
        shape = permuted;
        return permute(x, dims);
      }
      case 4: {
        const SymbolicExtent columns = below(2) == 0 ? P * 2 : SymbolicExtent(3);
        const TensorHandle w = input({shape.back(), columns});
        shape.back() = columns;
        return matmul(x, w);
      }
      case 5:
        return softmax(x, dim);
      case 6:
        if (below(2) == 0) return sum(x, dim, true) + x;
        return mean(x, dim, true) * x;
      case 7:
        return sized_mask(x, {.tril = P - 1});
      case 8: {
        const SymbolicExtent more = shape[static_cast<std::size_t>(dim)] + T;
        SymbolicShape whole = shape;
        whole[static_cast<std::size_t>(dim)] = more;
        return slice(input(whole), dim, T, more) * x;
      }
      default: {
        SymbolicShape wide = shape;
        wide.insert(wide.begin(), B);
        const TensorHandle y = expand(x, wide);
        shape = wide;
        if (shape.size() > 5) shape.erase(shape.begin());
        return shape.size() == wide.size() ? y : sum(y, 0, false);
      }
    }
  }

  std::mt19937_64 random_;
  Builder b_{"drawn"};
  SymbolicExtent T, P, B;
  int inputs_ = 0;
};

TEST(SizedGraph, AtValuesItIsItsJsonWithNumbers) {
  std::mt19937_64 random(7);
  int smaller = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const KernelGraph g = Drawn(seed).graph();
    const std::string text = json::to_json(g);
    const KernelGraph again = json::from_json(json::parse_json(text, "drawn"), "drawn");
    ASSERT_EQ(json::to_json(again), text);
    EXPECT_EQ(again.sizes->names, g.sizes->names);
    EXPECT_EQ(again.sizes->integers.size(), g.sizes->integers.size());
    const std::vector<SymbolicShape> shapes = extents(g);
    for (int k = 0; k < 4; ++k) {
      const SizeValues values = k == 0 ? greatest(g.sizes->names) : random_values(g.sizes->names, random);
      const KernelGraph constants = at(g, values);
      EXPECT_FALSE(constants.sizes);
      const Json replaced = numbers_for_names(Json::parse(text), values);
      ASSERT_EQ(json::to_json(constants), json::to_json(json::from_json(replaced, "drawn"))) << text;
      for (std::size_t t = 0; t < g.tensors.size(); ++t) {
        ASSERT_EQ(shapes[t].size(), constants.tensors[t].shape.size());
        for (std::size_t d = 0; d < shapes[t].size(); ++d)
          EXPECT_EQ(evaluate(shapes[t][d], values), constants.tensors[t].shape[d]) << text;
        if (k == 0) {
          EXPECT_EQ(constants.tensors[t].shape, g.tensors[t].shape);
        }
        smaller += constants.tensors[t].shape != g.tensors[t].shape;
      }
    }
  }
  EXPECT_GT(smaller, 1000);
}

TEST(SizedGraph, AtValuesItComputesWhatTheConstantsDo) {
  std::mt19937_64 random(8);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const KernelGraph g = Drawn(seed).graph();
    const SizeValues values = random_values(g.sizes->names, random);
    const KernelGraph constants = at(g, values);
    const KernelGraph read = json::from_json(numbers_for_names(Json::parse(json::to_json(g)), values), "drawn");
    std::vector<reference::Array> inputs;
    for (int t : constants.inputs) {
      inputs.push_back(reference::make_array(constants.tensors[t].shape));
      for (double& v : inputs.back().values) v = std::uniform_real_distribution<double>(-1, 1)(random);
    }
    const auto a = run_reference(constants, inputs), b = run_reference(read, inputs);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t e = 0; e < a[i].values.size(); ++e) {
        const bool none = std::isnan(a[i].values[e]) && std::isnan(b[i].values[e]);
        ASSERT_TRUE(none || a[i].values[e] == b[i].values[e]) << e;
      }
  }
}

KernelGraph attention() {
  Builder b("attention");
  const SymbolicExtent T = b.size({.name = "T", .max = 64, .typical = {16, 1}}),
                       P = b.size({.name = "P", .min = 0, .max = 64});
  const TensorHandle q = b.input("q", {8, T, 16}), before = b.input("past", {8, 64, 16}), k = b.input("k", {8, T, 16});
  const TensorHandle keys = concat(before, k, 1);
  const TensorHandle scores = sized_mask(matmul(q, permute(keys, {0, 2, 1})), {.tril = P});
  b.output(matmul(softmax(scores, 2), keys), "y");
  return b.build();
}

TEST(SizedGraph, ValuesAreTheGreatestTypicalOnes) {
  const KernelGraph g = attention();
  EXPECT_EQ(values_of(g, {}), (SizeValues{{"P", 64}, {"T", 16}}));
  EXPECT_EQ(values_of(g, {{"T", 3}}), (SizeValues{{"P", 64}, {"T", 3}}));
  EXPECT_EQ(message([&] { values_of(g, {{"T", 65}}); }), "graph attention: expected T from 1 to 64, found 65");
  EXPECT_EQ(message([&] {
              values_of(g, {{"rows", 1}});
            }),
            "graph attention: expected one of the sizes T, P, found rows");
  EXPECT_EQ(message([&] {
              values_of(at(g, {{"T", 1}, {"P", 0}}), {{"T", 1}});
            }),
            "graph attention: expected a graph with the size T, found one whose extents are all constants");
  EXPECT_EQ(message([&] { at(g, {{"T", 1}}); }), "graph attention: expected a value of size P, found none");
}

TEST(SizedGraph, RangesAreNarrowed) {
  const KernelGraph g = attention();
  const KernelGraph few = narrowed(g, {{.name = "T", .min = 8, .max = 40, .multiple = 16}});
  EXPECT_EQ(few.tensors[few.inputs[0]].shape, (Shape{8, 32, 16}));
  EXPECT_EQ(to_string(extents(few)[few.outputs[0]]), "(8, T, 16)");
  EXPECT_EQ(json::to_json(at(few, {{"T", 16}, {"P", 2}})), json::to_json(at(g, {{"T", 16}, {"P", 2}})));
  EXPECT_EQ(message([&] {
              at(few, {{"T", 8}, {"P", 2}});
            }),
            "graph attention: expected T to be a multiple of 16, found 8");
  EXPECT_EQ(message([&] { narrowed(g, {{.name = "T", .min = 1, .max = 65}}); }),
            "graph attention: expected size T from 1 to 64, found 1 to 65");
  EXPECT_EQ(message([&] { narrowed(few, {{.name = "T", .min = 16, .max = 32, .multiple = 8}}); }),
            "graph attention: expected size T to have a multiple that 16 divides, found 8");
}

/// Returns the message of a graph that `body` builds of T from 1 to 64, P from 1 to 32 and x(T, 128).
std::string refused_graph(
    const std::function<TensorHandle(Builder&, SymbolicExtent, SymbolicExtent, TensorHandle)>& body) {
  return message([&] {
    Builder b("g");
    const SymbolicExtent T = b.size({.name = "T", .max = 64}), P = b.size({.name = "P", .max = 32});
    b.output(body(b, T, P, b.input("x", {T, 128})), "y");
    b.build();
  });
}

TEST(SizedGraph, WhatDoesNotHoldForAllValuesIsRefused) {
  using H = TensorHandle;
  using E = SymbolicExtent;
  EXPECT_EQ(refused_graph([](Builder& b, E, E P, H x) {
              return x + b.input("z", {P, 128});
            }),
            "graph g, operator 0 (add): expected dimensions that are equal or 1, found (T, 128) and (P, 128) "
            "(dimension 0: T and "
            "P)");
  EXPECT_EQ(refused_graph([](Builder& b, E, E, H x) {
              return x + b.input("z", {64, 128});
            }),
            "graph g, operator 0 (add): expected dimensions that are equal or 1, found (T, 128) and (64, 128) "
            "(dimension 0: T and "
            "64)");
  EXPECT_EQ(
      refused_graph([](Builder& b, E, E P, H x) {
        return matmul(permute(x, {1, 0}), b.input("z", {P, 8}));
      }),
      "graph g, operator 1 (matmul): expected the last dimension of the left operand to equal the last but one of the "
      "right, found T and P in (128, T) times (P, 8)");
  EXPECT_EQ(refused_graph([](Builder&, E T, E, H x) {
              return reshape(x, {T * 2, 65});
            }),
            "graph g, operator 0 (reshape): expected a shape with the number of elements of (T, 128), 128 * T, found "
            "(2 * T, 65), "
            "130 * T");
  EXPECT_EQ(refused_graph([](Builder&, E, E P, H x) {
              return reshape(x, {P, 128});
            }),
            "graph g, operator 0 (reshape): expected a shape with the number of elements of (T, 128), 128 * T, found "
            "(P, 128), "
            "128 * P");
  EXPECT_EQ(refused_graph([](Builder&, E, E, H x) { return slice(x, 0, 0, 64); }),
            "graph g, operator 0 (slice): expected 0 <= start < end <= T (dimension 0 of (T, 128)), found 0 and 64");
  EXPECT_EQ(refused_graph([](Builder&, E T, E, H x) { return slice(x, 0, 1, T); }),
            "graph g, operator 0 (slice): expected 0 <= start < end <= T (dimension 0 of (T, 128)), found 1 and T");
  EXPECT_EQ(refused_graph([](Builder&, E T, E, H x) {
              return split(x, 0, {1, T - 1})[1];
            }),
            "graph g, operator 0 (split): expected sizes of at least 1 that sum to T (dimension 0 of (T, 128)), found "
            "(1, T - 1)");
  EXPECT_EQ(
      refused_graph([](Builder& b, E, E P, H x) {
        return concat(x, b.input("z", {P, 128}), 1);
      }),
      "graph g, operator 0 (concat): expected operands that differ in dimension 1 only, found (T, 128) and (P, 128)");
  EXPECT_EQ(refused_graph([](Builder&, E, E P, H x) { return sized_mask(x, {.length = P - 2}); }),
            "graph g, operator 0 (mask): expected length to be 0 to 2147483647 for all sizes, found P - 2, which is -1 "
            "to 30");
  EXPECT_EQ(refused_graph([](Builder& b, E T, E, H x) {
              return rotary(permute(x, {1, 0}), b.input("c", {128, T}), b.input("s", {128, T}));
            }),
            "graph g, operator 1 (rotary): expected a last dimension of pairs, an even one, found T of (128, T)");
  EXPECT_EQ(refused_graph([](Builder& b, E, E P, H x) {
              return x + b.input("z", {P - 1, 128});
            }),
            "graph g: expected every dimension of input z to be 1 to 2147483647 for all sizes, found P - 1 in (P - 1, "
            "128), which is "
            "0 to 31");
  EXPECT_EQ(refused_graph([](Builder& b, E T, E, H x) {
              return x + b.input("z", {T, 128}, DType::f16, {64, 1});
            }),
            "graph g: expected strides that give each element of tensor z an address of its own for all sizes, found "
            "(64, 1) for "
            "(T, 128): the stride of dimension 0 is 64, and the smaller ones reach 128");
}

TEST(SizedGraph, ABlockGraphHasConstants) {
  EXPECT_EQ(message([] {
              Builder b("g");
              const SymbolicExtent T = b.size({.name = "T", .max = 64});
              const TensorHandle x = b.input("x", {T, 128});
              b.output(b.custom({.grid = {1}}, [&](BlockBuilder& t) { t.store(exp(t.load(x))); }).at(0), "y");
              b.build();
            }),
            "graph g, operator 0 (custom): expected operands of constant extents, as a custom operator's tiles are, "
            "found T in "
            "dimension 0 of x");
}

TEST(SizedGraph, BuildersHaveSizesOfTheirOwn) {
  Builder b("g"), other("other");
  const SymbolicExtent T = other.size({.name = "T", .max = 64});
  EXPECT_EQ(message([&] { b.input("x", {T, 128}); }), "graph g: expected sizes of this builder, found T in T");
  b.size({.name = "S", .max = 8});
  EXPECT_EQ(message([&] { b.size({.name = "S", .max = 8}); }),
            "graph g: expected each size to have a name of its own, found S twice");
}

/// Returns the message of a graph x(SHAPE) + x with this text of its sizes, in JSON.
std::string refused_json(const std::string& sizes, const std::string& shape, const std::string& op = "\"op\":\"exp\"") {
  return message([&] {
    const std::string text = "{\"zellige_graph\":1,\"name\":\"g\"," + sizes +
                             "\"inputs\":[{\"name\":\"x\",\"dtype\":\"f16\",\"shape\":" + shape +
                             "}],\"operators\":[{" + op +
                             ",\"inputs\":[\"x\"],\"outputs\":[\"y\"]}],\"outputs\":[\"y\"]}";
    json::from_json(json::parse_json(text, "g"), "g");
  });
}

TEST(SizedGraph, MistakesInJson) {
  const std::string t = R"("sizes":{"T":{"min":1,"max":8}},)";
  EXPECT_EQ(refused_json(t, R"(["T * 2", 4])"), "no error");
  EXPECT_EQ(
      refused_json(t, R"(["S", 4])"),
      "graph g: the shape of input x: expected one of the sizes T at character 1 of \"S\", found S; did you mean T?");
  EXPECT_EQ(refused_json(t, R"(["T +", 4])"),
            "graph g: the shape of input x: expected a size or an integer at character 4 of \"T +\", found its end");
  EXPECT_EQ(
      refused_json(t, R"(["T - 1", 4])"),
      "graph g: expected the shape of input x to be from 1 to 2147483647 for all sizes, found T - 1, which is 0 to 7");
  EXPECT_EQ(refused_json("", R"(["T", 4])"),
            "graph g: expected the shape of input x to be an integer from 1 to 2147483647, found \"T\"");
  EXPECT_EQ(refused_json(R"("sizes":[],)", "[4]"), "graph g: expected \"sizes\" to be an object, found a list of 0");
  EXPECT_EQ(refused_json(R"("sizes":{"T":{"min":1}},)", "[4]"), "graph g: expected \"max\", found none");
  EXPECT_EQ(refused_json(R"("sizes":{"T":{"min":"1","max":3}},)", "[4]"),
            "graph g: expected min of size T to be an integer from 0 to 2147483647, found \"1\"");
  EXPECT_EQ(refused_json(R"("sizes":{"T":{"max":3,"step":3}},)", "[4]"),
            "graph g: expected one of the keys min, max, multiple, typical, found \"step\"");
  EXPECT_EQ(refused_json(R"("sizes":{"T":{"max":3,"typical":[4]}},)", "[4]"),
            "graph g, a typical value: expected T from 1 to 3, found 4");
  EXPECT_EQ(refused_json(t, R"(["T", 4])", R"("op":"reshape","shape":["4 * S"])"),
            "graph g, operator 0 (reshape): shape: expected one of the sizes T at character 5 of \"4 * S\", found S; "
            "did you mean "
            "T?");
  EXPECT_EQ(refused_json(t, R"(["T", 4])", R"("op":"slice","dim":0,"start":0,"end":"T + 1")"),
            "graph g, operator 0 (slice): expected 0 <= start < end <= T (dimension 0 of (T, 4)), found 0 and T + 1");
}

}  // namespace
}  // namespace zellige::graph
