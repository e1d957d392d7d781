// Jobs side by side, each in a process of its own: a job that crashes, or that is killed for the memory it
// takes, is that job's result and nobody else's.
//
//   run_jobs(graphs.size(), 2, [&](int i) { return run(graphs[i]).to_json(); },
//            [&](int i, const JobEnd& end) { ... });
//
// Where nobody knows how many there are, `next` gives one after the other.
#pragma once
#include <functional>
#include <string>

namespace zellige::run {

struct JobEnd {
  std::string result;  // what the job returned
  std::string crash;   // why it returned nothing: "killed by signal 11 (Segmentation fault)"; else ""
  int signal = 0;      // the one that killed it
};

/// Calls `work` for each of 0 .. count-1 in processes forked from this one, at most `width` at a time, and
/// `ended` here as each ends. `idle` is called about five times a second. The caller has no other threads.
void run_jobs(
    int count, int width, const std::function<std::string(int)>& work,
    const std::function<void(int, const JobEnd&)>& ended, const std::function<void()>& idle = [] {});

/// The same for jobs that `next` gives, which is called with 0, 1, ... whenever one more may start; one
/// without work is the last.
using Work = std::function<std::string()>;
void run_jobs(
    const std::function<Work(int)>& next, int width, const std::function<void(int, const JobEnd&)>& ended,
    const std::function<void()>& idle = [] {});

}  // namespace zellige::run
