#include "golden.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

bool updating_goldens() {
  const char* update = std::getenv("ZELLIGE_UPDATE_GOLDENS");
  return update && *update == '1';
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  ASSERT_TRUE(file.flush().good()) << "cannot write " << path;
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = ZELLIGE_SOURCE_DIR "/tests/plan/golden/" + name;
  if (updating_goldens()) return write_file(path, text);
  ASSERT_TRUE(std::ifstream(path).good()) << "no golden file " << path << "; tests/plan/golden.sh --update writes it";
  EXPECT_EQ(read_file(path), text) << "in " << path << "; where the change is meant, tests/plan/golden.sh --update";
}
