#include "ranks/emulated_symmetric.hpp"

#include <cstring>

#include "kernel/launches.hpp"
#include "system/elapsed.hpp"

namespace zellige::ranks {

using run::Bytes, run::EmulatedLibrary, run::EmulatedRun, run::launch_config, run::parameter;

EmulatedSymmetric::EmulatedSymmetric(const RankStep& step, int ranks, const toolchain::Cache& cache)
    : step_(step), cache_(cache), ranks_(ranks) {
  const SymmetricBytes bytes = symmetric_bytes(step, ranks);
  for (std::int32_t r = 0; r < ranks; ++r) {
    windows_.emplace_back(fmt::format("window of rank {}", r), static_cast<std::size_t>(2 * bytes.half));
    flags_.emplace_back(fmt::format("flags of rank {}", r), static_cast<std::size_t>(bytes.flags));
    states_.emplace_back(fmt::format("state of rank {}", r), static_cast<std::size_t>(bytes.state));
    for (emulate::Buffer* b : {&flags_.back(), &states_.back()}) {
      std::memset(b->data(), 0, b->bytes());
      b->mark_initialised();
    }
    std::memcpy(states_.back().data(), &r, sizeof r);
  }
}

/// Returns the memory of a tensor of the manifest on a rank.
emulate::Buffer* EmulatedSymmetric::buffer(int rank, int tensor) {
  if (tensor < 0) return nullptr;
  const emit::TensorPlace& t = step_.program->manifest.tensors[tensor];
  const auto r = static_cast<std::size_t>(rank);
  if (t.role == emit::Role::input) {
    const SymmetricInput is = symmetric_input(step_, ranks_, t.position);
    if (is.kind == SymmetricInput::window) return &windows_[static_cast<std::size_t>(is.index)];
    if (is.kind == SymmetricInput::own_window) return &windows_[r];
    if (is.kind == SymmetricInput::flags) return &flags_[static_cast<std::size_t>(is.index)];
    if (is.kind == SymmetricInput::state) return &states_[r];
  }
  return &others_[r].at(tensor);
}

EmulatedRun EmulatedSymmetric::run(std::vector<std::vector<Bytes>>& memory, unsigned schedule) {
  const emit::EmittedProgram& p = *step_.program;
  const emit::Manifest& m = p.manifest;
  EmulatedRun result{.library = toolchain::compile_for_emulator(p.source, m.name, cache_)};
  const EmulatedLibrary library(result.library.file);
  const std::string source = toolchain::source_file(p.source, m.name, cache_).string();
  const auto start = system::SteadyClock::now();
  others_ = std::vector<std::map<int, emulate::Buffer>>(static_cast<std::size_t>(ranks_));
  for (int r = 0; r < ranks_; ++r)
    for (int t = 0; t < static_cast<int>(m.tensors.size()); ++t) {
      const emit::TensorPlace& place = m.tensors[t];
      const SymmetricInput is = place.role == emit::Role::input ? symmetric_input(step_, ranks_, place.position)
                                                                : SymmetricInput{SymmetricInput::operand, -1};
      if (is.kind != SymmetricInput::operand && is.kind != SymmetricInput::published) continue;
      emulate::Buffer& b = others_[r].try_emplace(t, place.name, static_cast<std::size_t>(place.bytes)).first->second;
      if (is.index < 0) continue;  // an output or intermediate
      const Bytes& given = memory[r][step_.segment.inputs[is.index]];
      std::memcpy(b.data(), given.data(), b.bytes()), b.mark_initialised();
    }
  const std::vector<kernel::LaunchGroup> groups = kernel::launches(p.plan.kernels);
  for (std::size_t i = 0; i < m.kernels.size() && result.complete; ++i) {
    const bool together = p.plan.kernels[groups[i].first].symmetric.has_value();
    const emit::KernelLaunch& k = m.kernels[i];
    for (int first = 0; first < ranks_; first += together ? ranks_ : 1) {
      const auto launched = system::SteadyClock::now();
      emulate::LaunchConfig config = launch_config(k, source);
      config.workers = 1, config.schedule = schedule;
      for (int r = first; r < (together ? ranks_ : first + 1); ++r) {
        std::vector<emulate::LaunchParameter>& to = together ? config.ranks.emplace_back() : config.parameters;
        for (std::size_t a = 0; a < k.tensors.size(); ++a) to.push_back(parameter(m, k, a, buffer(r, k.tensors[a])));
      }
      emulate::EmulationReport report = emulate::run(library.entry(k.name), config);
      result.kernels.push_back({k.name, report.counters, system::ms_since(launched)});
      std::ranges::move(report.findings, std::back_inserter(result.findings));
      result.complete = result.complete && report.complete;
    }
  }
  for (int r = 0; r < ranks_; ++r)
    for (const auto& [t, b] : others_[r])
      if (m.tensors[t].role == emit::Role::output) {
        Bytes& to = memory[r][step_.segment.outputs.at(m.tensors[t].position)];
        to.resize(b.bytes());
        std::memcpy(to.data(), b.data(), b.bytes());
      }
  result.run_ms = system::ms_since(start);
  return result;
}

}  // namespace zellige::ranks
