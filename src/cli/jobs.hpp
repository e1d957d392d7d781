// The work list of `zellige run`: the selected graphs of all files in order, read on demand.
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
  std::string dump = {};  // folder of the --dump files; "": none
};

class Jobs {
 public:
  /// Opens every file and reads its first graph before anything runs. `index`: -1 takes the first, and
  /// reports it if there are others.
  Jobs(std::vector<std::string> files, int index, bool all);

  std::optional<Job> next();
  /// Prefetches until `n` jobs wait; returns how many do.
  int peek(int n);

 private:
  std::optional<Job> read();
  void close();

  std::vector<std::string> names_;
  std::deque<graph::Candidates> files_;
  std::size_t at_ = 0;  // file of the first of them
  std::deque<Job> queued_;
};

}  // namespace zellige::cli
