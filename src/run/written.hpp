// Records what Zellige wrote, by content: hashes of whole files, in the cache's folder (`written`, one per
// line). A file whose content is not recorded was written by another program, or edited since.
//
// The files themselves are not marked: .npy and JSON lines have no place for a mark that every reader
// ignores. The record may be lost; then nothing is replaced without --force, which is the safe default.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace zellige::run {

/// An incremental 128-bit hash.
class Digest {
 public:
  Digest();
  Digest& add(std::string_view);
  std::string hex() const;  // 32 digits; of what was added so far

 private:
  struct State;
  std::shared_ptr<State> state_;
};

std::string digest(std::string_view);
/// The digest of a file's content, or nothing if it cannot be read.
std::optional<std::string> digest_of(const std::filesystem::path&);

class Written {
 public:
  /// In the folder of Cache::standard(); without one, nothing is recorded.
  static Written standard();
  explicit Written(std::filesystem::path record) : record_(std::move(record)) {}

  /// Records a content. A failure is not an error: the file then needs --force next time.
  void add(const std::string& digest) const;
  bool holds(const std::string& digest) const;

 private:
  std::filesystem::path record_;
};

}  // namespace zellige::run
