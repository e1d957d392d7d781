// Launches of the Hopper kernels on the emulator: adds clusters and TMA descriptors to kernel_trial.hpp.
#pragma once
#include <zellige/kernels/descriptors.hpp>

#include "../kernels_rows/kernel_trial.hpp"

namespace zellige {

template <class T>
emulate::LaunchParameter map_of(const TmaTensor& tensor, Device<T>& data, bool writes = false) {
  return {make_tma_descriptor_emulated(tensor, data.buffer.bytes()), data.buffer, writes};
}

template <auto Kernel>
emulate::EmulationReport launch_hopper(unsigned blocks, unsigned threads, unsigned shared_bytes, unsigned cluster,
                                       std::vector<emulate::LaunchParameter> parameters) {
  emulate::LaunchConfig config;
  config.grid = {blocks}, config.block = {threads}, config.shared_bytes = shared_bytes,
  config.cluster = {cluster, 1, 1};
  config.parameters = std::move(parameters);
  return trial(kernel_entry<Kernel>, config);
}

}  // namespace zellige
