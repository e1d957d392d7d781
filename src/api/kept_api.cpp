// Implements zellige_kept and zellige_keep of the C API: strings that a caller keeps in the user's cache.
#include "api/caller_memory.hpp"
#include "api/guard.hpp"
#include "api/strings.hpp"
#include "run/kept.hpp"

using namespace zellige;
using namespace zellige::api;

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
