// The ranks of a job, and how they exchange tensors on GPUs: by NCCL, loaded at run time.
//
//   const RankedProcess job = require_job("mlp", 4);  // of torchrun or mpirun; throws unless there are 4 processes
//   Communicator ranks(job);                // connects to the other ranks
//   ranks.require_same({{"graph", json}});  // throws on every rank if one has another graph
//   ranks.enqueue(op, from, to, stream);    // between kernels, on their stream
//   ranks.wait(stream, "mlp");              // throws, and aborts, if a rank does not come
//
// Nothing waits for ever: after $ZELLIGE_RANKS_TIMEOUT seconds (120) a rank that others do not join ends with an Error.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "run/driver.hpp"

namespace zellige::ranks {

/// One process of a job.
struct RankedProcess {
  int rank = 0, ranks = 1, local_rank = 0;
  std::string address = "127.0.0.1";  // where rank 0 is
  int port = 29500;
};

/// Returns the job that started this process: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT, as torchrun sets
/// them, or the numbers of mpirun (OMPI_COMM_WORLD_...). Returns nullopt if there is none; throws Error if a number is wrong.
std::optional<RankedProcess> job_of_environment();
/// The same. Throws Error unless there is a job of `ranks` processes. `program` is the name in the message.
RankedProcess require_job(const std::string& program, int ranks);

/// What one rank knows of a collective: the place and size of its operand and result on the GPU. They are contiguous.
struct RankBuffers {
  std::uint64_t from = 0, to = 0;
  std::int64_t elements = 0;  // of the operand
  graph::DType dtype{};
};

/// Returns how long a rank waits for another one: $ZELLIGE_RANKS_TIMEOUT, or 120 seconds.
std::chrono::seconds patience();

class Communicator {
 public:
  /// Meets the other ranks of the job. Throws Error if NCCL is missing or fails, or if some rank does not come in time.
  explicit Communicator(const RankedProcess&);
  /// Uses a communicator of the caller, an ncclComm_t, which must outlive the object.
  explicit Communicator(void* comm);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// Throws Error on every rank, with the fact's name and two ranks, unless the facts (name, value) are the same on all.
  void require_same(const std::vector<std::pair<std::string, std::string>>& facts);
  /// Returns the texts of all ranks, by rank. All ranks must call it, with the same `max_bytes`: the bytes of the longest text.
  std::vector<std::string> exchange(std::string_view mine, std::size_t max_bytes);
  /// Enqueues a collective of flat_collectives() on a CUstream. Precondition: it is not the operator rank.
  void enqueue(const graph::KernelOp&, const RankBuffers&, void* stream);
  /// Waits for the stream. Throws Error if NCCL reports a failure or the work takes too long; the communicator is then
  /// aborted. `program` is the name in the message.
  void wait(const run::Stream&, const std::string& program);

 private:
  void check(int status, const std::string& doing) const;
  [[noreturn]] void give_up(const std::string& why);

  void* comm_ = nullptr;
  bool own_ = false, gone_ = false;
  int rank_ = 0, ranks_ = 1;
};

}  // namespace zellige::ranks
