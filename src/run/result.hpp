// The result of one graph's run. Printed by the command line, written as one line of JSON
// (docs/reference/json-report.md lists the fields), and parsed again from it: a graph runs in a process of
// its own, which returns its result as that line.
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
  borderline,  // some tensor exceeds the tolerance, but rounding alone explains it (graph/rounding.hpp)
  wrong,       // some tensor disagrees, or the emulator has a finding
  refused,     // the input or the machine is at fault; see `reason`
  failed,      // Zellige is at fault, or the process was killed: nothing to compare
  reference,   // only the reference ran, as requested
  unchecked,   // it ran without a comparison, as requested
};
std::string_view name(Status);

/// Comparison of a tensor with the reference; graph/compare.hpp defines the numbers.
struct TensorResult {
  std::string name;
  bool output = false;  // false: an intermediate
  std::string dtype;
  graph::Shape shape;
  double norm_error = 0;              // ||out - ref|| / ||ref||
  double worst = 0;                   // largest |out - ref| relative to its bound: 1 is still correct
  std::string fault;                  // "" if correct
  std::int64_t out_of_tolerance = 0;  // elements beyond their bound
  // of those, the largest |out - ref| relative to what rounding alone explains: up to 1 is borderline
  double of_error = 0;
  // If checked by sample (graph/sample.hpp): the tiles, and the tensors from which they were computed.
  std::int64_t tiles = 0, of_tiles = 0;
  graph::Shape tile{};
  std::vector<std::string> from{};
  bool staged = false;  // they include tensors that the run itself made, not only inputs
};

struct KernelResult {
  std::string name;
  graph::Dim3 grid, block;
  std::int64_t shared_bytes = 0;
  int registers = -1, local_bytes = -1;  // GPU only
};

/// A tiling measured for --tune.
struct Tried {
  std::string tiling;  // retile::to_json
  double expected = 0, us = 0;
};

struct RunResult {
  std::string file;
  int index = 0;
  std::string graph, target, on;  // on: gpu, emulator, reference
  std::uint64_t seed = 0;
  std::string check;  // full, sampled, none; "" if there was no check
  Status status = Status::refused;
  std::string reason;  // why it is refused, failed, wrong or borderline; else ""
  std::vector<std::pair<std::string, double>> scales;  // of the inputs
  std::vector<TensorResult> tensors;
  std::vector<KernelResult> kernels;
  std::int64_t buffer_size = 0;
  std::vector<std::pair<std::string, std::uint64_t>> counters;  // emulator only; of all launches together
  std::vector<std::string> findings;
  std::vector<std::string> rejected;  // the verifier's messages on rejected plans
  // without influence on the result, such as a compilation without cache hints
  std::vector<std::string> notes;
  double inputs_ms = 0;  // to find inputs, including the reference runs of the search for their scales
  double plan_ms = 0, compile_ms = 0, run_ms = 0, check_ms = 0;
  bool compile_cached = false;
  Times times;               // --time
  std::vector<Tried> tried;  // --tune
  std::string kernel;        // the file of the emitted source code
  std::string device;        // the GPU and its driver
};

double median(std::vector<double>);
/// The value that a share p of the samples does not exceed.
double percentile(std::vector<double>, double p);

std::string to_json(const RunResult&);  // one line, without its end
RunResult parse_result(std::string_view json);

/// "Y by sample: 64 of 4096 tiles of 128x128 (1.6%, seed 1), from the inputs X, W"
std::string describe_sample(const RunResult&, const TensorResult&);

/// "gqa_bs1[3]  correct  emulator sm_80  error 6.1e-05 ...": one readable line.
std::string summary(const RunResult&);

}  // namespace zellige::run
