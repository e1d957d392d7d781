// From return addresses to lines of the source, through addr2line.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace zellige::emulate {

struct Line {
  std::string file;
  int line = 0;
};

/// For each address the chain of inlined calls there, innermost first; empty where nothing is known.
using LineTable = std::unordered_map<std::uintptr_t, std::vector<Line>>;
LineTable find_lines(const std::vector<std::uintptr_t>& return_addresses);

/// "lora.cu:57": the innermost line within `source_file` (or, if that is "", outside Zellige's headers) of a
/// site and its callers; failing that the innermost of all, or "an unknown line".
std::string spell(const LineTable&, const std::vector<std::uintptr_t>& callers,
                  const std::string& source_file);

}  // namespace zellige::emulate
