#include "api/handles.hpp"

#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "graph/error.hpp"
#include "toolchain/cache.hpp"

namespace zellige::api::detail {
namespace {

constexpr const char* names[] = {"zellige_graph", "zellige_program", "zellige_ranks", "zellige_rank_program"};
constexpr std::size_t max_live = std::size_t{1} << 24;

// A handle's 64 bits: the highest is set, unlike in any user-space address; the next two are the kind; the others are the number
// of handles that were made before, so that none is given twice.
static_assert(sizeof(void*) == 8, "handles have 64 bits");
constexpr int kind_bit = 61;
constexpr std::uint64_t mark = std::uint64_t{1} << 63, number_bits = (std::uint64_t{1} << kind_bit) - 1;

/// The process's handles and their objects.
struct HandleTable {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::shared_ptr<void>> live;
  std::uint64_t made = 0;
};

/// Returns the table, which is never destroyed, because handles may be freed during process exit.
HandleTable& table() {
  static HandleTable& forever = *new HandleTable;
  return forever;
}

/// Returns the place of a valid handle in the table. Throws Error if `handle` is null, freed, of another
/// kind, or not a handle.
auto place_of(HandleKind kind, const void* handle, std::string_view parameter) {
  const char* const expected = names[static_cast<int>(kind)];
  if (!handle) fail("{}: expected a {}, found NULL", parameter, expected);
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  if (!(bits & mark) || (bits & number_bits) >= table().made)
    fail("{}: expected a {}, found {}, which is no handle", parameter, expected, handle);
  if (const auto found = bits >> kind_bit & 3; found != static_cast<std::uint64_t>(kind))
    fail("{}: expected a {}, found a {}", parameter, expected, names[found]);
  const auto place = table().live.find(bits);
  if (place == table().live.end()) fail("{}: expected a live {}, found one that was freed", parameter, expected);
  return place;
}

}  // namespace

void* add(HandleKind kind, std::shared_ptr<void> object) {
  auto& [mutex, live, made] = table();
  const std::lock_guard lock(mutex);
  if (live.size() == max_live)
    fail("{}: {} handles are live; expected that some are freed before more are made", names[static_cast<int>(kind)],
         live.size());
  const std::uint64_t bits = mark | static_cast<std::uint64_t>(kind) << kind_bit | made++;
  live.emplace(bits, std::move(object));
  return reinterpret_cast<void*>(bits);
}

std::shared_ptr<void> find(HandleKind kind, const void* handle, std::string_view parameter) {
  const std::lock_guard lock(table().mutex);
  return place_of(kind, handle, parameter)->second;
}

void remove(HandleKind kind, const void* handle, std::string_view parameter) {
  std::shared_ptr<void> object;  // destroyed after the lock is released, because that may take time
  const std::lock_guard lock(table().mutex);
  const auto place = place_of(kind, handle, parameter);
  object = std::move(place->second);
  table().live.erase(place);
}

}  // namespace zellige::api::detail

namespace zellige::api {
namespace {

/// The process's strings that callers have not freed yet.
struct LiveTexts {
  std::mutex mutex;
  std::unordered_map<const char*, std::unique_ptr<char[]>> texts;
};

/// Returns the process's strings. They are never destroyed, because strings may be freed during process exit.
LiveTexts& live() {
  static LiveTexts& forever = *new LiveTexts;
  return forever;
}

}  // namespace

char* text_copy(const std::string& text) {
  auto copy = std::make_unique<char[]>(text.size() + 1);
  char* const at = copy.get();
  std::memcpy(at, text.c_str(), text.size() + 1);
  const std::lock_guard lock(live().mutex);
  live().texts.emplace(at, std::move(copy));
  return at;
}

}  // namespace zellige::api

using namespace zellige;
using namespace zellige::api;

void zellige_text_free(char* text) {
  if (!text) return;
  guarded([&] {
    const std::lock_guard lock(live().mutex);
    if (live().texts.erase(text) == 0)
      fail("text: expected one that a function of Zellige gave, found {}, which is none or was freed",
           static_cast<const void*>(text));
  });
}

// Strings that a caller keeps in the user's cache.

constexpr std::string_view kind_of_decisions = "decisions";

zellige_status zellige_kept(const char* key, char** text) {
  return guarded([&] {
    char*& to = place_for(text, "text");
    const std::optional<std::string> found =
        toolchain::kept(toolchain::Cache::standard(), kind_of_decisions, text_at(key, "key"));
    to = found ? text_copy(*found) : nullptr;
  });
}
zellige_status zellige_keep(const char* key, const char* text) {
  return guarded([&] {
    toolchain::keep(toolchain::Cache::standard(), kind_of_decisions, text_at(key, "key"), text_at(text, "text"));
  });
}
