#include "emit/names.hpp"

#include <fmt/format.h>

#include "tile/identifier.hpp"

namespace zellige::emit {
namespace {

/// Returns the character as an escape sequence of three octal digits. The sequence always has three digits,
/// so that a digit that follows in the string does not become part of it.
std::string octal(char c) { return fmt::format("\\{:03o}", static_cast<unsigned char>(c)); }

}  // namespace

std::string Names::form(char letter, const std::string& name) {
  const auto [at, fresh] = stem_.try_emplace(name);
  std::string& stem = at->second;
  if (fresh) {
    const std::string identifier = tile::identifier(name), base = identifier.empty() ? "t" : identifier;
    stem = base;
    for (int& number = next_.try_emplace(base, 2).first->second; !taken_.insert(stem).second; ++number)
      stem = fmt::format("{}_{}", base, number);
  }
  const bool capital = stem[0] >= 'A' && stem[0] <= 'Z';
  return fmt::format("{}{}{}", letter, capital ? "" : "_", stem);
}

bool Names::is_formed(std::string_view identifier) {
  return identifier.size() > 1 && std::string_view("pgsmn").find(identifier[0]) != std::string_view::npos &&
         (identifier[1] == '_' || (identifier[1] >= 'A' && identifier[1] <= 'Z'));
}

std::string printable(const std::string& name) {
  std::string text = name;
  for (char& c : text)
    if (c < ' ' || c > '~' || c == '"' || c == '\\') c = '?';
  for (std::size_t i = 1; i < text.size(); ++i)
    if (text[i - 1] == '?' && text[i] == '?') text[i] = '_';
  return text;
}

std::string in_literal(std::string_view text) {
  std::string all;
  for (const char c : text)
    if (c == '"' || c == '\\' || c == '?')
      all += {'\\', c};
    else if (c < ' ' || c > '~')
      all += octal(c);
    else
      all += c;
  return all;
}

std::string in_assembler(std::string_view text) {
  std::string all;
  for (const char c : text) {
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    all += allowed || c == '/' || c == '.' || c == '-' || c == '_' ? std::string(1, c) : octal(c);
  }
  return all;
}

}  // namespace zellige::emit
