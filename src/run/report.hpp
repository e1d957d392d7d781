// Writes the file of the option --json: one line per graph, in the order of the graphs.
//
// The file is replaced each time a graph ends, so it always has complete lines, and an interrupted run leaves
// the lines of the finished graphs. A file of more than 1 MiB is not replaced, which would take long: a
// graph's line is appended as soon as those of all earlier graphs have been written. A pipe or a device
// (/dev/stdout) receives lines as graphs end.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "run/outputs.hpp"

namespace zellige::run {

/// The file of --json. Functions throw Error if it cannot be written.
class Report {
 public:
  /// Creates an empty file, so that an unwritable path is reported before any graph runs. "": no report.
  Report(Outputs&, std::filesystem::path file);
  Report(const Report&) = delete;
  ~Report();
  /// Adds the line of the graph with index `order`. Graphs may end in any order.
  void add(int order, const std::string& line);

 private:
  void append(std::string_view text);

  Outputs& outputs_;
  std::filesystem::path file_;
  bool stream_ = false;
  // all lines; once lines are appended, those that wait for an earlier one
  std::map<int, std::string> lines_;
  std::size_t bytes_ = 0;
  int appended_ = -1;  // descriptor for appending; -1: the file is still replaced
  int next_ = 0;       // index of the next line to append
  Digest digest_;      // hash of the file's content
};

}  // namespace zellige::run
