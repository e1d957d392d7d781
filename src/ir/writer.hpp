// Writer: prints the facts of a source. Reader (reader.hpp) has the same members and reads what this one prints, so
// that one template describes a line for both:
//
//   template <class Io>
//   void channel(Io& io, Channel& c) {
//     io.fact("stages", c.stages, 1);      // " stages 4"; nothing where it is 1
//     io.word("at"), io.value(c.offset);   // " at 131072"
//   }
//   io.each("channel", k.channels, [&](Channel& c) { channel(io, c); });   // a line for each, which begins with the word
#pragma once
#include <bit>
#include <optional>
#include <string>
#include <zellige/layout/text.hpp>

#include "graph/extent_names.hpp"
#include "ir/ids.hpp"
#include "ir/position.hpp"
#include "ir/words.hpp"

namespace zellige::ir {

class Writer {
 public:
  static constexpr bool reads = false;
  const std::string& str() const { return text_; }

  // ---- Lines ----

  /// A line for each element, which begins with `word` (""): with what `line` describes. A line's last fact may be
  /// deeper().
  template <class T, class F>
  void each(std::string_view word, std::vector<T>& all, const F& line) {
    for (T& one : all) open(word), line(one), close();
  }
  /// One line that begins with `word`.
  template <class F>
  void one(std::string_view word, const F& line) {
    open(word), line(), close();
  }
  /// The line where there is a value.
  template <class T, class F>
  void maybe(std::string_view word, std::optional<T>& value, const F& line) {
    if (value) open(word), line(*value), close();
  }
  /// The lines that `lines` describes, which belong to the current one and are indented more.
  template <class F>
  void deeper(const F& lines) {
    close(), ++depth_, lines(), --depth_;
  }
  Position here() const { return {}; }  // of the current line; Reader knows it
  /// Identifiers of the things whose lines begin with `word`, and whose names are these.
  Ids ids(std::string_view word, const std::vector<std::string>& names, char letter) {
    return {std::string(word), identifiers(names, letter)};
  }

  // ---- Facts of a line ----

  void word(std::string_view text) { put(text); }
  /// A mark without a blank before it, such as a comma. Returns `present`, and prints it only then.
  bool mark(std::string_view text, bool present = true) {
    if (present) text_ += text, glued_ = text == "(i" || text == "[" || text == ":";
    return present;
  }
  /// The same, where it is always present.
  void must(std::string_view text) { mark(text); }
  void opening() { put("("), glued_ = true; }  // a parenthesis, after a blank
  /// Returns whether the next fact is a word, where others begin with a sign.
  bool word_follows(bool so) const { return so; }
  /// The word, where it is so.
  bool flag(std::string_view text, bool& is) {
    if (is) put(text);
    return is;
  }
  /// The word where `present`, which a Reader sees by it.
  bool when(std::string_view text, bool present) { return flag(text, present); }
  /// The word and the value; neither where the value is the standard one.
  template <class T>
  void fact(std::string_view text, T& value, const T& standard) {
    if (!same(value, standard)) put(text), this->value(value);
  }
  template <class T>
  void fact(std::string_view text, std::optional<T>& value) {
    if (value) put(text), this->value(*value);
  }
  /// Facts of each line that has them: the same in all lines with this key of `of`.
  template <class F>
  void shared_facts(const void* /*of*/, int /*key*/, const F& facts) {
    facts();
  }

  void value(int n) { put(std::to_string(n)); }
  void value(std::int64_t n) { put(std::to_string(n)); }
  void value(double n) { put(number_text(n)); }
  void value(const std::string& text) { put(quoted(text)); }
  void value(const Value& layout) { put(to_text(layout)); }
  void value(const graph::Dim3& d) { value(std::vector{d.x, d.y, d.z}); }
  void value(const tile::SymbolicNumber& n) { put(n.text()); }
  template <class T>
  void value(const std::vector<T>& all) {
    opening();
    for (std::size_t i = 0; i < all.size(); ++i) {
      mark(",", i > 0), glued_ = true;
      value(all[i]);
    }
    must(")");
  }
  void value(const Instruction* row) { put(row->name); }
  template <class E>
  requires std::is_enum_v<E>
  void value(E e) { put(word_of(e)); }
  /// A string in quotes, where it is not empty.
  void text(std::string& t) {
    if (!t.empty()) value(t);
  }
  /// A name: of a program or kernel, which is an identifier.
  void name(const std::string& name) { put(name); }
  /// The kind of a step.
  void kind(kernel::Step& step) { put(kernel::name(step)); }
  /// Introduces thing number `i`: its identifier, and its name in quotes where that is another one.
  void declare(const Ids& ids, std::size_t i, const std::string& name) {
    put(ids.list[i]);
    if (name != ids.list[i]) value(name);
  }
  /// The identifier of thing number `i`.
  void named(const Ids& ids, int& i) { put(ids.list.at(static_cast<std::size_t>(i))); }
  /// The identifier of thing number `i`; - for -1.
  void named_or_none(const Ids& ids, int& i) { i < 0 ? put("-") : named(ids, i); }
  /// A number with a sign before it, of things that are numbered from 0 to `count` - 1: %3.
  void ref(char sign, int& i, std::size_t) { put(fmt::format("{}{}", sign, i)); }
  void refs(char sign, std::vector<int>& all, std::size_t count) {
    for (int& i : all) ref(sign, i, count);
  }
  /// An integer with its sign: +3.
  void offset(int n) { put(fmt::format("{:+}", n)); }
  /// Elements after the word, with commas between; nothing where there are none.
  template <class T, class F>
  void some(std::string_view text, std::vector<T>& all, const F& element) {
    if (all.empty()) return;
    put(text);
    for (std::size_t i = 0; i < all.size(); ++i) mark(",", i > 0), element(all[i]);
  }
  /// Reader's: from here on, lines have facts of other things.
  void begin_scope() {}
  void set_target(std::string& name) { put(name); }
  void set_sizes(tile::SizeList& sizes) { sizes_ = &sizes; }
  tile::SizeList& sizes() const { return *sizes_; }
  void set_extents(const std::vector<graph::KernelTensor>& tensors, const graph::ExtentNames& extents) {
    tensors_ = &tensors, extents_ = &extents;
  }
  /// The name of an extent, in a comment; nothing of a tensor without names, or of -1.
  void extent_of(int tensor, int dim) {
    if (tensor < 0 || !extents_) return;
    const auto names = extents_->find((*tensors_)[static_cast<std::size_t>(tensor)].name);
    if (names == extents_->end() || dim >= std::ssize(names->second)) return;
    put("# " + names->second[static_cast<std::size_t>(dim)]);
  }
  /// Reader's: throws Mistake at the last value, or at a place that cursor() returned.
  void require(bool, const std::string&, std::size_t = 0) {}
  std::size_t cursor() const { return 0; }

 private:
  template <class T>
  static bool same(const T& a, const T& b) {
    return a == b;
  }
  static bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
  void open(std::string_view word) {
    text_.append(2 * depth_, ' '), begins_ = true, glued_ = false, open_ = true;
    if (!word.empty()) put(word);
  }
  void close() {
    if (open_) text_ += '\n';
    open_ = false;
  }
  void put(std::string_view text) {
    if (!begins_ && !glued_) text_ += ' ';
    text_ += text, begins_ = glued_ = false;
  }

  std::string text_;
  tile::SizeList* sizes_ = nullptr;
  const std::vector<graph::KernelTensor>* tensors_ = nullptr;
  const graph::ExtentNames* extents_ = nullptr;
  std::size_t depth_ = 0;
  bool begins_ = true, glued_ = false, open_ = false;
};

}  // namespace zellige::ir
