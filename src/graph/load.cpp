#include "graph/load.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>

#include "graph/json.hpp"
#include "graph/mirage.hpp"

namespace zellige::graph {
namespace {

constexpr std::uintmax_t max_file_bytes = std::uintmax_t{1} << 30;

std::string read_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) fail("{}: expected a graph file, found a directory", path);
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) fail("{}: expected a graph file that can be read, found: {}", path, error.message());
  if (bytes > max_file_bytes) fail("{}: expected at most {} bytes, found {}", path, max_file_bytes, bytes);
  std::ifstream in(path, std::ios::binary);
  std::string text(bytes, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(bytes)))
    fail("{}: expected a graph file that can be read, found: {}", path, std::strerror(errno));
  return text;
}

Loaded load_one(const Json& j, const std::string& name) {
  Loaded result{name, {}, {}};
  try {
    if (!is_own_form(j) && !j.is_array()) fail("graph {}: expected a graph, found {}", name, describe(j));
    result.graph = is_own_form(j) ? from_json(j, name) : from_mirage(j, name);
    result.name = result.graph.name;
  } catch (const Error& e) {
    result.graph = {};
    result.error = e.what();
  }
  return result;
}

/// A file's name as the name of its graphs: blanks and whatever else a graph's name may not hold become underscores.
std::string graph_name(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string().substr(0, 150);
  for (char& c : name)
    if (c <= ' ' || c >= 127 || c == '"' || c == '\\') c = '_';
  return name;
}

}  // namespace

std::vector<Loaded> load_text(std::string_view text, std::string_view source, const std::string& stem) {
  const Json j = parse_json(text, source);
  std::vector<Loaded> graphs;
  if (is_own_form(j)) {
    graphs.push_back(load_one(j, stem));
  } else if (is_mirage_candidate(j)) {
    graphs.push_back(load_one(j, stem + "[0]"));
  } else if (j.is_array() && !j.empty() && (j[0].is_array() || is_own_form(j[0]))) {
    if (j.size() > max_json_operators)
      fail("{}: expected at most {} graphs, found {}", source, max_json_operators, j.size());
    for (std::size_t i = 0; i < j.size(); ++i)
      graphs.push_back(load_one(j[i], fmt::format("{}[{}]", stem, i)));
  } else {
    fail("{}: expected a graph (an object with \"zellige_graph\") or a list of graphs, found {}", source,
         describe(j));
  }
  return graphs;
}

std::vector<Loaded> load_each(const std::string& path) {
  return load_text(read_file(path), path, graph_name(path));
}

std::vector<KernelGraph> load(const std::string& path) {
  std::vector<KernelGraph> graphs;
  for (Loaded& l : load_each(path)) {
    if (!l.error.empty()) throw Error(l.error);
    graphs.push_back(std::move(l.graph));
  }
  return graphs;
}

}  // namespace zellige::graph
