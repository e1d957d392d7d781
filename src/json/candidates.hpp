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
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/json_text.hpp"

namespace zellige::json {

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
  Loaded load(const graph::Json&);

  std::unique_ptr<Characters> in_;
  std::string source_, stem_;
  std::optional<graph::Json> first_;  // the first element, which begin() has parsed
  bool list_ = false, ended_ = false, mirage_ = false;
  int count_ = 0;
};

/// Returns all graphs of a file; for an invalid graph, an error in its place. Throws Error if the file cannot
/// be read, or if it is neither a graph nor a list of graphs.
std::vector<Loaded> load_each(const std::string& path);
/// Returns all graphs of a file. Throws Error if a graph is invalid, or if the file cannot be read.
std::vector<graph::KernelGraph> load(const std::string& path);

/// Returns all graphs in a string, like load_each(). `source` names the string in messages; `stem` is the
/// prefix of the graphs' names.
std::vector<Loaded> load_text(std::string_view text, std::string_view source, const std::string& stem);

}  // namespace zellige::json
