// Layouts and accesses from strings.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "graph/error.hpp"
#include "view/access.hpp"
#include "view/expression.hpp"

inline zellige::view::SharedLayout shared(const std::string& layout, int bits) {
  return {zellige::view::evaluate_expression(layout).value, bits};
}
inline zellige::view::Conflicts count(const std::string& layout, int bits, const std::string& access) {
  const auto l = shared(layout, bits);
  return zellige::view::conflicts(zellige::view::parse_access(access, l), l);
}
