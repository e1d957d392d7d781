// Random retilings of random graphs: an accepted one computes the same, over real numbers and with all
// roundings.
#include "retile/retile.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "graph/builder.hpp"
#include "random_block.hpp"
#include "reference/compare.hpp"
#include "reference/reference.hpp"
#include "search/equal.hpp"

namespace zellige::retile::test {
namespace {

using graph::KernelGraph;
using reference::Array;

std::vector<Array> inputs_of(const KernelGraph& g, std::uint64_t seed) {
  random_graphs::Rng rng(seed);
  std::vector<Array> arrays;
  for (int t : g.inputs) {
    Array a = reference::make_array(g.tensors[t].shape);
    // Rows differ in magnitude: a factor of the wrong row shows.
    const std::int64_t columns = a.shape.back();
    for (std::size_t i = 0; i < a.values.size(); ++i)
      a.values[i] = static_cast<double>(rng.between(-512, 512)) / 512 *
                    static_cast<double>(1 + static_cast<std::int64_t>(i) / columns % 3);
    arrays.push_back(std::move(a));
  }
  return arrays;
}

bool same_dtypes(const KernelGraph& a, const KernelGraph& b) {
  for (std::size_t t = 0; t < a.tensors.size(); ++t)
    if (a.tensors[t].dtype != b.tensors[t].dtype) return false;
  return true;
}

TEST(Retile, KeepsWhatRandomGraphsCompute) {
  const char* more = std::getenv("ZELLIGE_RANDOM_RETILINGS");
  const int graphs = more ? std::atoi(more) : 1500;
  int taken = 0, refused = 0, widened = 0, loops = 0, proved = 0;
  for (int seed = 1; seed <= graphs; ++seed) {
    const KernelGraph g = random_blocks(static_cast<std::uint64_t>(seed));
    random_graphs::Rng rng(static_cast<std::uint64_t>(seed) + 77777);
    for (int tries = 0; tries < 6; ++tries) {
      const Tiling tiling = random_tiling(g, rng);
      if (tiling == tiling_of(g)) continue;
      KernelGraph h;
      try {
        h = retile(g, tiling);
      } catch (const Error&) {
        ++refused;
        continue;
      }
      ++taken;
      ASSERT_EQ(tiling_of(h), tiling);
      for (std::size_t i = 0; i < tiling.size(); ++i) loops += tiling[i].loop != tiling_of(g)[i].loop;
      const std::vector<Array> inputs = inputs_of(g, rng.next());
      const auto exact = [&](const KernelGraph& graph) {
        return reference::run_reference(graph, inputs, {.round = false, .threads = 1});
      };
      const std::vector<Array> a = exact(g), b = exact(h);
      for (std::size_t o = 0; o < a.size(); ++o) {
        ASSERT_EQ(a[o].shape, b[o].shape);
        const reference::Comparison c = reference::compare(b[o], a[o], graph::DType::f32);
        EXPECT_LT(c.norm_error, 1e-11) << g.name << " to " << print(tiling);
      }
      // With roundings: the same numbers, except for an ulp where additions in another order round
      // differently. Partial results are no longer rounded, which shows where they were.
      const bool wide = !same_dtypes(g, h);
      widened += wide;
      const KernelGraph back = wide ? retile(h, tiling_of(g)) : g;
      const std::vector<Array> c = reference::run_reference(back, inputs, {.threads = 1}),
                               d = reference::run_reference(h, inputs, {.threads = 1});
      for (std::size_t o = 0; o < c.size(); ++o)
        EXPECT_LT(reference::compare(d[o], c[o], graph::DType::f32).norm_error, 3e-5)
            << g.name << " to " << print(tiling);
      if (taken % 20 == 0) {
        const search::Equality e = search::equal(g, h);
        EXPECT_NE(e.answer, search::Answer::different) << g.name << " to " << print(tiling) << ": " << e.why;
        proved += e.answer == search::Answer::equal;
      }
    }
  }
  std::printf("%d retilings equal (%d change a loop, %d widen partial results, %d proved by fields), %d refused\n",
              taken, loops, widened, proved, refused);
  EXPECT_GT(taken, graphs / 2);
  EXPECT_GT(widened, graphs / 100);
  EXPECT_GT(loops, graphs / 10);
}

}  // namespace
}  // namespace zellige::retile::test
