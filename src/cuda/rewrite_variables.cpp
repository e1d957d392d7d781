// Rewrites the declarations of shared variables, and tells the emulator of device and constant variables.
#include "cuda/declarators.hpp"
#include "cuda/source_edits.hpp"

namespace zellige::cuda {

namespace {

bool is_alignment(const SourceToken& t) { return t.is("alignas") || t.is("__align__") || t.is("__attribute__"); }

// Returns whether token i closes the parentheses of an alignment.
bool is_alignment_end(const std::vector<SourceToken>& tokens, std::size_t i) {
  const std::size_t open = opening(tokens, i);
  return open < tokens.size() && open > 0 && is_alignment(tokens[open - 1]);
}

// Returns the first token of the declaration that contains token i.
std::size_t declaration_start(const std::vector<SourceToken>& tokens, std::size_t i) {
  const auto ends = [&](std::size_t k) {
    const SourceToken& t = tokens[k];
    return t.is(";") || t.is("{") || t.is("}") || t.directive || (t.is(")") && !is_alignment_end(tokens, k));
  };
  std::size_t first = i;
  while (first > 0 && !ends(first - 1)) --first;
  return first;
}
// Returns the ; that ends the declaration; tokens.size() if there is none.
std::size_t declaration_end(const std::vector<SourceToken>& tokens, std::size_t i) {
  for (int depth = 0; i < tokens.size(); ++i) {
    const SourceToken& t = tokens[i];
    if (t.is("(") || t.is("[") || t.is("{")) ++depth;
    if (t.is(")") || t.is("]") || t.is("}")) --depth;
    if (depth == 0 && t.is(";")) break;
  }
  return i;
}

// Returns the token after which it is plain what a declaration declares: a parenthesis for a function, or a variable's
// array bound, initializer or end.
std::size_t after_name(const std::vector<SourceToken>& tokens, std::size_t i) {
  for (; i < tokens.size(); ++i) {
    const SourceToken& t = tokens[i];
    if (is_alignment(t)) {
      i = closing(tokens, i + 1);
    } else if (t.is("<")) {
      for (int depth = 0; i < tokens.size(); ++i)
        if ((depth += tokens[i].is("<") ? 1 : tokens[i].is(">") ? -1 : 0) == 0) break;
    } else if (t.is("operator") || t.is("(") || t.is(";") || t.is("=") || t.is("[") || t.is("{")) {
      break;
    }
  }
  return i;
}

bool any_is(const std::vector<SourceToken>& tokens, std::size_t first, std::size_t last, std::string_view word) {
  for (std::size_t i = first; i < last; ++i)
    if (tokens[i].is(word)) return true;
  return false;
}

}  // namespace

void rewrite_shared(SourceEdits& s, std::size_t i) {
  const std::size_t first = declaration_start(s.tokens, i), last = declaration_end(s.tokens, i);
  if (!s.has(last)) s.refuse(s.tokens[i], "this declaration");
  const std::vector<Declarator> all = declarators(s.tokens, first, last);
  if (all.empty()) s.refuse(s.tokens[i], "this declaration");
  const bool dynamic = any_is(s.tokens, first, last, "extern");
  std::string text;
  for (const Declarator& d : all) {
    if (dynamic) {
      const std::string memory =
          "::zellige::cuda::dynamic_shared<" + d.type + d.bounds + ">(" + as_literal(d.name) + "); ";
      const std::string variable = !d.unbounded ? d.type + "& " + d.name + " = *" + memory
                                   : !d.bounds.empty()
                                       ? "auto* const " + d.name + " = " + memory
                                       : "::std::remove_reference_t<" + d.type + ">* const " + d.name + " = " + memory;
      if (s.scopes.in_function(i))
        text += variable;
      else
        for (const std::size_t body : s.scopes.functions_that_name(s.tokens, d.name, i))
          s.insert(s.tokens[body].end(), " " + variable);
      continue;
    }
    if (!s.scopes.in_function(i)) s.refuse(s.tokens[i], "a __shared__ variable outside of functions");
    const std::string tag = "zellige_shared_" + std::to_string(i) + "_" + d.name;
    text += "struct " + tag + " { static const char* zellige_name() { return " + as_literal(d.name) + "; } " + d.full +
            "; }; auto& " + d.name + " = ::zellige::cuda::shared_variable<" + tag + ">()." + d.name + "; ";
  }
  s.replace_lines(first, last, text);
}

void rewrite_device_variable(SourceEdits& s, std::size_t i) {
  if (s.scopes.in_function(i)) return;
  const std::vector<SourceToken>& tokens = s.tokens;
  const std::size_t first = declaration_start(tokens, i), last = declaration_end(tokens, i),
                    at = after_name(tokens, i + 1);
  if (!s.has(last) || !s.has(at) || tokens[at].is("(") || tokens[at].is("operator")) return;
  for (const char* other : {"extern", "template", "struct", "class", "typedef", "using"})
    if (any_is(tokens, first, at, other)) return;
  // Of several words such as `__managed__ __device__` the first speaks for the declaration.
  for (const char* word : {"__device__", "__constant__", "__managed__"})
    if (any_is(tokens, first, i, word)) return;
  const char* const kind = any_is(tokens, first, at, "__managed__")    ? "managed"
                           : any_is(tokens, first, at, "__constant__") ? "constant"
                                                                       : "variable";
  for (const Declarator& d : declarators(tokens, first, last))
    s.insert(tokens[last].end(), " static ::zellige::cuda::DeviceVariable zellige_variable_" + std::to_string(i) + "_" +
                                     d.name + "(" + d.name + ", ::zellige::cuda::MemoryKind::" + kind + ", " +
                                     as_literal(d.name) + ");");
}

}  // namespace zellige::cuda
