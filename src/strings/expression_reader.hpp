// Reads expressions of sizes: +, - and * of integers, of names, and of what a form has besides.
//
//   sum = ["-"] product {("+" | "-") product}     product = atom {"*" atom}     atom = integer | name | "(" sum ")"
//
// Blanks may be anywhere. A form derives from ExpressionReader, says what a name is, and reads more after it, such as operands in
// parentheses. Where a string is none, a Failure is thrown, with a sentence that has the character.
#pragma once
#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace zellige::strings {

/// Returns whether a name may contain the character; a digit does not begin it.
inline bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

template <class Number, class Failure>
class ExpressionReader {
 public:
  explicit ExpressionReader(std::string_view text) : text_(text) {}
  virtual ~ExpressionReader() = default;

  /// Returns what all of the string says.
  Number whole() {
    Number all = sum();
    if (peek() != 0) expected("+, - or *, or the end,");
    return all;
  }

 protected:
  static constexpr std::int64_t largest = std::int64_t{1} << 40;
  static constexpr int deepest = 16;  // parentheses in one another

  /// Returns what a name says, which was read from `start` on.
  virtual Number named(std::string_view name, std::size_t start) = 0;

  Number sum() {
    if (depth_++ > deepest) expected(fmt::format("at most {} parentheses in one another", deepest));
    Number all = product(takes('-'));
    while (true)
      if (takes('+'))
        all = all + product();
      else if (takes('-'))
        all = all - product();
      else
        break;
    --depth_;
    return all;
  }

  Number closed(Number inside) {
    if (!takes(')')) expected("+, -, * or )");
    return inside;
  }

  /// Returns an integer that was read from `start` on.
  std::int64_t integer(std::string_view word, std::size_t start) const {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc{} || end != word.data() + word.size() || n > largest)
      throw Failure(fmt::format("expected an integer of at most {} at character {} of \"{}\", found {}", largest,
                                start + 1, text_, word));
    return n;
  }

  /// Returns the word that begins at the next character; it is empty where none does. Sets `start`.
  std::string_view word(std::size_t& start) {
    peek(), start = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  /// Returns the next character that is no blank; 0 at the end.
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool takes(char c) {
    const bool is = peek() == c;
    at_ += is;
    return is;
  }

  [[noreturn]] void expected(const std::string& what) {
    const std::string found = peek() == 0 ? "its end" : std::string(1, peek());
    throw Failure(fmt::format("expected {} at character {} of \"{}\", found {}", what, at_ + 1, text_, found));
  }

  std::string_view text() const { return text_; }

 private:
  Number product(bool negative = false) {
    Number all = atom(negative);
    while (takes('*')) all = all * atom();
    return all;
  }

  Number atom(bool negative = false) {
    if (takes('(')) return negative ? Number(0) - closed(sum()) : closed(sum());
    std::size_t start = 0;
    const std::string_view found = word(start);
    if (found.empty()) expected("a size or an integer");
    if (std::isdigit(static_cast<unsigned char>(found[0]))) {
      const std::int64_t n = integer(found, start);
      return Number(negative ? -n : n);
    }
    return negative ? Number(0) - named(found, start) : named(found, start);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace zellige::strings
