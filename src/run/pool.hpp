// Runs jobs in parallel, each in a process of its own: a job that crashes, or is killed for the memory it
// uses, affects no other.
//
//   run_jobs(graphs.size(), 2, [&](int i) { return run(graphs[i]).to_json(); },
//            [&](int i, const JobEnd& end) { ... });
//
// If the number of jobs is unknown, `next` returns them one by one.
#pragma once
#include <functional>
#include <string>

namespace zellige::run {

struct JobEnd {
  std::string result;  // return value of the job
  std::string crash;   // why it returned nothing: "killed by signal 11 (Segmentation fault)"; else ""
  int signal = 0;      // that killed it
};

/// Calls `work` for each of 0 .. count-1 in processes forked from this one, at most `width` at a time, and
/// `ended` in this process as each ends. `idle` is called about five times per second. Precondition: the
/// caller has no other threads.
void run_jobs(
    int count, int width, const std::function<std::string(int)>& work,
    const std::function<void(int, const JobEnd&)>& ended, const std::function<void()>& idle = [] {});

/// The same for jobs from `next`, which is called with 0, 1, ... whenever another job may start; an empty
/// function ends the sequence.
using Work = std::function<std::string()>;
void run_jobs(
    const std::function<Work(int)>& next, int width, const std::function<void(int, const JobEnd&)>& ended,
    const std::function<void()>& idle = [] {});

}  // namespace zellige::run
