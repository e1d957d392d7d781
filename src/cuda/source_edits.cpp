#include "cuda/source_edits.hpp"

#include <algorithm>

#include "graph/error.hpp"

namespace zellige::cuda {

std::string as_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

bool SourceEdits::three(std::size_t i, std::string_view of) const {
  for (std::size_t k = 0; k < 3; ++k)
    if (!has(i + k) || !tokens[i + k].is(of)) return false;
  return true;
}

void SourceEdits::refuse(const SourceToken& t, std::string_view what) const {
  fail("{}:{}: {}: the emulator does not run {}", file, t.line, t.text, what);
}

void SourceEdits::replace_lines(std::size_t first, std::size_t last, std::string text) {
  const std::string_view old = slice(first, last);
  const auto lines = std::count(old.begin(), old.end(), '\n') - std::count(text.begin(), text.end(), '\n');
  for (std::ptrdiff_t k = 0; k < lines; ++k) text += tokens[first].directive ? "\\\n" : "\n";
  replace(tokens[first].at, tokens[last].end(), std::move(text));
}

std::string SourceEdits::apply(std::vector<SourceInclude>& includes) {
  std::ranges::stable_sort(edits_, {}, &Edit::at);
  std::string text;
  std::size_t at = 0, include = 0;
  const auto copy = [&](std::size_t to) {
    for (; include < includes.size() && includes[include].at < to; ++include) {
      SourceInclude& one = includes[include];
      const std::size_t moved = text.size() + (one.at - at);
      one.end = moved + (one.end - one.at);
      one.at = moved;
    }
    text.append(source.substr(at, to - at));
    at = to;
  };
  for (const Edit& e : edits_) {
    if (e.at < at) continue;
    copy(e.at);
    text += e.text;
    at = e.end;
  }
  copy(source.size());
  return text;
}

}  // namespace zellige::cuda
