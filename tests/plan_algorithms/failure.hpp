// The whole message of the failure that `f` raises; empty when it raises none.
#pragma once
#include <string>

#include "graph/error.hpp"

template <class F>
std::string failure(F&& f) {
  try {
    f();
  } catch (const zellige::Error& e) {
    return e.what();
  }
  return "";
}
