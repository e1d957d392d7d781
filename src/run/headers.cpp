#include "run/headers.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace zellige::run {
namespace {

// Adds to `seen` the embedded headers that `text`, the source of the file `from`, includes, also through other headers.
void walk(std::string_view text, std::string_view from, std::set<const Header*>& seen) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const Header* header = included(text.substr(0, end), from);
    if (header && seen.insert(header).second) walk(header->text, header->path, seen);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Returns the line without leading blanks.
std::string_view without_blanks(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

}  // namespace

const Header* find_header(std::string_view path) {
  const auto all = headers();
  const auto at = std::ranges::lower_bound(all, path, {}, &Header::path);
  return at != all.end() && at->path == path ? &*at : nullptr;
}

std::string_view directive(std::string_view line) {
  line = without_blanks(line);
  return line.starts_with('#') ? without_blanks(line.substr(1)) : std::string_view();
}

const Header* included(std::string_view line, std::string_view from) {
  line = directive(line);
  if (!line.starts_with("include")) return nullptr;
  line = without_blanks(line.substr(7));
  if (line.empty() || (line[0] != '<' && line[0] != '"')) return nullptr;
  const std::size_t end = line.find(line[0] == '<' ? '>' : '"', 1);
  if (end == line.npos) return nullptr;
  const std::string_view name = line.substr(1, end - 1);
  if (line[0] == '"' && !from.empty()) {
    const auto sibling = (std::filesystem::path(from).parent_path() / name).lexically_normal();
    if (const Header* h = find_header(sibling.generic_string())) return h;
  }
  return find_header(name);
}

std::vector<const Header*> closure(std::string_view text) {
  std::set<const Header*> seen;
  walk(text, "", seen);
  return {seen.begin(), seen.end()};  // pointers into the table of headers, and so sorted by path
}

}  // namespace zellige::run
