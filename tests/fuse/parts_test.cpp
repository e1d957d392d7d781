// The fusion of parts of other models (examples/parts): the kernels, with the operators of each;
// tests/fuse/golden/parts.txt.
#include <gtest/gtest.h>

#include <ctime>

#include "fuse/fuse.hpp"
#include "graph/load.hpp"
#include "plan/golden.hpp"

namespace zellige::fuse {
namespace {

TEST(FuseParts, AreFewKernels) {
  std::string text;
  for (const char* file : {"attention", "cross", "decode", "experts", "mlp", "norms", "projections"})
    for (const graph::KernelGraph& g :
         graph::load(fmt::format("{}/examples/parts/{}.json", ZELLIGE_SOURCE_DIR, file))) {
      if (g.name.ends_with("_b8")) continue;
      const std::clock_t start = std::clock();  // CPU time: other tests run concurrently
      int kernels = 0;
      for (const FusedKernel& k : optimize(g, target::find("sm_90a")).kernels) kernels += k.parts;
      EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 10) << g.name;
      text += fmt::format("{} {}\n", g.name, kernels);
    }
  const std::string path = fmt::format("{}/tests/fuse/golden/parts.txt", ZELLIGE_SOURCE_DIR);
  if (updating_goldens()) return write_file(path, text);
  EXPECT_EQ(text, read_file(path)) << path << "; where the change is meant, ZELLIGE_UPDATE_GOLDENS=1";
}

}  // namespace
}  // namespace zellige::fuse
