// Splits C++ source code into tokens and finds its includes: enough to list the names that the source
// declares and uses. Nothing is preprocessed, so names made by macros appear only in the output of `c++ -E`.
//
//   const Source s = read_source("#include <cute/tensor.hpp>\nauto l = cute::Layout<cute::_4>{};");
//   s.includes[0].path     // "cute/tensor.hpp"
//   s.tokens[3].text       // "cute"; s.tokens[3].line is 2
//
// Finds the names that source code declares in given namespaces, for reporting which CuTe names exist:
// classes, functions, variables and aliases, also those of nested namespaces, but no class members.
//
//   const Source s = read_source("namespace cute { struct A { int b; }; namespace SM90 { void c(); } }");
//   declared(s, {"cute"}).names     // {"A": 1, "SM90::c": 1}: the line of the first declaration of each name
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::port {

/// A word, number or punctuation character of source code.
struct Token {
  std::string_view text;  // part of Source::text
  int line = 0;
};
/// An #include directive.
struct Include {
  std::string path;  // as written, without brackets or quotes
  int line = 0;
};
/// Source code with its tokens.
struct Source {
  std::shared_ptr<const std::string> text;
  std::vector<Token> tokens;      // without comments, string and character literals, and directives
  std::vector<Include> includes;  // both <...> and "..."
};

/// Returns the source code `text` with its tokens and includes. Accepts any text.
Source read_source(std::string text);

/// Returns whether a token is an identifier or keyword.
inline bool is_word(std::string_view t) {
  return !t.empty() && (t[0] == '_' || (t[0] >= 'a' && t[0] <= 'z') || (t[0] >= 'A' && t[0] <= 'Z'));
}

/// Returns whether token i exists and has this text.
inline bool is(const std::vector<Token>& t, std::size_t i, std::string_view text) {
  return i < t.size() && t[i].text == text;
}

/// The names that are declared, without the namespace in which they were looked for.
struct Declarations {
  std::map<std::string, int> names;  // name to line of its first declaration
  // Alias of a namespace to that namespace: GMMA to SM90::GMMA.
  std::map<std::string, std::string> namespaces;

  /// Returns the declared name to which a path such as A::b::c refers. For a class member that is the name of
  /// the class. Returns "" if there is none.
  std::string find(std::string path) const;
};

/// Returns the names that the source declares in the namespaces `roots`, without the roots' names in front.
Declarations declared(const Source&, const std::set<std::string>& roots);

}  // namespace zellige::port
