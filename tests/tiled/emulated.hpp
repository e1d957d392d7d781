// One block on the emulator: buffers in, findings out.
#pragma once
#include <gtest/gtest.h>

#include <zellige/atom.hpp>

#include "emulate/engine.hpp"

namespace zellige {

template <class T, class F>
emulate::Buffer filled(char const* name, int count, F value) {
  emulate::Buffer buffer(name, count * sizeof(T));
  for (int i = 0; i < count; ++i) reinterpret_cast<T*>(buffer.data())[i] = value(i);
  buffer.mark_initialised();
  return buffer;
}
template <class T>
T const* elements(emulate::Buffer const& buffer) {
  return reinterpret_cast<T const*>(buffer.data());
}
/// The findings, one a line.
inline std::string launch(void (*entry)(emulate::Launch&), std::vector<emulate::Buffer*> arguments,
                          std::vector<bool> writes, unsigned threads, unsigned shared_bytes) {
  emulate::EmulationReport const report = emulate::run(entry, {.grid = {1},
                                                               .block = {threads},
                                                               .shared_bytes = shared_bytes,
                                                               .arguments = std::move(arguments),
                                                               .writes = std::move(writes),
                                                               .workers = 1});
  std::string all;
  for (auto const& finding : report.findings) all += finding.message + "\n";
  return all;
}

}  // namespace zellige
