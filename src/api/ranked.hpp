// Defines one rank of a job and its programs, as callers have them: a zellige_ranks and a zellige_rank_program of the C API
// are handles of these. Thread-safe.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/call_options.hpp"
#include "api/launcher.hpp"
#include "ranks/communicator.hpp"
#include "ranks/rank_engine.hpp"
#include "run/device_of_thread.hpp"

namespace zellige::api {

constexpr int no_gpu = -2;  // in place of a GPU's index: the emulator

/// Makes a GPU the one in use on this thread, and restores the caller's context when destroyed. Does nothing for no_gpu.
class OnDevice {
 public:
  explicit OnDevice(int device);

 private:
  std::optional<KeptContext> kept_;
  std::optional<run::DeviceOfThread> device_;
};

/// One rank of a job.
struct JoinedRanks {
  JoinedRanks(std::shared_ptr<ranks::Rendezvous> m, int gpu) : rendezvous(std::move(m)), device(gpu) {}
  ~JoinedRanks();
  JoinedRanks(const JoinedRanks&) = delete;
  JoinedRanks& operator=(const JoinedRanks&) = delete;

  const std::shared_ptr<ranks::Rendezvous> rendezvous;  // null: the caller's communicator is the only connection
  const int device;
  std::unique_ptr<ranks::Communicator> nccl{};  // null on the emulator, and until it is connected
  std::mutex mutex{};                           // held while it calls the other ranks

  int rank() const { return rendezvous ? rendezvous->rank() : nccl->rank(); }
  int count() const { return rendezvous ? rendezvous->ranks() : nccl->ranks(); }
};

/// Connects the ranks' GPUs, unless that is done or they are on the emulator. All ranks must call it.
void connect(JoinedRanks&);
/// Returns the rank of a communicator of the caller, on the current GPU.
std::shared_ptr<JoinedRanks> joined(void* comm);
/// Returns the GPU of this process or thread: that of the current context, or the one in use; no_gpu if the caller asks for the
/// emulator, or has no GPU and leaves it open. Throws Error if the caller asks for a GPU that is missing.
int device_for(On);

/// What one rank runs.
class RankedProgram {
 public:
  RankedProgram(graph::KernelGraph, std::shared_ptr<JoinedRanks>, const CallOptions&);
  ~RankedProgram();
  RankedProgram(const RankedProgram&) = delete;
  RankedProgram& operator=(const RankedProgram&) = delete;

  /// Runs the program on addresses of the host or, on a GPU, enqueues it.
  void launch(void* const* inputs, void* const* outputs, void* stream);
  void wait(void* stream);
  std::string text(zellige_text) const;
  std::size_t inputs() const { return inputs_.size(); }
  std::size_t outputs() const { return outputs_.size(); }

 private:
  void run_on_host(void* const* inputs, void* const* outputs);
  void check_places(void* const* inputs, void* const* outputs) const;

  const std::shared_ptr<JoinedRanks> ranks_;
  const toolchain::Cache cache_;
  const std::string target_;
  const int workers_;
  manifest::Manifest places_;  // of the graph's inputs and outputs, for messages
  std::vector<manifest::TensorPlace> inputs_, outputs_;
  std::optional<ranks::RankProgram> program_;
  std::unique_ptr<ranks::RankEngine> engine_;  // null on the emulator
  std::mutex mutex_;
};

}  // namespace zellige::api
