// Runs a compiler on source code and returns its messages, its output and its cost.
#pragma once
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace compile_test {

struct Compiled {
  int status = 0;
  int lines = 0;
  int errors = 0;
  std::string first_error;  // from "error: " on
  std::string output;
  double cpu_seconds = 0;
};

inline bool have_nvcc() {
  static bool const have = std::system("nvcc --version > /dev/null 2>&1") == 0;
  return have;
}
inline double children_cpu() {
  rusage r{};
  getrusage(RUSAGE_CHILDREN, &r);
  auto seconds = [](timeval t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return seconds(r.ru_utime) + seconds(r.ru_stime);
}
inline std::string scratch(std::string const& name) { return testing::TempDir() + "zellige_compile_" + name; }

/// `command` ends where the file's name comes.
inline Compiled run(std::string const& command, std::string const& name, std::string const& text) {
  std::string const file = scratch(name);
  std::ofstream(file) << text;
  double const before = children_cpu();
  std::FILE* out = popen((command + " " + file + " 2>&1").c_str(), "r");
  Compiled c;
  char line[8000];
  while (std::fgets(line, sizeof line, out) != nullptr) {
    ++c.lines;
    c.output += line;
    std::string const s = line;
    std::size_t const at = s.find("error: ");
    if (at != std::string::npos && c.errors++ == 0) c.first_error = s.substr(at);
  }
  c.status = pclose(out);
  c.cpu_seconds = children_cpu() - before;
  return c;
}
inline std::string const include_flag = " -I " ZELLIGE_SOURCE_DIR "/include ";
inline std::string const host = ZELLIGE_CXX " -std=c++20" + include_flag;
inline std::string const cuda = "nvcc -std=c++20 -arch=sm_90" + include_flag;

}  // namespace compile_test
