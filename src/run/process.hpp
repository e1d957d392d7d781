// Runs another program and waits for its end.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::run {

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

}  // namespace zellige::run
