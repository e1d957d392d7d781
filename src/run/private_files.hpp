// Checks files that this process loads as code: they must belong to its user, and other users must not be
// able to write them.
//
//   private_folder(root, "kernel cache");  // created 0700, or rejected with its mode
//   const PrivateFile file(path);          // opened, then checked: what is loaded is what was checked
//   dlopen(file.path().c_str(), RTLD_NOW);
#pragma once
#include <filesystem>
#include <string>

#include "run/files.hpp"

namespace zellige::run {

/// Creates a folder and its missing parents, with mode 0700. Throws Error if the folder exists, and belongs
/// to another user or may be written by other users. `what` names the folder in the message.
void private_folder(const std::filesystem::path&, const std::string& what);

/// An open file that only this user can write. It is accessed by its descriptor, so changing what its path
/// denotes does not change what is loaded.
class PrivateFile {
 public:
  /// Opens a file. Throws Error if that fails, if it is a link or not a regular file, if it belongs to
  /// another user, or if others may write it.
  explicit PrivateFile(const std::filesystem::path&);
  /// Returns a path by which this process and its children can open the file as long as this object exists.
  /// Each call returns a different path.
  std::string path() const;
  /// Reads and returns the file's content. Throws Error if that fails.
  std::string content() const;

 private:
  std::filesystem::path file_;
  OpenFile open_;
};

}  // namespace zellige::run
