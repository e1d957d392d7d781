#include "target/links.hpp"

#include <algorithm>

namespace zellige::target {

std::optional<Links> links(std::string_view target) {
  if (target != "sm_90a") return std::nullopt;
  return Links{.bandwidth = 270, .symmetric = 4.5, .round = 2, .nccl = 6.5, .nccl_rate = 266, .measured = true};
}

double nccl_us(const Links& l, std::int64_t bytes, int ranks) {
  // A ring moves 2 (n - 1) / n of the bytes over each link.
  return l.nccl + 2.0 * (ranks - 1) / ranks * static_cast<double>(bytes) * 1e-3 / l.nccl_rate;
}

double symmetric_us(const Links& l, std::int64_t bytes, int ranks) {
  // Each rank reads the parts of all others.
  return l.symmetric + (ranks - 1) * static_cast<double>(bytes) * 1e-3 / l.bandwidth;
}

double two_shots_us(const Links& l, std::int64_t bytes, int ranks) {
  return l.symmetric + l.round + 2.0 * (ranks - 1) / ranks * static_cast<double>(bytes) * 1e-3 / l.bandwidth;
}

double nccl_gather_us(const Links& l, std::int64_t bytes, int ranks) {
  return l.nccl + (ranks - 1) * static_cast<double>(bytes) * 1e-3 / l.nccl_rate;
}

double at_start_us(const Links& l, std::int64_t bytes, int ranks, double kernel) {
  const double transfer = (ranks - 1) * static_cast<double>(bytes) * 1e-3 / l.bandwidth;
  return l.round + std::max(0.0, transfer - kernel / ranks);
}

double at_end_us(const Links& l, std::int64_t bytes, int ranks, bool two_shots, bool scatters) {
  const double others = ranks - 1, parts = two_shots ? 2 * others / ranks : scatters ? others / ranks : others;
  return l.round * (two_shots ? 2 : 1) + parts * static_cast<double>(bytes) * 1e-3 / l.bandwidth;
}

}  // namespace zellige::target
