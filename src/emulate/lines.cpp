// Resolves return addresses in loaded libraries to source lines, by running addr2line.
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "emulate/findings.hpp"

namespace zellige::emulate {

namespace {

// Returns what addr2line prints for addresses of the file at `path`, each preceded by a blank; "" if it cannot be
// started.
std::string addr2line(std::string path, const std::string& addresses) {
  for (std::size_t at = 0; (at = path.find('\'', at)) != path.npos; at += 4) path.replace(at, 1, "'\\''");
  const std::string command = "addr2line -a -i -e '" + path + "'" + addresses + " 2>/dev/null";
  std::FILE* const pipe = popen(command.c_str(), "re");  // e: children of other threads must not inherit it
  if (!pipe) return "";
  std::string text;
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  pclose(pipe);
  return text;
}

// Groups return addresses by the path of the library that contains them: each as loaded, and as in the file.
using Addresses = std::vector<std::pair<std::uintptr_t, std::uintptr_t>>;
std::map<std::string, Addresses> by_object(const std::vector<std::uintptr_t>& return_addresses) {
  std::map<std::string, Addresses> objects;
  for (std::uintptr_t address : return_addresses) {
    Dl_info info{};
    link_map* map = nullptr;
    if (!dladdr1(reinterpret_cast<void*>(address - 1), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map)
      continue;
    const bool program = !map->l_name || !*map->l_name;
    const std::string path = program ? "/proc/" + std::to_string(getpid()) + "/exe" : map->l_name;
    objects[path].emplace_back(address, address - 1 - map->l_addr);  // - 1: within the call instruction, not after it
  }
  return objects;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Returns true if an error message may name this source line: it is a line of `source_file` (names of files, separated by
// newlines), or, if that is "", any line outside include/zellige.
bool in_source(const Line& line, const std::string& source_file) {
  if (source_file.empty()) return line.file.find("include/zellige/") == std::string::npos;
  for (std::size_t at = 0; at <= source_file.size();) {
    const std::size_t end = std::min(source_file.find('\n', at), source_file.size());
    const std::string one = source_file.substr(at, end - at);
    if (line.file == one || base_name(line.file) == base_name(one)) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

LineTable find_lines(const std::vector<std::uintptr_t>& return_addresses) {
  LineTable table;
  for (const auto& [path, addresses] : by_object(return_addresses)) {
    for (std::size_t first = 0; first < addresses.size(); first += 500) {
      const std::size_t last = std::min(first + 500, addresses.size());
      std::string asked;
      for (std::size_t i = first; i < last; ++i) asked += fmt::format(" {:#x}", addresses[i].second);
      // addr2line prints each address on a line of its own (0x...), followed by one "file:line" per inlined call.
      std::istringstream text(addr2line(path, asked));
      std::vector<Line>* chain = nullptr;
      std::size_t next = first;
      for (std::string entry; std::getline(text, entry);) {
        if (entry.starts_with("0x")) {
          if (next == last) break;
          chain = &table[addresses[next++].first];
        } else if (chain) {
          entry = entry.substr(0, entry.find(" ("));  // removes " (discriminator 3)"
          const std::size_t colon = entry.rfind(':');
          const int line = colon == std::string::npos ? 0 : std::atoi(entry.c_str() + colon + 1);
          if (line > 0) chain->push_back({entry.substr(0, colon), line});
        }
      }
    }
  }
  return table;
}

// Returns the line whose position spell() returns; null if no line is known.
static const Line* best_line(const LineTable& table, const std::vector<std::uintptr_t>& callers,
                             const std::string& source_file) {
  const Line* innermost = nullptr;
  for (std::uintptr_t address : callers) {
    auto found = table.find(address);
    if (found == table.end()) continue;
    for (const Line& line : found->second) {
      if (in_source(line, source_file)) return &line;
      if (!innermost) innermost = &line;
    }
  }
  return innermost;
}

std::string spell(const LineTable& table, const std::vector<std::uintptr_t>& callers, const std::string& source_file) {
  const Line* line = best_line(table, callers, source_file);
  return line ? base_name(line->file) + ":" + std::to_string(line->line) : "an unknown line";
}

// Returns the name that a source line declares: the last identifier before the first of = ; [ { , ( that is
// not within < > or ( ). Returns "" if there is none.
std::string declared_name(std::string_view line) {
  line = line.substr(0, line.find("//"));
  std::string word, last;
  int depth = 0;
  for (char c : line) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (depth == 0 && letter) {
      word += c;
      continue;
    }
    if (!word.empty()) {
      if (word == "return" || word == "for" || word == "if" || word == "while") return "";
      last = std::exchange(word, "");
    }
    if (depth == 0 && (c == '=' || c == ';' || c == '[' || c == '{' || c == ',' || c == '(')) break;
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
  }
  return !last.empty() && !std::isdigit(static_cast<unsigned char>(last[0])) ? last : "";
}

std::string declared_name(const LineTable& table, const std::vector<std::uintptr_t>& callers,
                          const std::string& source_file) {
  const Line* line = best_line(table, callers, source_file);
  if (!line) return "";
  std::ifstream file(line->file);
  std::string text;
  for (int i = 0; i < line->line; ++i)
    if (!std::getline(file, text)) return "";
  return declared_name(text);
}

}  // namespace zellige::emulate
