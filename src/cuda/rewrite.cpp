#include "cuda/rewrite.hpp"

#include <set>

#include "cuda/source_edits.hpp"

namespace zellige::cuda {

namespace {

// Adds the #include whose name is token i, if it is one.
void add_include(const SourceEdits& s, std::size_t i, std::vector<SourceInclude>& includes) {
  const SourceToken& name = s.tokens[i];
  if (name.kind == SourceToken::Kind::literal) {
    includes.push_back({std::string(name.text.substr(1, name.text.size() - 2)), true, name.line, name.at, name.end()});
  } else if (name.is("<")) {
    const std::size_t end = s.source.find('>', name.at);
    if (end != s.source.npos)
      includes.push_back(
          {std::string(s.source.substr(name.at + 1, end - name.at - 1)), false, name.line, name.at, end + 1});
  }
}

bool is_launch(const SourceEdits& s, std::size_t i) {
  return i > 0 && s.three(i, "<") && !s.tokens[i - 1].is("<") && !(s.has(i + 3) && s.tokens[i + 3].is("<"));
}

// Returns whether token i is a name of the program's own that is spelled like a variable of kernels: `dim3 gridDim(4);`,
// `config.gridDim`.
bool is_own_dimension(const SourceEdits& s, std::size_t i) {
  const SourceToken& t = s.tokens[i];
  if (!t.is("gridDim") && !t.is("blockDim")) return false;
  if (i == 0) return false;
  const SourceToken& before = s.tokens[i - 1];
  if (before.is(".") || before.is("dim3") || (before.is(">") && i > 1 && s.tokens[i - 2].is("-"))) return true;
  if (!s.scopes.in_function(i) || s.scopes.in_kernel(i)) return false;
  for (std::size_t k = 1; k < i; ++k)
    if (s.tokens[k].is(t.text) && s.tokens[k - 1].is("dim3")) return true;
  return false;
}

}  // namespace

Rewritten rewrite(std::string_view source, const std::string& file, bool is_header, bool clusters) {
  SourceEdits s(source, file);
  Rewritten result;
  const std::set<std::string_view> kernels = kernel_names(s);
  int conditions = 0;  // #if around the token
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    const SourceToken& t = s.tokens[i];
    if (t.directive && t.is("#") && s.has(i + 1)) {
      if (s.tokens[i + 1].text.starts_with("if")) ++conditions;
      if (s.tokens[i + 1].is("endif")) --conditions;
    }
    if (t.directive && t.is("#") && s.has(i + 2) && s.tokens[i + 1].text.starts_with("include")) {
      const SourceToken& word = s.tokens[i + 1];
      const std::size_t before = result.includes.size();
      add_include(s, i + 2, result.includes);
      if (word.is("include_next") && result.includes.size() > before) {
        result.includes.back().next = true;
        s.replace(word.at, word.end(), "include");
      }
    }
    if (is_launch(s, i)) rewrite_launch(s, i);
    if (t.kind == SourceToken::Kind::literal) rewrite_operand(s, i);
    if (t.kind != SourceToken::Kind::word) continue;
    if (t.is("__shared__") && !t.directive) rewrite_shared(s, i);
    if ((t.is("__device__") || t.is("__constant__") || t.is("__managed__")) && !t.directive)
      rewrite_device_variable(s, i);
    if (is_own_dimension(s, i)) s.replace(t.at, t.end(), "zellige_" + std::string(t.text));
    // The translated file lies elsewhere: what follows on the include path has been looked up already.
    if (t.is("__has_include_next")) s.replace(t.at, t.end(), "0 && __has_include");
    if (t.is("__noinline__")) s.replace(t.at, t.end(), "__attribute__((noinline))");
    if (t.is("__cluster_dims__") && !t.directive) result.clusters = true;
    if (t.is("__global__") && !t.directive && clusters) rewrite_kernel_start(s, i);
    if (kernels.contains(t.text)) refuse_call_of_kernel(s, i);
    if (t.is("asm") || t.is("__asm__")) rewrite_ptx(s, i, is_header || conditions > 0);
    if (s.has(i + 1) && s.tokens[i + 1].is("(")) rewrite_call(s, i);
  }
  result.text = s.apply(result.includes);
  return result;
}

}  // namespace zellige::cuda
