// Compiled kernels on disk, keyed by content.
//
//   const Cache cache = Cache::standard();
//   const Key key = Key{}.add("nvrtc 13.0").add(options).add(source);
//   std::optional<std::filesystem::path> hit = cache.find(key, "cubin");   // whole and unharmed, or nothing
//   if (!hit) hit = cache.store(key, "cubin", bytes);
//
// An entry is its content and a trailer of length and hash; it is written under a name of its own and then
// renamed, so that any number of processes may write it at once and a reader sees a whole entry or none. A
// trailer that does not fit makes the entry a miss. The trailer stands behind the content, where neither ELF
// nor cubin loaders look.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace zellige::run {

/// A 128-bit hash of a sequence of texts; ("ab", "c") and ("a", "bc") differ.
class Key {
 public:
  Key& add(std::string_view text);
  std::string hex() const;  // 32 digits

 private:
  std::string fields_;  // each with its length before it
};

class Cache {
 public:
  /// $ZELLIGE_CACHE, else $XDG_CACHE_HOME/zellige, else ~/.cache/zellige.
  static Cache standard();
  /// An empty one that is deleted with its last copy.
  static Cache temporary();
  explicit Cache(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }

  /// The file of an entry that is whole.
  std::optional<std::filesystem::path> find(const Key&, std::string_view suffix) const;
  /// The content of an entry that is whole.
  std::optional<std::string> read(const Key&, std::string_view suffix) const;
  /// Writes an entry; the last of several writers wins. Returns its file.
  std::filesystem::path store(const Key&, std::string_view suffix, std::string_view content) const;
  /// Seals a file that a compiler wrote (at a path from `scratch`) and moves it into place.
  std::filesystem::path adopt(const Key&, std::string_view suffix, const std::filesystem::path& file) const;
  /// A path in the cache that no other process or thread uses.
  std::filesystem::path scratch(std::string_view suffix) const;

 private:
  std::filesystem::path place(const Key&, std::string_view suffix) const;

  std::filesystem::path root_;
  std::shared_ptr<void> lifetime_;
};

}  // namespace zellige::run
