// The ranks of a job, and how they exchange tensors on GPUs: by NCCL, loaded at run time.
//
//   Communicator ranks(rendezvous(require_job("mlp", 4)));  // the processes of torchrun or mpirun, one for each rank
//   ranks.require_same({{"graph", json}});  // throws on every rank if one has another graph
//   ranks.enqueue(op, from, to, stream);    // between kernels, on their stream
//   ranks.wait(stream, "mlp");              // throws, and aborts, if a rank does not come or dies
//
// Nothing waits for ever: after $ZELLIGE_RANKS_TIMEOUT seconds (120) a rank that others do not join ends with an Error.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "ranks/rendezvous.hpp"
#include "run/driver.hpp"

namespace zellige::ranks {

/// What one rank knows of a collective: the place and size of its operand and result on the GPU. They are contiguous.
struct RankBuffers {
  std::uint64_t from = 0, to = 0;
  std::int64_t elements = 0;  // of the operand
  graph::DType dtype{};
};

class Communicator {
 public:
  /// Connects the GPUs of ranks that have met. Throws Error on every rank if NCCL is missing on one, or fails twice.
  explicit Communicator(std::shared_ptr<Rendezvous>);
  /// Uses a communicator of the caller, an ncclComm_t, which must outlive the object.
  explicit Communicator(void* comm);
  /// Returns the bytes of all ranks, as Rendezvous::gather does, by NCCL.
  std::string gather(std::string_view mine);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  void require_same(const RankFacts& facts) { ranks::require_same(*rendezvous_, facts); }
  /// Returns the texts of all ranks, by rank. All ranks must call it, with the same `max_bytes`: the bytes of the longest text.
  std::vector<std::string> exchange(std::string_view mine, std::size_t max_bytes);
  /// Enqueues a collective of flat_collectives() on a CUstream. Precondition: it is not the operator rank.
  void enqueue(const graph::KernelOp&, const RankBuffers&, void* stream);
  /// Waits for the CUstream. Throws Error if NCCL reports a failure or the work takes too long; the communicator is then
  /// aborted. `program` is the name in the message.
  void wait(void* stream, const std::string& program);

 private:
  void check(int status, const std::string& doing) const;
  [[noreturn]] void give_up(const std::string& why);
  /// Has all ranks connect. Returns why it failed; "" if it did not. Throws Error if trying again is in vain.
  std::string connect();

  std::shared_ptr<Rendezvous> rendezvous_;
  void* comm_ = nullptr;
  bool own_ = false, gone_ = false;
  int rank_ = 0, ranks_ = 1;
};

}  // namespace zellige::ranks
