// Defines the C++ API of graphs over ranks: each of several processes or threads runs the same graph on tensors of its own, and
// they exchange tensors where the graph has collectives (docs/how-to/run-on-several-gpus.md). A wrapper of <zellige/api.h>.
//
//   zellige::Ranks ranks = zellige::Ranks::of_environment();      // of torchrun or mpirun; or of_threads(2), of_nccl(comm)
//   zellige::ProgramOverRanks program(zellige::Graph::from_file("mlp.json"), ranks);
//   program.launch({x, up, down}, {y}, stream);                   // addresses of this rank
//   program.wait(stream);                                         // throws ProgramError if another rank dies
#pragma once
#include <zellige/program.hpp>

namespace zellige {

/// One rank of a job, connected to the others. Movable.
class Ranks {
 public:
  /// The rank of this process in the job of torchrun or mpirun. Waits for the others.
  static Ranks of_environment(zellige_on on = ZELLIGE_ON_AUTO) {
    zellige_ranks* made = nullptr;
    detail::check(zellige_ranks_of_environment(on, &made));
    return Ranks(made);
  }
  /// Ranks of this process, for a thread each: on GPUs 0 to count - 1, or on the emulator.
  static std::vector<Ranks> of_threads(int count, zellige_on on = ZELLIGE_ON_AUTO) {
    std::vector<zellige_ranks*> made(count > 0 ? static_cast<std::size_t>(count) : 0);
    detail::check(zellige_ranks_of_threads(on, count, made.data()));
    std::vector<Ranks> all;
    for (zellige_ranks* rank : made) all.push_back(Ranks(rank));
    return all;
  }
  /// The rank of an ncclComm_t, which must outlive the object.
  static Ranks of_nccl(void* comm) {
    zellige_ranks* made = nullptr;
    detail::check(zellige_ranks_of_nccl(comm, &made));
    return Ranks(made);
  }
  /// Rank `rank` of `count`. `gather` copies the `bytes` bytes of each rank to `all`, and returns 0; `with` is its first argument.
  static Ranks of_gather(int rank, int count, zellige_gather gather, void* with, zellige_on on = ZELLIGE_ON_AUTO) {
    zellige_ranks* made = nullptr;
    detail::check(zellige_ranks_of_gather(on, rank, count, gather, with, &made));
    return Ranks(made);
  }

  int rank() const { return detail::counted(zellige_ranks_rank(handle_.get())); }
  int count() const { return detail::counted(zellige_ranks_count(handle_.get())); }
  /// Returns the GPU's index; -1: the emulator.
  int device() const {
    const int index = zellige_ranks_device(handle_.get());
    if (index == -1) detail::check(ZELLIGE_REFUSED);
    return index < 0 ? -1 : index;
  }
  /// Returns the rank as a handle of the C API, which this object owns.
  zellige_ranks* handle() const { return handle_.get(); }

 private:
  explicit Ranks(zellige_ranks* made) : handle_(made, zellige_ranks_free) {}
  std::unique_ptr<zellige_ranks, void (*)(zellige_ranks*)> handle_;
};

/// What one rank runs: kernels, and collectives between them or in them. Movable.
class ProgramOverRanks {
 public:
  /// Compiles a graph. All ranks must do so, with equal graphs and options. ProgramOptions::on, tune and watch are not used.
  ProgramOverRanks(const Graph& graph, const Ranks& ranks, const ProgramOptions& o = {}) {
    std::vector<const char*> names;
    for (const std::string& c : o.constants) names.push_back(c.c_str());
    zellige_options options{};
    options.size = sizeof options, options.workers = o.workers, options.as_given = o.as_given;
    options.target = o.target.empty() ? nullptr : o.target.c_str();
    options.tiling = o.tiling.empty() ? nullptr : o.tiling.c_str();
    options.constants = names.data(), options.constant_count = static_cast<int32_t>(names.size());
    options.collectives = o.collectives;
    zellige_rank_program* made = nullptr;
    const zellige_status status = zellige_rank_program_new(graph.handle(), ranks.handle(), &options, &made);
    handle_.reset(made);
    detail::check(status);
    takes_ = detail::counted(zellige_graph_inputs(graph.handle()));
    gives_ = detail::counted(zellige_graph_outputs(graph.handle()));
  }

  /// Runs this rank on tensors of its own, in the order of the graph's inputs and outputs: asynchronously on `stream`, or on the
  /// emulator. All ranks must launch their programs in the same order.
  void launch(const std::vector<void*>& inputs, const std::vector<void*>& outputs, void* stream = nullptr) {
    if (inputs.size() != static_cast<std::size_t>(takes_) || outputs.size() != static_cast<std::size_t>(gives_))
      throw ProgramError("launch: expected " + std::to_string(takes_) + " inputs and " + std::to_string(gives_) +
                         " outputs, found " + std::to_string(inputs.size()) + " and " + std::to_string(outputs.size()));
    detail::check(zellige_rank_program_launch(handle_.get(), inputs.data(), outputs.data(), stream));
  }
  /// Waits for the stream. Throws ProgramError if another rank dies, or if the time is up.
  void wait(void* stream = nullptr) { detail::check(zellige_rank_program_wait(handle_.get(), stream)); }
  /// Returns the steps in JSON (ZELLIGE_MANIFEST), the CUDA source, the target, or notes.
  std::string text(zellige_text which) const {
    char* text = nullptr;
    detail::check(zellige_rank_program_text(handle_.get(), which, &text));
    return detail::taken(text);
  }

 private:
  std::unique_ptr<zellige_rank_program, void (*)(zellige_rank_program*)> handle_{nullptr, zellige_rank_program_free};
  int takes_ = 0, gives_ = 0;
};

}  // namespace zellige
