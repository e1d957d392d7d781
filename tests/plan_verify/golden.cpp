#include "golden.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = ZELLIGE_SOURCE_DIR "/tests/plan_verify/golden/" + name;
  if (const char* update = std::getenv("ZELLIGE_UPDATE_GOLDENS"); update && *update == '1') {
    std::ofstream file(path, std::ios::binary);
    file << text;
    ASSERT_TRUE(file.flush().good()) << "cannot write " << path;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.good()) << "no golden file " << path << "; ZELLIGE_UPDATE_GOLDENS=1 writes it";
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(expected, text) << "in " << path;
}
