#include "run/private_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "graph/error.hpp"
#include "graph/shown.hpp"

namespace zellige::run {
namespace fs = std::filesystem;
namespace {

constexpr unsigned others_write = 0022;

/// Returns why an open file is not private, such as "its mode is 0777, expected 0700: ...". Returns "" if the
/// file belongs to this user and others cannot write it.
std::string why_not_private(int fd, unsigned expected_mode) {
  struct stat s;
  if (::fstat(fd, &s) != 0) return std::strerror(errno);
  if (s.st_uid != ::geteuid())
    return fmt::format("it belongs to user {}, expected user {}, as whom this process runs", s.st_uid, ::geteuid());
  if (s.st_mode & others_write)
    return fmt::format("its mode is {:04o}, expected {:04o}: others may put code there that this process runs",
                       s.st_mode & 07777u, expected_mode);
  return "";
}

bool is_regular(int fd) {
  struct stat s;
  return ::fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
}

}  // namespace

void private_folder(const fs::path& asked, const std::string& what) {
  // The path without a final /, because with it lstat would follow a symbolic link.
  const fs::path folder = asked.has_filename() ? asked : asked.parent_path();
  const std::string name = graph::shown(folder.string());
  const auto refuse = [&](const std::string& why) {
    fail("{} {}: {}; make it this user's alone (chmod 700), or set ZELLIGE_CACHE to another folder", what, name, why);
  };
  fs::path made;
  for (const fs::path& part : folder) {
    made /= part;
    const int error = ::mkdir(made.c_str(), 0700) == 0 ? 0 : errno;
    std::error_code none;
    if (error && error != EEXIST && !fs::is_directory(made, none))
      fail("{}: cannot create the folder: {}", name, std::strerror(error));
  }
  struct stat link;
  if (::lstat(folder.c_str(), &link) == 0 && S_ISLNK(link.st_mode) && link.st_uid != ::geteuid() && link.st_uid != 0)
    refuse(
        fmt::format("it is a link of user {}, expected user {}, as whom this process runs", link.st_uid, ::geteuid()));
  const OpenFile open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (open.fd < 0) fail("{}: cannot create the folder: {}", name, std::strerror(errno));
  if (const std::string why = why_not_private(open.fd, 0700); !why.empty()) refuse(why);
}

PrivateFile::PrivateFile(const fs::path& file)
    : file_(file), open_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {
  const std::string name = graph::shown(file.string());
  if (open_.fd < 0)
    fail("{}: {}", name, errno == ELOOP ? "is a link, expected a file of this user's" : std::strerror(errno));
  const std::string why = is_regular(open_.fd) ? why_not_private(open_.fd, 0600) : "is no regular file";
  if (!why.empty()) fail("{}: {}", name, why);
}

// Returns a path of the open file, /proc/PID/fd/N, spelled differently by each call. The reason is that
// dlopen identifies a library that is still loaded by its path: a library with unique symbols stays loaded
// after dlclose, and its descriptor N may by then be that of another file.
std::string PrivateFile::path() const {
  static std::atomic<unsigned> count = 0;
  std::string same;  // denotes the same folder, spelled differently for each call
  for (unsigned n = ++count; n > 0; n >>= 1) same += n % 2 ? "./" : ".//";
  return fmt::format("/proc/{}/fd/{}{}", ::getpid(), same, open_.fd);
}

std::string PrivateFile::content() const {
  std::string all;
  ::lseek(open_.fd, 0, SEEK_SET);
  if (const int error = read_all(open_.fd, all))
    fail("{}: cannot be read: {}", graph::shown(file_.string()), std::strerror(error));
  return all;
}

}  // namespace zellige::run
