// --tiling and --tune on the command line.
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "system/files.hpp"

namespace {

const std::string graph = std::string(ZELLIGE_SOURCE_DIR) + "/examples/rmsnorm.json";

nlohmann::json tiling_of(const std::string& manifest) {
  return nlohmann::json::parse(zellige::system::read_whole(manifest))["tiling"];
}

TEST_F(Command, TilingsAreRecordedAndReplayed) {
  const auto transpile = [&](const std::string& tiling, const std::string& to) {
    const auto f = run({"transpile", graph, "--target", "sm_90a", "--tiling", tiling, "-o", path(to)});
    EXPECT_EQ(f.status, 0) << f.output;
    return f.output.substr(f.output.find('\n') + 1, f.output.rfind('\n') - f.output.find('\n') - 1);
  };
  const std::string given = transpile("given", "given"), selected = transpile("chosen", "chosen");
  nlohmann::json list = tiling_of(given);
  ASSERT_EQ(list.size(), 1u);
  // From a manifest, and from its list alone; with half the number of blocks.
  EXPECT_EQ(tiling_of(transpile(selected, "again")), tiling_of(selected));
  list[0]["grid"][0] = list[0]["grid"][0].get<int>() / 2;
  zellige::system::write_whole(path("half.json"), list.dump());
  const std::string half = transpile(path("half.json"), "half");
  EXPECT_EQ(tiling_of(half), list);
  EXPECT_EQ(nlohmann::json::parse(zellige::system::read_whole(half))["kernels"][0]["grid"][0], list[0]["grid"][0]);
}

TEST_F(Command, TilingsThatAreNoneAreRefused) {
  expect({"transpile", graph, "--tiling", path("nowhere")}, 2,
         "zellige: " + path("nowhere") + ": cannot be read: No such file or directory\n");
  zellige::system::write_whole(path("empty.json"), "[]");
  expect({"transpile", graph, "--tiling", path("empty.json"), "-o", path("out")}, 2,
         "zellige: graph rmsnorm[0]: expected a tiling of its custom operators (0), found one of none\n");
  expect({"run", graph, "--on", "emulator", "--tune", "4"}, 2,
         "zellige: --tune: needs a GPU; this runs on the emulator\n");
  expect({"run", graph, "--tune", "0"}, 2,
         "zellige: --tune: expected an integer from 1 to 1000, found 0 (zellige run --help shows the usage)\n");
}

}  // namespace
