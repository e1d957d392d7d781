// What CuTe's objects print with <<.
#pragma once
#include <cute/tensor.hpp>
#include <sstream>
#include <string>

inline std::string printed(auto const& x) {
  std::stringstream text;
  text << x;
  return text.str();
}
