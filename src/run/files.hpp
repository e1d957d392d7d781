// Writes files atomically; errors name the path and the reason. The cache uses these functions; files that
// the user asked for are written by run/outputs.hpp.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace zellige::run {

/// Writes under a unique name in the same folder, then renames. `mode`: of the file, less the process's
/// umask.
void write_whole(const std::filesystem::path&, std::string_view content, unsigned mode = 0666);
/// Writes a file that must not exist yet. Returns 0, or the errno of the failure.
int write_new(const std::filesystem::path&, std::string_view content, unsigned mode = 0666);
std::string read_whole(const std::filesystem::path&);
void create_folders(const std::filesystem::path&);

/// Reads a file sequentially and no further than requested: it may be a pipe, or endless.
class FileReader {
 public:
  explicit FileReader(std::filesystem::path);
  ~FileReader();
  FileReader(const FileReader&) = delete;

  /// The next bytes; fewer at the end of the file.
  std::string next(std::size_t bytes);
  /// The total size, if it is known in advance.
  std::optional<std::size_t> size() const;

 private:
  std::filesystem::path file_;
  int fd_;
};

/// In lower case: equal results for names that a case-insensitive file system considers the same.
std::string folded(std::string name);

/// A file name that no other process or thread uses, made of host, process and a counter.
std::string unique_name(std::string_view suffix);

}  // namespace zellige::run
