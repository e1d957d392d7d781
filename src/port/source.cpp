#include "port/source.hpp"

#include <cctype>

namespace zellige::port {
namespace {

/// Reads a source into its tokens.
class TokenReader {
 public:
  explicit TokenReader(Source& s) : s_(s), text_(*s.text) {}

  void read() {
    bool begins_line = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        step(1);
        begins_line = true;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        step(1);
      } else if (follows("//")) {
        skip_line();
      } else if (follows("/*")) {
        skip_through("*/");
      } else if (c == '#' && begins_line) {
        directive();
      } else {
        begins_line = false;
        token();
      }
    }
  }

 private:
  /// Returns whether the source continues with `what` at the current position.
  bool follows(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  /// Advances by n characters, and counts the lines.
  void step(std::size_t n) {
    for (; n > 0 && at_ < text_.size(); --n) line_ += text_[at_++] == '\n';
  }
  /// Advances to the position after the next `end`, or to the end of the source if there is none.
  void skip_through(std::string_view end) {
    const std::size_t found = text_.find(end, at_ + 1);
    step(found == std::string_view::npos ? text_.size() - at_ : found + end.size() - at_);
  }
  /// Advances to the end of the line. A line that ends with a backslash continues on the next line.
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') step(text_[at_] == '\\' ? 2 : 1);
  }
  /// Reads a preprocessor directive. Records it if it is an #include.
  void directive() {
    const int line = line_;
    const std::size_t begin = at_;
    skip_line();
    std::string_view line_text = text_.substr(begin + 1, at_ - begin - 1);
    const std::size_t word = line_text.find_first_not_of(" \t");
    if (word == std::string_view::npos || line_text.substr(word, 7) != "include") return;
    const std::size_t open = line_text.find_first_of("<\"", word + 7);
    if (open == std::string_view::npos) return;
    const std::size_t close = line_text.find(line_text[open] == '<' ? '>' : '"', open + 1);
    if (close != std::string_view::npos)
      s_.includes.push_back({std::string(line_text.substr(open + 1, close - open - 1)), line});
  }
  /// Skips a string or character literal that begins and ends with `quote`.
  void literal(char quote) {
    step(1);
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') step(text_[at_] == '\\' ? 2 : 1);
    step(1);
  }
  /// Skips a raw string literal R"mark( ... )mark". The current position is at its first quote.
  void raw_literal() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return step(text_.size() - at_);
    skip_through(")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"");
  }
  /// Reads one token and records it, or skips one literal.
  void token() {
    const auto part = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    const std::size_t begin = at_;
    const int line = line_;
    if (text_[at_] == '"' || text_[at_] == '\'') return literal(text_[at_]);
    std::size_t length = 1;
    if (part(text_[at_])) {
      const bool number = std::isdigit(static_cast<unsigned char>(text_[at_]));
      while (at_ + length < text_.size() &&
             (part(text_[at_ + length]) || (number && (text_[at_ + length] == '\'' || text_[at_ + length] == '.'))))
        ++length;
    } else if (follows("::") || follows("->")) {
      length = 2;
    }
    const std::string_view word = text_.substr(begin, length);
    step(length);
    if (at_ < text_.size() && text_[at_] == '"' && (word == "R" || word == "u8R" || word == "LR")) return raw_literal();
    s_.tokens.push_back({word, line});
  }

  Source& s_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

Source read_source(std::string text) {
  Source s;
  s.text = std::make_shared<const std::string>(std::move(text));
  TokenReader(s).read();
  return s;
}

}  // namespace zellige::port
