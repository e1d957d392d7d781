// Runs another program and waits for its end. Runs jobs in parallel, too, each in a process of its own, so that a job that
// crashes, or is killed for its use of memory, does not affect the others.
//
//   run_jobs(graphs.size(), /*at a time*/ 2, [&](int i) { return run(graphs[i]).to_json(); },
//            [&](int i, const JobEnd& end) { ... });  // called when job i has ended
//
// A second overload calls a function `next` for each job, for when the number of jobs is not known. Its jobs can tell what
// they are doing.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::system {

/// The result of a program that has run.
struct Finished {
  int status = 0;      // exit status; 128 + signal if it was killed
  std::string output;  // stdout and stderr, interleaved
};

/// Returns an exit status in words: "status 1", or "killed by signal 9 (Killed)" for 128 + signal.
std::string ended(int status);

/// Returns what of the machine a compiler that has failed was short of, "memory" or "disk space"; "" if nothing says so. A
/// compiler that was killed (SIGKILL) counts as short of memory: the kernel ends the largest process then.
std::string_view short_of(const Finished&);

/// Runs the program command[0], looked up in PATH, with the other elements as arguments, and waits for its
/// end. Throws Error if it cannot be started. `folder`: its working directory; "": the current one.
Finished run_process(const std::vector<std::string>& command, const std::string& folder = "");

/// Returns the path of a program in PATH, or `name` itself if it is an executable's path; nullopt if there is none.
std::optional<std::string> find_program(std::string_view name);

/// The end of a job: its result, or why there is none.
struct JobEnd {
  std::string result;  // what the job returned
  std::string crash;   // why there is no result: "killed by signal 11 (Segmentation fault)"; else ""
  int signal = 0;      // the signal that killed it; 0: none
};

/// Calls work(i) for each i from 0 to count - 1, in processes forked from this one, at most `width` at a
/// time. When job i ends, calls ended(i, its result or why there is none) in this process. The caller must have no other
/// threads.
void run_jobs(int count, int width, const std::function<std::string(int)>& work,
              const std::function<void(int, const JobEnd&)>& ended);

/// A job of the run_jobs that gets its jobs one by one from a function: runs it and returns its result as a string. It may
/// call `say` with the phase that it is in, of which 123 bytes are kept.
using PooledWork = std::function<std::string(const std::function<void(const std::string&)>& say)>;
/// Runs jobs, whose number need not be known, each in a forked process, at most `width` at a time. next(i) returns job
/// i, or an empty function if there are no more jobs; it is called with 0, 1, ... whenever another job may start. Calls
/// `ended` as the overload with a count does. About five times per second or more often, calls `idle` with the job that was
/// started first among those that run, and its phase: "" before it has one; job -1 if none runs. The caller must have no
/// other threads.
void run_jobs(
    const std::function<PooledWork(int)>& next, int width, const std::function<void(int, const JobEnd&)>& ended,
    const std::function<void(int job, const std::string& phase)>& idle = [](int, const std::string&) {});

}  // namespace zellige::system
