#include "cuda/declarators.hpp"

#include <algorithm>

namespace zellige::cuda {

namespace {

bool is_storage(const SourceToken& t) {
  for (const char* word : {"__shared__", "__device__", "__constant__", "__managed__", "extern", "static", "inline"})
    if (t.is(word)) return true;
  return false;
}
bool is_alignment(const SourceToken& t) { return t.is("alignas") || t.is("__align__") || t.is("__attribute__"); }

// Returns the tokens as one string, with one blank where the source has any.
std::string joined(const std::vector<SourceToken>& tokens) {
  std::string text;
  std::size_t end = 0;
  for (const SourceToken& t : tokens) {
    if (!text.empty() && t.at != end) text += ' ';
    text += t.text;
    end = t.end();
  }
  return text;
}

// Splits tokens at commas outside of brackets and template arguments.
std::vector<std::vector<SourceToken>> split(const std::vector<SourceToken>& tokens) {
  std::vector<std::vector<SourceToken>> parts(1);
  int depth = 0;
  for (const SourceToken& t : tokens) {
    if (t.is("(") || t.is("[") || t.is("{") || t.is("<")) ++depth;
    if (t.is(")") || t.is("]") || t.is("}") || t.is(">")) --depth;
    if (t.is(",") && depth == 0)
      parts.emplace_back();
    else
      parts.back().push_back(t);
  }
  return parts;
}

// Returns whether the brace at token i begins the members of a type: `union {`, `struct S {`.
bool begins_type(const std::vector<SourceToken>& tokens, std::size_t i) {
  for (std::size_t before = 1; before <= 2 && before <= i; ++before)
    for (const char* word : {"union", "struct", "class"})
      if (tokens[i - before].is(word)) return true;
  return false;
}

// Returns the index of the name that the tokens declare: the last word before an array's bounds or an initializer.
std::size_t name_of(const std::vector<SourceToken>& tokens) {
  std::size_t name = tokens.size();
  int angles = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const SourceToken& t = tokens[i];
    if (t.is("<")) ++angles;
    if (t.is(">")) --angles;
    if (angles) continue;
    if (t.is("{") && begins_type(tokens, i)) {
      i = closing(tokens, i);
      continue;
    }
    if (t.is("[") || t.is("=") || t.is("{")) break;
    if (t.kind == SourceToken::Kind::word) name = i;
  }
  return name;
}

}  // namespace

std::vector<Declarator> declarators(const std::vector<SourceToken>& tokens, std::size_t first, std::size_t last) {
  std::vector<SourceToken> declared, alignment;
  for (std::size_t i = first; i < last; ++i) {
    if (is_storage(tokens[i])) continue;
    if (is_alignment(tokens[i]) && i + 1 < last) {
      const std::size_t end = std::min(closing(tokens, i + 1), last - 1);
      for (; i <= end; ++i) alignment.push_back(tokens[i]);
      --i;
      continue;
    }
    declared.push_back(tokens[i]);
  }
  std::vector<Declarator> all;
  std::vector<SourceToken> type;
  for (std::vector<SourceToken>& part : split(declared)) {
    const std::size_t name = name_of(part);
    if (name == part.size()) return {};
    if (all.empty()) {
      type.assign(part.begin(), part.begin() + std::ptrdiff_t(name));
      while (!type.empty() && (type.back().is("*") || type.back().is("&"))) type.pop_back();
    }
    Declarator d{joined(type), std::string(part[name].text), "", false, ""};
    d.unbounded = name + 2 < part.size() && part[name + 1].is("[") && part[name + 2].is("]");
    if (d.unbounded) d.bounds = joined({part.begin() + std::ptrdiff_t(name) + 3, part.end()});
    const std::string rest = joined(part);
    d.full = joined(alignment) + (alignment.empty() ? "" : " ") + (all.empty() ? rest : d.type + " " + rest);
    all.push_back(std::move(d));
  }
  return all;
}

}  // namespace zellige::cuda
