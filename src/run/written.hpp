// Records which files Zellige wrote, so that a command does not overwrite any other file without --force. The
// record has the hash of each file's content, one per line of the file `written` in the cache's folder. A
// file whose hash is not in it was written by another program, or edited since.
//
// Files are not marked themselves, because .npy and JSON files have no place for a mark that every reader
// ignores. If the record is lost, --force is needed, which is the safe case.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace zellige::run {

/// An incremental 128-bit hash. Copies share their state.
class Digest {
 public:
  Digest();
  Digest& add(std::string_view);
  std::string hex() const;  // 32 hexadecimal digits, for all that was added so far

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Returns the hash of a string, as Digest::hex does.
std::string digest(std::string_view);
/// Returns the hash of a file's content; nullopt if it cannot be read.
std::optional<std::string> digest_of(const std::filesystem::path&);

/// The record of the files that Zellige has written, by the hashes of their contents.
class WrittenFiles {
 public:
  /// Returns the record in the folder of Cache::standard(). If no environment variable names a folder for the
  /// cache, returns a record that stores nothing.
  static WrittenFiles standard();
  explicit WrittenFiles(std::filesystem::path record) : record_(std::move(record)) {}

  /// Records the hash of a file's content. Does not throw: on failure, overwriting the file needs --force.
  void add(const std::string& digest) const;
  /// Returns true if the hash `digest` is recorded, that is, if Zellige wrote the file and it may be overwritten.
  bool holds(const std::string& digest) const;

 private:
  std::filesystem::path record_;
};

}  // namespace zellige::run
