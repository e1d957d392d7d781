#define XXH_INLINE_ALL
#include "run/cache.hpp"

#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <fstream>

#include "graph/error.hpp"
#include "run/files.hpp"
#include "run/written.hpp"

namespace zellige::run {
namespace fs = std::filesystem;
namespace {

struct Trailer {
  std::array<char, 8> magic{'z', 'e', 'l', 'l', 'i', 'g', 'e', '1'};
  std::uint64_t length = 0;
  std::uint64_t hash_low = 0, hash_high = 0;
  bool operator==(const Trailer&) const = default;
};

Trailer seal(std::string_view content) {
  const XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  return {.length = content.size(), .hash_low = hash.low64, .hash_high = hash.high64};
}

std::string sealed(std::string_view content) {
  const auto trailer = std::bit_cast<std::array<char, sizeof(Trailer)>>(seal(content));
  return std::string(content).append(trailer.data(), trailer.size());
}

}  // namespace

Key& Key::add(std::string_view text) {
  fields_ += std::to_string(text.size()) + ":";
  fields_ += text;
  return *this;
}

std::string Key::hex() const { return digest(fields_); }

Cache Cache::standard() {
  auto set = [](const char* name) -> const char* {
    const char* value = std::getenv(name);
    return value && *value ? value : nullptr;
  };
  if (const char* own = set("ZELLIGE_CACHE")) return Cache(fs::absolute(own));
  if (const char* xdg = set("XDG_CACHE_HOME")) return Cache(fs::path(xdg) / "zellige");
  if (const char* home = set("HOME")) return Cache(fs::path(home) / ".cache" / "zellige");
  fail(
      "kernel cache: neither ZELLIGE_CACHE nor XDG_CACHE_HOME nor HOME is set; set ZELLIGE_CACHE to a "
      "folder");
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

fs::path Cache::place(const Key& key, std::string_view suffix) const {
  const std::string hex = key.hex();
  return root_ / hex.substr(0, 2) / (hex.substr(2) + "." + std::string(suffix));
}

std::optional<std::string> Cache::read(const Key& key, std::string_view suffix) const {
  std::ifstream in(place(key, suffix), std::ios::binary);
  if (!in) return std::nullopt;
  std::string content(std::istreambuf_iterator<char>(in), {});
  if (content.size() < sizeof(Trailer)) return std::nullopt;
  std::array<char, sizeof(Trailer)> trailer;
  std::memcpy(trailer.data(), content.data() + content.size() - sizeof(Trailer), sizeof(Trailer));
  content.resize(content.size() - sizeof(Trailer));
  if (std::bit_cast<Trailer>(trailer) != seal(content)) return std::nullopt;
  return content;
}

std::optional<fs::path> Cache::find(const Key& key, std::string_view suffix) const {
  if (!read(key, suffix)) return std::nullopt;
  return place(key, suffix);
}

fs::path Cache::store(const Key& key, std::string_view suffix, std::string_view content) const {
  const fs::path file = place(key, suffix);
  create_folders(file.parent_path());
  write_whole(file, sealed(content));
  return file;
}

fs::path Cache::adopt(const Key& key, std::string_view suffix, const fs::path& file) const {
  const fs::path at = store(key, suffix, read_whole(file));
  std::error_code ignored;
  fs::remove(file, ignored);
  return at;
}

fs::path Cache::scratch(std::string_view suffix) const {
  create_folders(root_ / "scratch");
  return root_ / "scratch" / unique_name(suffix);
}

}  // namespace zellige::run
