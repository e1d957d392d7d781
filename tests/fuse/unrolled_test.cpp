// An unrolled loop whose steps have separate rows: its steps are equal, wherever their rows begin.
#include <gtest/gtest.h>

#include <array>

#include "fuse/fuse.hpp"
#include "graph/builder.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::TensorHandle;

/// A scan as models of states have it: h = a[t] h + b[t]; y[t] = h c[t].
graph::KernelGraph scan(std::int64_t steps) {
  constexpr std::int64_t channels = 256, states = 16;
  Builder b("scan");
  const TensorHandle a = b.input("a", {steps, channels, states}), x = b.input("b", {steps, channels, states}),
                     c = b.input("c", {steps, states});
  TensorHandle h = b.input("h", {channels, states});
  const auto row = [&](const TensorHandle& t, std::int64_t step, graph::Shape shape) {
    return reshape(slice(t, 0, step, step + 1), std::move(shape));
  };
  for (std::int64_t step = 0; step < steps; ++step) {
    h = row(a, step, {channels, states}) * h + row(x, step, {channels, states});
    b.output(matmul(h, row(c, step, {states, 1})), "y" + std::to_string(step));
  }
  return b.build();
}

TEST(Unrolled, StepsAreEqualWhereverTheirRowsBegin) {
  std::array<SearchWork, 3> of;
  for (std::size_t i = 0; i < of.size(); ++i) {
    of[i] = optimize(scan(std::int64_t{8} << i), target::find("sm_90a")).work;
    fmt::print("{} steps: {} groups, {} kinds, {} plans, {} states\n", 8 << i, of[i].groups, of[i].kinds, of[i].plans,
               of[i].states);
  }
  const auto more = [](std::size_t few, std::size_t many) { return many - std::min(few, many); };
  EXPECT_LE(more(of[1].kinds, of[2].kinds), of[1].kinds / 5) << "the last steps' kinds alone are others";
  for (const SearchWork& w : of) EXPECT_LE(w.plans, 200u);  // 16 for each kind of a single operator and four more
  EXPECT_LE(of[2].groups, of[1].groups + 2 * more(of[0].groups, of[1].groups) + of[1].groups / 10);
  EXPECT_LE(of[2].states, of[1].states + 2 * more(of[0].states, of[1].states) + of[1].states / 10);
}

}  // namespace
}  // namespace zellige::fuse
