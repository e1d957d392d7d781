#include "run/pool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "graph/error.hpp"
#include "run/files.hpp"

namespace zellige::run {
namespace {

// A job that runs in a forked process.
struct ForkedJob {
  int index;
  pid_t process;
  int pipe;  // read end of the pipe to which the job writes its result
  std::string result;
};

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
    try {
      std::string result = work();
      result.push_back('\0');  // marks a complete result
      if (write_all(ends[1], result)) ::_exit(3);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "job %d: %s\n", index, e.what());
      ::_exit(3);
    }
    std::fflush(nullptr);
    ::_exit(0);  // without destructors, which would release the parent's resources
  }
  ::close(ends[1]);
  return {index, child, ends[0], {}};
}

// Waits until the process of a job has ended; it has closed its end of the pipe already. Returns the job's
// result, or why there is none.
JobEnd finish(ForkedJob& job) {
  ::close(job.pipe);
  int status = 0;
  while (::waitpid(job.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!job.result.empty() && job.result.back() == '\0') {
    job.result.pop_back();
    return {std::move(job.result), "", 0};
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return {"", fmt::format("killed by signal {} ({})", signal, ::strsignal(signal)), signal};
  }
  return {"", fmt::format("ended with status {} and no result", WEXITSTATUS(status)), 0};
}

}  // namespace

void run_jobs(int count, int width, const std::function<std::string(int)>& work,
              const std::function<void(int, const JobEnd&)>& ended, const std::function<void()>& idle) {
  run_jobs([&](int i) { return i < count ? PooledWork([&, i] { return work(i); }) : PooledWork(); }, width, ended,
           idle);
}

void run_jobs(const std::function<PooledWork(int)>& next, int width,
              const std::function<void(int, const JobEnd&)>& ended, const std::function<void()>& idle) {
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
        running[i].result.append(buffer, static_cast<std::size_t>(n));
      } else if (n == 0 || errno != EINTR) {
        ForkedJob job = std::move(running[i]);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
        ended(job.index, finish(job));
      }
    }
    idle();
  }
}

}  // namespace zellige::run
