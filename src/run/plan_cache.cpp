#define XXH_INLINE_ALL
#include "run/plan_cache.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <mutex>

#include "graph/error.hpp"
#include "run/kept.hpp"

namespace zellige::run {

PlanCache::PlanCache(std::optional<Cache> cache, const target::Target& target)
    : cache_(std::move(cache)),
      key_(Key{}.add("prices 2").add(build()).add(target.name)),
      costs_([this](const std::string& structure) { return find(structure); }) {
  try {
    before_ = read();
  } catch (const Error&) {
    cache_.reset();  // others may write the folder; compiling into the cache reports that later
  }
}

PlanCache::Record PlanCache::record(const std::string& structure, double us) {
  const XXH128_hash_t h = XXH3_128bits(structure.data(), structure.size());
  return {h.low64, h.high64, us};
}

std::optional<double> PlanCache::find(const std::string& structure) const {
  const Record asked = record(structure);
  const auto at = std::ranges::lower_bound(before_, asked, std::less{});
  return at == before_.end() || asked < *at ? std::nullopt : std::optional(at->us);
}

std::vector<PlanCache::Record> PlanCache::read() const {
  if (!cache_) return {};
  const std::string text = cache_->read(key_, "prices").value_or("");
  std::vector<Record> records(text.size() / sizeof(Record));
  std::memcpy(records.data(), text.data(), records.size() * sizeof(Record));
  return records;
}

void PlanCache::keep() const {
  if (!cache_ || costs_.added().empty()) return;
  std::vector<Record> added, all;
  for (const auto& [structure, us] : costs_.added()) added.push_back(record(structure, us));
  std::ranges::sort(added, std::less{});
  static std::mutex writing;  // serializes threads that plan several graphs
  const std::lock_guard lock(writing);
  try {
    const std::vector<Record> before = read();
    std::ranges::set_union(added, before, std::back_inserter(all), std::less{});
    if (all.size() > max_costs) all = std::move(added);
    cache_->store(key_, "prices", {reinterpret_cast<const char*>(all.data()), all.size() * sizeof(Record)});
  } catch (const Error&) {
    // The next run plans the kernels again.
  }
}

std::optional<Cache> standard_cache() {
  try {
    return Cache::standard();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace zellige::run
