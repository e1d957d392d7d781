#include "strings/shown.hpp"

#include <fmt/format.h>

namespace zellige::strings {
namespace {

/// A UTF-8 character at the beginning of a string.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: the string does not begin with a valid character
};

/// Returns the first UTF-8 character of `text`, which must not be empty.
Character first(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t minimum[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < minimum[bytes] || code > 0x10ffff || surrogate) return {};
  return {code, bytes};
}

/// Returns whether a terminal may interpret the character instead of showing it: a control character, a
/// bidirectional control or a line separator.
bool obeyed(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool bidirectional =
      c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return control || bidirectional || c == 0x2028 || c == 0x2029 || c == 0xfeff;
}

/// Returns the text with control characters and invalid bytes escaped, except newlines and tabs if `lines`.
std::string escaped(std::string_view text, bool lines) {
  std::string all;
  while (!text.empty()) {
    const Character c = first(text);
    const std::size_t bytes = c.bytes ? c.bytes : 1;
    if (c.bytes == 0)
      all += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (!obeyed(c.code) || (lines && (c.code == '\n' || c.code == '\t')))
      all += text.substr(0, bytes);
    else if (c.code == '\n' || c.code == '\t')
      all += c.code == '\n' ? "\\n" : "\\t";
    else
      all += c.code < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(c.code))
                           : fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
    text.remove_prefix(bytes);
  }
  return all;
}

}  // namespace

std::size_t first_not_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t bytes = first(text.substr(at)).bytes;
    if (bytes == 0) return at;
    at += bytes;
  }
  return text.npos;
}

std::string shown(std::string_view text) { return escaped(text, false); }
std::string shown_lines(std::string_view text) { return escaped(text, true); }

}  // namespace zellige::strings
