// The order in which the warp roles of a kernel work, and who waits for whom: its steps, carried out with a made-up duration for
// each kind, so that the order is right and the lengths mean nothing.
//
//   const Timeline t = timeline(kernel);
//   t.spans[0]      // role 0 copies sX0 from 2 to 3, and it has arrived at 9
#pragma once
#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace zellige::explain {

/// Something that a warp role does, or waits for, from `begin` to `end`.
struct Span {
  enum class Kind : std::uint8_t { work, flight, wait };  // flight: an asynchronous copy or product is in flight
  int agent = 0;
  std::string what;
  int begin = 0, end = 0;
  Kind kind{};
};

struct Timeline {
  std::vector<std::string> agents;
  std::vector<Span> spans;
  std::int64_t iterations = 0, of = 0;  // how many iterations are shown, and how many a block has
};

/// Returns the order of a block's first iterations, enough for each stage of its rings to be used twice, and of what follows them.
Timeline timeline(const kernel::Kernel&);

}  // namespace zellige::explain
