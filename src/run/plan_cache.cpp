#include "run/plan_cache.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>

#include "graph/error.hpp"
#include "run/cache.hpp"

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

std::optional<double> PlanCache::find(const std::string& structure) const {
  const Hash asked = hash(structure);
  const auto at = std::ranges::lower_bound(before_, asked, {}, &Record::kernel);
  return at == before_.end() || asked < at->kernel ? std::nullopt : std::optional(at->us);
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
  for (const auto& [structure, us] : costs_.added()) added.push_back({hash(structure), us});
  std::ranges::sort(added, {}, &Record::kernel);
  static std::mutex writing;  // serializes threads that plan several graphs
  const std::lock_guard lock(writing);
  try {
    const std::vector<Record> before = read();
    std::ranges::set_union(added, before, std::back_inserter(all), {}, &Record::kernel, &Record::kernel);
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
