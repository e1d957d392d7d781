// The file of --json: one line a graph, in the order of the graphs.
//
// The file is replaced as a whole each time a graph ends (a few hundred lines are nothing to rewrite), so
// that under its name there always stand whole lines, and a run that is cut short leaves those of the graphs
// that ended. A pipe or a device (/dev/stdout) gets each line as it comes.
#pragma once
#include <filesystem>
#include <map>
#include <string>

namespace zellige::run {

class Report {
 public:
  /// Creates the file, empty: that it cannot be written shows before the work and not after. "": writes
  /// nothing.
  explicit Report(std::filesystem::path file);
  void add(int order, const std::string& line);

 private:
  std::filesystem::path file_;
  bool stream_ = false;
  std::map<int, std::string> lines_;
};

}  // namespace zellige::run
