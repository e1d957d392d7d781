// Stores strings in the cache that only the build of Zellige that wrote them can read: planned programs, and what
// a caller of the C API wants to find again in its next process.
//
//   keep(cache, "program", key, text);          // adds an entry; the oldest of this kind are deleted
//   std::optional<std::string> text = kept(cache, "program", key);
//
// An entry's key includes build(), so another build finds none. The entries of a kind take at most `max_bytes` on disk.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "run/cache.hpp"

namespace zellige::run {

constexpr std::uintmax_t max_bytes = 64'000'000;  // of all entries of one kind

/// Returns a string that identifies this build, the executable or library that contains this code: its
/// version, size and modification time.
std::string build();

/// Returns the string that keep() stored under this key; nullopt if there is none, or if the cache's folder
/// cannot be used. `kind`: the extension of the entries' files.
std::optional<std::string> kept(const Cache&, std::string_view kind, std::string_view key);
/// Stores a string under a key, and deletes the oldest entries of its kind if there are too many. Does nothing
/// if the string is larger than `max_bytes`, or if the cache's folder cannot be written.
void keep(const Cache&, std::string_view kind, std::string_view key, std::string_view text);

}  // namespace zellige::run
