#include "cuda/scopes.hpp"

namespace zellige::cuda {

// A brace outside of functions opens a function's body if its declaration has parentheses and is no class, and no
// initializer.
Scopes::Scopes(const std::vector<SourceToken>& tokens) {
  std::size_t start = 0;  // of the declaration
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const SourceToken& t = tokens[i];
    if (t.directive || t.is(";") || t.is("}")) {
      start = i + 1;
      continue;
    }
    if (!t.is("{")) continue;
    bool parentheses = false, type = false, kernel = false, value = false, of_host = false;
    for (std::size_t k = start; k < i; ++k) {
      const SourceToken& d = tokens[k];
      if (d.is("template")) {  // its parameters may have defaults
        for (int depth = 0; ++k < i;)
          if ((depth += tokens[k].is("<") ? 1 : tokens[k].is(">") ? -1 : 0) == 0) break;
        continue;
      }
      if (d.is("(")) {
        parentheses |= !(k > 0 && (tokens[k - 1].is("alignas") || tokens[k - 1].is("__align__") ||
                                   tokens[k - 1].is("__launch_bounds__") || tokens[k - 1].is("__attribute__")));
        k = closing(tokens, k);
        continue;
      }
      type |= !parentheses && (d.is("namespace") || d.is("struct") || d.is("class") || d.is("union") || d.is("enum"));
      value |= d.is("=") && !parentheses;
      kernel |= d.is("__global__") || d.is("__device__");
      of_host |= d.is("__host__");
    }
    if (parentheses && !value && !(type && !kernel && !parentheses)) {
      const std::size_t close = closing(tokens, i);
      bodies_.push_back({i, close, kernel && !of_host});
      i = close;
    } else if (value) {
      i = closing(tokens, i);
      continue;
    }
    start = i + 1;
  }
}

std::vector<std::size_t> Scopes::functions_that_name(const std::vector<SourceToken>& tokens, std::string_view word,
                                                     std::size_t from) const {
  std::vector<std::size_t> found;
  for (const Body& b : bodies_) {
    if (b.open < from) continue;
    for (std::size_t i = b.open; i < b.close && i < tokens.size(); ++i)
      if (tokens[i].is(word)) {
        found.push_back(b.open);
        break;
      }
  }
  return found;
}

}  // namespace zellige::cuda
