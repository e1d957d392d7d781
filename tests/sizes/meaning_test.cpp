// What a program with sizes is at values of them, interpreted, is what the graph of these values says. Cases of every kind of
// dimension, fused and with a kernel for each operator.
#include <gtest/gtest.h>

#include "cases.hpp"
#include "fuse/fuse.hpp"
#include "fuse/separate.hpp"
#include "graph/error.hpp"
#include "interpret/difference.hpp"
#include "plan/plan.hpp"
#include "reference/inputs.hpp"
#include "tile/at_sizes.hpp"

namespace zellige::tile {
namespace {

using test::SizedCase;

/// Returns the sizes with the program's tensors in place of the inputs' indices.
SizeList of_program(const SizedCase& c, const graph::KernelGraph& g) {
  SizeList sizes = c.sizes;
  for (Size& s : sizes)
    for (auto& [tensor, dim] : s.of) tensor = g.inputs[static_cast<std::size_t>(tensor)];
  return sizes;
}

SizeValues largest(const SizeList& sizes) {
  SizeValues all;
  for (const Size& s : sizes)
    if (!s.computed) all.push_back(s.high);
  return all;
}

TilePrograms sized(const SizedCase& c, const char* target_name, bool fused) {
  const target::Target& target = target::find(target_name);
  const graph::KernelGraph given = c.graph(largest(c.sizes));
  const graph::KernelGraph g = fused ? fuse::optimize(given, target).graph : fuse::separate(given, target);
  plan::Selected s = plan::selected(plan::lowered(g, target, of_program(c, g)), target);
  TilePrograms p = s.plan.program;
  p.kernels.clear();
  for (selection::Selection& kernel : s.kernels) p.kernels.push_back(std::move(kernel.program));
  return p;
}

TEST(Sizes, ProgramsAtValuesComputeTheGraphsOfTheseValues) {
  std::string refused;
  for (const SizedCase& c : test::sized_cases())
    for (const bool fused : {true, false}) {
      TilePrograms p;
      try {
        p = sized(c, "sm_80", fused);
      } catch (const Fault&) {
        throw;
      } catch (const Error& e) {
        refused += fmt::format("{}{}: {}\n", c.name, fused ? ", fused" : "", e.what());
        continue;
      }
      for (const SizeValues& values : test::sampled(c.sizes, 10, 60)) {
        const graph::KernelGraph g = c.graph(values);
        const TilePrograms at = at_sizes(p, values);
        const auto found = interpret::difference(at, g, reference::random_inputs(g, 1).arrays);
        EXPECT_FALSE(found) << c.name << (fused ? ", fused" : "") << " at " << graph::to_string(values) << ": "
                            << found->text(at);
        if (found) {
          for (int t = 0; t < static_cast<int>(p.tensors.size()); ++t) {
            fmt::print("{} {}", t, p.tensors[t].name);
            for (int d = 0; d < static_cast<int>(p.tensors[t].shape.size()); ++d) fmt::print(" {}:{}", p.extent(t, d).text(), p.stride(t, d).text());
            fmt::print("\n");
          }
          for (const TileProgram& k : p.kernels) {
            fmt::print("kernel grid {} {} {} loop {}\n", k.grid.x, k.grid.y, k.grid.z, k.loop);
            for (const Node& n : k.nodes) {
              fmt::print("  {} {} in {} {} t{} len {} cnt {}", name(n.kind), graph::name(n.op), fmt::join(n.in, ","), graph::to_string(n.shape), n.tensor, n.length_size, n.count_size);
              for (const Cut& c : n.view.cuts) fmt::print(" [axis {} div {} mod {} loop {} tile {} extent {} size {} over {}]", c.axis, c.div, c.mod, c.loop, c.tile, c.extent, c.size, c.overhang);
              fmt::print("\n");
            }
          }
          break;
        }
      }
    }
  EXPECT_EQ(refused, "");
}

}  // namespace
}  // namespace zellige::tile
