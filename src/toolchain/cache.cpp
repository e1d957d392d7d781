#define XXH_INLINE_ALL
#include "toolchain/cache.hpp"

#include <dlfcn.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "graph/error.hpp"
#include "manifest/manifest.hpp"
#include "strings/shown.hpp"
#include "system/files.hpp"

namespace zellige::toolchain {
namespace {

namespace fs = std::filesystem;

// The last bytes of a cache entry's file, by which a reader recognises a valid entry.
struct Trailer {
  std::array<char, 8> magic{'z', 'e', 'l', 'l', 'i', 'g', 'e', '2'};
  Hash key{};
  std::uint64_t length = 0;
  Hash content{};
  bool operator==(const Trailer&) const = default;
};

std::string digits(const Hash& h) { return fmt::format("{:016x}{:016x}", h[1], h[0]); }

// Returns the trailer (key, length and hash) of a cache entry with this key, suffix and content.
Trailer seal(const Key& key, std::string_view suffix, std::string_view content) {
  return {.key = hash(Key(key).add(suffix).hex()), .length = content.size(), .content = hash(content)};
}

/// Returns why the trailer `found` of a cache entry is not the expected one, as a sentence; "" if it is.
std::string why_not(const Trailer& found, const Trailer& expected) {
  if (found == expected) return "";
  if (found.magic != expected.magic) return "it does not end as entries do";
  if (found.key != expected.key)
    return fmt::format("it is the entry of the key {}, expected that of {}", digits(found.key), digits(expected.key));
  return fmt::format("its hash is {}, expected {}", digits(expected.content), digits(found.content));
}

/// Returns the key of a string that only this build can read.
Key own(std::string_view key) { return Key{}.add("kept 1").add(build()).add(key); }

}  // namespace

Hash hash(std::string_view text) {
  const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
  return {h.low64, h.high64};
}

Key& Key::add(std::string_view text) {
  fields_ += std::to_string(text.size()) + ":";
  fields_ += text;
  return *this;
}

std::string Key::hex() const { return manifest::hash(fields_); }

Cache Cache::standard() {
  auto set = [](const char* name) -> const char* {
    const char* value = std::getenv(name);
    return value && *value ? value : nullptr;
  };
  if (const char* own = set("ZELLIGE_CACHE")) return Cache(fs::absolute(own));
  if (const char* xdg = set("XDG_CACHE_HOME")) return Cache(fs::absolute(xdg) / "zellige");
  if (const char* home = set("HOME")) return Cache(fs::path(home) / ".cache" / "zellige");
  fail("kernel cache: neither ZELLIGE_CACHE nor XDG_CACHE_HOME nor HOME is set; set ZELLIGE_CACHE to a folder");
}

Cache Cache::temporary() {
  const char* own = std::getenv("TMPDIR");
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) fail("{}: is no folder for temporary files; set TMPDIR to one", own && *own ? own : "/tmp");
  std::string path = (folder / "zellige-XXXXXX").string();
  if (!mkdtemp(path.data())) fail("{}: cannot create the temporary folder: {}", path, std::strerror(errno));
  Cache cache{fs::path(path)};
  cache.lifetime_ = std::shared_ptr<void>(nullptr, [path](void*) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  });
  return cache;
}

// Returns the path of a cache entry's file, which need not exist.
fs::path Cache::place(const Key& key, std::string_view suffix) const {
  // The version of the file format is part of the key, so that entries in an older format are not found.
  const std::string hex = Key(key).add("form 2").hex();
  return root_ / hex.substr(0, 2) / (hex.substr(2) + "." + std::string(suffix));
}

std::optional<std::string> Cache::read(const Key& key, std::string_view suffix, std::string* note) const {
  const fs::path file = place(key, suffix);
  std::error_code none;
  if (!fs::exists(root_, none)) return std::nullopt;
  folder(".");
  if (!fs::exists(fs::symlink_status(file, none))) return std::nullopt;
  folder(file.parent_path().lexically_relative(root_));
  std::string content, why;
  try {
    content = system::PrivateFile(file).content();
    if (content.size() < sizeof(Trailer)) why = fmt::format("it has {} bytes", content.size());
  } catch (const Error& e) {
    why = e.what();
  }
  if (why.empty()) {
    std::array<char, sizeof(Trailer)> trailer;
    std::memcpy(trailer.data(), content.data() + content.size() - sizeof(Trailer), sizeof(Trailer));
    content.resize(content.size() - sizeof(Trailer));
    why = why_not(std::bit_cast<Trailer>(trailer), seal(key, suffix, content));
  }
  if (why.empty()) return content;
  if (note)
    *note = fmt::format("the kernel cache's {} is not used, and made again: {}",
                        strings::shown(file.lexically_relative(root_).string()), why);
  return std::nullopt;
}

std::optional<fs::path> Cache::find(const Key& key, std::string_view suffix, std::string* note) const {
  if (!read(key, suffix, note)) return std::nullopt;
  return place(key, suffix);
}

fs::path Cache::store(const Key& key, std::string_view suffix, std::string_view content) const {
  const fs::path file = place(key, suffix);
  folder(file.parent_path().lexically_relative(root_));
  const auto trailer = std::bit_cast<std::array<char, sizeof(Trailer)>>(seal(key, suffix, content));
  system::write_whole(file, std::string(content).append(trailer.data(), trailer.size()), 0600);
  return file;
}

std::vector<Cache::Entry> Cache::entries(std::string_view extension) const {
  const auto is_hex = [](const std::string& s) { return s.find_first_not_of("0123456789abcdef") == std::string::npos; };
  std::vector<Entry> found;
  std::error_code error;
  if (!fs::exists(root_, error)) return found;
  folder(".");
  for (const auto& two : fs::directory_iterator(root_, error)) {
    const std::string name = two.path().filename().string();
    if (name.size() != 2 || !is_hex(name) || !two.is_directory(error)) continue;
    for (const auto& file : fs::directory_iterator(two.path(), error)) {
      if (!file.is_regular_file(error)) continue;
      if (!extension.empty() && file.path().extension() != extension) continue;
      const std::uintmax_t bytes = file.file_size(error);
      // an error means that another process has deleted the file
      if (!error) found.push_back({file.path(), bytes});
    }
  }
  std::ranges::sort(
      found, [](const Entry& a, const Entry& b) { return std::pair(b.bytes, a.file) < std::pair(a.bytes, b.file); });
  return found;
}

Cache::Entry Cache::clear() const {
  Entry all{root_, 0};
  std::vector<Entry> found = entries();
  std::error_code error;
  if (fs::exists(root_ / "scratch", error))
    for (const auto& file : fs::directory_iterator(root_ / "scratch", error))
      if (file.is_regular_file(error)) found.push_back({file.path(), file.file_size(error)});
  for (const Entry& e : found) {
    if (!fs::remove(e.file, error) && error)
      fail("{}: cannot be deleted: {}", strings::shown(e.file.string()), error.message());
    all.bytes += e.bytes;
  }
  return all;
}

void Cache::trim(std::string_view suffix, std::uintmax_t max_bytes) const {
  struct Aged {
    fs::file_time_type written;
    Entry entry;
  };
  std::vector<Aged> own;
  std::error_code gone;  // another process has deleted the file
  for (Entry& e : entries("." + std::string(suffix))) {
    const auto written = fs::last_write_time(e.file, gone);
    if (!gone) own.push_back({written, std::move(e)});
  }
  std::ranges::sort(own, std::ranges::greater{}, &Aged::written);
  std::uintmax_t all = 0;
  for (const Aged& a : own)
    if ((all += a.entry.bytes) > max_bytes) fs::remove(a.entry.file, gone);
}

fs::path Cache::scratch(std::string_view suffix) const { return folder("scratch") / system::unique_name(suffix); }

fs::path Cache::folder(const fs::path& below_root) const {
  system::private_folder(root_, "kernel cache");
  const fs::path all = below_root == "." ? root_ : root_ / below_root;
  system::private_folder(all, "kernel cache");
  return all;
}

std::string build() {
  static const char here = 0;
  Dl_info info{};
  std::error_code error;
  if (dladdr(&here, &info) == 0 || !info.dli_fname) return ZELLIGE_VERSION;
  const fs::path file = info.dli_fname;
  const auto size = fs::file_size(file, error);
  const auto time = fs::last_write_time(file, error).time_since_epoch().count();
  return fmt::format("{} {} {}", ZELLIGE_VERSION, size, time);
}

std::optional<std::string> kept(const Cache& cache, std::string_view kind, std::string_view key) {
  try {
    return cache.read(own(key), kind);
  } catch (const Error&) {
    return std::nullopt;  // others may write the folder
  }
}

void keep(const Cache& cache, std::string_view kind, std::string_view key, std::string_view text) {
  if (text.size() > max_bytes_of_kind) return;
  try {
    cache.store(own(key), kind, text);
    cache.trim(kind, max_bytes_of_kind);
  } catch (const Error&) {
    // The next process finds nothing.
  }
}

}  // namespace zellige::toolchain
