// Faults injected into small kernels, each next to its nearest right kernel. The right one has no finding, the wrong
// one has one of its kind, in every schedule: what is found must not depend on the order in which threads happen to
// run.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>
#include <zellige/atom.hpp>
#include <zellige/atom/atomic.hpp>
#include <zellige/atom/bulk_copy.hpp>
#include <zellige/atom/cluster.hpp>
#include <zellige/atom/fence.hpp>
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/atom/make_tma_descriptor.hpp>
#include <zellige/atom/mbarrier.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/setmaxnreg.hpp>
#include <zellige/atom/stmatrix.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/wgmma.hpp>
#include <zellige/block.hpp>

#include "emulate/engine.hpp"

namespace zellige::injected {

using emulate::Finding;
using Kind = emulate::Finding::Kind;
using In = gmem<const float>;
using Out = gmem<float>;

template <auto kernel>
void entry(emulate::Launch& launch) {
  emulate::call(launch, kernel);
}

/// How an injected kernel is launched: with the buffers x (read) and y and z (read and written), of 1024 floats.
struct Launching {
  emulate::dim3 grid{1}, block{64};
  unsigned shared_bytes = 4096;
  emulate::dim3 cluster{1};
  bool programmatic = false;
};

/// A fault: its name, the right kernel and the wrong one, and what the finding says.
struct Fault {
  const char* name;
  void (*right)(emulate::Launch&);
  void (*wrong)(emulate::Launch&);
  Kind kind;
  const char* words;  // part of the message; "": any; null: any finding, of a kind that depends on the schedule
  Launching launch{};
};

inline emulate::EmulationReport report(void (*kernel)(emulate::Launch&), const Launching& how, unsigned schedule) {
  emulate::Buffer x("x", 4096), y("y", 4096), z("z", 4096);
  for (int i = 0; i < 1024; ++i) reinterpret_cast<float*>(x.data())[i] = 0.5f;
  std::memset(y.data(), 0, 4096);
  std::memset(z.data(), 0, 4096);
  for (emulate::Buffer* b : {&x, &y, &z}) b->mark_initialised();
  emulate::LaunchConfig config{.grid = how.grid, .block = how.block, .shared_bytes = how.shared_bytes};
  config.workers = 1;
  config.cluster = how.cluster;
  config.programmatic = how.programmatic;
  config.schedule = schedule;
  config.seconds = 10;
  config.parameters.emplace_back(x, false);
  config.parameters.emplace_back(y, true);
  config.parameters.emplace_back(z, true);
  return emulate::run(kernel, config);
}

inline std::string text(const emulate::EmulationReport& r) {
  std::string all;
  for (const Finding& f : r.findings) all += f.message + "\n";
  return all;
}

/// Checks every fault in three schedules.
inline void check(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults)
    for (const unsigned schedule : {0u, 5u, 9u}) {
      SCOPED_TRACE(std::string(fault.name) + ", schedule " + std::to_string(schedule));
      EXPECT_EQ(text(report(fault.right, fault.launch, schedule)), "");
      const emulate::EmulationReport wrong = report(fault.wrong, fault.launch, schedule);
      bool found = false;
      for (const Finding& f : wrong.findings)
        found |= !fault.words || (f.kind == fault.kind && f.message.find(fault.words) != f.message.npos);
      EXPECT_TRUE(found) << "found: " << text(wrong);
    }
}

/// Thread 0 initialises an mbarrier, and the block may use it.
ZELLIGE_CALL void start(smem<uint64_t> bar, unsigned count) {
  if (threadIdx.x == 0) {
    mbarrier_init(bar, count);
    fence_mbarrier_init();
  }
  __syncthreads();
}

}  // namespace zellige::injected
