#include <algorithm>

#include "port/source.hpp"

namespace zellige::port {
namespace {

using Words = std::vector<Token>;

const std::set<std::string_view> keywords = {"alignas",       "alignof",  "asm",      "auto",        "bool",
                                             "char",          "class",    "const",    "consteval",   "constexpr",
                                             "decltype",      "delete",   "double",   "enum",        "explicit",
                                             "extern",        "float",    "for",      "friend",      "if",
                                             "inline",        "int",      "long",     "namespace",   "noexcept",
                                             "operator",      "private",  "public",   "requires",    "return",
                                             "short",         "signed",   "sizeof",   "static",      "static_assert",
                                             "struct",        "switch",   "template", "typedef",     "typename",
                                             "union",         "unsigned", "using",    "void",        "volatile",
                                             "while",         "default",  "false",    "true",        "concept",
                                             "__attribute__", "__asm__",  "_Pragma",  "static_cast", "reinterpret_cast",
                                             "const_cast"};

/// Returns the position after the bracket `close` that matches the bracket `open` at position i, or the end
/// of the tokens if there is none.
std::size_t skip_group(const Words& w, std::size_t i, std::string_view open, std::string_view close) {
  int depth = 0;
  for (; i < w.size(); ++i) {
    depth += (w[i].text == open) - (w[i].text == close);
    if (depth == 0) return i + 1;
  }
  return i;
}
/// Returns the position after the template parameters or arguments <...> that begin at position i.
std::size_t skip_angles(const Words& w, std::size_t i) {
  int depth = 0;
  while (i < w.size()) {
    if (is(w, i, "(")) {
      i = skip_group(w, i, "(", ")");
      continue;
    }
    depth += (w[i].text == "<") - (w[i].text == ">");
    ++i;
    if (depth == 0) break;
  }
  return i;
}
/// Returns the position of a class's name. Position i is the one after `struct` or another class key. Macros,
/// attributes and alignments in between are skipped.
std::size_t at_class_name(const Words& w, std::size_t i) {
  while (i < w.size()) {
    if (is(w, i, "alignas") || is(w, i, "__attribute__"))
      i = skip_group(w, i + 1, "(", ")");
    else if (is(w, i, "["))
      i = skip_group(w, i, "[", "]");
    else if (is(w, i, "class") || is(w, i, "struct"))
      ++i;  // as in enum class
    else if (is_word(w[i].text) && is(w, i + 1, "("))
      i = skip_group(w, i + 1, "(", ")");  // a macro, such as CUTE_ALIGNAS(16)
    else
      return i;
  }
  return i;
}
/// Returns the name of the function or variable that a statement declares, read from position i on: the word
/// before its parameters or its initializer. Returns an empty token if there is none.
Token function_or_variable(const Words& w, std::size_t i) {
  int depth = 0;
  for (; i + 1 < w.size(); ++i) {
    const std::string_view t = w[i].text;
    if ((t == "requires" && is(w, i + 1, "(")) || t == "decltype" || t == "alignas" || t == "CUTE_ALIGNAS" ||
        t == "__attribute__" || t == "__launch_bounds__") {
      i = skip_group(w, i + 1, "(", ")") - 1;
      continue;
    }
    depth += (t == "<") - (t == ">");
    if (!is_word(t) || keywords.count(t) || depth > 0) continue;
    const std::string_view next = w[i + 1].text;
    if ((next == "(" || next == "=" || next == "[") && !(i > 0 && w[i - 1].text == "::")) return w[i];
  }
  return !w.empty() && is_word(w.back().text) && !keywords.count(w.back().text) ? w.back() : Token{};
}

/// Walks through the tokens of a source and records the names that it declares.
class DeclarationWalk {
 public:
  DeclarationWalk(Declarations& found, const std::set<std::string>& roots) : found_(found), roots_(roots) {}

  /// Records the names that the statements between positions i and `end` declare.
  void scope(const Words& t, std::size_t i, std::size_t end) {
    Words words;
    while (i < end) {
      if (is(t, i, "{")) {
        i = block(t, i, words);
      } else if (is(t, i, ";")) {
        statement(words);
        words.clear();
        ++i;
      } else if (is(t, i, "(")) {
        const std::size_t last = skip_group(t, i, "(", ")");
        words.insert(words.end(), t.begin() + static_cast<long>(i), t.begin() + static_cast<long>(last));
        i = last;
      } else {
        words.push_back(t[i++]);
      }
    }
  }

 private:
  /// Records the names that the block in braces at position i declares, or skips the block. The block belongs
  /// to a namespace, class, function or expression; `words` are the tokens of the statement before it.
  /// Returns the position after the block.
  std::size_t block(const Words& t, std::size_t i, Words& words) {
    const std::size_t last = skip_group(t, i, "{", "}");
    const bool linkage = words.size() == 1 && is(words, 0, "extern");
    const auto at = std::ranges::find_if(words, [](const Token& w) { return w.text == "namespace"; });
    if (linkage || at != words.end()) {
      const bool is_inline = at != words.begin() && (at - 1)->text == "inline";
      const std::vector<std::string> before = path_;
      const bool was_inside = inside_;
      for (auto w = at; w != words.end() && !is_inline; ++w)
        if (w != at && is_word(w->text)) enter(std::string(w->text));
      words.clear();
      scope(t, i + 1, last - 1);
      path_ = before;
      inside_ = was_inside;
      return last;
    }
    // Requires { ... } and requires(T t) { ... } are inside a declaration.
    if (!words.empty() && (words.back().text == "requires" || requires_parameters(words))) return last;
    statement(words);
    const bool initializer = is(t, last, ";") || is(t, last, ",");
    words.clear();
    return initializer ? last + is(t, last, ";") : last;
  }
  /// Returns whether the tokens end with the parameter list of a requires expression.
  static bool requires_parameters(const Words& w) {
    if (w.back().text != ")") return false;
    int depth = 0;
    for (std::size_t i = w.size(); i-- > 0;) {
      depth += (w[i].text == ")") - (w[i].text == "(");
      if (depth == 0) return i > 0 && w[i - 1].text == "requires";
    }
    return false;
  }
  /// Enters namespace `name`. Names are recorded only inside the namespaces that declared() was asked for (roots_).
  void enter(const std::string& name) {
    if (!inside_ && roots_.count(name))
      inside_ = true;
    else
      path_.push_back(name);  // inside of a root, or a namespace that is none of the roots
  }
  /// Records the names that one statement declares.
  void statement(const Words& words) {
    if (!inside_ || words.empty()) return;
    std::size_t i = 0;
    while (is(words, i, "template") && is(words, i + 1, "<")) {
      i = skip_angles(words, i + 1);
      if (is(words, i, "requires") && is(words, i + 1, "(")) i = skip_group(words, i + 1, "(", ")");
    }
    if (i >= words.size()) return;
    const std::string_view first = words[i].text;
    if (first == "friend" || first == "static_assert" || first == "extern" || first == "asm") return;
    if (std::ranges::any_of(words, [](const Token& t) { return t.text == "operator"; })) return;
    if (first == "namespace") return alias(words, i);
    if (first == "using") return use(words, i);
    if (first == "concept") return add(words, i + 1);
    for (std::size_t k = i; k < words.size() && (k == i || words[k - 1].text != "<"); ++k) {
      const std::string_view t = words[k].text;
      if (t == "(" || t == "=") break;
      if (t == "struct" || t == "class" || t == "union" || t == "enum") {
        const std::size_t name = at_class_name(words, k + 1);
        if (!is(words, name + 1, "<")) add(words, name);
        return;
      }
    }
    const Token name = function_or_variable(words, i);
    if (!name.text.empty()) put(name);
  }
  /// Records the namespace alias that the statement `w` declares. Its word `namespace` is at position i.
  void alias(const Words& w, std::size_t i) {
    if (!is(w, i + 2, "=")) return;
    std::string of;
    for (std::size_t k = i + 3; k < w.size(); ++k) of += w[k].text;
    for (const std::string& root : roots_)
      if (of.starts_with(root + "::")) of = of.substr(root.size() + 2);
    found_.namespaces.emplace(named(w[i + 1].text), of);
  }
  /// Records the names that a using declaration or alias declares. The word `using` is at position i.
  void use(const Words& w, std::size_t i) {
    if (is(w, i + 1, "namespace")) return;
    if (is(w, i + 2, "=") || is(w, i + 2, "[")) return add(w, i + 1);
    // using ::int8_t, ::uint8_t;
    for (std::size_t k = i + 1; k < w.size(); ++k)
      if (is_word(w[k].text) && (k + 1 == w.size() || is(w, k + 1, ","))) put(w[k]);
  }
  /// Records the token at position i, if there is one that can be a name.
  void add(const Words& w, std::size_t i) {
    if (i < w.size() && is_word(w[i].text) && !keywords.count(w[i].text)) put(w[i]);
  }
  /// Returns the name with the open namespaces before it, such as A::b::name.
  std::string named(std::string_view name) const {
    std::string all;
    for (const std::string& p : path_) all += p + "::";
    return all + std::string(name);
  }
  void put(const Token& t) { found_.names.emplace(named(t.text), t.line); }

  Declarations& found_;
  const std::set<std::string>& roots_;
  std::vector<std::string> path_;
  bool inside_ = false;
};

}  // namespace

Declarations declared(const Source& s, const std::set<std::string>& roots) {
  Declarations found;
  DeclarationWalk(found, roots).scope(s.tokens, 0, s.tokens.size());
  return found;
}

std::string Declarations::find(std::string path) const {
  for (const auto& [alias, of] : namespaces)
    if (path.starts_with(alias + "::")) {
      path = of + path.substr(alias.size());
      break;
    }
  while (!path.empty()) {
    if (names.count(path)) return path;
    const std::size_t last = path.rfind("::");
    if (last == std::string::npos) return "";
    path.resize(last);
  }
  return "";
}

}  // namespace zellige::port
