// The message of the Error that a call may throw. Where it must throw, run/failing.hpp has message_of().
#pragma once
#include <string>

#include "graph/error.hpp"

namespace zellige::test {

/// Returns the message of the Error that the call throws, or "" if it throws none.
template <class F>
std::string thrown(const F& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace zellige::test
