// Which groups: every operator in one of them, at the least price.
//
// Exact over the groups that were found: the cheapest way through the sets of operators that can be done so far. Where these are too
// many, the cheapest so many of each size go on, and a note says so. Groups are estimated first, and those of the best way planned,
// until all of it is planned.
#pragma once
#include "fuse/kernel.hpp"

namespace zellige::fuse {

/// The median error of prices (docs/retiling.md): what differs by less is equal.
constexpr double tie = 0.05;

struct Group {
  std::vector<int> ops;
  std::vector<Kernel> kernels;  // that make it, the best first; none: the operator stays as it is
  double us = 0;
};

struct Choice {
  std::vector<Group> groups;  // in an order in which each follows what it reads
  std::vector<std::string> notes;
};

Choice choose(const graph::KernelGraph&, const target::Target&, Prices& known);

}  // namespace zellige::fuse
