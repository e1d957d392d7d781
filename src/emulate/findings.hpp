// Collects the faults in kernels (races, accesses out of bounds, ...) that the emulator's checks find on one
// host worker thread. At the end of a launch, resolve() turns them into messages with source lines.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emulate/engine.hpp"

namespace zellige::emulate {

/// A finding before its return addresses are resolved to source lines.
struct RawFinding {
  Finding::Kind kind{};
  std::string tensor;
  std::string text;  // the message; the characters \1, \2, ... are placeholders for the lines of sites[0], [1], ...
  // return addresses of each place: the call, followed by its callers as far as known
  std::vector<std::vector<std::uintptr_t>> sites;
  std::uint64_t block = 0;          // linear index of the block, by which findings are sorted
  bool only_between_lines = false;  // drop the finding if sites 0 and 1 are the same line
  // index of the site at which the registers involved are declared; \x0e in the text is a placeholder for their name
  int named_by = -1;
  bool registers = false;  // about registers; dropped if another finding at the same line names them
  Finding::Missing missing = Finding::Missing::nothing;
};

/// The findings of one worker thread, at most 1000, without duplicates.
class Findings {
 public:
  /// Returns true if a finding (an error in the kernel) is new: no earlier call had the same kind, tensor
  /// (compared by address), code address `site` and, for two accesses, second code address `other`. Returns
  /// false if there are already 1000 findings.
  bool fresh(Finding::Kind kind, const void* tensor, std::uintptr_t site, std::uintptr_t other = 0) {
    if (raw_.size() >= 1000) return false;
    std::uint64_t key = (site * 0x9E3779B97F4A7C15ull) ^ (other * 0xC2B2AE3D27D4EB4Full) ^
                        (reinterpret_cast<std::uintptr_t>(tensor) * 0x165667B19E3779F9ull) ^ std::uint64_t(kind);
    return seen_.insert(key).second;
  }
  void add(RawFinding f) { raw_.push_back(std::move(f)); }
  std::vector<RawFinding>& raw() { return raw_; }
  void clear() { seen_.clear(), raw_.clear(); }

 private:
  std::unordered_set<std::uint64_t> seen_;
  std::vector<RawFinding> raw_;
};

/// Converts raw findings (errors in the kernel, with return addresses) to findings with source lines. Merges
/// findings of equal kind, tensor and line, and returns the first 20 in order of block. `source_file`: the
/// file whose lines the messages name; "": any file outside include/zellige.
std::vector<Finding> resolve(std::vector<RawFinding>, const std::string& source_file);

/// A source line; `line` counts from 1.
struct Line {
  std::string file;
  int line = 0;
};

/// Per return address, the lines of the chain of inlined calls, innermost first.
using LineTable = std::unordered_map<std::uintptr_t, std::vector<Line>>;
/// Returns the source lines of these return addresses; none without line information. Needs addr2line on PATH.
LineTable find_lines(const std::vector<std::uintptr_t>& return_addresses);

/// Returns the source position that an error message names for a call, such as "lora.cu:57". That is the
/// innermost line of the call and its callers in `source_file`, one or more names separated by newlines (if it is "": outside
/// include/zellige). If there is none, it is the innermost line of all; if no line is known, "an unknown line".
std::string spell(const LineTable&, const std::vector<std::uintptr_t>& callers, const std::string& source_file);

/// Returns the name that is declared on the line of a call: "acc4" for `Fragment<1, 16, 64> acc4;`. Returns
/// "" if the source file cannot be read or the line declares nothing.
std::string declared_name(const LineTable&, const std::vector<std::uintptr_t>& callers, const std::string& source_file);
/// Returns the name that a source line declares, or "".
std::string declared_name(std::string_view line);

}  // namespace zellige::emulate
