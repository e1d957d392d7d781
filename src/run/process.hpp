// Runs another program and waits for it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::run {

struct Finished {
  int status = 0;      // exit status; 128 + signal for one that was killed
  std::string output;  // stdout and stderr, as they came
};

/// "status 1", or "killed by signal 9 (Killed)" of a status of 128 + signal.
std::string ended(int status);

/// `command[0]` is looked up on PATH. Fails if it cannot be started. `folder`: where it runs; "" for here.
Finished run_process(const std::vector<std::string>& command, const std::string& folder = "");

/// The path of a program on PATH (or of a path that names an executable), or nothing.
std::optional<std::string> find_program(std::string_view name);

}  // namespace zellige::run
