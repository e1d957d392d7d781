// The sections of a source, each described once, for the printer and the parser (writer.hpp): a program, a kernel, the
// tile program that it computes, and its steps.
#pragma once
#include "graph/extent_names.hpp"
#include "ir/reader.hpp"
#include "ir/writer.hpp"
#include "plan/plan.hpp"

namespace zellige::ir {

/// What a source says of a program: a planned one, or a variant of one.
struct File {
  std::string graph;  // the graph's own name
  plan::Plan plan;    // without `device`, which follows
  retile::Tiling tiling;
  bool decomposed = false;  // as in manifest::Manifest
  tile::SizeList range{};   // of a variant: as in manifest::Manifest
  // Of a source that was read: by kernel, and of tensors in device memory.
  std::vector<KernelPositions> positions;
  std::vector<Position> tensors;
  graph::ExtentNames extents{};  // of the tensors of the plan; a source may have none
};

/// What the lines of a kernel refer to by identifiers.
struct KernelNames {
  const Ids &gmem, &smem, &channels, &agents;
};

template <class All>
std::vector<std::string> names_of(const All& all) {
  std::vector<std::string> names;
  for (const auto& one : all) names.push_back(one.name);
  return names;
}

template <class Io>
void program(Io&, File&);
template <class Io>
void kernel(Io&, kernel::Kernel&, KernelPositions&, const Ids& gmem);
/// Nodes, their views, and what is decided of each.
template <class Io>
void tile(Io&, kernel::Kernel&, KernelPositions&, const Ids& gmem);
/// Steps, each with the steps of its loop.
template <class Io>
void steps(Io&, kernel::Kernel&, std::vector<kernel::Step>&, std::vector<Position>&, const KernelNames&);

}  // namespace zellige::ir
