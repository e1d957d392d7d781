#include "emulate/findings.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace zellige::emulate {

std::string_view name(Finding::Kind kind) {
  // In the order of the enumeration, which ends with `layout`.
  static constexpr std::string_view names[] = {"out of bounds",
                                               "misaligned address",
                                               "uninitialised read",
                                               "write to a read-only tensor",
                                               "race",
                                               "divergence",
                                               "barrier divergence",
                                               "deadlock",
                                               "instruction",
                                               "missing fence",
                                               "accumulators in flight",
                                               "too early an end of",
                                               "missing griddep_wait",
                                               "crash",
                                               "no end",
                                               "an old stage of",
                                               "unread",
                                               "another layout"};
  static_assert(std::size(names) == std::size_t(Finding::Kind::layout) + 1);
  return names[std::size_t(kind)];
}

std::vector<Finding> resolve(std::vector<RawFinding> raw, const std::string& source_file) {
  std::vector<Finding> findings;
  if (raw.empty()) return findings;
  std::ranges::stable_sort(raw, [](const RawFinding& a, const RawFinding& b) { return a.block < b.block; });
  std::set<std::uintptr_t> addresses;
  for (const RawFinding& f : raw)
    for (const auto& site : f.sites) addresses.insert(site.begin(), site.end());
  addresses.erase(0);
  const LineTable table = find_lines({addresses.begin(), addresses.end()});

  std::set<std::tuple<Finding::Kind, std::string, std::string>> known;
  std::set<std::string> named;  // lines
  for (const RawFinding& f : raw) {
    std::vector<std::string> lines;
    for (const auto& site : f.sites) lines.push_back(spell(table, site, source_file));
    if (f.only_between_lines && lines.size() > 1 && lines[0] == lines[1]) continue;
    if (f.named_by >= 0) named.insert(lines[0]);
    if (f.registers && f.named_by < 0 && named.count(lines[0])) continue;
    const std::string tensor = f.named_by < 0 ? f.tensor : declared_name(table, f.sites[f.named_by], source_file);
    if (!known.insert({f.kind, tensor, lines.empty() ? "" : lines[0]}).second) continue;
    std::string message = std::string(name(f.kind)) + " ";
    for (char c : f.text)
      if (c >= 1 && std::size_t(c) <= lines.size())
        message += lines[std::size_t(c) - 1];
      else if (c == '\x0e')
        message += tensor;
      else
        message += c;
    findings.push_back({f.kind, tensor, std::move(message), std::move(lines), f.missing});
    if (findings.size() == 20) break;
  }
  return findings;
}

}  // namespace zellige::emulate
