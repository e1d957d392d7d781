// Implements `zellige cache`: lists or deletes the compiled kernels and plans on disk.
#include "toolchain/cache.hpp"

#include <map>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "strings/shown.hpp"

namespace zellige::cli {
namespace {

struct CacheArguments {
  bool list = false, clear = false;
};

/// Number and total size of cache entries.
struct CacheSum {
  std::size_t count = 0;
  std::uintmax_t bytes = 0;
};

/// Returns a description of the cache entries whose file name ends in `suffix`, such as "kernels that NVRTC
/// compiled" for ".cubin".
std::string_view what_is(const std::string& suffix) {
  static const std::map<std::string_view, std::string_view> known = {
      {".cubin", "kernels that NVRTC compiled"},
      {".so", "kernels that the host's compiler compiled for the emulator"},
      {".ms", "how long that took"},
      {".gch", "headers that the host's compiler has parsed for them"},
      {".asked", "how many programs have asked for those"},
      {".tiling", "tilings that were measured"},
      {".prices", "estimated times of kernels that were planned"},
      {".program", "programs that were planned"},
      {".decisions", "decisions of the torch backend"}};
  const auto at = known.find(suffix);
  return at == known.end() ? "of another version" : at->second;
}

/// Returns a size in bytes, KB or MB (powers of ten).
std::string size(std::uintmax_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

int show(const CacheArguments& a) {
  const toolchain::Cache cache = toolchain::Cache::standard();
  const std::vector<toolchain::Cache::Entry> entries = cache.entries();
  CacheSum all;
  std::map<std::string, CacheSum> kinds;
  for (const toolchain::Cache::Entry& e : entries) {
    for (CacheSum* sum : {&all, &kinds[e.file.extension().string()]}) ++sum->count, sum->bytes += e.bytes;
    if (a.list) say(stdout, "{:>12}  {}\n", size(e.bytes), e.file.lexically_relative(cache.root()).string());
  }
  if (a.clear) {
    const toolchain::Cache::Entry cleared = cache.clear();
    say(stdout, "{}: {} entries deleted, {}\n", strings::shown(cache.root().string()), all.count, size(cleared.bytes));
    return success;
  }
  say(stdout, "{}: {} entries, {}\n", strings::shown(cache.root().string()), all.count, size(all.bytes));
  for (const auto& [suffix, sum] : kinds)
    say(stdout, "{:>12}  {:6} {:8} {}\n", size(sum.bytes), sum.count, suffix, what_is(suffix));
  return success;
}

}  // namespace

void add_cache(CLI::App& app, int& status) {
  auto a = std::make_shared<CacheArguments>();
  CLI::App* command =
      app.add_subcommand("cache", "Show or delete the compiled kernels and plans that are kept on disk");
  add_example(command, "zellige cache --list");
  command->add_flag("--list", a->list, "List every entry, the largest first");
  command->add_flag("--clear", a->clear, "Delete all entries; kernels are then planned and compiled again")
      ->excludes("--list");
  command->callback([a, &status] { status = show(*a); });
}

}  // namespace zellige::cli
