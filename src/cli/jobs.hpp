// What `zellige run` has to do: the chosen graphs of all files, one after the other, read as they are needed.
//
//   Jobs jobs({"a.json", "-"}, -1, true);                  // all graphs of a file and of stdin
//   while (std::optional<Job> job = jobs.next()) ...
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cli/choose.hpp"

namespace zellige::cli {

struct Job {
  std::string file;
  int index;
  graph::Loaded loaded;
  std::string dump = {};  // the folder for what it saw; "": none
};

class Jobs {
 public:
  /// Every file is opened, and its first graph read, before anything runs. `index`: -1 is the first, and says so
  /// where there are others.
  Jobs(std::vector<std::string> files, int index, bool all);

  std::optional<Job> next();
  /// Reads on until so many wait; how many do.
  int look_ahead(int n);

 private:
  std::optional<Job> read();
  void close();

  std::vector<std::string> names_;
  std::deque<graph::Candidates> files_;
  std::size_t at_ = 0;  // of the first of them
  std::deque<Job> ahead_;
};

}  // namespace zellige::cli
