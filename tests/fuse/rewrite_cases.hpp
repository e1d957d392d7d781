// Cases of the table of rewrites of graphs (rewrite_rules_test.cpp): for each row, graphs in which its condition holds, and
// graphs in which it is broken.
#pragma once
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "graph/builder.hpp"

namespace zellige::fuse::test {

using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::Shape;
using graph::TensorHandle;

/// A graph under construction, of random extents: m = a c rows, n = e f columns.
struct Draw {
  explicit Draw(unsigned seed) : b("g") {
    std::mt19937 random(seed);
    for (std::int64_t* extent : {&a, &c, &e, &f}) *extent = 2 + static_cast<std::int64_t>(random() % 4);
    m = a * c, n = e * f;
  }
  TensorHandle in(const char* name, Shape shape, DType dtype = DType::f32) {
    return b.input(name, std::move(shape), dtype);
  }
  TensorHandle x() { return in("x", {m, n}); }
  TensorHandle z() { return in("z", {m, n}); }

  Builder b;
  std::int64_t a = 0, c = 0, e = 0, f = 0, m = 0, n = 0;
};

/// A graph and the operators of what the row's stage makes of it.
struct Form {
  std::function<TensorHandle(Draw&)> body;
  std::string expected;
};
/// A row, with its condition true and false. On the inputs of `broken`, what the row makes of `valid` is different;
/// else `why_equal` says why no such graph shows that the condition is needed.
struct Case {
  std::string rule;
  Form valid, broken;
  std::string why_equal{};
};

// Why breaking a condition changes no value.
inline const std::string cost = "the condition is about cost",
                         shapes = "the operands or the result would have other shapes",
                         rounding = "the condition is about rounding or range, which equality leaves out";

/// Returns the cases of rows about views.
std::vector<Case> cases_of_views();
/// Returns the cases of all other rows.
std::vector<Case> cases_of_functions();

inline TensorHandle transposed(TensorHandle t) { return permute(t, {1, 0}); }

}  // namespace zellige::fuse::test
