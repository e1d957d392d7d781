#include "run/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "graph/error.hpp"
#include "run/files.hpp"

extern char** environ;

namespace zellige::run {

std::string ended(int status) {
  if (status <= 128) return fmt::format("status {}", status);
  return fmt::format("killed by signal {} ({})", status - 128, ::strsignal(status - 128));
}

std::string_view short_of(const Finished& f) {
  if (f.status == 0) return "";
  // What g++, clang, the assembler and the linker print. g++ itself ends with status 1 or 4 when its cc1plus is killed.
  constexpr std::string_view memory[] = {"out of memory",           "virtual memory exhausted",
                                         "memory exhausted",        "bad_alloc",
                                         "annot allocate memory",   "Killed signal",
                                         "Killed (program ",        "ENOMEM",
                                         "not enough memory",       "nsufficient memory",
                                         "emory allocation failed", "unable to allocate",
                                         "signal 9 (Killed)"};
  constexpr std::string_view space[] = {"No space left on device", "Disk quota exceeded", "File size limit exceeded"};
  const auto says = [&](std::string_view words) { return f.output.find(words) != f.output.npos; };
  if (f.status == 128 + SIGXFSZ || std::ranges::any_of(space, says)) return "disk space";
  if (f.status == 128 + SIGKILL || std::ranges::any_of(memory, says)) return "memory";
  return "";
}

Finished run_process(const std::vector<std::string>& command, const std::string& folder) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) fail("{}: cannot be started: {}", command[0], std::strerror(errno));
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  // LC_ALL=C, so that messages are in English and ASCII.
  std::vector<char*> environment;
  for (char** e = environ; *e; ++e)
    if (!std::string_view(*e).starts_with("LC_ALL=")) environment.push_back(*e);
  char locale[] = "LC_ALL=C";
  environment.push_back(locale);
  environment.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], 2);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  if (error) {
    ::close(pipe[0]);
    fail("{}: cannot be started: {}", command[0], std::strerror(error));
  }

  Finished finished;
  read_all(pipe[0], finished.output);
  ::close(pipe[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

std::optional<std::string> find_program(std::string_view name) {
  auto executable = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; };
  if (name.find('/') != name.npos)
    return executable(std::string(name)) ? std::optional(std::string(name)) : std::nullopt;
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/bin:/bin";
  while (true) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + std::string(name);
    if (end > 0 && executable(candidate)) return candidate;
    if (end == rest.size()) return std::nullopt;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace zellige::run
