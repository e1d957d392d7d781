// The result of compiling, running and checking one graph. It is printed, and written as a line of JSON
// (docs/reference/json-report.md lists the fields). The line is also parsed, because each graph runs in a
// process of its own that returns its result in this form.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "run/timing.hpp"

namespace zellige::run {

/// Verdict on the run of one graph.
enum class Status : std::uint8_t {
  correct,     // every kernel-level tensor agrees with the reference within its tolerance
  borderline,  // some tensor exceeds the tolerance, but rounding alone can explain it (reference/rounding.hpp)
  wrong,       // some tensor disagrees, or the emulator has a finding
  refused,     // the input or the machine is at fault; `reason` says why
  failed,      // Zellige is at fault, or the process was killed; there is no result to compare
  reference,   // only the reference was evaluated, as requested
  unchecked,   // the program ran and its results were not compared, as requested
};
std::string_view name(Status);

/// The comparison of one tensor of a run with the reference; reference/compare.hpp defines the numbers.
struct TensorResult {
  std::string name;
  bool output = false;  // false: an intermediate
  std::string dtype;
  graph::Shape shape;
  double norm_error = 0;  // ||out - ref|| / ||ref||
  double worst = 0;       // largest |out - ref| relative to the tolerance of its element; up to 1 is correct
  std::string fault;      // "" if correct
  std::int64_t out_of_tolerance = 0;  // number of elements beyond their tolerance
  // among these, the largest |out - ref| relative to what rounding alone can explain; up to 1 is borderline
  double of_error = 0;
  // Only if a sample was checked (reference/sample.hpp): number of checked and of all tiles, shape of a tile, and
  // the tensors from which the expected values were computed.
  std::int64_t tiles = 0, of_tiles = 0;
  graph::Shape tile{};
  std::vector<std::string> from{};
  bool staged = false;  // `from` includes intermediates that the run itself computed
};

/// A kernel of the program that ran, with its launch configuration.
struct KernelResult {
  std::string name;
  graph::Dim3 grid, block;
  std::int64_t shared_bytes = 0;
  int registers = -1, local_bytes = -1;  // per thread; GPU only
};

/// A tiling measured for --tune.
struct Tried {
  std::string tiling;           // in JSON, see retile::to_json
  double expected = 0, us = 0;  // expected and measured time in microseconds
};

/// The result of compiling, running and checking one graph.
struct RunResult {
  std::string file;
  int index = 0;
  std::string graph, target, on;  // on: gpu, emulator or reference
  std::uint64_t seed = 0;
  std::string check;  // full, sampled or none; "" if the run did not get that far
  Status status = Status::refused;
  std::string reason;  // why the status is refused, failed, wrong or borderline; else ""
  std::vector<std::pair<std::string, double>> scales;  // per input, the factor by which its random values are scaled
  std::vector<TensorResult> tensors;
  std::vector<KernelResult> kernels;
  /// Size of the workspace in bytes.
  std::int64_t buffer_size = 0;
  std::vector<std::pair<std::string, std::uint64_t>> counters;  // emulator only: sums over all launches
  /// Messages of the emulator's findings.
  std::vector<std::string> findings;
  std::vector<std::string> rejected;  // messages of the verifier on plans that it rejected
  // remarks that do not affect the result, such as a compilation without cache hints
  std::vector<std::string> notes;
  // time to choose the inputs, including reference evaluations that find suitable scales
  double inputs_ms = 0;
  double plan_ms = 0, compile_ms = 0, run_ms = 0, check_ms = 0;
  bool compile_cached = false;
  Times times;               // with --time
  std::vector<Tried> tried;  // with --tune
  std::string kernel;        // path of the source code
  std::string device;        // name of the GPU, its driver and clock
};

/// Returns the median of samples; NaN if there are none.
double median(std::vector<double>);
/// Returns the percentile for the share p (0 to 1): the smallest sample v such that at least a share p of the
/// samples is at most v. Returns NaN if there are none.
double percentile(std::vector<double>, double p);

/// Returns the result as one line of JSON, without a newline.
std::string to_json(const RunResult&);
/// Parses a line from to_json; throws nlohmann's exception if it is not one.
RunResult parse_result(std::string_view json);

/// Returns in words which part of a tensor a sampled check compared: "Y by sample: 64 of 4096 tiles of
/// 128x128 (1.6%, seed 1), from the inputs X, W".
std::string describe_sample(const RunResult&, const TensorResult&);

/// Returns the result as lines for the terminal: "gqa_bs1[3]  correct  emulator sm_80  error 6.1e-05 ...",
/// followed by indented lines with the reason, notes and samples.
std::string summary(const RunResult&);

}  // namespace zellige::run
