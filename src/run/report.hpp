// The file of --json: one line a graph, in the order of the graphs.
//
// The file is replaced as a whole each time a graph ends, so that under its name there always stand whole
// lines, and a run that is cut short leaves those of the graphs that ended. Past 1 MiB that would take too
// long: from then on a line is appended once all before it stand. A pipe or a device (/dev/stdout) gets each
// line as it comes.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "run/outputs.hpp"

namespace zellige::run {

class Report {
 public:
  /// Creates the file, empty: that it cannot be written shows before the work and not after. "": writes
  /// nothing.
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
  int next_ = 0;       // the line that is to be appended next
  Digest digest_;
};

}  // namespace zellige::run
