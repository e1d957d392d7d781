// Reads the graphs of a file one at a time: the file is never in memory as a whole, and its first graph is
// available as soon as that graph has been read.
//
//   Candidates file("graphs.json");                      // "-": stdin
//   while (std::optional<Loaded> l = file.next()) ...     // each with its graph, or with why it is refused
//   file.skip();                                          // passes over one without a look at what it means
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "graph/json_text.hpp"
#include "graph/load.hpp"

namespace zellige::graph {

class Characters;

class Candidates {
 public:
  /// Throws if the file does not exist, or if its beginning, up to the first graph, is invalid.
  explicit Candidates(const std::string& path);
  /// Reads from a string; `source` names it in messages, `stem` is the prefix of the graphs' names.
  Candidates(std::string_view text, std::string source, std::string stem);
  Candidates(Candidates&&) noexcept;
  ~Candidates();

  /// Returns the next graph, or nothing at the end. Throws if the input is not JSON; nothing comes after
  /// that.
  std::optional<Loaded> next();
  bool skip();
  /// Number of graphs returned or skipped.
  int count() const { return count_; }
  std::size_t bytes_read() const;
  const std::string& stem() const { return stem_; }

 private:
  void begin();
  bool advance();  // to the next element of the list
  Loaded load(const Json&);

  std::unique_ptr<Characters> in_;
  std::string source_, stem_;
  std::optional<Json> first_;  // the element that `begin` has read already
  bool list_ = false, ended_ = false, mirage_ = false;
  int count_ = 0;
};

}  // namespace zellige::graph
