#include "cli/choose.hpp"

#include <algorithm>

#include "cli/terminal.hpp"
#include "graph/error.hpp"

namespace zellige::cli {
namespace {

constexpr int max_counted = 1000;
constexpr std::size_t max_bytes = std::size_t{8} << 20;

std::string graphs(int n) { return fmt::format("{} graph{}", n, n == 1 ? "" : "s"); }

[[noreturn]] void out_of_range(const std::string& file, int index, int count) {
  fail("{}: --index {} is out of range; the file holds {}, counted from 0", strings::shown(file), index, graphs(count));
}

/// Returns the number of graphs of a file in words, such as "3 graphs", or "more than 1000 graphs" if
/// counting them would take long. `rest`: the file, of which some graphs may have been read already.
std::string how_many(json::GraphFile& rest) {
  while (rest.count() <= max_counted && rest.bytes_read() <= max_bytes)
    if (!rest.skip()) return graphs(rest.count());
  return fmt::format("more than {}", graphs(rest.count() - 1));
}

}  // namespace

json::Loaded choose(json::GraphFile& from, const std::string& file, int index, std::string_view all) {
  const int at = std::max(index, 0);
  for (int i = 0; i < at; ++i)
    if (!from.skip()) out_of_range(file, index, i);
  std::optional<json::Loaded> one = from.next();
  if (!one) out_of_range(file, index, at);
  if (index < 0) {
    if (const std::string count = how_many(from); count != "1 graph")
      say(stderr, "{}: the first of its {}; --all {} all of them, --index N another\n", strings::shown(file), count,
          all);
  }
  return std::move(*one);
}

graph::KernelGraph choose(const std::string& file, int index) {
  json::GraphFile from(file);
  json::Loaded one = choose(from, file, index, "");
  if (!one.error.empty()) throw Error(one.error);
  return std::move(one.graph);
}

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
