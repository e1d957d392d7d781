#include "emit/delayed_stores.hpp"

#include <algorithm>
#include <set>

namespace zellige::emit {

using kernel::Item;
using kernel::WorkKind;

namespace {

/// Returns whether `item` may be executed out of bounds if its loads yield 0 there.
bool safe_out_of_bounds(const kernel::Kernel& kernel, const Item& item) {
  const auto before_tensor = [](const kernel::Within& w) { return w.along.origin() < 0; };
  switch (item.kind) {
    case Item::Kind::guard:
      return item.guards.empty() && std::ranges::none_of(item.within, before_tensor);
    case Item::Kind::read_global:
      return tile::number_of(kernel.program.nodes[item.node]) < 0;
    case Item::Kind::apply:
      return !graph::is_integer(kernel.program.nodes[item.node].dtype);
    default:
      return item.invariant || item.kind != Item::Kind::read_shared;
  }
}

}  // namespace

bool is_delayed(const Item& item) {
  return item.kind == Item::Kind::leave && item.work->kind != WorkKind::to_registers;
}

bool reads_and_writes(const std::vector<Item>& items, bool guarded) {
  std::set<int> read, written;  // buffers read or written; -1: global memory
  bool checked = false, stores = false;
  for (const Item& item : items) {
    if (item.kind == Item::Kind::choose) return false;
    checked = checked || item.kind == Item::Kind::guard;
    if (item.kind == Item::Kind::read_shared) read.insert(item.buffer);
    if (item.kind == Item::Kind::read_global) read.insert(-1);
    if (!is_delayed(item)) continue;
    const WorkKind kind = item.work->kind;
    if (kind != WorkKind::to_shared && kind != WorkKind::to_global) return false;
    stores = true;
    if (kind == WorkKind::to_shared) written.insert(item.buffer);
  }
  if (checked && !(guarded && read.contains(-1))) return false;
  return stores && !read.empty() && std::ranges::none_of(written, [&](int buffer) { return read.contains(buffer); });
}

std::vector<Item> checked_by_load(const kernel::Kernel& kernel, std::vector<Item> items) {
  const bool checked = std::ranges::any_of(items, [](const Item& i) { return i.kind == Item::Kind::guard; });
  if (!checked || !std::ranges::all_of(items, [&](const Item& i) { return safe_out_of_bounds(kernel, i); }))
    return items;
  for (Item& item : items) {
    // The loop leaves out what is invariant.
    if (item.kind == Item::Kind::guard || item.kind == Item::Kind::guarded) item.invariant = true;
    if (item.kind == Item::Kind::read_global)
      item.zeros_out_of_bounds = kernel.program.nodes[item.node].view.predicated();
  }
  return items;
}

}  // namespace zellige::emit
