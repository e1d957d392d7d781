#include "toolchain/headers.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

namespace zellige::toolchain {
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

// Returns the macro that guards an inlined header: "ZELLIGE_ONCE_zellige_block_hpp" for zellige/block.hpp.
std::string guard(std::string_view path) {
  std::string name = "ZELLIGE_ONCE_" + std::string(path);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

/// Returns a preprocessor directive without its comment: "if X" for "if X  // why".
std::string_view condition(std::string_view word) {
  word = word.substr(0, word.find("//"));
  return word.substr(0, word.find_last_not_of(" \t") + 1);
}

// Inlines headers into source code. A header that is inlined outside of any condition is not inlined again. One inlined
// under a condition is inlined again at its next include; a guard macro keeps the compiler from seeing it twice.
class Inliner {
 public:
  // Appends the source code of the file `from` to `out`, with its headers inlined.
  void add(std::string_view text, std::string_view from) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      const std::string_view word = directive(line);
      branch(condition(word));
      if (word.starts_with("pragma once")) continue;
      const Header* header = included(line, from);
      // Includes of the emulator's headers are kept, because nvcc never takes their branch.
      const bool emulated = std::ranges::any_of(branches_, &Branch::emulated);
      if (header && !(emulated && header->path.starts_with("zellige/emulate/")))
        put(*header);
      else
        out.append(line).push_back('\n');
    }
  }
  std::string out;

 private:
  /// An open #if. `emulated`: its current branch is compiled for the emulator only; `otherwise`: its #else would be.
  struct Branch {
    bool emulated, otherwise;
  };

  // Updates the list of open #if conditions for the preprocessor directive `word`.
  void branch(std::string_view word) {
    const bool emulated = word.ends_with("if defined(ZELLIGE_EMULATE)");
    if (word.starts_with("if"))
      branches_.push_back({emulated, word == "if !defined(ZELLIGE_EMULATE)"});
    else if (word.starts_with("elif"))
      branches_.back() = {emulated, false};
    else if (word.starts_with("else"))
      branches_.back() = {branches_.back().otherwise, false};
    else if (word.starts_with("endif"))
      branches_.pop_back();
  }

  // Inlines a header, unless it has been inlined already or is being inlined.
  void put(const Header& header) {
    if (done_.contains(&header) || !open_.insert(&header).second) return;
    if (branches_.empty()) done_.insert(&header);
    const std::string once = guard(header.path);
    out += "// " + std::string(header.path) + "\n#ifndef " + once + "\n#define " + once + "\n";
    add(header.text, header.path);
    out += "#endif  // " + once + "\n";
    open_.erase(&header);
  }

  std::set<const Header*> done_, open_;
  std::vector<Branch> branches_;
};

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

std::string standalone(std::string_view source) {
  Inliner inliner;
  inliner.add(source, "");
  return std::move(inliner.out);
}

}  // namespace zellige::toolchain
