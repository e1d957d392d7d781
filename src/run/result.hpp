// What became of one graph. Printed by the command line, written as one line of JSON (docs/reference/json-report.md lists the
// fields), and read back from it: a graph runs in a process of its own, and the line is how its result comes
// home.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "run/timing.hpp"

namespace zellige::run {

enum class Status : std::uint8_t {
  correct,     // every kernel-level tensor agrees with the reference
  borderline,  // one is past the tolerance, by no more than rounding alone explains (graph/rounding.hpp)
  wrong,       // one does not, or the emulator found something
  refused,     // the input or the machine is at fault; `reason` says how
  failed,      // Zellige is at fault, or something ended the process that ran it: there is nothing to compare
  reference,   // only the reference ran, as asked
  unchecked,   // it ran and nothing was compared, as asked
};
std::string_view name(Status);

/// How a tensor compares with the reference; graph/compare.hpp says what each number is.
struct TensorResult {
  std::string name;
  bool output = false;  // or an intermediate
  std::string dtype;
  graph::Shape shape;
  double norm_error = 0;  // ||out - ref|| / ||ref||
  double worst = 0;       // the largest |out - ref| over its bound: 1 is still correct
  std::string fault;      // "" where correct
  std::int64_t past = 0;  // elements past their bound
  double of_error =
      0;  // of those, the largest |out - ref| over what rounding alone explains: up to 1 is borderline
  // Where it was checked by sample (graph/sample.hpp): the tiles, and the tensors that they were computed from.
  std::int64_t tiles = 0, of_tiles = 0;
  graph::Shape tile{};
  std::vector<std::string> from{};
  bool staged = false;  // these are not the inputs alone, but what the run itself made on the way
};

struct KernelResult {
  std::string name;
  graph::Dim3 grid, block;
  std::int64_t shared_bytes = 0;
  int registers = -1, local_bytes = -1;  // GPU only
};

/// A tiling that was measured for --tune.
struct Tried {
  std::string tiling;  // retile::to_json
  double expected = 0, us = 0;
};

struct RunResult {
  std::string file;
  int index = 0;
  std::string graph, target, on;  // on: gpu, emulator, reference
  std::uint64_t seed = 0;
  std::string check;  // full, sampled, none; "" where it did not come to that
  Status status = Status::refused;
  std::string reason;  // why it was refused, failed, is wrong or borderline; "" else
  std::vector<std::pair<std::string, double>> scales;  // of the inputs
  std::vector<TensorResult> tensors;
  std::vector<KernelResult> kernels;
  std::int64_t buffer_size = 0;
  std::vector<std::pair<std::string, std::uint64_t>> counters;  // emulator only; of all launches together
  std::vector<std::string> findings;
  std::vector<std::string> rejected;  // by the proof: its sentences on plans, dropped or the only one
  std::vector<std::string> notes;  // what changed nothing in the result: compiled again without cache hints
  double inputs_ms = 0;  // finding inputs: the reference, as often as the search for their scales takes
  double plan_ms = 0, compile_ms = 0, run_ms = 0, check_ms = 0;
  bool compile_cached = false;
  Times times;               // --time
  std::vector<Tried> tried;  // --tune
  std::string kernel;        // the file of the emitted text
  std::string device;        // the GPU and its driver
};

double median(std::vector<double>);
/// The value that a share p of the samples does not exceed.
double percentile(std::vector<double>, double p);

std::string to_json(const RunResult&);  // one line, without its end
RunResult parse_result(std::string_view json);

/// "Y by sample: 64 of 4096 tiles of 128x128 (1.6%, seed 1), from the inputs X, W"
std::string describe_sample(const RunResult&, const TensorResult&);

/// "gqa_bs1[3]  correct  emulator sm_80  error 6.1e-05 ...": one line for people.
std::string summary(const RunResult&);

}  // namespace zellige::run
