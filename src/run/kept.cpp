#include "run/kept.hpp"

#include <dlfcn.h>

#include "graph/error.hpp"

namespace zellige::run {
namespace {

Key own(std::string_view key) { return Key{}.add("kept 1").add(build()).add(key); }

}  // namespace

std::string build() {
  static const char here = 0;
  Dl_info info{};
  std::error_code error;
  if (dladdr(&here, &info) == 0 || !info.dli_fname) return ZELLIGE_VERSION;
  const std::filesystem::path file = info.dli_fname;
  const auto size = std::filesystem::file_size(file, error);
  const auto time = std::filesystem::last_write_time(file, error).time_since_epoch().count();
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
  if (text.size() > max_bytes) return;
  try {
    cache.store(own(key), kind, text);
    cache.trim(kind, max_bytes);
  } catch (const Error&) {
    // The next process finds nothing.
  }
}

}  // namespace zellige::run
