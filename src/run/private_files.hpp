// Checks files that this process loads as code: they must belong to its user, and must not be writable by
// others.
//
//   private_folder(root, "kernel cache");  // created 0700, or rejected with its mode
//   const PrivateFile file(path);          // opened, then checked: what is loaded is what was checked
//   dlopen(file.path().c_str(), RTLD_NOW);
#pragma once
#include <filesystem>
#include <string>

namespace zellige::run {

/// Creates a folder and its missing parents, for this user alone. Throws Error if the folder exists and
/// belongs to another user or is writable by others; `what` names it in the message.
void private_folder(const std::filesystem::path&, const std::string& what);

/// An open file, identified by its descriptor, so that changes to its path do not affect which file is
/// loaded.
class PrivateFile {
 public:
  /// Throws Error if the file cannot be opened, is a link or not a regular file, belongs to another user, or
  /// is writable by others.
  explicit PrivateFile(const std::filesystem::path&);
  ~PrivateFile();
  PrivateFile(const PrivateFile&) = delete;
  /// A new name on each call, by which this process and its children can open the file during the object's
  /// lifetime.
  std::string path() const;
  std::string content() const;

 private:
  std::filesystem::path file_;
  int fd_;
};

}  // namespace zellige::run
