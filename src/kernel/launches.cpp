#include "kernel/launches.hpp"

#include <algorithm>
#include <tuple>

#include "kernel/index_width.hpp"

namespace zellige::kernel {
namespace {

/// Returns whether two loads or stores access boxes of the same tensor that have no element in common. Returns false
/// if they access different tensors, or if one of them is a gather or scatter by index.
bool are_disjoint(const tile::Node& a, const tile::Node& b) {
  if (a.tensor != b.tensor || tile::number_of(a) >= 0 || tile::number_of(b) >= 0) return false;
  for (int d = 0; d < a.view.rank(); ++d)
    if (a.view.end(d) <= b.view.origin(d) || b.view.end(d) <= a.view.origin(d)) return true;
  return false;
}

/// Throws Rejected if program `a` may write memory that `b` reads or writes, or the other way round.
void verify_disjoint(const tile::TileProgram& a, const tile::TileProgram& b, const tile::TilePrograms& program) {
  for (const tile::Node& n : a.nodes)
    for (const tile::Node& m : b.nodes) {
      if (!tile::accesses(n) || !tile::accesses(m)) continue;
      if (n.kind == tile::NodeKind::load && m.kind == tile::NodeKind::load) continue;
      if (program.memory_of(n.tensor) != program.memory_of(m.tensor) || are_disjoint(n, m)) continue;
      const bool both = n.kind == m.kind;
      const auto& [writer, reader] = n.kind == tile::NodeKind::store ? std::tie(a, b) : std::tie(b, a);
      reject("{} {} elements of {} that {} writes in the same launch, whose blocks run in any order", reader.name,
             both ? "writes" : "reads", program.tensors[n.tensor].name, writer.name);
    }
}

/// Throws Rejected if kernel `k` cannot share a launch with kernel `first`: it uses clusters, warp specialisation,
/// persistent blocks or TMA, or has another number of threads per block.
void verify_one(const Kernel& k, const Kernel& first) {
  const tile::TileProgram& p = k.program;
  if (p.threads() != first.program.threads())
    reject("{} has {} threads a block, expected {} as {} in the same launch", p.name, p.threads(),
           first.program.threads(), first.program.name);
  const char* what = k.cluster > 1          ? "clusters"
                     : k.warp_specialized() ? "agents of several roles"
                     : k.blocks > 0         ? "blocks that take several tiles"
                                            : nullptr;
  for (int i = 0; i < static_cast<int>(p.nodes.size()) && !what; ++i)
    if (k.uses_tma(i)) what = "tensor maps";
  if (what) reject("{} has {}: it must have a launch of its own", p.name, what);
}

}  // namespace

std::vector<LaunchGroup> launches(const std::vector<Kernel>& kernels) {
  std::vector<LaunchGroup> result;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    if (k > 0 && kernels[k].program.same_launch)
      ++result.back().last;
    else
      result.push_back({k, k + 1});
  return result;
}

void launch_together(std::vector<tile::TileProgram>& programs) {
  std::int64_t threads = 1;
  for (const tile::TileProgram& p : programs) threads = std::max(threads, p.block.count());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    programs[i].same_launch = i % max_programs != 0;
    if (programs[i].block.count() != threads) programs[i].block = {threads, 1, 1};
  }
}

void verify_launches(const std::vector<Kernel>& kernels, const tile::TilePrograms& program) {
  if (!kernels.empty() && kernels[0].program.same_launch)
    reject("{} is the first kernel: there is no launch before it", kernels[0].name());
  for (const LaunchGroup& l : launches(kernels)) {
    if (l.count() > max_programs)
      reject("{} is kernel {} of its launch; a launch has {} at most", kernels[l.last - 1].name(), l.count(),
             max_programs);
    if (l.count() == 1) continue;
    for (std::size_t i = l.first; i < l.last; ++i) {
      verify_one(kernels[i], kernels[l.first]);
      for (std::size_t j = i + 1; j < l.last; ++j) verify_disjoint(kernels[i].program, kernels[j].program, program);
    }
  }
}

}  // namespace zellige::kernel
