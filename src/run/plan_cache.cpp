#include "run/plan_cache.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>

#include "graph/error.hpp"
#include "toolchain/cache.hpp"

namespace zellige::run {

PlanCache::PlanCache(std::optional<toolchain::Cache> cache, const target::Target& target)
    : cache_(std::move(cache)),
      target_(target.name),
      before_(read()),
      costs_([this](const std::string& structure) { return find(structure); }) {}

std::optional<double> PlanCache::find(const std::string& structure) const {
  const toolchain::Hash asked = toolchain::hash(structure);
  const auto at = std::ranges::lower_bound(before_, asked, {}, &Record::kernel);
  return at == before_.end() || asked < at->kernel ? std::nullopt : std::optional(at->us);
}

std::vector<PlanCache::Record> PlanCache::read() const {
  if (!cache_) return {};
  const std::string text = toolchain::kept(*cache_, "prices", target_).value_or("");
  std::vector<Record> records(text.size() / sizeof(Record));
  std::memcpy(records.data(), text.data(), records.size() * sizeof(Record));
  return records;
}

void PlanCache::keep() const {
  if (!cache_ || costs_.added().empty()) return;
  std::vector<Record> added, all;
  for (const auto& [structure, us] : costs_.added()) added.push_back({toolchain::hash(structure), us});
  std::ranges::sort(added, {}, &Record::kernel);
  static std::mutex writing;  // serializes threads that plan several graphs
  const std::lock_guard lock(writing);
  const std::vector<Record> before = read();
  std::ranges::set_union(added, before, std::back_inserter(all), {}, &Record::kernel, &Record::kernel);
  if (all.size() > max_costs) all = std::move(added);
  toolchain::keep(*cache_, "prices", target_, {reinterpret_cast<const char*>(all.data()), all.size() * sizeof(Record)});
}

std::optional<toolchain::Cache> standard_cache() {
  try {
    return toolchain::Cache::standard();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace zellige::run
