#include "strings/identifier.hpp"

#include <gtest/gtest.h>

#include <string>

namespace zellige::strings {
namespace {

TEST(Identifier, IsPrintableAsciiWithoutBlanksQuotesAndBackslashes) {
  for (int c = 0; c < 256; ++c) {
    const std::string name(1, static_cast<char>(c));
    const bool allowed = c >= '!' && c <= '~' && name.find_first_of("\"\\") == name.npos;
    EXPECT_EQ(is_identifier(name), allowed) << c;
    EXPECT_EQ(is_identifier("x" + name + "y"), allowed) << c;
  }
}

TEST(Identifier, Has1To200Characters) {
  EXPECT_FALSE(is_identifier(""));
  EXPECT_TRUE(is_identifier(std::string(200, 'x')));
  EXPECT_FALSE(is_identifier(std::string(201, 'x')));
}

}  // namespace
}  // namespace zellige::strings
