// Launches kernels of the tests on the emulator, and finds the lines that their messages name.
#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>
#include <zellige/atom/make_tma_descriptor.hpp>

#include "emulate/engine.hpp"

namespace zellige {

using emulate::Buffer;
using emulate::Counter;
using emulate::EmulationReport;
using emulate::LaunchConfig;

template <auto Kernel>
void entry(emulate::Launch& launch) {
  emulate::call(launch, Kernel);
}

inline std::vector<std::string> messages(const EmulationReport& report) {
  std::vector<std::string> all;
  for (const auto& finding : report.findings) all.push_back(finding.message);
  return all;
}
inline std::string text(const EmulationReport& report) {
  std::string all;
  for (const std::string& m : messages(report)) all += m + "\n";
  return all;
}
inline testing::AssertionResult says(const EmulationReport& report, const std::string& message) {
  for (const std::string& m : messages(report))
    if (m == message) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "nothing says:\n" << message << "\nbut:\n" << text(report);
}

/// "hopper_gemm.hpp:12", the line of tests/atom/`file` that ends in "// <tag>".
inline std::string line_of(const std::string& file, const std::string& tag) {
  std::ifstream in(std::string(ZELLIGE_SOURCE_DIR "/tests/atom/") + file);
  const std::string mark = "// <" + tag + ">";
  std::string line;
  for (int number = 1; std::getline(in, line); ++number)
    if (line.size() >= mark.size() && line.compare(line.size() - mark.size(), mark.size(), mark) == 0)
      return file + ":" + std::to_string(number);
  return "no line <" + tag + ">";
}

template <class T, class F>
Buffer filled(const char* name, std::size_t count, F value) {
  Buffer buffer(name, count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) reinterpret_cast<T*>(buffer.data())[i] = value(i);
  buffer.mark_initialised();
  return buffer;
}
template <class T>
const T* elements(const Buffer& buffer) {
  return reinterpret_cast<const T*>(buffer.data());
}

}  // namespace zellige
