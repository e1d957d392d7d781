// Shared by the tests of the C ABI: a graph, and the message of a refusal.
#pragma once
#include <cstdio>
#include <functional>
#include <string>
#include <zellige/program.hpp>

constexpr const char* scaled = R"({"zellige_graph": 1, "name": "scaled",
  "inputs": [{"name": "X", "dtype": "f32", "shape": [4, 8]}],
  "operators": [{"op": "mul_scalar", "inputs": ["X"], "scalar": 3, "outputs": [{"name": "Y", "strides": [8, 1]}]}],
  "outputs": ["Y"]})";

inline std::string why(const std::function<void()>& work) {
  try {
    work();
  } catch (const zellige::ProgramError& e) {
    return e.what();
  }
  return "nothing was refused";
}

/// As messages show it.
inline std::string in_hex(const volatile void* at) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%zx", reinterpret_cast<std::size_t>(at));
  return text;
}
