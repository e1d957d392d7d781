#include "emulate/findings.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "emulate/lines.hpp"

namespace zellige::emulate {

std::string_view name(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::out_of_bounds:
      return "out of bounds";
    case Finding::Kind::misaligned:
      return "misaligned address";
    case Finding::Kind::uninitialised_read:
      return "uninitialised read";
    case Finding::Kind::read_only:
      return "write to a read-only tensor";
    case Finding::Kind::race:
      return "race";
    case Finding::Kind::divergence:
      return "divergence";
    case Finding::Kind::barrier_divergence:
      return "barrier divergence";
    case Finding::Kind::deadlock:
      return "deadlock";
    case Finding::Kind::instruction:
      return "instruction";
    case Finding::Kind::fence:
      return "missing fence";
    case Finding::Kind::accumulator:
      return "accumulators in flight";
    case Finding::Kind::departed:
      return "too early an end of";
    case Finding::Kind::dependency:
      return "missing griddep_wait";
    case Finding::Kind::crash:
      return "crash";
    case Finding::Kind::stale:
      return "an old stage of";
    case Finding::Kind::unread:
      return "unread";
    case Finding::Kind::layout:
      return "another layout";
    case Finding::Kind::endless:
      return "no end";
  }
  return "";
}

std::vector<Finding> resolve(std::vector<RawFinding> raw, const std::string& source_file) {
  std::vector<Finding> findings;
  if (raw.empty()) return findings;
  std::stable_sort(raw.begin(), raw.end(),
                   [](const RawFinding& a, const RawFinding& b) { return a.block < b.block; });
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
    const std::string tensor =
        f.named_by < 0 ? f.tensor : declared_name(table, f.sites[std::size_t(f.named_by)], source_file);
    if (!known.insert({f.kind, tensor, lines.empty() ? "" : lines[0]}).second) continue;
    std::string message = std::string(name(f.kind)) + " ";
    for (char c : f.text) {
      if (c >= 1 && std::size_t(c) <= lines.size())
        message += lines[std::size_t(c) - 1];
      else if (c == '\x0e')
        message += tensor;
      else
        message += c;
    }
    findings.push_back({f.kind, tensor, std::move(message)});
    if (findings.size() == 20) break;
  }
  return findings;
}

}  // namespace zellige::emulate
