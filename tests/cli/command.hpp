// The executable as a user runs it: a cache of the test's own, stdout and stderr together.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "run/folder.hpp"
#include "system/process.hpp"

struct Command : testing::Test {
  Command() { setenv("ZELLIGE_CACHE", (folder / "cache").c_str(), 1); }

  zellige::system::Finished run(std::vector<std::string> words) {
    words.insert(words.begin(), ZELLIGE_EXECUTABLE);
    return zellige::system::run_process(words);
  }
  /// That the command ends with a status and prints exactly that.
  void expect(const std::vector<std::string>& words, int status, const std::string& output) {
    const zellige::system::Finished f = run(words);
    EXPECT_EQ(f.status, status) << f.output;
    EXPECT_EQ(f.output, output);
  }
  std::string path(const std::string& name) const { return (folder / name).string(); }

  Folder folder;
};
