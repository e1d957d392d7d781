#include "api/strings.hpp"

#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "api/guard.hpp"
#include "graph/error.hpp"
#include "run/cache.hpp"

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
    const std::optional<std::string> found = run::kept(run::Cache::standard(), kind_of_decisions, text_at(key, "key"));
    to = found ? text_copy(*found) : nullptr;
  });
}
zellige_status zellige_keep(const char* key, const char* text) {
  return guarded(
      [&] { run::keep(run::Cache::standard(), kind_of_decisions, text_at(key, "key"), text_at(text, "text")); });
}
