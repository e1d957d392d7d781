// The graphs of a file, one after the other: a file of any length is never in memory as a whole, and its
// first graph is there as soon as its text has been read.
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
  /// Throws where there is no such file, or where it cannot be one of graphs as far as its first one.
  explicit Candidates(const std::string& path);
  /// The same from a text; `source` names it in messages, `stem` the graphs.
  Candidates(std::string_view text, std::string source, std::string stem);
  Candidates(Candidates&&) noexcept;
  ~Candidates();

  /// The next graph, or nothing at the end. Throws where the text is no JSON; nothing comes after that.
  std::optional<Loaded> next();
  bool skip();
  /// How many were given or passed over.
  int count() const { return count_; }
  std::size_t bytes_read() const;
  const std::string& stem() const { return stem_; }

 private:
  void begin();
  bool advance();  // to the next element of the list
  Loaded load(const Json&);

  std::unique_ptr<Characters> in_;
  std::string source_, stem_;
  std::optional<Json> first_;  // what `begin` had to look at
  bool list_ = false, ended_ = false, mirage_ = false;
  int count_ = 0;
};

}  // namespace zellige::graph
