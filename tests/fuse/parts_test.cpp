// What becomes of the parts of other models (examples/parts): how many kernels, of the operators of each; tests/fuse/golden/parts.txt.
#include <gtest/gtest.h>

#include <chrono>

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
      const auto start = std::chrono::steady_clock::now();
      int kernels = 0;
      for (const FusedKernel& k : optimize(g, target::find("sm_90a")).kernels) kernels += k.parts;
      EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 10)
          << g.name;
      text += fmt::format("{} {}\n", g.name, kernels);
    }
  const std::string path = fmt::format("{}/tests/fuse/golden/parts.txt", ZELLIGE_SOURCE_DIR);
  if (updating_goldens()) return write_file(path, text);
  EXPECT_EQ(text, read_file(path)) << path << "; where the change is meant, ZELLIGE_UPDATE_GOLDENS=1";
}

}  // namespace
}  // namespace zellige::fuse
