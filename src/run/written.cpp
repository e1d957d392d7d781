#define XXH_INLINE_ALL
#include "run/written.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>

#include "emit/seal.hpp"
#include "graph/error.hpp"
#include "run/cache.hpp"
#include "run/files.hpp"

namespace zellige::run {

constexpr off_t max_bytes = 16 << 20;   // largest size of the record; above it, the older half is dropped
constexpr std::size_t line_bytes = 33;  // 32 digits and a newline

struct Digest::State {
  XXH3_state_t hash;
};

Digest::Digest() : state_(std::make_shared<State>()) { XXH3_128bits_reset(&state_->hash); }

Digest& Digest::add(std::string_view text) {
  XXH3_128bits_update(&state_->hash, text.data(), text.size());
  return *this;
}

std::string Digest::hex() const {
  const XXH128_hash_t h = XXH3_128bits_digest(&state_->hash);
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

std::string digest(std::string_view text) { return emit::hash(text); }

std::optional<std::string> digest_of(const fs::path& file) {
  try {
    FileReader reader(file);
    Digest all;
    for (std::string part; !(part = reader.next(1 << 16)).empty();) all.add(part);
    return all.hex();
  } catch (const Error&) {
    return std::nullopt;
  }
}

WrittenFiles WrittenFiles::standard() {
  try {
    return WrittenFiles(Cache::standard().root() / "written");
  } catch (const std::exception&) {
    return WrittenFiles(fs::path());
  }
}

void WrittenFiles::add(const std::string& digest) const {
  if (record_.empty()) return;
  try {
    private_folder(record_.parent_path(), "kernel cache");
  } catch (const Error&) {
    return;
  }
  const OpenFile record(::open(record_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  // The lock is for processes that shorten the record; a line is written atomically without it.
  if (record.fd < 0 || ::flock(record.fd, LOCK_EX) != 0) return;
  const off_t size = ::lseek(record.fd, 0, SEEK_END);
  if (size > max_bytes) {
    std::string recent(max_bytes / 2 / line_bytes * line_bytes, '\0');
    const ssize_t n = ::pread(record.fd, recent.data(), recent.size(), size - static_cast<off_t>(recent.size()));
    if (n == static_cast<ssize_t>(recent.size()) && ::ftruncate(record.fd, 0) == 0 &&
        ::write(record.fd, recent.data(), recent.size()) < 0)
      return;
  }
  const std::string line = digest + "\n";
  if (::write(record.fd, line.data(), line.size()) < 0) errno = 0;  // not recorded
}

bool WrittenFiles::holds(const std::string& digest) const {
  std::error_code none;
  if (record_.empty() || !fs::is_regular_file(record_, none)) return false;
  try {
    return PrivateFile(record_).content().find(digest + "\n") != std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace zellige::run
