#include "run/files.hpp"

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
#include "graph/shown.hpp"

namespace zellige::run {
namespace fs = std::filesystem;
namespace {

// Owns a file descriptor; -1: none.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

int write_new(const fs::path& file, std::string_view content, unsigned mode) {
  Descriptor out{::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)};
  if (out.fd < 0) return errno;
  while (!content.empty()) {
    const ssize_t n = ::write(out.fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  const int closed = ::close(out.fd);
  out.fd = -1;
  return closed == 0 ? 0 : errno;
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
  if (error) fail("{}: cannot create the folder: {}", graph::shown(folder.string()), error.message());
}

void write_whole(const fs::path& file, std::string_view content, unsigned mode) {
  // A device or a pipe cannot be replaced by renaming; it is written directly.
  struct stat kind;
  const bool special = ::stat(file.c_str(), &kind) == 0 && !S_ISREG(kind.st_mode) && !S_ISDIR(kind.st_mode);
  if (special) {
    Descriptor out{::open(file.c_str(), O_WRONLY | O_CLOEXEC)};
    if (out.fd < 0 ||
        ::write(out.fd, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
      fail("{}: cannot be written: {}", graph::shown(file.string()), std::strerror(errno));
    }
    return;
  }
  const fs::path aside = file.parent_path() / fmt::format(".{}", unique_name("part"));
  int error = write_new(aside, content, mode);
  if (!error && ::rename(aside.c_str(), file.c_str()) != 0) error = errno;
  if (error) {
    ::unlink(aside.c_str());
    fail("{}: cannot be written: {}", graph::shown(file.string()), std::strerror(error));
  }
}

FileReader::FileReader(fs::path file)
    : file_(std::move(file)), fd_(::open(file_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) fail("{}: cannot be read: {}", graph::shown(file_.string()), std::strerror(errno));
}

FileReader::~FileReader() { ::close(fd_); }

std::string FileReader::next(std::size_t bytes) {
  std::string content;
  for (char buffer[1 << 16]; content.size() < bytes;) {
    const ssize_t n = ::read(fd_, buffer, std::min(sizeof buffer, bytes - content.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("{}: cannot be read: {}", graph::shown(file_.string()), std::strerror(errno));
    if (n == 0) break;
    content.append(buffer, static_cast<std::size_t>(n));
  }
  return content;
}

std::optional<std::size_t> FileReader::size() const {
  struct stat s;
  if (::fstat(fd_, &s) != 0 || !S_ISREG(s.st_mode)) return std::nullopt;
  return static_cast<std::size_t>(s.st_size);
}

std::string read_whole(const fs::path& file) {
  return FileReader(file).next(std::numeric_limits<std::size_t>::max());
}

}  // namespace zellige::run
