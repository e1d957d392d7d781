// Stores compiled kernels on disk, keyed by a hash of everything that determines them.
//
//   const Cache cache = Cache::standard();
//   const Key key = Key{}.add("nvrtc 13.0").add(options).add(source);
//   std::optional<std::filesystem::path> hit = cache.find(key, "cubin");   // a complete, valid entry, or nullopt
//   if (!hit) hit = cache.store(key, "cubin", bytes);
//
// Strings that only the build of Zellige that wrote them can read are kept by kind: planned programs, and what a caller of
// the C API wants to find again in its next process.
//
//   keep(cache, "program", key, text);          // adds an entry; the oldest of this kind are deleted
//   std::optional<std::string> text = kept(cache, "program", key);
//
// An entry is a file with its content, followed by a trailer of key, length and hash; ELF and cubin loaders
// ignore the trailer. An entry is written under a unique name and then renamed, so any number of processes
// may write it concurrently, and a reader finds a complete entry or none. An entry with an invalid trailer,
// or in a file that other users may write, counts as missing.
//
// Code from the cache runs with this user's rights. Its folder is therefore created for this user alone (mode
// 0700, files 0600), and a folder that others may write is rejected (system/files.hpp).
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::toolchain {

using Hash = std::array<std::uint64_t, 2>;
/// Returns the 128-bit hash of a string, the lower half first.
Hash hash(std::string_view);

/// A 128-bit hash of a sequence of strings. The sequences ("ab", "c") and ("a", "bc") have different keys.
class Key {
 public:
  Key& add(std::string_view text);
  std::string hex() const;  // 32 hexadecimal digits

 private:
  std::string fields_;  // the strings, each preceded by its length
};

/// A cache of compiled kernels in one folder. Functions throw Error if the folder cannot be created or written, or if
/// other users may write it. The suffix is part of an entry's key, and the extension of its file.
class Cache {
 public:
  /// Returns the user's cache: $ZELLIGE_CACHE, else $XDG_CACHE_HOME/zellige, else ~/.cache/zellige. Throws
  /// Error if none of the environment variables is set.
  static Cache standard();
  /// Returns an empty cache in a temporary folder, which is deleted with the last copy of the object.
  static Cache temporary();
  explicit Cache(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }

  /// Returns the path of a cache entry's file; nullopt if there is no valid entry. If there is an invalid
  /// one, `note`, if not null, receives what is wrong with it.
  std::optional<std::filesystem::path> find(const Key&, std::string_view suffix, std::string* note = nullptr) const;
  /// Returns the content of a cache entry, without its trailer (key, length and hash); nullopt if there is no
  /// valid entry. If there is an invalid one, `note`, if not null, receives what is wrong with it.
  std::optional<std::string> read(const Key&, std::string_view suffix, std::string* note = nullptr) const;
  /// Writes an entry and returns its file's path. Of several concurrent writers the last one wins.
  std::filesystem::path store(const Key&, std::string_view suffix, std::string_view content) const;
  /// A cache entry's file and its size in bytes; as a result of `clear`, the cache's folder and the deleted size.
  struct Entry {
    std::filesystem::path file;
    std::uintmax_t bytes = 0;
  };
  /// Returns all cache entries, the largest first; empty if the folder does not exist.
  std::vector<Entry> entries() const { return entries(""); }
  /// Deletes all cache entries and the leftovers of interrupted runs. Keeps the record of files that Zellige
  /// wrote elsewhere (run/outputs.hpp). Returns the cache's folder with the number of deleted bytes.
  Entry clear() const;
  /// Deletes the oldest entries with a suffix until the others take at most `max_bytes` bytes.
  void trim(std::string_view suffix, std::uintmax_t max_bytes) const;

  /// Returns a path in the cache's scratch folder that no other process or thread uses.
  std::filesystem::path scratch(std::string_view suffix) const;
  /// Returns the path of a subfolder of the cache, created if it is missing.
  std::filesystem::path folder(const std::filesystem::path& below_root) const;

 private:
  /// Returns the entries whose file has this extension, such as ".cubin"; all entries if it is "".
  std::vector<Entry> entries(std::string_view extension) const;
  std::filesystem::path place(const Key&, std::string_view suffix) const;

  std::filesystem::path root_;
  std::shared_ptr<void> lifetime_;  // of a temporary cache: deletes the folder
};

constexpr std::uintmax_t max_bytes_of_kind = 64'000'000;  // of all entries of one kind

/// Returns a string that identifies this build, the executable or library that contains this code: its
/// version, size and modification time.
std::string build();

/// Returns the string that keep() stored under this key; nullopt if there is none, or if the cache's folder
/// cannot be used. `kind`: the extension of the entries' files.
std::optional<std::string> kept(const Cache&, std::string_view kind, std::string_view key);
/// Stores a string under a key, and deletes the oldest entries of its kind if there are too many. Does nothing
/// if the string is larger than max_bytes_of_kind, or if the cache's folder cannot be written.
void keep(const Cache&, std::string_view kind, std::string_view key, std::string_view text);

}  // namespace zellige::toolchain
