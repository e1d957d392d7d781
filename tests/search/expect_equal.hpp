// Expectations about the answer of `equal` for two graphs, which functions of their inputs define.
#pragma once
#include <gtest/gtest.h>

#include "programs.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::search::test {

using Inputs = std::vector<TensorHandle>;

/// A graph of inputs X0, X1, ... and one output.
template <class Body>
KernelGraph make(const std::vector<Shape>& shapes, const Body& body) {
  Builder b("g");
  Inputs in;
  for (std::size_t i = 0; i < shapes.size(); ++i) in.push_back(b.input(fmt::format("X{}", i), shapes[i]));
  b.output(body(b, in), "Y");
  return b.build();
}

inline void expect(Answer answer, const KernelGraph& a, const KernelGraph& b, const std::string& method = {}) {
  const Equality e = equal(a, b);
  EXPECT_EQ(name(e.answer), name(answer)) << describe(e, "a", "b");
  if (!method.empty()) EXPECT_EQ(e.method, method) << describe(e, "a", "b");
  EXPECT_EQ(e.counterexample.has_value(), answer == Answer::different);
}

inline const std::vector<Shape> square_pair = {{64, 64}, {64, 64}};

template <class F, class G>
void expect(Answer answer, const std::vector<Shape>& shapes, const F& f, const G& g, const std::string& method = {}) {
  expect(answer, make(shapes, [&](Builder&, const Inputs& x) { return f(x); }),
         make(shapes, [&](Builder&, const Inputs& x) { return g(x); }), method);
}

}  // namespace zellige::search::test
