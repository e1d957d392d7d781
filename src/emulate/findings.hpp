// Findings of one worker, before return addresses are resolved to source lines.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "emulate/engine.hpp"

namespace zellige::emulate {

struct RawFinding {
  Finding::Kind kind{};
  std::string tensor;
  std::string text;  // the characters \1, \2, ... are placeholders for the lines of sites[0], [1], ...
  std::vector<std::vector<std::uintptr_t>> sites;  // each with its callers, as far as known
  std::uint64_t block = 0;                         // linear index: findings are sorted by it
  bool only_between_lines = false;                 // dropped if sites 0 and 1 are found to be the same line
  // the site whose line declares the registers involved; \x0e is the placeholder for their name
  int named_by = -1;
  bool registers = false;  // of registers; dropped if the same line has a finding that names them
};

class Findings {
 public:
  /// Returns true the first time for each kind, tensor and site (and other site, if two are involved).
  bool fresh(Finding::Kind kind, const void* tensor, std::uintptr_t site, std::uintptr_t other = 0) {
    if (raw_.size() >= 1000) return false;
    std::uint64_t key = (site * 0x9E3779B97F4A7C15ull) ^ (other * 0xC2B2AE3D27D4EB4Full) ^
                        (reinterpret_cast<std::uintptr_t>(tensor) * 0x165667B19E3779F9ull) ^
                        std::uint64_t(kind);
    return seen_.insert(key).second;
  }
  void add(RawFinding f) { raw_.push_back(std::move(f)); }
  std::vector<RawFinding>& raw() { return raw_; }
  void clear() { seen_.clear(), raw_.clear(); }

 private:
  std::unordered_set<std::uint64_t> seen_;
  std::vector<RawFinding> raw_;
};

/// Resolves sites to lines and merges equal findings; keeps at most 20, in order of block.
std::vector<Finding> resolve(std::vector<RawFinding>, const std::string& source_file);

}  // namespace zellige::emulate
