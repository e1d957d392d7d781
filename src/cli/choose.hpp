// Selects graphs of files: one of a file, for commands that have the option --index, or those that `zellige run` runs: the
// selected graphs of all files in order, read on demand.
//
//   Jobs jobs({"a.json", "-"}, /*index=*/-1, /*all=*/true);  // all graphs of a.json and of stdin
//   while (std::optional<Job> job = jobs.next()) ...
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "json/json.hpp"

namespace zellige::cli {

constexpr int max_index = 2147483647;

/// Returns graph `index` of a file, counted from 0. For -1, returns the first graph, and, if there are
/// several, prints on stderr how to select another one. `all`: what the command does to the graphs, a verb
/// for that message ("runs": "--all runs all of them"). Throws Error if the file has no such graph.
json::Loaded choose(json::GraphFile&, const std::string& file, int index, std::string_view all);
/// Returns graph `index` of a file, counted from 0. Throws Error if the file has no such graph, or an invalid one.
graph::KernelGraph choose(const std::string& file, int index);

/// One graph to run, or the reason why it is invalid.
struct Job {
  std::string file;
  int index;
  json::Loaded loaded;
  std::string dump = {};  // folder for the files of --dump; "": no --dump
};

/// The queue of graphs to run.
class Jobs {
 public:
  /// Opens every file and reads its first graph before any graph runs. `all`: takes all graphs of each file.
  /// Otherwise `index` selects one; -1 takes the first, and reports it if there are others.
  Jobs(std::vector<std::string> files, int index, bool all);

  /// Returns the next job (a graph to run), or nullopt after the last one. For a file that is not JSON,
  /// returns a job with an error in place of the graph.
  std::optional<Job> next();
  /// Reads jobs (graphs to run) until `n` jobs are queued or the files end. Returns the number of queued jobs.
  int peek(int n);

 private:
  std::optional<Job> read();
  void close();

  std::vector<std::string> names_;     // one per file, in order
  std::deque<json::GraphFile> files_;  // files that are not read to the end
  std::size_t at_ = 0;                 // index in names_ of the first of files_
  std::deque<Job> queued_;
};

}  // namespace zellige::cli
