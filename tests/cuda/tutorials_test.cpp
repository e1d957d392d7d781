// CuTe's tutorials with their own main, unchanged, as a user runs them with compat's headers. They are foreign:
// ZELLIGE_CUTE_TUTORIALS names the folder examples/cute/tutorial of a CUTLASS; without it there is nothing to run.
#include <cstdlib>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace {

/// A tutorial, its arguments (sizes of one or a few tiles), and what it has forgotten, which a GPU forgives: "" for nothing.
struct TutorialRun {
  const char* file;
  std::vector<std::string> arguments;
  const char* finds = "";
  bool takes_long = false;
};
void PrintTo(const TutorialRun& t, std::ostream* os) { *os << t.file; }

struct CuteTutorials : Command, testing::WithParamInterface<TutorialRun> {};

TEST_P(CuteTutorials, RunWithTheirOwnMain) {
  const char* const folder = std::getenv("ZELLIGE_CUTE_TUTORIALS");
  if (!folder)
    GTEST_SKIP()
        << "ZELLIGE_CUTE_TUTORIALS is not set: it names the folder examples/cute/tutorial of CUTLASS's sources";
  const TutorialRun& t = GetParam();
  const char* const all = std::getenv("ZELLIGE_ALL");
  if (t.takes_long && !(all && std::string_view(all) == "1")) GTEST_SKIP() << "takes long: ZELLIGE_ALL=1 runs it";
  std::vector<std::string> command = {"emulate", std::string(folder) + "/" + t.file, "-I",
                                      std::string(ZELLIGE_SOURCE_DIR) + "/compat", "--"};
  command.insert(command.end(), t.arguments.begin(), t.arguments.end());
  const zellige::system::Finished f = run(command);
  EXPECT_EQ(f.status, *t.finds ? 1 : 0) << f.output;
  EXPECT_EQ(f.output.find("no findings in ") == std::string::npos, *t.finds != 0) << f.output;
  EXPECT_NE(f.output.find(t.finds), std::string::npos) << f.output;
}
INSTANTIATE_TEST_SUITE_P(
    All, CuteTutorials,
    testing::Values(TutorialRun{"sgemm_1.cu", {"128", "128", "8"}}, TutorialRun{"sgemm_2.cu", {"128", "128", "8"}},
                    TutorialRun{"sgemm_sm80.cu", {"128", "128", "64", "T", "N"}},
                    TutorialRun{"hopper/wgmma_sm90.cu", {"128", "128", "128"}, "multiplies by wgmma bytes 0..16"},
                    TutorialRun{
                        "hopper/wgmma_tma_sm90.cu", {"256", "128", "64"}, "no fence_mbarrier_init followed", true}),
    [](const auto& i) {
      const std::string path = i.param.file;
      return path.substr(path.rfind('/') + 1, path.rfind('.') - path.rfind('/') - 1);
    });

}  // namespace
