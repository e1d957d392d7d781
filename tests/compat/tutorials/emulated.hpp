// Launches a kernel that takes raw pointers on the emulator's engine, which the test passes to this library.
#pragma once
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "emulate/engine.hpp"

using Run = zellige::emulate::EmulationReport (*)(void (*)(zellige::emulate::Launch&),
                                                  zellige::emulate::LaunchConfig const&);
template <class T>
using Bare = std::remove_const_t<T>;

/// A raw pointer is its bits: nobody knows which tensor it points into.
template <class T>
zellige::emulate::LaunchParameter parameter_of(T const& value) {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<std::uintptr_t>(value);
  else
    return value;
}
/// The findings of a launch, or "".
template <class... P>
std::string launch(Run run, void (*kernel)(P...), zellige::emulate::LaunchConfig const& config) {
  static void (*the_kernel)(P...);
  the_kernel = kernel;
  auto const report = run([](zellige::emulate::Launch& l) { zellige::emulate::call(l, the_kernel); }, config);
  std::string text;
  for (auto const& f : report.findings) text += f.message + "\n";
  return text;
}
template <class... P, class... A>
std::string launch(Run run, void (*kernel)(P...), zellige::emulate::dim3 grid, zellige::emulate::dim3 block,
                   A const&... arguments) {
  zellige::emulate::LaunchConfig config;
  config.grid = grid;
  config.block = block;
  (config.parameters.push_back(parameter_of(static_cast<std::remove_cvref_t<P>>(arguments))), ...);
  return launch(run, kernel, config);
}
inline std::string first_difference(std::vector<float> const& got, std::vector<float> const& want) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (got[i] != want[i])
      return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " + std::to_string(want[i]);
  }
  return "";
}
