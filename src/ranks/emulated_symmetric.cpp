#include "ranks/emulated_symmetric.hpp"

#include <algorithm>
#include <cstring>

#include "kernel/launches.hpp"
#include "system/elapsed.hpp"

namespace zellige::ranks {

using run::Bytes, run::EmulatedLibrary, run::EmulatedRun, run::launch_config, run::parameter;

EmulatedSymmetric::EmulatedSymmetric(const RankStep& step, int ranks, const toolchain::Cache& cache)
    : step_(step), cache_(cache), ranks_(ranks) {
  const SymmetricBytes bytes = symmetric_bytes(step);
  const auto add = [](std::deque<emulate::Buffer>& to, const char* what, int r, std::int64_t size, bool zero) {
    emulate::Buffer& b = to.emplace_back(fmt::format("{} of rank {}", what, r), static_cast<std::size_t>(size));
    if (zero) std::memset(b.data(), 0, b.bytes()), b.mark_initialised();
  };
  for (std::int32_t r = 0; r < ranks; ++r) {
    add(windows_, "window", r, bytes.window, false), add(sums_, "sums", r, bytes.sums, false);
    add(flags_, "flags", r, bytes.flags, true), add(states_, "state", r, bytes.state, true);
    std::memcpy(states_.back().data(), &r, sizeof r);
  }
}

/// Returns the memory of a tensor of the manifest on a rank.
emulate::Buffer* EmulatedSymmetric::buffer(const RankStep& step, int rank, int tensor) {
  if (tensor < 0) return nullptr;
  const SymmetricPlace is = symmetric_place(step, step.program->manifest.tensors[tensor]);
  const auto r = static_cast<std::size_t>(is.rank < 0 ? rank : is.rank);
  if (is.kind == SymmetricPlace::window) return &windows_[r];
  if (is.kind == SymmetricPlace::sums) return &sums_[r];
  if (is.kind == SymmetricPlace::flags) return &flags_[r];
  if (is.kind == SymmetricPlace::state) return &states_[r];
  return &others_[r].at(tensor);
}

EmulatedRun EmulatedSymmetric::run(std::vector<std::vector<Bytes>>& memory, unsigned schedule) {
  return run(step_, memory, schedule);
}

EmulatedRun EmulatedSymmetric::run(const RankStep& step, std::vector<std::vector<Bytes>>& memory, unsigned schedule) {
  const emit::EmittedProgram& p = *step.program;
  const manifest::Manifest& m = p.manifest;
  EmulatedRun result{.library = toolchain::compile_for_emulator(p.source, m.name, cache_)};
  const EmulatedLibrary library(result.library.file);
  const std::string source = toolchain::source_file(p.source, m.name, cache_).string();
  const auto start = system::SteadyClock::now();
  others_ = std::vector<std::map<int, emulate::Buffer>>(static_cast<std::size_t>(ranks_));
  const auto is_given = [&step](const SymmetricPlace& is) {
    const std::vector<int>& inputs = step.segment.inputs;
    return std::ranges::find(inputs, is.tensor_of_graph) != inputs.end();
  };
  for (int r = 0; r < ranks_; ++r)
    for (int t = 0; t < static_cast<int>(m.tensors.size()); ++t) {
      const manifest::TensorPlace& place = m.tensors[t];
      const SymmetricPlace is = symmetric_place(step, place);
      if (is.kind != SymmetricPlace::tensor) continue;
      emulate::Buffer& b = others_[r].try_emplace(t, place.name, static_cast<std::size_t>(place.bytes)).first->second;
      if (!is_given(is)) continue;  // an output or intermediate
      const Bytes& given = memory[r][is.tensor_of_graph];
      std::memcpy(b.data(), given.data(), b.bytes()), b.mark_initialised();
    }
  const std::vector<kernel::LaunchGroup> groups = kernel::launches(p.plan.kernels);
  for (std::size_t i = 0; i < m.kernels.size() && result.complete; ++i) {
    const bool together = p.plan.kernels[groups[i].first].symmetric.has_value();
    const manifest::KernelLaunch& k = m.kernels[i];
    for (int first = 0; first < ranks_; first += together ? ranks_ : 1) {
      const auto launched = system::SteadyClock::now();
      emulate::LaunchConfig config = launch_config(k, source);
      config.workers = 1, config.schedule = schedule;
      for (int r = first; r < (together ? ranks_ : first + 1); ++r) {
        std::vector<emulate::LaunchParameter>& to = together ? config.ranks.emplace_back() : config.parameters;
        for (std::size_t a = 0; a < k.tensors.size(); ++a)
          to.push_back(parameter(m, k, a, buffer(step, r, k.tensors[a])));
      }
      emulate::EmulationReport report = emulate::run(library.entry(k.name), config);
      result.kernels.push_back({k.name, report.counters, system::ms_since(launched)});
      std::ranges::move(report.findings, std::back_inserter(result.findings));
      result.complete = result.complete && report.complete;
    }
  }
  for (int r = 0; r < ranks_; ++r)
    for (const auto& [t, b] : others_[r])
      if (const SymmetricPlace is = symmetric_place(step, m.tensors[t]); is.tensor_of_graph >= 0 && !is_given(is)) {
        Bytes& to = memory[r][is.tensor_of_graph];
        to.resize(b.bytes());
        std::memcpy(to.data(), b.data(), b.bytes());
      }
  result.run_ms = system::ms_since(start);
  return result;
}

}  // namespace zellige::ranks
