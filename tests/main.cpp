// The main function of every GoogleTest program: temporary files are in a folder per process, so that
// concurrent runs do not conflict, and a filter that matches no test fails. Without a filter, suites that
// tests/suite/sampled.txt names are sampled; ZELLIGE_ALL=1 takes all of them.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "all_cases.hpp"
#include "run/folder.hpp"
#include "sampled.hpp"

namespace {

void take_sample(const char* path) {
  std::ifstream rows(ZELLIGE_SAMPLED);
  if (!rows) throw std::invalid_argument("it cannot be read");
  testing::GTEST_FLAG(filter) =
      zellige::test::sample_filter(std::filesystem::path(path).filename(), zellige::test::sampled_suites(rows));
}

}  // namespace

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  if (!zellige::test::all_cases()) {
    try {
      if (testing::GTEST_FLAG(filter) == "*" && !testing::GTEST_FLAG(list_tests)) take_sample(arguments[0]);
    } catch (const std::invalid_argument& e) {
      std::fprintf(stderr, "%s: %s\n", ZELLIGE_SAMPLED, e.what());
      return 1;
    }
  }
  const Folder own;
  std::filesystem::permissions(own.path, std::filesystem::perms(0755));  // a test may go on as another user
  for (const char* variable : {"TMPDIR", "TEST_TMPDIR"}) setenv(variable, own.path.c_str(), 1);
  const int failed = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() > 0 || testing::GTEST_FLAG(list_tests)) return failed;
  std::fputs("no test: the filter matches none\n", stderr);
  return 1;
}
