// Resolves return addresses to source lines with addr2line.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace zellige::emulate {

struct Line {
  std::string file;
  int line = 0;
};

/// For each address the chain of inlined calls, innermost first; empty if unknown.
using LineTable = std::unordered_map<std::uintptr_t, std::vector<Line>>;
LineTable find_lines(const std::vector<std::uintptr_t>& return_addresses);

/// "lora.cu:57": the innermost line of a site and its callers within `source_file` (or, if that is "",
/// outside Zellige's headers); else the innermost of all, or "an unknown line".
std::string spell(const LineTable&, const std::vector<std::uintptr_t>& callers,
                  const std::string& source_file);

/// The name declared on that line, as spelled in the source: "acc4" for `Fragment<1, 16, 64> acc4;`. "" if
/// the line is unavailable or declares nothing.
std::string declared_name(const LineTable&, const std::vector<std::uintptr_t>& callers,
                          const std::string& source_file);
std::string declared_name(std::string_view line);

}  // namespace zellige::emulate
