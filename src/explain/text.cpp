#include "explain/text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace zellige::explain {
namespace {

constexpr std::size_t shown_launches = 6, shown_tensors = 4;

/// Returns a bar of at most 30 characters.
std::string bar(double part, double whole) {
  const int length = whole > 0 ? static_cast<int>(std::lround(30 * std::min(1.0, part / whole))) : 0;
  return std::string(static_cast<std::size_t>(length), '#');
}

void add_launch(std::string& out, const LaunchAccount& l, std::size_t number) {
  out += fmt::format("launch {}: {}, {:.1f} us expected{}\n", number, l.name, l.us,
                     l.limit_us > 0 ? fmt::format(", at least {:.1f}", l.limit_us) : "");
  out += fmt::format("  {}\n  {}\n", l.bound, l.time);
  std::vector<ResourceAccount> by_time = l.resources;
  std::ranges::stable_sort(by_time, std::greater(), &ResourceAccount::us);
  by_time.resize(std::min<std::size_t>(by_time.size(), 4));
  for (const ResourceAccount& r : by_time)
    out += fmt::format("  {:<14} {:>8.1f} us  {}\n", r.name, r.us, bar(r.us, l.us));
  out += fmt::format(
      "  grid {}, block {}, {} bytes of shared memory, {} registers: {} block{} on a multiprocessor, {} of {} warps, "
      "{:.0f} wave{}\n",
      l.grid, l.block, l.shared_bytes, l.registers, l.resident, l.resident == 1 ? "" : "s", l.warps, l.max_warps,
      l.waves, l.waves == 1 ? "" : "s");
  for (const KernelAccount& k : l.kernels)
    for (std::size_t t = 0; t < std::min(shown_tensors, k.shared.size()); ++t) {
      const SharedAccount& s = k.shared[t];
      out += fmt::format("  {} {} {}, {} stage{}, {}{}\n", s.id, s.dtype, s.shape, s.stages, s.stages == 1 ? "" : "s",
                         s.layout, ": " + s.why);
    }
}

}  // namespace

std::string bytes_text(double bytes) {
  return bytes < 1e3   ? fmt::format("{:.0f} bytes", bytes)
         : bytes < 1e6 ? fmt::format("{:.1f} KB", bytes / 1e3)
         : bytes < 1e9 ? fmt::format("{:.1f} MB", bytes / 1e6)
                       : fmt::format("{:.2f} GB", bytes / 1e9);
}

std::string text(const Account& a) {
  std::string out =
      fmt::format("{}, {}: {} operators in {} launch{}, {:.1f} us expected{}{}\n", a.graph, a.target,
                  a.given.operators.size(), a.launches.size(), a.launches.size() == 1 ? "" : "es", a.us,
                  a.limit_us > 0 ? fmt::format(", at least {:.1f}", a.limit_us) : "",
                  a.measured_us > 0 ? fmt::format(", {:.1f} measured on {}", a.measured_us, a.device) : "");
  if (!a.measured_costs)
    out += fmt::format("the costs of {} are assumed: no GPU of this kind was measured\n", a.target);
  if (a.separate_us > 0)
    out += fmt::format("  as given, with a kernel per operator: {:.1f} us in {} launch{}\n", a.separate_us,
                       a.separate_launches, a.separate_launches == 1 ? "" : "es");
  for (const std::string& note : a.notes) out += fmt::format("  {}\n", note);
  for (std::size_t l = 0; l < std::min(shown_launches, a.launches.size()); ++l) add_launch(out, a.launches[l], l);
  if (a.launches.size() > shown_launches)
    out += fmt::format("{} more launches: -o FILE.html writes all of them\n", a.launches.size() - shown_launches);
  if (!a.alternatives.empty()) out += fmt::format("tilings that were not taken, for {:.1f} us:\n", a.us);
  for (const Alternative& o : a.alternatives)
    out += fmt::format("  {:.2f} us: {}: {}; {}\n", o.us, o.difference, o.why, o.lost_on);
  return out;
}

std::string comparison(const Account& a, const Account& b) {
  std::string out = fmt::format("{} and {}: {:.1f} us and {:.1f} us expected, {} and {} launches\n", a.graph, b.graph,
                                a.us, b.us, a.launches.size(), b.launches.size());
  for (std::size_t l = 0; l < std::max(a.launches.size(), b.launches.size()); ++l) {
    if (l >= a.launches.size() || l >= b.launches.size()) {
      const LaunchAccount& only = l < a.launches.size() ? a.launches[l] : b.launches[l];
      out += fmt::format("launch {}: only {} has {}, {:.1f} us\n", l,
                         l < a.launches.size() ? "the first" : "the second", only.name, only.us);
      continue;
    }
    const LaunchAccount &x = a.launches[l], &y = b.launches[l];
    out += fmt::format("launch {}: {:.1f} us and {:.1f} us, grids {} and {}\n", l, x.us, y.us, x.grid, y.grid);
    for (std::size_t r = 0; r < x.resources.size(); ++r)
      out += fmt::format("  {:<14} {:>8.1f} {:>8.1f} us\n", x.resources[r].name, x.resources[r].us, y.resources[r].us);
  }
  return out;
}

}  // namespace zellige::explain
