// From return addresses to lines of the source, through addr2line.
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

/// For each address the chain of inlined calls there, innermost first; empty where nothing is known.
using LineTable = std::unordered_map<std::uintptr_t, std::vector<Line>>;
LineTable find_lines(const std::vector<std::uintptr_t>& return_addresses);

/// "lora.cu:57": the innermost line within `source_file` (or, if that is "", outside Zellige's headers) of a
/// site and its callers; failing that the innermost of all, or "an unknown line".
std::string spell(const LineTable&, const std::vector<std::uintptr_t>& callers,
                  const std::string& source_file);

/// What is declared on that line, as the source spells it: "acc4" of `Fragment<1, 16, 64> acc4;`. "" where the line
/// is not to be had or declares nothing.
std::string declared_name(const LineTable&, const std::vector<std::uintptr_t>& callers,
                          const std::string& source_file);
std::string declared_name(std::string_view line);

}  // namespace zellige::emulate
