// Tokenizes C++ source code and finds its includes: enough to list the names that it declares and uses.
// Nothing is preprocessed: names made by macros appear only in the output of a compiler's -E.
//
//   const Source s = read_source("#include <cute/tensor.hpp>\nauto l = cute::Layout<cute::_4>{};");
//   s.includes[0].path   is "cute/tensor.hpp", s.tokens[3].text is "cute", of line 2
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::port {

struct Token {
  std::string_view text;  // of the source code
  int line = 0;
};
struct Include {
  std::string path;
  int line = 0;
};
struct Source {
  std::shared_ptr<const std::string> text;
  std::vector<Token> tokens;      // without comments, literals and directives
  std::vector<Include> includes;  // in brackets or quotes
};

Source read_source(std::string text);

inline bool is_word(std::string_view t) {
  return !t.empty() && (t[0] == '_' || (t[0] >= 'a' && t[0] <= 'z') || (t[0] >= 'A' && t[0] <= 'Z'));
}

}  // namespace zellige::port
