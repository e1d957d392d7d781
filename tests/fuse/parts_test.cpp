// The fusion of parts of other models (examples/parts): the number of kernels; tests/fuse/golden/parts.txt. By default every
// third part; ZELLIGE_ALL=1 takes all.
#include <gtest/gtest.h>

#include <ctime>
#include <sstream>

#include "../all_cases.hpp"
#include "fuse/fuse.hpp"
#include "json/json.hpp"
#include "plan/golden.hpp"

namespace zellige::fuse {
namespace {

TEST(FuseParts, AreFewKernels) {
  const std::string path = fmt::format("{}/tests/fuse/golden/parts.txt", ZELLIGE_SOURCE_DIR);
  std::string text, expected;
  std::istringstream golden(updating_goldens() ? "" : read_file(path));
  const std::size_t step = updating_goldens() ? 1 : test::every(3);
  std::size_t part = 0;
  for (const char* file : {"attention", "cross", "decode", "experts", "mlp", "norms", "projections"})
    for (const graph::KernelGraph& g : json::load(fmt::format("{}/examples/parts/{}.json", ZELLIGE_SOURCE_DIR, file))) {
      if (g.name.ends_with("_b8")) continue;
      std::string line;
      std::getline(golden, line);
      if (part++ % step != 0) continue;
      expected += line + "\n";
      const std::clock_t start = std::clock();  // CPU time: other tests run concurrently
      int kernels = 0;
      for (const FusedKernel& k : optimize(g, target::find("sm_90a")).kernels) kernels += k.parts;
      EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 10) << g.name;
      text += fmt::format("{} {}\n", g.name, kernels);
    }
  if (updating_goldens()) return write_file(path, text);
  EXPECT_EQ(text, expected) << path << "; where the change is meant, ZELLIGE_UPDATE_GOLDENS=1";
  EXPECT_TRUE(golden.peek() == std::istringstream::traits_type::eof()) << path << " has more parts";
}

}  // namespace
}  // namespace zellige::fuse
