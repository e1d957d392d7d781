// Reads files, and writes files atomically. Functions throw Error with the path and the reason. They serve
// the cache and other internal files; run/outputs.hpp writes the files that a user asks for.
//
// Checks files that this process loads as code: they must belong to its user, and other users must not be able to write
// them.
//
//   private_folder(root, "kernel cache");  // created 0700, or rejected with its mode
//   const PrivateFile file(path);          // opened, then checked: what is loaded is what was checked
//   dlopen(file.path().c_str(), RTLD_NOW);
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace zellige::system {

namespace fs = std::filesystem;

/// An open file, by its descriptor `fd`, which the destructor closes; -1: none.
struct OpenFile {
  explicit OpenFile(int opened) : fd(opened) {}
  OpenFile(OpenFile&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  ~OpenFile();
  int fd;
};
/// Writes all of `content` to a descriptor. Returns 0, or the errno of the failure.
int write_all(int fd, std::string_view content);
/// Appends to `content` what a descriptor still has, until `content` has `limit` bytes. Returns 0, or the errno of
/// the failure.
int read_all(int fd, std::string& content, std::size_t limit = std::string::npos);
/// Throws the Error for a file that cannot be written; `error` is an errno.
[[noreturn]] void unwritable(const fs::path&, int error);

/// Writes a file atomically: under a unique name in the same folder, then renames it. `mode`: the file's
/// permissions, less the process's umask. A device or a pipe is written directly.
void write_whole(const fs::path&, std::string_view content, unsigned mode = 0666);
/// Creates and writes a file that must not exist yet. Returns 0, or the errno of the failure.
int write_new(const fs::path&, std::string_view content, unsigned mode = 0666);
/// Returns the content of a file.
std::string read_whole(const fs::path&);
/// Creates a folder and its missing parents.
void create_folders(const fs::path&);

/// Reads a file from its start and no further than requested, because it may be a pipe or endless.
class FileReader {
 public:
  explicit FileReader(fs::path);

  /// Returns the next bytes of the file; fewer than `bytes` only at its end.
  std::string next(std::size_t bytes);
  /// Returns the file's size in bytes; nullopt unless it is a regular file.
  std::optional<std::size_t> size() const;

 private:
  fs::path file_;
  OpenFile open_;
};

/// Returns the name in lower case: equal results mean the same name on a file system that ignores case.
std::string folded(std::string name);

/// Returns a file name that no other process or thread uses, made of host, process, start time and a counter.
std::string unique_name(std::string_view suffix);

/// Creates a folder and its missing parents, with mode 0700. Throws Error if the folder exists, and belongs
/// to another user or may be written by other users. `what` names the folder in the message.
void private_folder(const fs::path&, const std::string& what);

/// An open file that only this user can write. It is accessed by its descriptor, so changing what its path
/// denotes does not change what is loaded.
class PrivateFile {
 public:
  /// Opens a file. Throws Error if that fails, if it is a link or not a regular file, if it belongs to
  /// another user, or if others may write it.
  explicit PrivateFile(const fs::path&);
  /// Returns a path by which this process and its children can open the file as long as this object exists.
  /// Each call returns a different path.
  std::string path() const;
  /// Reads and returns the file's content. Throws Error if that fails.
  std::string content() const;

 private:
  fs::path file_;
  OpenFile open_;
};

}  // namespace zellige::system
