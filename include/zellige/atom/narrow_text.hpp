// Finds instructions that CuTe names by templates, such as SM120_16x8x32_TN<float_e4m3_t,float_e2m1_t,float>, by the text
// of their names. Host only.
//
//   find_mma_template("SM120_16x8x32_TN<float_e4m3,float_e2m1,float>")        MmaRow: m16n8k32, e4m3 times e2m1 into f32
#pragma once

#include <string>
#include <string_view>
#include <zellige/atom/mma_traits/narrow_table.hpp>

namespace zellige {

namespace detail {
/// Returns the name without blanks, the namespaces before the instruction, and the ending _t of number types.
inline std::string plain_template_name(std::string_view name) {
  std::string plain;
  for (char c : name)
    if (c != ' ') plain += c;
  std::size_t const open = plain.find('<');
  std::size_t const scope = plain.rfind("::", open);
  if (open != plain.npos && scope != plain.npos) plain.erase(0, scope + 2);
  auto remove = [&](std::string_view word) {
    for (std::size_t at = 0; (at = plain.find(word, at)) != plain.npos;) plain.erase(at, word.size());
  };
  remove("cutlass::");
  remove("cute::");
  for (std::size_t at = 0; (at = plain.find("_t", at)) != plain.npos;) {
    char const next = at + 2 < plain.size() ? plain[at + 2] : '>';
    if (next == ',' || next == '>')
      plain.erase(at, 2);
    else
      ++at;
  }
  return plain;
}
}  // namespace detail

/// Returns the instruction whose CuTe name is a template with these arguments. The number types may be written without
/// _t. The result converts to false if there is no such instruction.
inline MmaRow find_mma_template(std::string_view name) {
  MmaRow found;
  if (name.find('<') == name.npos) return found;
  std::string const wanted = detail::plain_template_name(name);
  each_narrow_row([&](MmaRow const& row) {
    if (detail::plain_template_name(narrow_mma_name(row).text) == wanted) found = row;
  });
  return found;
}

}  // namespace zellige
