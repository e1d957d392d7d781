#include "predict/shared_access.hpp"

namespace zellige::predict {
namespace {

using Kind = kernel::Item::Kind;

/// Collects a loop nest's shared-memory accesses from its items (the loads, computations and stores of evaluate()).
class Collection {
 public:
  Collection(const kernel::Kernel& kernel, const kernel::Context& c) : plan_(kernel), c_(c) {}

  std::vector<SharedAccess> accesses;
  bool crosses_edge = false;  // an access depends on whether the block's tile is partial

  /// Adds the accesses of an item (a load, computation or store of the nest). An item that is a bounds check
  /// or a branch of a concatenation opens or closes a condition for the items that follow.
  void add(const kernel::Item& item) {
    switch (item.kind) {
      case Kind::read_shared:
        crosses_edge = crosses_edge || (edges_ > 0 && !item.invariant);
        for (const std::vector<kernel::TileCoordinate>& at : item.pieces)
          for (int part = 0; part < plan_.tensors[item.buffer].partials; ++part) add(item, true, part, at);
        return;
      case Kind::leave:
        return leave(item);
      case Kind::part:
        if (item.part.first) outer_.push_back(where_.size());
        if (!item.part.last) where_.push_back({item.part.at, item.part.end, true});
        return;
      case Kind::take:
        if (!item.part.last)
          where_.back().holds = false;
        else
          where_.resize(outer_.back()), outer_.pop_back();
        return;
      case Kind::guard:
        outer_.push_back(where_.size());
        open_.push_back(!item.within.empty());
        edges_ += open_.back();
        for (const kernel::Guard& g : item.guards)
          where_.push_back(g.axis == 2 ? AccessCondition{{0}, c_.domain[0]}
                                       : AccessCondition{{c_.rank() - 1 - g.axis}, g.below});
        return;
      case Kind::guarded:
        where_.resize(outer_.back()), outer_.pop_back();
        edges_ -= open_.back(), open_.pop_back();
        return;
      default:
        return;
    }
  }

 private:
  /// Adds the shared-memory stores of `item`, the instruction of the loop nest by which a work stores its result.
  void leave(const kernel::Item& item) {
    const kernel::Work& t = *item.work;
    if (t.copy.by_matrices()) return;  // counted by count_shared()
    if (t.kind != kernel::WorkKind::to_shared && (t.kind != kernel::WorkKind::accumulate || t.tensor < 0)) return;
    crosses_edge = crosses_edge || edges_ > 0;
    for (int v = 0; v < c_.vector(); v += item.width) {
      std::vector<kernel::TileCoordinate> at;
      for (int d = 0; d < c_.rank(); ++d) at.push_back({d});
      at[c_.inner()].offset = v;
      const kernel::TileCoordinate last = at[c_.inner()];
      add(item, false, plan_.tensors[t.tensor].partials > 1 ? own_part : 0, std::move(at));
      if (item.edge > 0) accesses.back().where.push_back({last, item.edge});
    }
  }

  /// Adds a load or store by `item` at coordinates `at` of its buffer. It is executed under the conditions (bounds
  /// checks and branches) that are open at this item.
  /// `part` is the index of the partial result that is accessed, if the buffer has several.
  void add(const kernel::Item& item, bool load, int part, std::vector<kernel::TileCoordinate> at) {
    const kernel::SmemTensor& b = plan_.tensors[item.buffer];
    accesses.push_back({item.buffer, load, item.width * graph::whole_bytes(b.dtype), part, std::move(at),
                        item.invariant ? std::vector<AccessCondition>{} : where_, item.invariant});
  }

  const kernel::Kernel& plan_;
  const kernel::Context& c_;
  std::vector<AccessCondition> where_;  // conditions at the current item
  std::vector<std::size_t> outer_;      // for each open guard and concatenation: number of conditions before it
  std::vector<bool> open_;              // for each open guard: whether it checks a tensor's bounds
  int edges_ = 0;                       // number of open guards that check a tensor's bounds
};

}  // namespace

std::optional<std::vector<SharedAccess>> nest_accesses(const kernel::Kernel& kernel, kernel::StepSpan steps) {
  Collection all(kernel, kernel.layout_of(steps.front().work));
  for (const kernel::Item& item : kernel::evaluate(kernel, steps)) all.add(item);
  if (all.crosses_edge) return {};
  return std::move(all.accesses);
}

}  // namespace zellige::predict
