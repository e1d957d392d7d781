// Headers are layered by compile time: the layout header includes no tensor, and neither includes the
// standard library except for the base of its exception.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace {

std::string included_by(std::string const& header) {
  std::string const command = "echo '#include <" + header +
                              ">' | " ZELLIGE_CXX " -std=c++20 -I " ZELLIGE_SOURCE_DIR "/include -x c++ -M - 2>&1";
  std::string text;
  std::FILE* out = popen(command.c_str(), "r");
  for (int c; (c = std::fgetc(out)) != EOF;) text += char(c);
  pclose(out);
  return text;
}

TEST(Headers, LayoutKnowsNoTensor) {
  std::string const text = included_by("zellige/layout.hpp");
  EXPECT_NE(text.find("zellige/layout/invoke.hpp"), std::string::npos) << text;
  EXPECT_EQ(text.find("zellige/tensor"), std::string::npos);
  for (char const* heavy : {"iostream", "c++/12/string", "c++/12/vector", "c++/12/tuple", "stdio"}) {
    EXPECT_EQ(text.find(heavy), std::string::npos) << heavy;
  }
}
TEST(Headers, TensorKnowsNoInstructionAndNoStream) {
  std::string const text = included_by("zellige/tensor.hpp");
  EXPECT_NE(text.find("zellige/tensor/algorithm.hpp"), std::string::npos) << text;
  for (char const* heavy : {"zellige/atom", "zellige/emulate", "ostream", "c++/12/vector", "stdio"}) {
    EXPECT_EQ(text.find(heavy), std::string::npos) << heavy;
  }
}
TEST(Headers, TheCoreKnowsNoAlgebra) {
  std::string const text = included_by("zellige/layout/composed.hpp");
  EXPECT_NE(text.find("zellige/layout/swizzle.hpp"), std::string::npos) << text;
  EXPECT_EQ(text.find("zellige/layout/algebra"), std::string::npos);
}

}  // namespace
