// The items of one loop nest while evaluate() makes them (evaluation.hpp): the nest, and the values that one work of it needs.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "kernel/evaluation.hpp"
#include "kernel/leaves.hpp"
#include "tile/sections.hpp"

namespace zellige::kernel {

/// The coordinate at which a value is needed, for `vector` adjacent elements along `inner`.
struct NestPoint {
  std::vector<TileCoordinate> at;   // of the first element
  std::vector<std::int64_t> limit;  // > 0: reads in this dimension are clamped below it; the nest exceeds it
  int inner = 0, vector = 1;
  std::int64_t shift = 0;  // at[inner] modulo `vector`, due to slices and concatenations
  At own = At::own;        // relative to the nest's coordinate: decides whether registers hold the value
  bool checked = false;    // an open bounds check excludes out-of-bounds elements
};

/// Returns whether an earlier work than `work` left the value of load or map `node` in registers.
bool is_in_registers(const Kernel&, const Work&, int node);

/// A loop nest: its layout, the items so far, the values that they yield, and the bounds checks that are open.
class Nest {
 public:
  using Kind = Item::Kind;
  Nest(const Kernel& k, StepSpan steps)
      : kernel(k),
        p(k.program),
        c(k.layout_of(steps.front().work)),
        loops_(!c.row && !c.replicated() && c.steps(0) > 1) {
    for (const Mode& m : modes(values::View(c.tile)[0]))
      if (m.extent > 1) moves_.insert(m.basis);
    for (const Step& step : steps) written_.insert(step.work.tensor);
  }

  const Kernel& kernel;
  const tile::TileProgram& p;
  const Context& c;

  /// Identifies a computed value: its node, and the coordinates, limits and vector for which it was requested.
  using Key = std::tuple<int, std::vector<TileCoordinate>, std::vector<std::int64_t>, int>;
  /// Returns the item that yields the value; -1 if the open scopes have none.
  int find(const Key& key) const {
    const auto found = known_.find(key);
    return found == known_.end() ? -1 : found->second;
  }
  int remember(Key key, int item) {
    const auto at = known_.emplace(std::move(key), item).first;
    if (!items_[item].invariant) order_.push_back(at);
    return item;
  }
  std::size_t mark() const { return order_.size(); }
  /// Forgets the values that were computed inside a bounds check or branch that closes, so that no later item uses
  /// them. `mark` is what mark() was when the check or branch opened.
  void forget(std::size_t mark) {
    for (; order_.size() > mark; order_.pop_back()) known_.erase(order_.back());
  }

  int add(Item item) {
    // A branch's operands may be out of bounds if another branch is taken, so they are not hoisted from it.
    item.invariant = open_parts_ == 0 && is_invariant(item);
    open_parts_ += (item.kind == Kind::part) - (item.kind == Kind::take);
    items_.push_back(std::move(item));
    return static_cast<int>(items_.size()) - 1;
  }
  /// Adds an item that opens the bounds checks `guards` and `within`: the items after it are evaluated only within the
  /// bounds. Adds nothing if both lists are empty.
  void open(const std::vector<Guard>& guards, const std::vector<Within>& within) {
    if (guards.empty() && within.empty()) return;
    add({.kind = Kind::guard, .guards = guards, .within = within});
  }
  /// Makes the items that are added next depend on the bounds checks `guards` and `within`: closes the checks that are
  /// open, and opens the given ones. Does nothing if these are open already.
  void guard(const std::vector<Guard>& guards, const std::vector<Within>& within) {
    if (guards == guards_ && within == within_) return;
    close_guard();
    guards_ = guards, within_ = within, guarded_ = order_.size();
    open(guards, within);
  }
  void close_guard() {
    if (guards_.empty() && within_.empty()) return;
    add({.kind = Kind::guarded}), forget(guarded_);
    guards_.clear(), within_.clear();
  }
  /// Returns whether the value of `node` is complete where `work` is done.
  bool complete(const Work& work, int node) {
    if (!sections_) sections_.emplace(p);
    return sections_->complete(node) == section_of(work, *sections_);
  }
  /// Makes the read `item` yield bytes as they are.
  void keep_bytes(int item) { items_[item].raw = true; }
  std::vector<Item> take() { return std::move(items_); }

 private:
  /// Returns whether the value of an item is constant along the nest's loop, which is along axis 0 of the layout: a read of
  /// one element, in whose dimensions the axis does not move, unless the nest writes the buffer itself; or an elementwise
  /// operator of such elements. A nest of one iteration, or over an instruction's accumulators, has no such value.
  bool is_invariant(const Item& item) const {
    const auto fixed = [&](const std::vector<TileCoordinate>& at) {
      return std::ranges::none_of(at, [&](const TileCoordinate& of) { return moves_.contains(of.from); });
    };
    if (!loops_ || item.vector > 1 || !std::ranges::all_of(item.pieces, fixed)) return false;
    switch (item.kind) {
      case Kind::read_shared:
        return !written_.contains(item.buffer);
      case Kind::read_global:  // only a guard within the loop prevents out-of-bounds reads
        return !p.nodes[item.node].view.predicated();
      case Kind::in_lines:
        return true;
      case Kind::apply:
        return p.nodes[item.node].kind == tile::NodeKind::map &&
               std::ranges::all_of(item.in, [&](int i) { return items_[i].invariant; });
      default:
        return false;
    }
  }

  bool loops_;             // the nest has a loop of more than one iteration
  std::set<int> moves_;    // the dimensions along which the loop moves
  std::set<int> written_;  // the buffers that the nest writes
  std::vector<Item> items_;
  std::map<Key, int> known_;                         // values computed in the open scopes, with their items
  std::vector<std::map<Key, int>::iterator> order_;  // as computed; a scope that closes removes its values
  std::optional<tile::Sections> sections_;           // when first needed
  int open_parts_ = 0;
  std::vector<Guard> guards_;  // bounds checks that are open
  std::vector<Within> within_;
  std::size_t guarded_ = 0;  // size of `order_` when they were opened
};

/// Adds the items that evaluate nodes for one work of a nest.
struct NestValues {
  using Kind = Item::Kind;
  Nest& nest;
  const Work& work;

  /// Returns the item that yields the value of `node` at coordinate `p`, and adds it if there is none.
  int value(int node, const NestPoint& p);

  int read_buffer(int buffer, const Shape& shape, const NestPoint& p);

 private:
  /// Adds a branch of the concatenation `choose`; value() adds the items of the branch and returns that of its value.
  template <class Value>
  void branch(int choose, const ConcatPart& part, int vector, const Value& value) {
    const std::size_t before = nest.mark();
    nest.add({.kind = Kind::part, .vector = vector, .part = part});
    const int taken = value();
    nest.add({.kind = Kind::take, .in = {choose, taken}, .vector = vector, .part = part});
    nest.forget(before);
  }

  int concat(const tile::Node& n, const NestPoint& p);

  /// Returns the item that yields `vector` adjacent elements of operand number `which` of the rotary embedding `node`,
  /// which is evaluated at coordinate `p`. `along` gives the operand's coordinate along the rotated dimension: that of
  /// the element itself, the number of its pair, or that of the other element of its pair.
  int rotated(int node, int which, const NestPoint& p, const PairLayout& along, int vector);

  int rotate(int node, const NestPoint& p);

  /// Returns the item that yields the bytes of the elements at coordinate `p` of the unpack `node`: `vector` bytes.
  int bytes(int node, const NestPoint& p, int vector);

  int unpack(int node, const NestPoint& p);

  int repeat(int node, const NestPoint& p);

  int leaf(int node, const NestPoint& p);

  /// Completes `item` as a read of the vector at coordinate `p` in a tile of shape `shape`, adds it and returns its
  /// index. The item gets one coordinate per `step` elements, and accesses at most `width` elements at a time.
  int read(Item item, const Shape& shape, const NestPoint& p, int step, int width);
};

/// Returns the coordinate at which `node`, evaluated at coordinate `p`, reads its operand node `operand`. The
/// result is 0 in each dimension in which the operand is broadcast: it has extent 1, and `node` a larger one.
NestPoint narrowed(const tile::TileProgram&, int operand, int node, const NestPoint& p);

}  // namespace zellige::kernel
