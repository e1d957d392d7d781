// Files that are whole or absent; failures name the path and the reason. The cache writes with these; what a
// user asked for goes through run/outputs.hpp.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace zellige::run {

/// Writes under a name of its own in the same folder, then renames. `mode`: of the file, less the process's umask.
void write_whole(const std::filesystem::path&, std::string_view content, unsigned mode = 0666);
/// Writes a file that is not there yet. Returns 0, or the errno of what failed.
int write_new(const std::filesystem::path&, std::string_view content, unsigned mode = 0666);
std::string read_whole(const std::filesystem::path&);
void create_folders(const std::filesystem::path&);

/// A file that is read from its beginning, no further than is asked for: it may be a pipe, or have no end.
class FileReader {
 public:
  explicit FileReader(std::filesystem::path);
  ~FileReader();
  FileReader(const FileReader&) = delete;

  /// The next bytes; fewer where the file ends before.
  std::string next(std::size_t bytes);
  /// All of it, where that is known before it is read.
  std::optional<std::size_t> size() const;

 private:
  std::filesystem::path file_;
  int fd_;
};

/// In lower case: what a file system without case takes two names for.
std::string folded(std::string name);

/// A file name that no other process or thread uses: host, process and a count are in it.
std::string unique_name(std::string_view suffix);

}  // namespace zellige::run
