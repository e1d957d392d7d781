// --json, --sarif and --counts of `zellige emulate`, and what goes where.
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command.hpp"

namespace {

// A race at line 4; a column of shared memory is read with conflicts of 32.
constexpr const char* source = R"(#include <cstdio>
__global__ void column(float* y) {
  __shared__ float s[32][32];
  for (int i = 0; i < 32; ++i) s[i][threadIdx.x] = i;
  y[threadIdx.x] = s[threadIdx.x][0];
}
int main(int argc, char** argv) {
  float* y;
  cudaMalloc(&y, 32 * sizeof(float));
  column<<<1, 32>>>(y);
  std::printf("hello %s\n", argc > 1 ? argv[1] : "nobody");
}
)";

struct EmulateOutputs : Command {
  EmulateOutputs() { std::ofstream(path("k.cu")) << source; }
};

TEST_F(EmulateOutputs, JsonIsAloneOnStdout) {
  const std::string out = path("out");
  const std::string command =
      std::string(ZELLIGE_EXECUTABLE) + " emulate --json " + path("k.cu") + " -- you > " + out + " 2> " + path("err");
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  std::stringstream text, other;
  text << std::ifstream(out).rdbuf();
  other << std::ifstream(path("err")).rdbuf();
  const auto json = nlohmann::json::parse(text.str());
  EXPECT_EQ(json["launches"], 1);
  ASSERT_FALSE(json["findings"].empty());
  EXPECT_EQ(json["findings"].back()["kind"], "race");
  EXPECT_EQ(json["findings"].back()["kernel"], "column");
  EXPECT_EQ(json["findings"].back()["lines"], (std::vector<std::string>{"k.cu:5", "k.cu:4"}));
  EXPECT_NE(other.str().find("hello you"), std::string::npos);
}

TEST_F(EmulateOutputs, SarifHasTheLinesOfEachFinding) {
  EXPECT_EQ(run({"emulate", "--sarif", path("r.sarif"), path("k.cu")}).status, 1);
  const auto sarif = nlohmann::json::parse(std::ifstream(path("r.sarif")));
  EXPECT_EQ(sarif["version"], "2.1.0");
  const auto& result = sarif["runs"][0]["results"].back();
  EXPECT_EQ(result["ruleId"], "race");
  const auto& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], path("k.cu"));
  EXPECT_EQ(place["region"]["startLine"], 5);
  EXPECT_EQ(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 4);
}

TEST_F(EmulateOutputs, CountsHaveBankConflictsByLine) {
  const zellige::system::Finished f = run({"emulate", "--counts", path("k.cu")});
  EXPECT_NE(f.output.find("k.cu:5: shared loads of 4 bytes: 32 wavefronts, 1 would do, in 1 execution of a warp\n"),
            std::string::npos)
      << f.output;
}

}  // namespace
