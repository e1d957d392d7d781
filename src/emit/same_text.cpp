#include "emit/same_text.hpp"

#include <fmt/format.h>

#include <cctype>
#include <map>

#include "emit/names.hpp"

namespace zellige::emit {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns the position after the closing quotation mark of the string literal that begins at `at`.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

}  // namespace

std::string unnamed(std::string_view kernel, std::string_view function) {
  std::string result;
  std::map<std::string_view, std::size_t> numbers;
  for (std::size_t at = 0; at < kernel.size();) {
    std::size_t end = at + 1;
    if (kernel.substr(at, 2) == "//") {
      at = std::min(kernel.find('\n', at), kernel.size());
      continue;
    }
    if (kernel[at] == '"') {
      end = end_of_literal(kernel, at);
      // shared_tile<...>("x", ...), and of a ring {"x", "w"}
      const bool of_a_tile = result.ends_with(">(") || result.ends_with('{') || result.ends_with("\"\", ");
      result += of_a_tile ? "\"\"" : kernel.substr(at, end - at);
    } else if (in_word(kernel[at])) {
      while (end < kernel.size() && in_word(kernel[end])) ++end;
      const std::string_view word = kernel.substr(at, end - at);
      if (word == function)
        result += "$";
      else if (Names::is_formed(word))
        result += fmt::format("${}", numbers.try_emplace(word, numbers.size()).first->second);
      else
        result += word;
    } else {
      result += kernel[at];
    }
    at = end;
  }
  return result;
}

}  // namespace zellige::emit
