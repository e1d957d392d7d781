#define XXH_INLINE_ALL
#include "run/plan_cache.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>

#include "graph/error.hpp"

namespace zellige::run {
namespace {

struct Record {
  std::uint64_t low = 0, high = 0;
  double us = 0;
};

/// Of the file that this code lies in: the executable or the library.
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

}  // namespace

PlanCache::PlanCache(std::optional<Cache> cache, const target::Target& target)
    : cache_(std::move(cache)),
      key_(Key{}.add("prices 1").add(build()).add(target.name)),
      prices_([this](const std::string& structure) -> std::optional<double> {
        const auto at = before_.find(hash(structure));
        return at == before_.end() ? std::nullopt : std::optional(at->second);
      }) {
  read();
}

PlanCache::Hash PlanCache::hash(const std::string& structure) {
  const XXH128_hash_t h = XXH3_128bits(structure.data(), structure.size());
  return {h.low64, h.high64};
}

void PlanCache::read() {
  if (!cache_) return;
  try {
    const std::string text = cache_->read(key_, "prices").value_or("");
    for (std::size_t at = 0; at + sizeof(Record) <= text.size(); at += sizeof(Record)) {
      Record r;
      std::memcpy(&r, text.data() + at, sizeof r);
      before_.emplace(Hash{r.low, r.high}, r.us);
    }
  } catch (const Error&) {
    cache_.reset();  // a folder that others may write: whoever compiles into it says so
  }
}

void PlanCache::keep() const {
  if (!cache_ || prices_.added().empty()) return;
  std::map<Hash, double> all;
  for (const auto& [structure, us] : prices_.added()) all.emplace(hash(structure), us);
  if (all.size() + before_.size() <= most_prices) all.insert(before_.begin(), before_.end());
  std::string text;
  for (const auto& [of, us] : all) {
    const Record r{of.first, of.second, us};
    text.append(reinterpret_cast<const char*>(&r), sizeof r);
  }
  try {
    cache_->store(key_, "prices", text);
  } catch (const Error&) {
    // The graph is planned; the next run plans it again.
  }
}

fuse::Optimized as_wished(const graph::KernelGraph& g, const target::Target& target, bool fused,
                          plan::Wishes& wishes, const std::optional<Cache>& cache, const fuse::Watch& watch) {
  if (!fused) return fuse::as_wished(g, target, false, wishes);
  PlanCache kept(cache, target);
  fuse::Optimized o = fuse::as_wished(g, target, true, wishes, kept.prices(), watch);
  kept.keep();
  return o;
}

std::optional<Cache> standard_cache() {
  try {
    return Cache::standard();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace zellige::run
