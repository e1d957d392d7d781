// Runs one rank of a program over ranks on this process's GPU: kernels, and collectives by NCCL between them, on one stream.
//
//   Communicator ranks(rendezvous(require_job("mlp", 2)));
//   RankEngine engine(program, ranks, kernels_on_gpu(cache));
//   engine.upload(input, bytes);                      // by index into the graph's inputs
//   engine.run(stream.handle());                      // only enqueues
//   ranks.wait(stream, "mlp");
//   engine.download(tensor)
//
// Precondition: the program's collectives are those of flat_collectives().
#pragma once
#include <memory>
#include <span>

#include "ranks/communicator.hpp"
#include "ranks/rank_program.hpp"
#include "ranks/symmetric_memory.hpp"

namespace zellige::ranks {

/// Enqueues the kernels of one step on a CUstream.
using KernelLauncher = std::function<void(void* stream)>;
/// Prepares the kernels of a step for tensors at device addresses: `address` returns that of each tensor of its manifest.
using KernelBinder = std::function<KernelLauncher(const emit::EmittedProgram&,
                                                  const std::function<std::uint64_t(std::size_t tensor)>& address)>;

/// Returns a binder that compiles kernels with NVRTC and launches them on this process's GPU.
KernelBinder kernels_on_gpu(const toolchain::Cache&);

/// Who has the memory of inputs and outputs.
enum class TensorsOf : std::uint8_t { engine, caller };

class RankEngine {
 public:
  /// Allocates the rank's tensors and prepares its kernels. The program and the communicator must outlive the engine.
  RankEngine(const RankProgram&, Communicator&, KernelBinder, TensorsOf = TensorsOf::engine);

  /// With TensorsOf::caller, has the next runs use inputs and outputs at these addresses, in the graph's order.
  void place(std::span<const std::uint64_t> inputs, std::span<const std::uint64_t> outputs);

  /// Copies a tensor's bytes, at its place_of_rank(), to the GPU.
  void upload(int tensor, const run::Bytes&);
  /// Enqueues all steps on a CUstream.
  void run(void* stream) const;
  run::Bytes download(int tensor) const;
  /// Returns a sentence: that NCCL computes collectives which kernels could, and why; "" if it is not so.
  std::string fallback() const;
  /// Returns whether kernels or collectives store the tensor of the graph, or it is an input.
  bool has(int tensor) const { return memory_.contains(root(tensor)); }

 private:
  void prepare_symmetric();
  std::uint64_t symmetric_address(const RankStep&, const manifest::TensorPlace&) const;
  int root(int tensor) const;  // the input whose memory it takes, or itself
  std::uint64_t address(int tensor) const;
  /// Returns the launch of a step, at the addresses that its tensors have.
  KernelLauncher bound(const RankStep&) const;
  void bind_all();

  const RankProgram& program_;
  Communicator& ranks_;
  const KernelBinder bind_;
  std::map<int, run::DeviceBytes> memory_;           // by tensor of the graph
  std::map<int, std::uint64_t> given_;               // addresses of the caller's tensors
  run::DeviceBytes workspace_;                       // of one step's kernels at a time
  std::unique_ptr<SymmetricMemory> symmetric_;       // windows and flags of all steps in which ranks exchange tiles
  std::map<const RankStep*, std::int64_t> windows_;  // by such a step: where its window begins in a rank's part
  std::map<const RankStep*, run::DeviceBytes> states_;
  std::string without_symmetric_;
  std::vector<const RankStep*> active_;  // those of the program, or the ones that take their place
  std::vector<KernelLauncher> steps_;
};

/// Returns the microseconds of one evaluation on this rank: a sample per launch of a CUDA graph of several evaluations. All
/// ranks of the job must call it. `program` is the name in messages.
std::vector<double> time_ranks(const RankEngine&, Communicator&, run::Stream&, const std::string& program);

}  // namespace zellige::ranks
