#include "cuda/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "zellige/emulate/counter_names.hpp"

namespace zellige::cuda {

namespace {

using Missing = emulate::Finding::Missing;

std::string plural(std::uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

// Returns the file and the number of "k.cu:12".
std::pair<std::string, int> split(const std::string& line) {
  const std::size_t colon = line.rfind(':');
  if (colon == line.npos) return {line, 0};
  return {line.substr(0, colon), std::atoi(line.c_str() + colon + 1)};
}

// Returns "between k.cu:4 and k.cu:9", the lesser line first; one line is a loop's.
std::string between(const std::vector<std::string>& lines) {
  if (lines.size() < 2) return fmt::format("before {}", lines[0]);
  if (lines[0] == lines[1]) return fmt::format("between the executions of {}", lines[0]);
  const bool ordered = split(lines[0]) < split(lines[1]);
  return fmt::format("between {} and {}", lines[ordered ? 0 : 1], lines[ordered ? 1 : 0]);
}

}  // namespace

std::string mend(const emulate::Finding& f) {
  if (f.lines.empty()) return "";
  switch (f.missing) {
    case Missing::atomicity:
      return "make all of these accesses atomic, or put __threadfence() before the atomic that announces the data";
    case Missing::block_order:
      return "give each block bytes of its own, use an atomic, or part the kernel in two";
    case Missing::copy_wait:
      return fmt::format("cp.async.wait_group (__pipeline_wait_prior) and __syncthreads() before {}", f.lines[0]);
    case Missing::warp_barrier:
      return fmt::format("__syncwarp() or __syncthreads() {}", between(f.lines));
    case Missing::block_barrier:
      return fmt::format("__syncthreads() {}", between(f.lines));
    case Missing::all_threads:
      return "let every thread of the block reach the same __syncthreads(): move it out of the branch, or do not "
             "return before it";
    case Missing::mask_lanes:
      return "name in the mask exactly the lanes that reach the call, such as __ballot_sync(...) before the branch";
    case Missing::bounds_check:
      return fmt::format("guard {} by a comparison with the number of elements", f.lines[0]);
    case Missing::nothing:
      break;
  }
  return "";
}

void ProgramReport::add(ProgramFinding f) {
  for (const ProgramFinding& known : findings_)
    if (known.kind == f.kind && known.lines == f.lines && known.kernel == f.kernel && known.tensor == f.tensor) return;
  if (!quiet) {
    std::fflush(stdout);
    fmt::print(stderr, "{}\n", f.message);
    if (!f.mend.empty()) fmt::print(stderr, "  mend: {}\n", f.mend);
  }
  findings_.push_back(std::move(f));
}

void ProgramReport::add(const std::string& kernel, const emulate::EmulationReport& r) {
  ++launches_;
  counters_ += r.counters;
  for (const emulate::Finding& f : r.findings)
    add(ProgramFinding{std::string(name(f.kind)), kernel, f.message, f.lines, f.tensor, mend(f)});
  for (const emulate::LineCost& c : r.costs) {
    const auto same = std::ranges::find_if(costs_, [&](const KernelCost& k) {
      return k.kernel == kernel && k.cost.line == c.line && k.cost.shared == c.shared && k.cost.writes == c.writes &&
             k.cost.width == c.width;
    });
    if (same == costs_.end()) {
      costs_.push_back({kernel, c});
      continue;
    }
    same->cost.executions += c.executions;
    same->cost.cost += c.cost;
    same->cost.ideal += c.ideal;
  }
}

std::string ProgramReport::summary() const {
  const std::string launches = plural(launches_, "launch", "launches");
  if (findings_.empty()) return fmt::format("no findings in {}", launches);
  return fmt::format("{} in {}", plural(findings_.size(), "finding", "findings"), launches);
}

std::vector<ProgramReport::KernelCost> ProgramReport::sorted_costs() const {
  std::vector<KernelCost> all = costs_;
  std::ranges::stable_sort(all, [](const KernelCost& a, const KernelCost& b) {
    return a.cost.cost - a.cost.ideal > b.cost.cost - b.cost.ideal;
  });
  return all;
}

std::string ProgramReport::costs() const {
  std::string text;
  for (const KernelCost& k : sorted_costs()) {
    const emulate::LineCost& c = k.cost;
    if (c.cost == c.ideal) continue;
    text +=
        fmt::format("{}: {} {} of {}: {} {}, {} would do, in {} of a warp\n", c.line, c.shared ? "shared" : "global",
                    c.writes ? "stores" : "loads", plural(c.width, "byte", "bytes"), c.cost,
                    c.shared ? "wavefronts" : "sectors", c.ideal, plural(c.executions, "execution", "executions"));
  }
  return text;
}

std::string ProgramReport::json() const {
  using object = nlohmann::ordered_json;
  object out = {{"launches", launches_}};
  out["findings"] = object::array();
  for (const ProgramFinding& f : findings_)
    out["findings"].push_back(
        {{"kind", f.kind}, {"kernel", f.kernel}, {"message", f.message}, {"lines", f.lines}, {"mend", f.mend}});
  out["costs"] = object::array();
  for (const KernelCost& k : sorted_costs())
    out["costs"].push_back({{"kernel", k.kernel},
                            {"line", k.cost.line},
                            {"memory", k.cost.shared ? "shared" : "global"},
                            {"access", k.cost.writes ? "store" : "load"},
                            {"bytes", k.cost.width},
                            {"executions", k.cost.executions},
                            {k.cost.shared ? "wavefronts" : "sectors", k.cost.cost},
                            {"ideal", k.cost.ideal}});
  out["counters"] = object::object();
  for (unsigned i = 0; i < static_cast<unsigned>(emulate::Counter::end); ++i)
    if (const auto c = static_cast<emulate::Counter>(i); counters_[c]) out["counters"][emulate::name(c)] = counters_[c];
  return out.dump();
}

std::string ProgramReport::sarif(const std::string& file) const {
  using object = nlohmann::ordered_json;
  const auto location = [&](const std::string& line) {
    const auto [name, number] = split(line);
    const bool main = file.size() >= name.size() && file.compare(file.size() - name.size(), name.size(), name) == 0;
    object one = {{"artifactLocation", {{"uri", main ? file : name}}}};
    if (number > 0) one["region"] = {{"startLine", number}};
    return object{{"physicalLocation", one}};
  };
  object results = object::array(), rules = object::array();
  std::vector<std::string> kinds;
  for (const ProgramFinding& f : findings_) {
    if (std::ranges::find(kinds, f.kind) == kinds.end()) {
      kinds.push_back(f.kind);
      rules.push_back({{"id", f.kind}, {"shortDescription", {{"text", f.kind}}}});
    }
    object one = {{"ruleId", f.kind}, {"level", "error"}};
    one["message"] = {{"text", f.mend.empty() ? f.message : f.message + "\nMend: " + f.mend}};
    one["locations"] = object::array();
    if (!f.lines.empty()) one["locations"].push_back(location(f.lines[0]));
    one["relatedLocations"] = object::array();
    for (std::size_t i = 1; i < f.lines.size(); ++i) one["relatedLocations"].push_back(location(f.lines[i]));
    results.push_back(std::move(one));
  }
  object run = {{"tool", {{"driver", {{"name", "zellige emulate"}, {"rules", rules}}}}}, {"results", results}};
  object out = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}};
  out["runs"] = object::array({run});
  return out.dump(2) + "\n";
}

}  // namespace zellige::cuda
