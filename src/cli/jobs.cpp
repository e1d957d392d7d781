#include "cli/jobs.hpp"

#include <algorithm>

#include "graph/error.hpp"

namespace zellige::cli {

Jobs::Jobs(std::vector<std::string> files, int index, bool all) : names_(std::move(files)) {
  for (std::string& name : names_) {
    json::GraphFile& from = files_.emplace_back(name);
    if (name == "-") name = "stdin";
    if (all) continue;
    queued_.push_back({name, std::max(index, 0), choose(from, name, index, "runs")});
  }
  if (!all) files_.clear();
}

std::optional<Job> Jobs::next() {
  if (queued_.empty()) return read();
  Job job = std::move(queued_.front());
  queued_.pop_front();
  return job;
}

int Jobs::peek(int n) {
  while (static_cast<int>(queued_.size()) < n) {
    std::optional<Job> job = read();
    if (!job) break;
    queued_.push_back(std::move(*job));
  }
  return static_cast<int>(queued_.size());
}

std::optional<Job> Jobs::read() {
  for (; !files_.empty(); close()) {
    json::GraphFile& from = files_.front();
    const int index = from.count();
    try {
      if (std::optional<json::Loaded> l = from.next()) return Job{names_[at_], index, std::move(*l)};
    } catch (const Error& e) {
      // The rest of the file is not JSON. The graphs before it are run; the error becomes the result of one more job.
      Job job{names_[at_], index, {fmt::format("{}[{}]", from.stem(), index), {}, e.what()}};
      close();
      return job;
    }
  }
  return std::nullopt;
}

void Jobs::close() {
  files_.pop_front();
  ++at_;
}

}  // namespace zellige::cli
