#include "system/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>

#include "graph/error.hpp"
#include "strings/shown.hpp"

namespace zellige::system {
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

OpenFile::~OpenFile() {
  if (fd >= 0) ::close(fd);
}

int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    content.remove_prefix(n);
  }
  return 0;
}

int read_all(int fd, std::string& content, std::size_t limit) {
  for (char buffer[1 << 16]; content.size() < limit;) {
    const ssize_t n = ::read(fd, buffer, std::min(sizeof buffer, limit - content.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : 0;
    content.append(buffer, n);
  }
  return 0;
}

void unwritable(const fs::path& file, int error) {
  fail("{}: cannot be written: {}", strings::shown(file.string()), std::strerror(error));
}

int write_new(const fs::path& file, std::string_view content, unsigned mode) {
  OpenFile out(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (out.fd < 0) return errno;
  if (const int error = write_all(out.fd, content)) return error;
  return ::close(std::exchange(out.fd, -1)) == 0 ? 0 : errno;
}

std::string folded(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string unique_name(std::string_view suffix) {
  static std::atomic<unsigned> count = 0;
  static const auto start = std::chrono::system_clock::now().time_since_epoch().count();
  char host[65] = "";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("{}-{}-{:x}-{}.{}", host, ::getpid(), start, count++, suffix);
}

void create_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail("{}: cannot create the folder: {}", strings::shown(folder.string()), error.message());
}

void write_whole(const fs::path& file, std::string_view content, unsigned mode) {
  // A device or a pipe cannot be replaced by renaming; it is written directly.
  struct stat kind;
  const bool special = ::stat(file.c_str(), &kind) == 0 && !S_ISREG(kind.st_mode) && !S_ISDIR(kind.st_mode);
  if (special) {
    const OpenFile out(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (const int error = out.fd < 0 ? errno : write_all(out.fd, content)) unwritable(file, error);
    return;
  }
  const fs::path aside = file.parent_path() / fmt::format(".{}", unique_name("part"));
  int error = write_new(aside, content, mode);
  if (!error && ::rename(aside.c_str(), file.c_str()) != 0) error = errno;
  if (error) {
    ::unlink(aside.c_str());
    unwritable(file, error);
  }
}

FileReader::FileReader(fs::path file) : file_(std::move(file)), open_(::open(file_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (open_.fd < 0) fail("{}: cannot be read: {}", strings::shown(file_.string()), std::strerror(errno));
}

std::string FileReader::next(std::size_t bytes) {
  std::string content;
  if (const int error = read_all(open_.fd, content, bytes))
    fail("{}: cannot be read: {}", strings::shown(file_.string()), std::strerror(error));
  return content;
}

std::optional<std::size_t> FileReader::size() const {
  struct stat s;
  if (::fstat(open_.fd, &s) != 0 || !S_ISREG(s.st_mode)) return std::nullopt;
  return static_cast<std::size_t>(s.st_size);
}

std::string read_whole(const fs::path& file) { return FileReader(file).next(std::numeric_limits<std::size_t>::max()); }

void private_folder(const fs::path& asked, const std::string& what) {
  // The path without a final /, because with it lstat would follow a symbolic link.
  const fs::path folder = asked.has_filename() ? asked : asked.parent_path();
  const std::string name = strings::shown(folder.string());
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
  const std::string name = strings::shown(file.string());
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
    fail("{}: cannot be read: {}", strings::shown(file_.string()), std::strerror(error));
  return all;
}

}  // namespace zellige::system
