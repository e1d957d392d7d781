// Zellige's own JSON form, from arbitrary bytes.
#include "check_graph.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  zellige::graph::fuzz::parse(data, bytes);
  return 0;
}
