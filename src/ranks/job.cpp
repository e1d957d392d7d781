#include "ranks/job.hpp"

#include <cstdlib>
#include <initializer_list>

#include "graph/error.hpp"

namespace zellige::ranks {
namespace {

/// Returns the number in an environment variable; nullopt if it is not set. Throws Error for anything but a number.
std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return std::nullopt;
  char* end = nullptr;
  const long n = std::strtol(text, &end, 10);
  if (*end || n < 0 || n > 1 << 20) fail("{}: expected a number of at least 0, found {}", variable, text);
  return static_cast<int>(n);
}

/// Returns the first of these variables that is set.
std::optional<int> first_of(std::initializer_list<const char*> variables) {
  for (const char* variable : variables)
    if (const std::optional<int> n = number_in(variable)) return n;
  return std::nullopt;
}

}  // namespace

std::chrono::duration<double> patience() {
  const char* text = std::getenv("ZELLIGE_RANKS_TIMEOUT");
  if (!text || !*text) return std::chrono::seconds(120);
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  constexpr double min_seconds = 1e-3, max_seconds = 1e6;
  if (*end || !(seconds >= min_seconds && seconds <= max_seconds))
    fail("ZELLIGE_RANKS_TIMEOUT: expected seconds, {} to {:.0f}, found {}", min_seconds, max_seconds, text);
  return std::chrono::duration<double>(seconds);
}

std::optional<RankedProcess> job_of_environment() {
  const std::optional<int> ranks = first_of({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  if (!ranks) return std::nullopt;
  const std::optional<int> rank = first_of({"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"});
  if (!rank || *rank >= *ranks)
    fail("RANK: expected 0 to {}, of {} processes (WORLD_SIZE), found {}", *ranks - 1, *ranks,
         rank ? std::to_string(*rank) : "none");
  RankedProcess job{.rank = *rank, .ranks = *ranks};
  job.local_rank = first_of({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}).value_or(*rank);
  if (const char* address = std::getenv("MASTER_ADDR"); address && *address) job.address = address;
  // The port that MASTER_PORT names is taken by torchrun's own store.
  if (const std::optional<int> port = number_in("MASTER_PORT")) job.port = *port;
  return job;
}

RankedProcess require_job(const std::string& program, int ranks) {
  const std::optional<RankedProcess> job = job_of_environment();
  if (!job)
    fail(
        "{}: its graph is over {} ranks: expected {} processes, as torchrun and mpirun start them, found no "
        "WORLD_SIZE; give "
        "--on emulator to run all ranks in this one",
        program, ranks, ranks);
  if (job->ranks != ranks)
    fail("{}: its graph is over {} ranks, and the job has {} processes; give --ranks {} or start {}", program, ranks,
         job->ranks, job->ranks, ranks);
  return *job;
}

}  // namespace zellige::ranks
