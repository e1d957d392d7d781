#include "strings/shown.hpp"

#include <gtest/gtest.h>

namespace zellige::strings {
namespace {

TEST(Shown, ControlCharactersAreEscapedAndTextIsNot) {
  EXPECT_EQ(shown("a/b c-ü-語-🙂.json"), "a/b c-ü-語-🙂.json");
  EXPECT_EQ(shown("\x1b[31mred\x1b[0m\a"), "\\x1b[31mred\\x1b[0m\\x07");
  EXPECT_EQ(shown("a\nzellige: b\tc\r\x7f"), "a\\nzellige: b\\tc\\x0d\\x7f");
  EXPECT_EQ(shown("\xc2\x9b"
                  "31m"),
            "\\u009b31m")
      << "the control sequence introducer in one character";
  EXPECT_EQ(shown("gpj.\u202etxt\u2066\u2028"), "gpj.\\u202etxt\\u2066\\u2028");
  EXPECT_EQ(shown("back\\slash"), "back\\slash");
  EXPECT_EQ(shown_lines("a\n\tb\x1b"), "a\n\tb\\x1b");
}

TEST(Shown, BytesThatAreNoTextAreEscaped) {
  EXPECT_EQ(shown("\x9b"
                  "31m"),
            "\\x9b31m")
      << "the introducer to a terminal of one byte a character";
  EXPECT_EQ(shown("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(shown("\xc0\x9b"), "\\xc0\\x9b") << "an overlong form";
  EXPECT_EQ(shown("\xe0\x80\x9b\xed\xa0\x80\xf4\x90\x80\x80"), "\\xe0\\x80\\x9b\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
}

/// For every string of up to three bytes: no terminal control remains, and other characters are unchanged.
TEST(Shown, NothingThatATerminalObeysIsLeft) {
  const auto clean = [](const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte < 0x20 || byte == 0x7f) return false;
      if (byte >= 0x80 && byte < 0xa0 && (i == 0 || static_cast<unsigned char>(text[i - 1]) < 0x80)) return false;
      if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) return false;
    }
    return true;
  };
  for (unsigned first = 0; first < 256; ++first)
    for (unsigned second = 0; second < 256; ++second)
      for (const unsigned third : {0u, 0x1bu, 0x41u, 0x80u, 0x9bu, 0xa0u, 0xbfu, 0xc2u, 0xffu}) {
        const std::string text{static_cast<char>(first), static_cast<char>(second), static_cast<char>(third)};
        const std::string found = shown(text);
        ASSERT_TRUE(clean(found)) << first << " " << second << " " << third;
        ASSERT_EQ(shown(found), found);
      }
}

}  // namespace
}  // namespace zellige::strings
