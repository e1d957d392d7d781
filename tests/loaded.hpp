// All graphs of a file or a string, each with its graph or error.
#pragma once
#include "json/json.hpp"

namespace zellige::json {

inline std::vector<Loaded> all_of(GraphFile file) {
  std::vector<Loaded> graphs;
  while (std::optional<Loaded> l = file.next()) graphs.push_back(std::move(*l));
  return graphs;
}
inline std::vector<Loaded> load_each(const std::string& path) { return all_of(GraphFile(path)); }
/// `source` names the string in messages; `stem` is the prefix of the graphs' names.
inline std::vector<Loaded> load_text(std::string_view text, std::string_view source, const std::string& stem) {
  return all_of(GraphFile(text, std::string(source), stem));
}

}  // namespace zellige::json
