// Reader: reads the lines that Writer prints (writer.hpp), and records their places.
#pragma once
#include <map>

#include "ir/line_reader.hpp"

namespace zellige::ir {

class Reader : public LineReader {
 public:
  static constexpr bool reads = true;
  /// Blank lines, and what follows a # outside of quotes, are omitted.
  Reader(std::string_view text, std::string file);
  /// Throws Mistake if there is a line that nobody has read.
  void end() {
    if (line_ != &lines_.back()) none();
  }

  template <class T, class F>
  void each(std::string_view word, std::vector<T>& all, const F& line) {
    while (begins(word)) all.emplace_back(), open(), line(all.back()), close();
  }
  template <class F>
  void one(std::string_view word, const F& line) {
    if (!begins(word)) none();
    open(), line(), close();
  }
  template <class T, class F>
  void maybe(std::string_view word, std::optional<T>& value, const F& line) {
    if (begins(word)) open(), line(value.emplace()), close();
  }
  template <class F>
  void deeper(const F& lines) {
    close(), ++depth_, lines();
    if (line_->depth >= depth_) none();
    --depth_;
  }
  Position here() const { return {line_->number, static_cast<int>(2 * depth_) + 1}; }
  Ids ids(std::string_view word, const std::vector<std::string>&, char);
  template <class F>
  void shared_facts(const void* of, int key, const F& facts) {
    const std::size_t begin = at_;
    facts(), first_of(of, key, begin);
  }
  void begin_scope() { first_.clear(); }

 private:
  /// Returns whether the current line is at this depth and begins with the word, which it reads.
  bool begins(std::string_view word);
  void open() { tried_.clear(), open_ = true; }
  void close();
  [[noreturn]] void none();  // nothing that is expected begins with the current line's word
  /// Throws Mistake if the first line with these facts has others.
  void first_of(const void* of, int key, std::size_t begin);

  std::vector<Line> lines_;  // the last one is empty, after the text
  std::size_t depth_ = 0;
  bool open_ = false;
  std::map<std::pair<const void*, int>, std::pair<std::string, int>> first_;  // facts, and the line that has them
};

}  // namespace zellige::ir
