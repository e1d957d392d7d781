#include "cuda/rewrite.hpp"

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

}  // namespace

Rewritten rewrite(std::string_view source, const std::string& file) {
  SourceEdits s(source, file);
  Rewritten result;
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    const SourceToken& t = s.tokens[i];
    if (t.directive && t.is("#") && s.has(i + 2) && s.tokens[i + 1].is("include"))
      add_include(s, i + 2, result.includes);
    if (is_launch(s, i)) rewrite_launch(s, i);
    if (t.kind != SourceToken::Kind::word) continue;
    if (t.is("__shared__") && !t.directive) rewrite_shared(s, i);
    if ((t.is("__device__") || t.is("__constant__") || t.is("__managed__")) && !t.directive)
      rewrite_device_variable(s, i);
    if (t.is("__noinline__")) s.replace(t.at, t.end(), "__attribute__((noinline))");
    if (t.is("asm") || t.is("__asm__")) rewrite_ptx(s, i);
    if (s.has(i + 1) && s.tokens[i + 1].is("(")) rewrite_call(s, i);
  }
  result.text = s.apply(result.includes);
  return result;
}

}  // namespace zellige::cuda
