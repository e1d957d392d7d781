// An account of a compiled graph: why its kernels are as they are, as values. `zellige explain` prints it for a terminal
// (text.hpp), as a page (page.hpp) and as JSON.
//
//   const Account a = account(graph, compiled, target::find("sm_90a"));
//   a.launches[0].bound         // "DRAM takes 13.1 us of 19.1: 50.4 MB at 4100 GB/s"
//   a.launches[0].resources     // microseconds by resource, as the cost model has them
//
// Every number is one of the plan, of its expected time or of its predicted counters; nothing is estimated here.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "explain/registers.hpp"
#include "explain/timeline.hpp"
#include "run/compile.hpp"

namespace zellige::explain {

/// A tensor of the graph. `bytes` is its size in device memory.
struct TensorAccount {
  std::string name, dtype, shape, role;  // role: input, constant, output or intermediate
  std::int64_t bytes = 0;
};

/// An operator of the graph. `reads` and `writes` are indices of tensors.
struct OperatorAccount {
  std::string kind;
  std::vector<int> reads, writes;
  double flops = 0;  // of its matmuls
};

/// A graph: as it was given, or with fused operators.
struct GraphAccount {
  std::vector<TensorAccount> tensors;
  std::vector<OperatorAccount> operators;
};

/// A resource of the GPU, and the microseconds that a launch would take if it were the only one.
struct ResourceAccount {
  std::string name;
  double us = 0;
};

/// A tensor in shared memory.
struct SharedAccount {
  std::string id;                                  // in the plan and in the source: sX0
  std::string name, dtype, shape, layout, reason;  // reason: the planner's
  std::string why;                                 // what the layout is for, in a sentence (conflicts.hpp)
  std::uint64_t wavefronts = 0, dense = 0;         // of the kernel's accesses: so, and with rows one after another
  int stages = 1;
  std::int64_t offset = 0, bytes = 0;
  int first = 0, last = 0;     // lines of the plan between which it is in use; 0: none names it
  std::vector<int> bank_rows;  // number of columns, then by row and column the first of the four banks of 16 bytes
};

/// A line of a kernel's plan, and what the line waits for, if it does.
struct PlanLine {
  std::string text, reason;
};

/// A wait: its line of the plan, counted from 1, the warp role, in which part of its steps, and what the wait is for.
struct WaitAccount {
  int line = 0;
  std::string agent, where, step, reason;
};

/// One program of a launch, as planned.
struct KernelAccount {
  std::string name;
  std::string computes;  // its operations before, in and after the loop (sections.hpp)
  std::vector<PlanLine> plan;
  std::vector<WaitAccount> waits;
  std::vector<std::string> notes;
  std::vector<SharedAccount> shared;
  std::vector<RegisterAccount> registers;
  std::string sass;  // its machine code; "" without nvdisasm (sass.hpp)
  Timeline timeline;
  std::vector<std::pair<std::string, std::uint64_t>> counters;  // that are not 0, of a launch
};

/// A launch: what it costs, and its kernels.
struct LaunchAccount {
  std::string name, bound;
  std::string time;                    // where the expected time goes, in a sentence
  double exposed_us = 0;               // of it: what is neither launch, first load nor the slowest resource
  std::vector<std::string> operators;  // of the given graph, if it was fused
  std::string grid, block;
  std::int64_t shared_bytes = 0;
  int registers = 0, cluster = 1;  // registers per thread, as planned
  int resident = 1, warps = 0;     // blocks per multiprocessor, and their warps
  int max_warps = 64;              // that a multiprocessor has room for
  double waves = 1, us = 0;
  double dram_bytes = 0;
  double limit_us = 0;  // of its bytes and matmuls at the GPU's peaks; 0: not known
  std::vector<ResourceAccount> resources;
  std::vector<KernelAccount> kernels;
};

/// Tilings that were not taken: the expected time of the program with it, and what it loses on.
struct Alternative {
  std::string tiling, lost_on;
  std::string difference, why;  // from the tiling that was taken; why it was not
  double us = 0;
};

struct Account {
  std::string graph, target;
  bool measured_costs = false;  // the target's costs were measured on a GPU
  GraphAccount given, fused;
  std::vector<std::string> notes;  // what was fused, what was not, and why
  std::vector<std::string> rules;  // that rewrote the graph before it was fused
  double separate_us = 0;          // with a kernel per operator; 0: not planned
  std::size_t separate_launches = 0;
  double us = 0, warm_us = 0, limit_us = 0;
  double measured_us = 0;  // of an evaluation on the GPU; 0: not measured
  std::string device;      // on which it was measured
  std::vector<LaunchAccount> launches;
  std::string own_tiling;
  std::vector<Alternative> alternatives;
  std::string source;  // CUDA
};

/// Returns the account of a graph and the program that it was compiled to. `alternatives`: how many other tilings are planned for
/// comparison.
Account account(const graph::KernelGraph& given, const run::Compiled&, const target::Target&, int alternatives = 4);

/// Returns the account as JSON.
std::string to_json(const Account&);

}  // namespace zellige::explain
