// What Zellige wrote, known by its content: hashes of whole files, kept in the cache's folder (`written`, a
// line each). A file whose content is not among them was written by somebody else, or edited since.
//
// Nothing is put into the files themselves: .npy and JSON lines have no place for a stamp that every reader
// passes over. The record may be lost; then nothing is replaced unasked, which is the safe side to err on.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace zellige::run {

/// A 128-bit hash of a content that may come piece by piece.
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
/// Of a file's content, or nothing where it cannot be read.
std::optional<std::string> digest_of(const std::filesystem::path&);

class Written {
 public:
  /// In the folder of Cache::standard(); where there is none, nothing is remembered.
  static Written standard();
  explicit Written(std::filesystem::path record) : record_(std::move(record)) {}

  /// Remembers a content. That it cannot be is no error: the file then needs --force another time.
  void add(const std::string& digest) const;
  bool holds(const std::string& digest) const;

 private:
  std::filesystem::path record_;
};

}  // namespace zellige::run
