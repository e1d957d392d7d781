// Writes the file of --json: one line per graph, in the order of the graphs.
//
// The file is replaced as a whole each time a graph ends, so that it always contains whole lines, and an
// interrupted run leaves the lines of the finished graphs. Beyond 1 MiB that would take too long: from then
// on a line is appended once all earlier ones are written. A pipe or a device (/dev/stdout) receives each
// line as it becomes available.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "run/outputs.hpp"

namespace zellige::run {

class Report {
 public:
  /// Creates an empty file, so that an unwritable path is reported before the work. "": writes nothing.
  Report(Outputs&, std::filesystem::path file);
  Report(const Report&) = delete;
  ~Report();
  void add(int order, const std::string& line);

 private:
  void append(std::string_view text);

  Outputs& outputs_;
  std::filesystem::path file_;
  bool stream_ = false;
  std::map<int, std::string> lines_;  // all of them; once the file is appended to, those that wait
  std::size_t bytes_ = 0;
  int appended_ = -1;  // the descriptor
  int next_ = 0;       // the next line to append
  Digest digest_;
};

}  // namespace zellige::run
