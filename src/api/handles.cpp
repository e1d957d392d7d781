#include "api/handles.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "graph/error.hpp"

namespace zellige::api::detail {
namespace {

constexpr const char* names[] = {"zellige_graph", "zellige_program"};

/// The fields of a handle's 64 bits: index of its slot, generation of the object in the slot, and kind. The
/// highest bit is set, unlike in any user-space address.
struct HandleBits {
  static constexpr int index_bits = 24, generation_bits = 36;
  static constexpr std::uint64_t mark = std::uint64_t(1) << 63;
  static constexpr std::uint64_t last_index = (std::uint64_t(1) << index_bits) - 1;
  static constexpr std::uint64_t last_generation = (std::uint64_t(1) << generation_bits) - 1;

  std::uint64_t index, generation, kind;

  static HandleBits of(const void* handle) {
    const auto bits = reinterpret_cast<std::uintptr_t>(handle);
    return {bits & last_index, bits >> index_bits & last_generation, (bits & ~mark) >> (index_bits + generation_bits)};
  }
  void* handle() const {
    return reinterpret_cast<void*>(mark | kind << (index_bits + generation_bits) | generation << index_bits | index);
  }
};
static_assert(sizeof(void*) == 8, "handles have 64 bits");

/// An entry of the table of handles; reused after its object is removed.
struct Slot {
  std::shared_ptr<void> object;  // null: free
  std::uint64_t generation = 0;  // generation of the object; if the slot is free, of the next object
  HandleKind kind{};
};

/// The process's handles and their objects.
struct HandleTable {
  std::mutex mutex;
  std::vector<Slot> slots;
  std::vector<std::size_t> free;  // slots without an object
};

/// Returns the table, which is never destroyed, because handles may be freed during process exit.
HandleTable& table() {
  static HandleTable& forever = *new HandleTable;
  return forever;
}

/// Returns the slot of a valid handle in the table. Throws Error if `handle` is null, freed, of another
/// kind, or not a handle.
Slot& slot_of(HandleKind kind, const void* handle, std::string_view parameter) {
  std::vector<Slot>& slots = table().slots;
  const char* const expected = names[static_cast<int>(kind)];
  if (!handle) fail("{}: expected a {}, found NULL", parameter, expected);
  const HandleBits bits = HandleBits::of(handle);
  const bool made_here = (reinterpret_cast<std::uintptr_t>(handle) & HandleBits::mark) &&
                         bits.kind < std::size(names) && bits.index < slots.size() &&
                         bits.generation <= slots[bits.index].generation;
  if (!made_here) fail("{}: expected a {}, found {}, which is no handle", parameter, expected, handle);
  if (bits.kind != static_cast<std::uint64_t>(kind))
    fail("{}: expected a {}, found a {}", parameter, expected, names[bits.kind]);
  Slot& found = slots[bits.index];
  if (!found.object || found.generation != bits.generation || found.kind != kind)
    fail("{}: expected a live {}, found one that was freed", parameter, expected);
  return found;
}

}  // namespace

void* add(HandleKind kind, std::shared_ptr<void> object) {
  auto& [mutex, slots, free] = table();
  const std::lock_guard lock(mutex);
  if (free.empty() && slots.size() > HandleBits::last_index)
    fail("{}: {} handles are live; expected that some are freed before more are made", names[static_cast<int>(kind)],
         slots.size());
  if (free.empty()) {
    slots.emplace_back();
    free.push_back(slots.size() - 1);
  }
  const std::size_t index = free.back();
  free.pop_back();
  Slot& slot = slots[index];
  slot.object = std::move(object), slot.kind = kind;
  return HandleBits{index, slot.generation, static_cast<std::uint64_t>(kind)}.handle();
}

std::shared_ptr<void> find(HandleKind kind, const void* handle, std::string_view parameter) {
  const std::lock_guard lock(table().mutex);
  return slot_of(kind, handle, parameter).object;
}

void remove(HandleKind kind, const void* handle, std::string_view parameter) {
  auto& [mutex, slots, free] = table();
  std::shared_ptr<void> object;  // destroyed after the lock is released, because that may take time
  const std::lock_guard lock(mutex);
  Slot& mine = slot_of(kind, handle, parameter);
  object = std::exchange(mine.object, nullptr);
  if (mine.generation++ < HandleBits::last_generation) free.push_back(static_cast<std::size_t>(&mine - slots.data()));
}

}  // namespace zellige::api::detail
