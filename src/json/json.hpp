// Reads and writes Zellige's JSON form of a kernel graph, version 1 (docs/reference/graph-json.md). Tensors are
// referenced by name. Shapes of results are not written but inferred, so that each graph has exactly one form.
//
//   std::string json = to_json(g);                                       // g is valid
//   KernelGraph again = from_json(parse_json(json, "a.json"), "a");      // "a": the name if the JSON has none
//
// Reads the graphs of a file in Zellige's JSON form or in Mirage's, which it distinguishes by their content. A file has one
// graph or a list of graphs.
//
//   for (const KernelGraph& g : load("mugraphs/lora.json")) ...  // lora[0], ...; throws if one is invalid
//
// A GraphFile reads one graph at a time. Only one graph's text is in memory at a time, and the first graph is available as
// soon as its text has been read.
//
//   GraphFile file("graphs.json");                        // "-": stdin
//   while (std::optional<Loaded> l = file.next()) ...     // a graph, or the reason why it is invalid
//   file.skip();                                          // skips one graph without parsing it
//
// Imports graphs of Mirage's form, too. Their inputs are named X0, X1, ..., outputs Y0, Y1, ..., and the tiles that a block
// loads from X0 are named X0_tile, X0_tile1, ... Mirage's smem_offset and layout are ignored.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "json/json_text.hpp"

namespace zellige::json {

constexpr int json_version = 1;

/// Returns the JSON of a valid graph, one operator per line. Throws Error if the graph is not valid.
std::string to_json(const graph::KernelGraph&);
/// Returns the graph that the JSON describes. `name`: the graph's name if the JSON has none. Throws Error if
/// the JSON is not a valid graph.
graph::KernelGraph from_json(const Json&, const std::string& name);
/// Returns whether the JSON is in Zellige's form, rather than Mirage's: an object with the key zellige_graph.
bool is_own_form(const Json&);

/// Returns the validated graph of this name that the JSON describes in Mirage's form. Throws Error if it is invalid or not
/// supported: for unknown operators, all-reduce (more than one GPU), and mul_scalar and clamp (the file lacks their
/// constants); for a guid with two producers or two shapes, and for dimensions that contradict inference.
graph::KernelGraph from_mirage(const Json& candidate, const std::string& name);
/// Returns whether the JSON looks like a graph in Mirage's form: a list of objects with the key op_type.
bool is_mirage_candidate(const Json&);

/// One graph of a file, or the reason why it is invalid.
struct Loaded {
  std::string name;          // file stem and index: lora[0]
  graph::KernelGraph graph;  // validated, if `error` is empty
  std::string error;         // why the graph is invalid; "" if it is valid
};

class Characters;

class GraphFile {
 public:
  /// Opens a file and reads up to the end of the first graph. "-" is stdin. Throws Error if the file cannot
  /// be read, or if its beginning is not a graph or a list of graphs.
  explicit GraphFile(const std::string& path);
  /// Reads from a string. `source` names it in messages; `stem` is the prefix of the graphs' names.
  GraphFile(std::string_view text, std::string source, std::string stem);
  GraphFile(GraphFile&&) noexcept;
  ~GraphFile();

  /// Returns the next graph, or the reason why it is invalid. Returns nullopt at the end of the input. Throws
  /// Error if the input is not JSON; later calls then return nullopt.
  std::optional<Loaded> next();
  /// Skips the next graph without parsing it. Returns false at the end of the input.
  bool skip();
  /// Number of graphs returned or skipped so far.
  int count() const { return count_; }
  std::size_t bytes_read() const;
  const std::string& stem() const { return stem_; }

 private:
  /// Reads the first graph and determines the form of the input: one graph in Zellige's JSON form, a list of graphs, or
  /// one Mirage graph (a list of operators).
  void begin();
  bool advance();  // moves to the next element of the list; false at the end
  Loaded load(const Json&);

  std::unique_ptr<Characters> in_;
  std::string source_, stem_;
  std::optional<Json> first_;  // the first element, which begin() has parsed
  bool list_ = false, ended_ = false, mirage_ = false;
  int count_ = 0;
};

/// Returns all graphs of a file. Throws Error if a graph is invalid, or if the file cannot be read.
std::vector<graph::KernelGraph> load(const std::string& path);

}  // namespace zellige::json
