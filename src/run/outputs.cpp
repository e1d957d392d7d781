#define XXH_INLINE_ALL
#include "run/outputs.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>

#include "graph/error.hpp"
#include "manifest/manifest.hpp"
#include "strings/shown.hpp"
#include "system/files.hpp"
#include "toolchain/cache.hpp"

namespace zellige::run {
namespace {

namespace fs = std::filesystem;

constexpr off_t max_record_bytes = 16 << 20;  // largest size of the record; above it, the older half is dropped
constexpr std::size_t line_bytes = 33;        // 32 digits and a newline

// Returns the status (stat) of the file at a path; nullopt if there is no file.
std::optional<struct stat> file_at(const fs::path& file) {
  struct stat s;
  if (::stat(file.c_str(), &s) != 0) return std::nullopt;
  return s;
}

bool same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// Returns true if a and b are the status of the same file, with the same size and modification time.
bool unchanged(const struct stat& a, const struct stat& b) {
  return same(a, b) && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

// Returns the descriptor 1 or 2 if a path denotes this process's stdout or stderr: "-", /dev/stdout, or the
// file to which it is redirected. Returns -1 for other paths.
int own_descriptor(const fs::path& file) {
  if (file == "-") return 1;
  const auto there = file_at(file);
  struct stat s;
  for (const int fd : {1, 2})
    if (there && ::fstat(fd, &s) == 0 && same(*there, s)) return fd;
  return -1;
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

void write_stream(const fs::path& shown, std::string_view content) {
  const int own = own_descriptor(shown);
  if (own == 1) std::fflush(stdout);
  const int fd = own >= 0 ? own : ::open(shown.c_str(), O_WRONLY | O_CLOEXEC);
  int error = fd < 0 ? errno : system::write_all(fd, content);
  if (own < 0 && fd >= 0 && ::close(fd) != 0 && !error) error = errno;
  if (error) system::unwritable(shown, error);
}

}  // namespace

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

std::optional<std::string> digest_of(const fs::path& file) {
  try {
    system::FileReader reader(file);
    Digest all;
    for (std::string part; !(part = reader.next(1 << 16)).empty();) all.add(part);
    return all.hex();
  } catch (const Error&) {
    return std::nullopt;
  }
}

WrittenFiles WrittenFiles::standard() {
  try {
    return WrittenFiles(toolchain::Cache::standard().root() / "written");
  } catch (const std::exception&) {
    return WrittenFiles(fs::path());
  }
}

void WrittenFiles::add(const std::string& digest) const {
  if (record_.empty()) return;
  try {
    system::private_folder(record_.parent_path(), "kernel cache");
  } catch (const Error&) {
    return;
  }
  const system::OpenFile record(::open(record_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  // The lock is for processes that shorten the record; a line is written atomically without it.
  if (record.fd < 0 || ::flock(record.fd, LOCK_EX) != 0) return;
  const off_t size = ::lseek(record.fd, 0, SEEK_END);
  if (size > max_record_bytes) {
    std::string recent(max_record_bytes / 2 / line_bytes * line_bytes, '\0');
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
    return system::PrivateFile(record_).content().find(digest + "\n") != std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

Outputs::Outputs(const std::vector<std::string>& inputs, bool force, WrittenFiles written)
    : force_(force), written_(std::move(written)) {
  for (const std::string& name : inputs) {
    struct stat s;
    if ((name == "-" ? ::fstat(0, &s) : ::stat(name.c_str(), &s)) == 0 && S_ISREG(s.st_mode))
      inputs_.push_back({{s.st_dev, s.st_ino}, name == "-" ? "stdin" : strings::shown(name)});
  }
}

Outputs::~Outputs() { drop(); }

bool Outputs::is_stream(const fs::path& file) {
  if (own_descriptor(file) >= 0) return true;
  const auto there = file_at(file);
  return there && !S_ISREG(there->st_mode) && !S_ISDIR(there->st_mode);
}

// Returns where an output is written: its path with symbolic links resolved, so that the file at the end of
// the links is checked and replaced, and the links are kept. Throws Error if the path cannot be written.
Outputs::Place Outputs::resolve(const fs::path& shown) const {
  Place place{shown, shown, is_stream(shown)};
  if (place.stream) return place;
  for (int links = 0;; ++links) {
    std::error_code none;
    if (!fs::is_symlink(place.file, none)) break;
    if (links == 40) system::unwritable(shown, ELOOP);
    const fs::path to = fs::read_symlink(place.file, none);
    if (none) system::unwritable(shown, none.value());
    place.file = to.is_absolute() ? to : folder_of(place.file) / to;
  }
  const auto there = file_at(place.file);
  if (!place.file.has_filename() || (there && S_ISDIR(there->st_mode))) system::unwritable(shown, EISDIR);
  if (there && ::access(place.file.c_str(), W_OK) != 0) system::unwritable(shown, errno);
  return place;
}

// Throws Error if the output would replace a file that is an input of the command, or that must not be
// replaced. `digest`: hash of the content to be written, null if it is not known; a file of the same content
// may always be replaced.
void Outputs::check(const Place& place, const std::string* digest) const {
  if (place.stream) return;
  const auto there = file_at(place.file);
  if (!there) return;
  for (const auto& [identity, name] : inputs_) {
    if (identity != Identity{there->st_dev, there->st_ino}) continue;
    fail("{}: is an input of this command ({}), which is never written over; name another output",
         strings::shown(place.shown.string()), name);
  }
  if (force_ || there->st_size == 0) return;
  const auto found = digest_of(place.file);
  if (!found) fail("{}: exists and cannot be read; --force replaces it", strings::shown(place.shown.string()));
  if ((digest && *found == *digest) || written_.holds(*found)) return;
  fail("{}: exists, and is not as Zellige wrote it (another's, or edited since); --force replaces it",
       strings::shown(place.shown.string()));
}

void Outputs::take(const Place& place) {
  if (place.stream) return;
  const auto folder = file_at(folder_of(place.file));
  if (!folder) system::unwritable(place.shown, errno);
  const std::string key =
      fmt::format("{}:{}/{}", folder->st_dev, folder->st_ino, system::folded(place.file.filename().string()));
  if (!claimed_.insert(key).second)
    fail("{}: two outputs of this command would go there; name another", strings::shown(place.shown.string()));
}

void Outputs::stage(const Place& place, std::string_view content) {
  if (place.stream) {
    staged_.push_back({place, {}, std::string(content), {}});
    return;
  }
  Staged s{place, folder_of(place.file) / fmt::format(".{}", system::unique_name("part")), {}, file_at(place.file)};
  const int error = system::write_new(s.aside, content);
  if (error) {
    ::unlink(s.aside.c_str());
    system::unwritable(place.shown, error);
  }
  if (s.before) ::chmod(s.aside.c_str(), s.before->st_mode & 07777);
  staged_.push_back(std::move(s));
}

void Outputs::claim(const fs::path& shown) {
  const Place place = resolve(shown);
  check(place, nullptr);
  take(place);
}

void Outputs::rewrite(const fs::path& shown, std::string_view content) {
  const Place place = resolve(shown);
  const std::string mark = manifest::hash(content);
  check(place, &mark);
  written_.add(mark);
  stage(place, content);
  commit();
}

void Outputs::put(const fs::path& shown, std::string_view content) {
  const Place place = resolve(shown);
  const std::string mark = manifest::hash(content);
  check(place, &mark);
  take(place);
  if (!place.stream) written_.add(mark);
  stage(place, content);
}

// Moves a staged file to its path. A file that is already at the path is kept under the staged file's name
// until everything is committed. Throws Error if it has changed since it was checked.
void Outputs::put_in_place(Staged& s) {
  if (s.place.stream) return write_stream(s.place.shown, s.content);
  const char *from = s.aside.c_str(), *to = s.place.file.c_str();
  const bool there = s.before.has_value();
  const auto now = file_at(s.place.file);
  if (there != now.has_value() || (there && !unchanged(*s.before, *now)))
    fail("{}: cannot be written: it changed while this ran", strings::shown(s.place.shown.string()));
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, there ? RENAME_EXCHANGE : RENAME_NOREPLACE) == 0) {
    s.state = there ? Staged::exchanged : Staged::made;
    return;
  }
  // Some file systems do not support these flags.
  if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP)
    if (::rename(from, to) == 0) {
      s.state = there ? Staged::replaced : Staged::made;
      return;
    }
  system::unwritable(s.place.shown, errno);
}

void Outputs::commit() {
  for (Staged& s : staged_) put_in_place(s);
  for (const Staged& s : staged_)
    if (s.state == Staged::exchanged) ::unlink(s.aside.c_str());
  staged_.clear();
}

void Outputs::drop() {
  for (const Staged& s : staged_) {
    if (s.place.stream) continue;
    if (s.state == Staged::exchanged)
      ::renameat2(AT_FDCWD, s.aside.c_str(), AT_FDCWD, s.place.file.c_str(), RENAME_EXCHANGE);
    if (s.state == Staged::made) ::unlink(s.place.file.c_str());
    if (s.state == Staged::waiting || s.state == Staged::exchanged) ::unlink(s.aside.c_str());
  }
  staged_.clear();
}

constexpr std::size_t max_replaced_bytes = std::size_t{1} << 20;

Report::Report(Outputs& outputs, fs::path file) : outputs_(outputs), file_(std::move(file)) {
  if (file_.empty()) return;
  stream_ = Outputs::is_stream(file_);
  outputs_.claim(file_);
  if (!stream_) outputs_.rewrite(file_, "");
}

Report::~Report() {
  // Appends the lines that waited for a line that was never added.
  try {
    for (const auto& [at, line] : lines_)
      if (appended_ >= 0) append(line + "\n");
  } catch (const Error&) {  // reported already, or no reader is left
  }
  if (appended_ >= 0) ::close(appended_);
}

void Report::append(std::string_view text) {
  outputs_.written().add(digest_.add(text).hex());
  if (const int error = system::write_all(appended_, text)) system::unwritable(file_, error);
}

void Report::add(int order, const std::string& line) {
  if (file_.empty()) return;
  if (stream_) return outputs_.rewrite(file_, line + "\n");
  lines_[order] = line;
  bytes_ += line.size() + 1;
  if (appended_ < 0) {
    std::string all;
    for (const auto& [at, text] : lines_) all += text + "\n";
    outputs_.rewrite(file_, all);
    const bool complete = lines_.begin()->first == 0 && lines_.rbegin()->first + 1 == static_cast<int>(lines_.size());
    if (bytes_ < max_replaced_bytes || !complete) return;
    appended_ = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (appended_ < 0) system::unwritable(file_, errno);
    digest_.add(all);
    next_ = static_cast<int>(lines_.size());
    lines_.clear();
    return;
  }
  for (auto at = lines_.begin(); at != lines_.end() && at->first == next_; at = lines_.erase(at), ++next_)
    append(at->second + "\n");
}

}  // namespace zellige::run
