// Reader: reads the facts that Writer prints (writer.hpp), and records their places. Every mistake is a Mistake:
// FILE:line:column.
#pragma once
#include <map>
#include <optional>

#include "ir/ids.hpp"
#include "ir/position.hpp"
#include "ir/words.hpp"

namespace zellige::ir {

class Reader {
 public:
  static constexpr bool reads = true;
  /// Blank lines, and what follows a # outside of quotes, are omitted.
  Reader(std::string_view text, std::string file);
  /// Throws Mistake if there is a line that nobody has read.
  void end();
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(Position at, const std::string& what) const { throw Mistake(file_, at, what); }

  // ---- The members of Writer ----

  template <class T, class F>
  void each(std::string_view word, std::vector<T>& all, const F& line) {
    while (begins(word)) all.emplace_back(), open(word), line(all.back()), close();
  }
  template <class F>
  void one(std::string_view word, const F& line) {
    if (!begins(word)) none();
    open(word), line(), close();
  }
  template <class T, class F>
  void maybe(std::string_view word, std::optional<T>& value, const F& line) {
    if (begins(word)) open(word), line(value.emplace()), close();
  }
  template <class F>
  void deeper(const F& lines) {
    close(), ++depth_, lines();
    if (line_ < lines_.size() && lines_[line_].depth >= depth_) none();
    --depth_;
  }
  Position here() const { return {lines_[line_].number, static_cast<int>(2 * depth_) + 1}; }
  Ids ids(std::string_view word, const std::vector<std::string>&, char);

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
  template <class F>
  void shared_facts(const void* of, int key, const F& facts) {
    const std::size_t begin = at_;
    facts(), first_of(of, key, begin);
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
  void begin_scope() { first_.clear(); }
  /// Sets the target whose instructions the source names.
  void set_target(std::string& name);
  /// Sets the sizes that the source names.
  void set_sizes(const tile::SizeList& sizes) { sizes_ = &sizes; }
  const tile::SizeList& sizes() const { return *sizes_; }

 private:
  struct Line {
    std::string text;
    int number;
    std::size_t depth;
  };
  /// Returns the rest of the line, without the blanks before it.
  std::string_view rest();
  /// Returns the word at the cursor: up to a blank, a mark, or the end.
  std::string_view next();
  bool next_word(std::string_view text);
  /// Returns whether the current line is at this depth and begins with the word.
  bool begins(std::string_view word);
  void open(std::string_view word);
  void close();
  [[noreturn]] void none();  // nothing that is expected begins with the current line's word
  [[noreturn]] void expected(const std::string& what);
  /// Reads one of the words, and returns its number.
  std::size_t one_of(const std::vector<std::string>& words);
  /// Throws Mistake if the first line with these facts has others.
  void first_of(const void* of, int key, std::size_t begin);

  std::string file_;
  std::vector<Line> lines_;
  std::size_t line_ = 0, at_ = 0, depth_ = 0;
  std::size_t last_ = 0;  // where the last value begins, which require() is about
  bool open_ = false;
  std::vector<std::string> tried_;  // words that are valid here: to begin a line, or as a fact of it
  const target::Target* target_ = nullptr;
  const tile::SizeList* sizes_ = nullptr;
  std::map<std::pair<const void*, int>, std::pair<std::string, int>> first_;  // facts, and the line that has them
};

}  // namespace zellige::ir
