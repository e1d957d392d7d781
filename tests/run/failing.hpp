// Returns the message of the Error that a call throws; a call that does not throw fails the test.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "graph/error.hpp"

template <class F>
std::string message_of(F call) {
  try {
    call();
  } catch (const zellige::Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}
