// The processes of a job, as torchrun or mpirun starts them.
//
//   const RankedProcess job = require_job("mlp", 4);  // throws unless there are 4 processes
#pragma once
#include <chrono>
#include <optional>
#include <string>

namespace zellige::ranks {

/// One process of a job.
struct RankedProcess {
  int rank = 0, ranks = 1, local_rank = 0;
  std::string address = "127.0.0.1";  // where rank 0 is
  int port = 29500;                   // rank 0 listens at the next one: torchrun's own store takes this one
};

/// Returns the job that started this process: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT, as torchrun sets
/// them, or the numbers of mpirun (OMPI_COMM_WORLD_...). Returns nullopt if there is none; throws Error if a number is wrong.
std::optional<RankedProcess> job_of_environment();
/// The same. Throws Error unless there is a job of `ranks` processes. `program` is the name in the message.
RankedProcess require_job(const std::string& program, int ranks);

/// Returns how long a rank waits for another one: $ZELLIGE_RANKS_TIMEOUT, or 120 seconds. Throws Error if that is no number.
std::chrono::duration<double> patience();

}  // namespace zellige::ranks
