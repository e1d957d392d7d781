#include "cli/rejections.hpp"

#include "cli/terminal.hpp"

namespace zellige::cli {

void tell(const std::string& graph, const plan::Rejections& rejected) {
  if (!rejected.empty()) say(stderr, "zellige: {}: {}\n", graph, plan::told(rejected));
}

}  // namespace zellige::cli
