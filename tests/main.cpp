// The main function of every GoogleTest program: temporary files are in a folder per process, so that
// concurrent runs do not conflict, and a filter that matches no test fails.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "run/folder.hpp"

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  const Folder own;
  std::filesystem::permissions(own.path, std::filesystem::perms(0755));  // a test may go on as another user
  for (const char* variable : {"TMPDIR", "TEST_TMPDIR"}) setenv(variable, own.path.c_str(), 1);
  const int failed = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() > 0 || testing::GTEST_FLAG(list_tests))
    return failed;
  std::fputs("no test: the filter matches none\n", stderr);
  return 1;
}
