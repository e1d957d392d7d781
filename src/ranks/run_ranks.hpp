// Runs graphs over ranks: all ranks on the emulator, or this process's rank on its GPU, with the other processes of the job.
#pragma once
#include "run/run.hpp"

namespace zellige::ranks {

/// Does what run::run() does of a graph over ranks, and of any other graph.
run::RunResult run_ranks(const graph::KernelGraph&, const run::RunOptions&, const toolchain::Cache&);

}  // namespace zellige::ranks
