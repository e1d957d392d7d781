#include "ir/check.hpp"

namespace zellige::ir {
namespace {

/// Returns how many operands a node has, at least and at most.
std::pair<std::size_t, std::size_t> operands(const plan::Node& n) {
  using enum plan::NodeKind;
  constexpr std::size_t any = 1000;
  switch (n.kind) {
    case load:
      return {0, 1};
    case matmul:
      return {2, 3};
    case rotate:
      return {3, 3};
    case store:
      return {1, 2};
    case accumulate:
      return {0, 2};
    case map:
    case concat:
      return {1, any};
    default:
      return {1, 1};
  }
}

/// Returns what is wrong with a node; "" if nothing is.
std::string wrong(const plan::Kernel& k, int i, const plan::Program& whole) {
  const plan::Node& n = k.program.nodes[static_cast<std::size_t>(i)];
  const auto [least, most] = operands(n);
  const auto rank = static_cast<int>(n.shape.size());
  if (n.in.size() < least || n.in.size() > most)
    return fmt::format("{} has {} operands; it takes {}", name(n.kind), n.in.size(),
                       least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most));
  if (plan::accesses(n)) {
    const auto of = static_cast<int>(whole.tensors[static_cast<std::size_t>(n.tensor)].shape.size());
    if (n.view.rank() != rank || of != rank)
      return fmt::format("its tile has {} dimensions, its view {}, its tensor {}", rank, n.view.rank(), of);
    if (!k.copy_of(i) && k.in_place(i) < 1 && k.program.needed()[static_cast<std::size_t>(i)])
      return fmt::format("no step copies this {}, and its line does not say that it is read in_place",
                         name(n.kind));
  }
  if (!n.view.empty() && n.view.rank() != rank)
    return fmt::format("its tile has {} dimensions, its view {}", rank, n.view.rank());
  for (int d = 0; d < n.view.rank(); ++d)
    if (plan::accesses(n) && plan::number_of(n) < 0 && n.view.tile(d) != n.shape[static_cast<std::size_t>(d)])
      return fmt::format("its tile has {} elements along dimension {}, its view {}",
                         n.shape[static_cast<std::size_t>(d)], d, n.view.tile(d));
  if (n.dim < 0 || (rank > 0 && n.dim >= rank + 1) || n.key < 0 || (rank > 0 && n.key >= rank))
    return fmt::format("it has {} dimensions, numbered from 0", rank);
  if (n.kind == plan::NodeKind::matmul) {
    if (rank < 2) return "a matmul has two dimensions at least";
    for (const int in : n.in)
      if (k.program.nodes[static_cast<std::size_t>(in)].shape.size() < 2)
        return fmt::format("%{} is no matrix", in);
    if (!k.matmuls.contains(i) && k.program.needed()[static_cast<std::size_t>(i)])
      return "no step does this matmul";
  }
  const bool lies = plan::accesses(n) || n.kind == plan::NodeKind::round;  // in memory
  if (n.inner < (lies ? 0 : -1) || n.inner >= std::max(1, rank))
    return fmt::format("its inner dimension is {} of {}", n.inner, rank);
  return "";
}

/// Returns what is wrong with a step; "" if nothing is.
std::string wrong(const plan::Kernel& k, const plan::Step& step) {
  for (const std::vector<plan::Access>* list : {&step.reads, &step.writes})
    for (const plan::Access& a : *list)
      if (a.tensor < 0) return "it accesses no tensor";
  const plan::Work& w = step.work;
  if (w.node < 0) return "";
  if (w.context < 0) return "it says not over which layout";
  const plan::Node& n = k.program.nodes[static_cast<std::size_t>(w.node)];
  if (is_global_load(w.kind) && n.kind != plan::NodeKind::load) return fmt::format("%{} is no load", w.node);
  if (w.kind == plan::WorkKind::to_global && n.kind != plan::NodeKind::store)
    return fmt::format("%{} is no store", w.node);
  if (w.kind == plan::WorkKind::mma && n.kind != plan::NodeKind::matmul)
    return fmt::format("%{} is no matmul", w.node);
  if (w.kind == plan::WorkKind::copy_in && w.buffer < 0) return "it says not into which tensor";
  return "";
}

/// A place in a text that a message names: what it is called, and where its line is.
struct Named {
  std::string name;
  Position at;
};

}  // namespace

void check(const File& f, const std::string& file) {
  for (std::size_t i = 0; i < f.plan.kernels.size(); ++i) {
    const plan::Kernel& k = f.plan.kernels[i];
    const KernelPositions& at = f.positions[i];
    for (std::size_t n = 0; n < k.program.nodes.size(); ++n)
      if (const std::string what = wrong(k, static_cast<int>(n), f.plan.program); !what.empty())
        throw Mistake(file, at.nodes[n], fmt::format("%{}: {}", n, what));
    for (std::size_t a = 0; a < k.agents.size(); ++a)
      plan::walk(k.agents[a].steps, [&](const plan::Step& step, const plan::Position& p) {
        if (const std::string what = wrong(k, step); !what.empty())
          throw Mistake(file, at.agents[a][static_cast<std::size_t>(p.index)],
                        fmt::format("{}: {}", describe(step, p.index), what));
      });
  }
}

Position position(const plan::Kernel& k, const KernelPositions& at, std::string_view message) {
  std::vector<Named> steps, others;
  for (std::size_t a = 0; a < k.agents.size(); ++a) {
    const bool named = message.find(k.agents[a].name) != message.npos;
    plan::walk(k.agents[a].steps, [&](const plan::Step& step, const plan::Position& p) {
      const Position here = at.agents[a][static_cast<std::size_t>(p.index)];
      if (named) steps.push_back({describe(step, p.index), here});
      if (step.work.node >= 0)
        others.push_back({fmt::format("'{} %{}'", name(step.work.kind), step.work.node), here});
    });
  }
  for (std::size_t s = 0; s < k.setup.size(); ++s)
    steps.push_back({describe(k.setup[s], static_cast<int>(s)), at.setup[s]});
  for (std::size_t n = 0; n < at.nodes.size(); ++n) others.push_back({fmt::format("%{}'", n), at.nodes[n]});
  for (std::size_t t = 0; t < at.tensors.size(); ++t) others.push_back({k.tensors[t].name, at.tensors[t]});
  for (const std::vector<Named>& all : {steps, others}) {
    std::size_t first = message.npos;
    const Named* found = nullptr;
    for (const Named& one : all) {
      const std::size_t where = message.find(one.name, std::min(k.name().size(), message.size()));
      if (where < first ||
          (found && where == first && where != message.npos && one.name.size() > found->name.size()))
        first = where, found = &one;
    }
    if (found) return found->at;
  }
  return at.kernel;
}

}  // namespace zellige::ir
