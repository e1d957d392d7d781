// A disk cache of compiled kernels, keyed by content.
//
//   const Cache cache = Cache::standard();
//   const Key key = Key{}.add("nvrtc 13.0").add(options).add(source);
//   std::optional<std::filesystem::path> hit = cache.find(key, "cubin");   // whole and unharmed, or nothing
//   if (!hit) hit = cache.store(key, "cubin", bytes);
//
// An entry is its content and a trailer of key, length and hash. It is written under a unique name and then
// renamed, so that any number of processes may write it concurrently and a reader sees a whole entry or none.
// An invalid trailer makes the entry a miss, and so does a file that others may write. The trailer follows
// the content, where ELF and cubin loaders ignore it.
//
// The folder's contents run as this user: it is created for this user alone (0700, files 0600), and a folder
// that others may write is rejected (run/private_files.hpp).
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::run {

/// A 128-bit hash of a sequence of strings; ("ab", "c") and ("a", "bc") differ.
class Key {
 public:
  Key& add(std::string_view text);
  std::string hex() const;  // 32 digits

 private:
  std::string fields_;  // each preceded by its length
};

class Cache {
 public:
  /// $ZELLIGE_CACHE, else $XDG_CACHE_HOME/zellige, else ~/.cache/zellige.
  static Cache standard();
  /// An empty cache that is deleted with its last copy.
  static Cache temporary();
  explicit Cache(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }

  /// Returns the file of a valid entry. `note`, if given, receives what is wrong with an invalid one.
  std::optional<std::filesystem::path> find(const Key&, std::string_view suffix,
                                            std::string* note = nullptr) const;
  /// Returns the content of a valid entry.
  std::optional<std::string> read(const Key&, std::string_view suffix, std::string* note = nullptr) const;
  /// Writes an entry; the last of several writers wins. Returns its file.
  std::filesystem::path store(const Key&, std::string_view suffix, std::string_view content) const;
  /// Seals a file that a compiler wrote (at a path from `scratch`) and moves it into place.
  std::filesystem::path adopt(const Key&, std::string_view suffix, const std::filesystem::path& file) const;
  struct Entry {
    std::filesystem::path file;
    std::uintmax_t bytes = 0;
  };
  /// All entries, the largest first. Empty if the folder does not exist yet.
  std::vector<Entry> entries() const;
  /// Deletes all entries and the leftovers of interrupted runs; keeps the record of files that Zellige wrote
  /// elsewhere. Returns what was deleted.
  Entry clear() const;

  /// A path in the cache that no other process or thread uses.
  std::filesystem::path scratch(std::string_view suffix) const;
  /// Returns a folder in the cache, created if missing.
  std::filesystem::path folder(const std::filesystem::path& below_root) const;

 private:
  std::filesystem::path place(const Key&, std::string_view suffix) const;

  std::filesystem::path root_;
  std::shared_ptr<void> lifetime_;
};

}  // namespace zellige::run
