// Files that this process loads as code: they belong to its user, and nobody else may write them.
//
//   private_folder(root, "kernel cache");           // created 0700, or refused with its mode
//   const PrivateFile file(path);                   // opened, then checked: what is loaded is what was checked
//   dlopen(file.path().c_str(), RTLD_NOW);
#pragma once
#include <filesystem>
#include <string>

namespace zellige::run {

/// Creates a folder, and those above it that are missing, for this user alone. Fails where one is there that belongs to another user or
/// that others may write; `what` names it in the message.
void private_folder(const std::filesystem::path&, const std::string& what);

/// An open file. It is found by its descriptor, so that nothing that is done to its path changes which file is loaded.
class PrivateFile {
 public:
  /// Fails where it cannot be opened, is a link or no regular file, belongs to another user, or may be written by others.
  explicit PrivateFile(const std::filesystem::path&);
  ~PrivateFile();
  PrivateFile(const PrivateFile&) = delete;
  /// A name, another each time, by which this and every process that it starts open the file, as long as this lives.
  std::string path() const;
  std::string content() const;

 private:
  std::filesystem::path file_;
  int fd_;
};

}  // namespace zellige::run
