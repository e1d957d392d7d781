#include "cuda/tokens.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace zellige::cuda {

namespace {

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

/// A position in a source, which moves over one token or comment after the other.
struct Scanner {
  std::string_view source;
  std::size_t at = 0;
  int line = 1;
  bool directive = false, fresh_line = true;

  void step(std::size_t to) {
    line += int(std::count(source.begin() + std::ptrdiff_t(at), source.begin() + std::ptrdiff_t(to), '\n'));
    at = to;
  }
  bool here(std::string_view what) const { return source.substr(at, what.size()) == what; }

  // Skips blanks and comments.
  void skip() {
    while (at < source.size()) {
      const char c = source[at];
      if (c == '\n') {
        const bool continued = at > 0 && source[at - 1] == '\\';
        if (!continued) directive = false, fresh_line = true;
        step(at + 1);
      } else if (std::isspace(static_cast<unsigned char>(c)) || c == '\\') {
        ++at;
      } else if (here("//")) {
        at = std::min(source.find('\n', at), source.size());
      } else if (here("/*")) {
        const std::size_t end = source.find("*/", at + 2);
        step(end == source.npos ? source.size() : end + 2);
      } else {
        return;
      }
    }
  }
  // Returns the end of the literal at `quote`, which is " or '.
  std::size_t literal_end(std::size_t quote) const {
    const char mark = source[quote];
    for (std::size_t i = quote + 1; i < source.size(); ++i) {
      if (source[i] == '\\')
        ++i;
      else if (source[i] == mark || source[i] == '\n')
        return i + 1;
    }
    return source.size();
  }
  // Returns the end of the raw string whose " is at `quote`.
  std::size_t raw_end(std::size_t quote) const {
    const std::size_t open = source.find('(', quote);
    if (open == source.npos) return source.size();
    const std::string close = ")" + std::string(source.substr(quote + 1, open - quote - 1)) + "\"";
    const std::size_t end = source.find(close, open);
    return end == source.npos ? source.size() : end + close.size();
  }
};

}  // namespace

std::vector<SourceToken> tokenize(std::string_view source) {
  std::vector<SourceToken> tokens;
  Scanner s{source};
  using Kind = SourceToken::Kind;
  for (s.skip(); s.at < source.size(); s.skip()) {
    const char c = source[s.at];
    if (c == '#' && s.fresh_line) s.directive = true;
    s.fresh_line = false;
    std::size_t end = s.at + 1;
    Kind kind = Kind::punctuation;
    if (starts_word(c)) {
      kind = Kind::word;
      while (end < source.size() && in_word(source[end])) ++end;
      const std::string_view word = source.substr(s.at, end - s.at);
      if (end < source.size() && source[end] == '"' && word.size() <= 3 && word.back() == 'R') {
        kind = Kind::literal;
        end = s.raw_end(end);
      } else if (end < source.size() && (source[end] == '"' || source[end] == '\'') &&
                 (word == "L" || word == "u8" || word == "u" || word == "U")) {
        kind = Kind::literal;
        end = s.literal_end(end);
      }
    } else if (std::isdigit(static_cast<unsigned char>(c)) ||
               (c == '.' && s.at + 1 < source.size() && std::isdigit(static_cast<unsigned char>(source[s.at + 1])))) {
      kind = Kind::number;
      while (end < source.size() && (in_word(source[end]) || source[end] == '.' || source[end] == '\'' ||
                                     ((source[end] == '+' || source[end] == '-') &&
                                      std::string_view("eEpP").find(source[end - 1]) != std::string_view::npos)))
        ++end;
    } else if (c == '"' || c == '\'') {
      kind = Kind::literal;
      end = s.literal_end(s.at);
    }
    tokens.push_back({kind, source.substr(s.at, end - s.at), s.at, s.line, s.directive});
    s.step(end);
  }
  return tokens;
}

std::size_t closing(const std::vector<SourceToken>& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const SourceToken& t = tokens[i];
    if (t.kind != SourceToken::Kind::punctuation) continue;
    if (t.is("(") || t.is("[") || t.is("{")) ++depth;
    if ((t.is(")") || t.is("]") || t.is("}")) && --depth == 0) return i;
  }
  return tokens.size();
}

std::size_t opening(const std::vector<SourceToken>& tokens, std::size_t close) {
  const bool angle = tokens[close].is(">");
  int depth = 0, angles = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    const SourceToken& t = tokens[i];
    if (t.kind != SourceToken::Kind::punctuation) continue;
    if (t.is(")") || t.is("]") || t.is("}")) ++depth;
    if (t.is("(") || t.is("[") || t.is("{")) {
      if (--depth == 0 && !angle) return i;
      if (depth < 0) break;
    }
    if (!angle || depth) continue;
    if (t.is(";")) break;
    if (t.is(">")) ++angles;
    if (t.is("<") && --angles == 0) return i;
  }
  return tokens.size();
}

}  // namespace zellige::cuda
