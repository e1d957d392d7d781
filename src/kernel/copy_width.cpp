#include "kernel/copy_width.hpp"

namespace zellige::plan {

bool is_aligned(const Program& program, const Node& n, int inner, std::int64_t vector) {
  const graph::KernelTensor& tensor = program.tensors[n.tensor];
  if (tensor.strides[inner] != 1) return false;
  for (int d = 0; d < n.view.rank(); ++d) {
    const std::int64_t unit = d == inner ? 1 : tensor.strides[d];
    if (number_of(n) >= 0 && d == n.dim && (d == inner || unit % vector != 0)) return false;
    if (n.view.alignment(d) * unit % vector != 0) return false;
    if (d != inner && n.view.tile(d) > 1 && unit % vector != 0) return false;
  }
  return true;
}

}  // namespace zellige::plan
