// Which numbers an operator takes in place of its last operand, as the attribute `scalar`.
#pragma once
#include <cstdint>

#include "graph/graph.hpp"

namespace zellige::graph {

enum class ScalarRange : std::uint8_t {
  none,    // the operator takes no number
  finite,  // arithmetic: an infinite number would make results of finite operands NaN
  any      // comparisons and selections: infinities, too
};
ScalarRange scalar_range(OpKind);

}  // namespace zellige::graph
