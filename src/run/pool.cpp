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
      const std::string result = work([&](const std::string& text) { put(phase_mark, text.substr(0, max_phase)); });
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

}  // namespace zellige::run
