// Uses an installed Zellige: a public header, and a module that has to be
// linked.
#include <zellige/atom/half.hpp>

#include "graph/graph.hpp"
#include "target/target.hpp"

int main() {
  const bool header = zellige::half_t(0.1f).bits == 0x2e66;
  const bool room = zellige::graph::to_string({2, 4096}) == "(2, 4096)";
  const bool other = zellige::target::find("sm_90a").compute_capability == 90;
  return header && room && other ? 0 : 1;
}
