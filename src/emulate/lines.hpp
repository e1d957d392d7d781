// Resolves return addresses in loaded libraries to source lines, by running addr2line.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace zellige::emulate {

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
/// include/zellige). If
/// there is none, it is the innermost line of all; if no line is known, "an unknown line".
std::string spell(const LineTable&, const std::vector<std::uintptr_t>& callers, const std::string& source_file);

/// Returns the name that is declared on the line of a call: "acc4" for `Fragment<1, 16, 64> acc4;`. Returns
/// "" if the source file cannot be read or the line declares nothing.
std::string declared_name(const LineTable&, const std::vector<std::uintptr_t>& callers, const std::string& source_file);
/// Returns the name that a source line declares, or "".
std::string declared_name(std::string_view line);

}  // namespace zellige::emulate
