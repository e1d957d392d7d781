// Commands that tests run: a compiler on a unit that the test writes, with compat on the include path.
#pragma once
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

/// What a command printed, and the status with which it ended.
struct CommandResult {
  int status = 0;
  std::string text;
};
/// Runs a command of the shell to its end.
inline CommandResult run(std::string const& command) {
  CommandResult result;
  std::FILE* out = popen((command + " 2>&1").c_str(), "r");
  char line[4000];
  while (std::fgets(line, sizeof line, out) != nullptr) result.text += line;
  result.status = pclose(out);
  return result;
}

/// Arguments of a compiler that finds the headers of compat.
inline std::string const flags = " -std=c++20 -I " ZELLIGE_SOURCE_DIR "/compat -I " ZELLIGE_SOURCE_DIR "/include ";
/// Writes a source file of this name and text, and returns its path.
inline std::string file_of(std::string const& name, std::string const& text) {
  std::string const file = testing::TempDir() + "zellige_compat_" + name;
  std::ofstream(file) << text;
  return file;
}
