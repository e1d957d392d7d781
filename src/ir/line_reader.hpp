// LineReader: reads the facts of one line, which Writer (writer.hpp) prints: words, marks, numbers, strings, layouts,
// instructions, and what identifiers and numbers refer to. Every mistake is a Mistake: FILE:line:column.
#pragma once
#include <optional>

#include "graph/extent_names.hpp"
#include "ir/ids.hpp"
#include "ir/position.hpp"
#include "ir/words.hpp"

namespace zellige::ir {

class LineReader {
 public:
  LineReader(const LineReader&) = delete;
  [[noreturn]] void fail(const std::string& what) const { fail({line_->number, static_cast<int>(at_) + 1}, what); }
  [[noreturn]] void fail(Position at, const std::string& what) const { throw Mistake(file_, at, what); }

  void word(std::string_view text);
  bool mark(std::string_view text, bool present = false);
  void must(std::string_view text);
  void opening() { must("("); }
  bool word_follows(bool) { return std::isalpha(static_cast<unsigned char>((rest().empty() ? ' ' : rest()[0]))); }
  bool flag(std::string_view text, bool& is) { return is = next_word(text); }
  bool when(std::string_view text, bool) { return next_word(text); }
  template <class T>
  void fact(std::string_view text, T& value, const T& standard) {
    value = standard;
    if (next_word(text)) this->value(value);
  }
  template <class T>
  void fact(std::string_view text, std::optional<T>& value) {
    if (next_word(text)) this->value(value.emplace());
  }
  void value(int& n);
  void value(std::int64_t& n);
  void value(double& n);
  void value(std::string& text);
  void value(Value& layout);
  void value(graph::Dim3& d);
  void value(tile::SymbolicNumber& n);
  void value(const Instruction*& row);
  template <class T>
  void value(std::vector<T>& all) {
    const std::size_t begin = cursor();
    must("("), all.clear();
    if (!mark(")")) {
      do value(all.emplace_back());
      while (mark(","));
      must(")");
    }
    last_ = begin;
  }
  template <class E>
  requires std::is_enum_v<E>
  void value(E& e) {
    const auto all = values_of(E{});
    std::vector<std::string> words;
    for (const E one : all) words.push_back(word_of(one));
    e = all[one_of(words)];
  }
  void text(std::string& t) {
    if (rest().starts_with('"')) value(t);
  }
  void name(std::string& name);
  void kind(kernel::Step& step);
  void declare(const Ids& ids, std::size_t i, std::string& name);
  void named(const Ids& ids, int& i);
  void named_or_none(const Ids& ids, int& i);
  void ref(char sign, int& i, std::size_t count);
  void refs(char sign, std::vector<int>& all, std::size_t count) {
    while (rest().starts_with(sign)) ref(sign, all.emplace_back(), count);
  }
  void offset(int& n);
  template <class T, class F>
  void some(std::string_view text, std::vector<T>& all, const F& element) {
    if (!next_word(text)) return;
    do element(all.emplace_back());
    while (mark(","));
  }
  void require(bool so, const std::string& otherwise) { require(so, otherwise, last_); }
  void require(bool so, const std::string& otherwise, std::size_t at) {
    if (!so) at_ = at, fail(otherwise);
  }
  std::size_t cursor() { return rest(), at_; }
  bool begins_with(std::string_view word) { return next() == word; }
  /// Sets the target whose instructions the source names.
  void set_target(std::string& name);
  /// Sets the sizes that the source names.
  void set_sizes(tile::SizeList& sizes) { sizes_ = &sizes; }
  tile::SizeList& sizes() const { return *sizes_; }
  // Writer's comments.
  void set_extents(const std::vector<graph::KernelTensor>&, const graph::ExtentNames&) {}
  void extent_of(int, int) {}

 protected:
  struct Line {
    std::string text;
    int number;
    std::size_t depth;
  };
  explicit LineReader(std::string file) : file_(std::move(file)) {}
  /// Returns the rest of the line, without the blanks before it.
  std::string_view rest();
  /// Returns the word at the cursor: up to a blank, a mark, or the end.
  std::string_view next();
  bool next_word(std::string_view text);

  std::string file_;
  const Line* line_ = nullptr;
  std::size_t at_ = 0;              // the cursor in the line
  std::vector<std::string> tried_;  // words that are valid here: to begin a line, or as a fact of it

 private:
  [[noreturn]] void expected(const std::string& what);
  /// Reads a sum of products, and a factor of one: an integer, a size, or a quotient.
  tile::SymbolicNumber terms();
  tile::SymbolicNumber factor();
  /// Reads one of the words, and returns its number.
  std::size_t one_of(const std::vector<std::string>& words);

  std::size_t last_ = 0;  // where the last value begins, which require() is about
  const target::Target* target_ = nullptr;
  tile::SizeList* sizes_ = nullptr;
};

}  // namespace zellige::ir
