#include "system/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

#include "graph/error.hpp"
#include "system/files.hpp"

extern char** environ;

namespace zellige::system {
namespace {

// What a job writes to its pipe: any number of phases, each after this mark, then its result. Each ends in a zero byte.
constexpr char phase_mark = 'p', result_mark = 'r';
constexpr std::size_t max_phase = 123;  // bytes; such a phase is written at once, from any thread

// A job that runs in a forked process.
struct ForkedJob {
  int index;
  pid_t process;
  int pipe;              // read end of the pipe to which the job writes
  std::string received;  // by the pipe, but for complete phases
  std::string phase;     // the latest one
};

// Moves the complete phases that a job has written from `received` to `phase`, where the latest one stays.
void take_phases(ForkedJob& job) {
  while (job.received.starts_with(phase_mark)) {
    const std::size_t end = job.received.find('\0');
    if (end == job.received.npos) return;
    job.phase = job.received.substr(1, end - 1);
    job.received.erase(0, end + 1);
  }
}

// Forks a process that runs the job `work` and writes its result to a pipe. Returns the Job, which has the
// pipe's read end. Throws Error if the process cannot be started.
ForkedJob start(int index, const PooledWork& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("starting job {}: {}", index, std::strerror(errno));
  std::fflush(nullptr);  // otherwise the child would print buffered output again
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) fail("starting job {}: {}", index, std::strerror(errno));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(3);
    ::close(ends[0]);
    const auto put = [&](char mark, const std::string& text) {
      return write_all(ends[1], fmt::format("{}{}{}", mark, text, '\0'));
    };
    try {
      const std::string result = work([&](const std::string& text) {
        pollfd room{ends[1], POLLOUT, 0};  // a phase is left out rather than waited for, if the parent does not read
        if (::poll(&room, 1, 0) == 1) put(phase_mark, text.substr(0, max_phase));
      });
      if (put(result_mark, result)) ::_exit(3);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "job %d: %s\n", index, e.what());
      ::_exit(3);
    }
    std::fflush(nullptr);
    ::_exit(0);  // without destructors, which would release the parent's resources
  }
  ::close(ends[1]);
  return {index, child, ends[0], {}, {}};
}

// Waits until the process of a job has ended; it has closed its end of the pipe already. Returns the job's
// result, or why there is none.
JobEnd finish(ForkedJob& job) {
  ::close(job.pipe);
  int status = 0;
  while (::waitpid(job.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (job.received.starts_with(result_mark) && job.received.ends_with('\0'))
    return {job.received.substr(1, job.received.size() - 2), "", 0};
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return {"", fmt::format("killed by signal {} ({})", signal, ::strsignal(signal)), signal};
  }
  return {"", fmt::format("ended with status {} and no result", WEXITSTATUS(status)), 0};
}

}  // namespace

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

void run_jobs(int count, int width, const std::function<std::string(int)>& work,
              const std::function<void(int, const JobEnd&)>& ended) {
  run_jobs([&](int i) { return i < count ? PooledWork([&, i](const auto&) { return work(i); }) : PooledWork(); }, width,
           ended);
}

void run_jobs(const std::function<PooledWork(int)>& next, int width,
              const std::function<void(int, const JobEnd&)>& ended,
              const std::function<void(int, const std::string&)>& idle) {
  std::vector<ForkedJob> running;
  int started = 0;
  bool more = true;
  while (more || !running.empty()) {
    while (more && static_cast<int>(running.size()) < width) {
      const PooledWork work = next(started);
      more = static_cast<bool>(work);
      if (more) running.push_back(start(started++, work));
    }
    if (running.empty()) break;
    std::vector<pollfd> waits;
    for (const ForkedJob& job : running) waits.push_back({job.pipe, POLLIN, 0});
    ::poll(waits.data(), waits.size(), 200);
    for (std::size_t i = waits.size(); i-- > 0;) {
      if (!waits[i].revents) continue;
      char buffer[1 << 16];
      const ssize_t n = ::read(running[i].pipe, buffer, sizeof buffer);
      if (n > 0) {
        running[i].received.append(buffer, static_cast<std::size_t>(n));
        take_phases(running[i]);
      } else if (n == 0 || errno != EINTR) {
        ForkedJob job = std::move(running[i]);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
        ended(job.index, finish(job));
      }
    }
    if (running.empty())
      idle(-1, "");
    else
      idle(running[0].index, running[0].phase);
  }
}

}  // namespace zellige::system
