// What holds of a graph whose custom operators were written as operators.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/graph.hpp"
#include "graph/infer.hpp"
#include "json/json.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {

/// Returns the number of custom operators.
inline std::ptrdiff_t customs(const graph::KernelGraph& g) {
  return std::ranges::count(g.ops, graph::OpKind::custom, &graph::KernelOp::kind);
}

/// Expects that the graph `written` is valid, has fewer custom operators than `g`, and is not shown to differ from it. Returns whether
/// equality is undecided.
inline bool is_undecided(const graph::KernelGraph& g, const graph::KernelGraph& written, const char* name) {
  EXPECT_NO_THROW(graph::validate(written)) << g.name;
  EXPECT_LT(customs(written), customs(g)) << g.name;
  const search::Equality e = search::equal(g, written, {.given_sizes = false});
  EXPECT_NE(search::name(e.answer), "different")
      << search::describe(e, g.name, name) << json::to_json(g) << json::to_json(written);
  return e.answer == search::Answer::undecided;
}

}  // namespace zellige::fuse
