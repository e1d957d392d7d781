// Runs another program and waits for it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::run {

struct Finished {
  int status = 0;      // exit status; 128 + signal if it was killed
  std::string output;  // stdout and stderr, interleaved
};

/// "status 1", or "killed by signal 9 (Killed)" for a status of 128 + signal.
std::string ended(int status);

/// `command[0]` is looked up in PATH. Throws Error if it cannot be started. `folder`: the working directory;
/// "": the current one.
Finished run_process(const std::vector<std::string>& command, const std::string& folder = "");

/// The path of a program in PATH (or of a path that names an executable), or nothing.
std::optional<std::string> find_program(std::string_view name);

}  // namespace zellige::run
