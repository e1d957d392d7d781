// Which groups: every operator in one of them, at the least price.
//
// The cheapest cover of the operators by the groups that were found (cover.hpp), whose places are the operators branch by branch. Groups
// that are alike are one kind: found, estimated and planned once. Kinds are estimated first, and those of the best cover planned, until
// all of it is planned. Where groups of a cover would wait for each other, one of them is taken no more. A note says where a limit was met.
#pragma once
#include "fuse/kernel.hpp"
#include "fuse/watch.hpp"

namespace zellige::fuse {

/// The median error of prices (docs/reference/costs.md): what differs by less is equal.
constexpr double tie = 0.05;

struct Group {
  std::vector<int> ops;
  std::vector<Kernel> kernels;  // one that makes it; none: the operator stays as it is
  double us = 0;
};

/// What choosing took.
struct Work {
  std::size_t groups = 0;  // looked at
  std::size_t kinds = 0;   // of them that differ in more than names: each found kernels for once
  std::size_t plans = 0;   // kinds that were planned
  std::size_t states = 0;  // of the largest cover
};

struct Choice {
  std::vector<Group> groups;  // in an order in which each follows what it reads
  Work work{};
  std::vector<std::string> notes;
  std::vector<std::string> limits;  // of the search that were met
  bool ended = false;               // by who watches
};

/// Whether the notes say of every two kernels one of which reads the other why they are not one. That may take a plan for each two.
enum class Reasons : bool { left_out, told };

Choice choose(const graph::KernelGraph&, const target::Target&, Prices& known, const Watch& = {},
              Reasons = Reasons::told);

}  // namespace zellige::fuse
