// Finds matrix instructions that CuTe names by templates, such as SM120_16x8x32_TN<float_e4m3_t,float_e2m1_t,float>, by the string
// of their names. Host only.
//
//   find_mma_template("SM120_16x8x32_TN<float_e4m3,float_e2m1,float>")        MmaRow: m16n8k32, e4m3 times e2m1 into f32
#pragma once

#include <string>
#include <string_view>
#include <vector>
#include <zellige/atom/mma_traits/narrow_table.hpp>

namespace zellige {

namespace detail {
/// Returns the name without blanks, the namespaces before the instruction, and the ending _t of number types.
inline std::string unscoped_name(std::string_view name) {
  std::string bare;
  for (char c : name)
    if (c != ' ') bare += c;
  std::size_t const open = bare.find('<');
  std::size_t const scope = bare.rfind("::", open);
  if (open != bare.npos && scope != bare.npos) bare.erase(0, scope + 2);
  auto remove = [&](std::string_view word) {
    for (std::size_t at = 0; (at = bare.find(word, at)) != bare.npos;) bare.erase(at, word.size());
  };
  remove("cutlass::");
  remove("cute::");
  for (std::size_t at = 0; (at = bare.find("_t", at)) != bare.npos;) {
    char const next = at + 2 < bare.size() ? bare[at + 2] : '>';
    if (next == ',' || next == '>')
      bare.erase(at, 2);
    else
      ++at;
  }
  return bare;
}
}  // namespace detail

/// Returns the instruction whose CuTe name is a template with these arguments. The number types may be written without
/// _t. The result converts to false if there is no such instruction.
inline MmaRow find_mma_template(std::string_view name) {
  MmaRow found;
  if (name.find('<') == name.npos) return found;
  std::string const wanted = detail::unscoped_name(name);
  each_narrow_row([&](MmaRow const& row) {
    if (detail::unscoped_name(narrow_mma_name(row).text) == wanted) found = row;
  });
  return found;
}

/// The shape of a matrix instruction of SM100, how many CTAs issue it, and the bits of an element of D, A, B and C.
struct UmmaText {
  int ctas = 0, m = 0, n = 0, k = 0;
  int bits[4] = {};
};
/// Parses the name of a matrix instruction of SM100 on dense operands without scales, with its template arguments, such as
/// SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,256,128,K,K>. ctas of the result is 0 if it is none.
template <class BitsOf>
UmmaText parse_umma(std::vector<std::string> const& parts, BitsOf bits_of) {
  UmmaText r;
  std::string_view name = parts[0];
  auto skip = [&](std::string_view word) {
    bool const begins = name.starts_with(word);
    if (begins) name.remove_prefix(word.size());
    return begins;
  };
  if (!skip("SM100_MMA_") || parts.size() < 6) return r;
  bool const tf32 = skip("TF32"), f16 = !tf32 && skip("F16BF16"), i8 = !tf32 && !f16 && skip("S8");
  if (!tf32 && !f16 && !i8 && !skip("F8F6F4")) return r;
  int const ctas = skip("_2x1SM") ? 2 : 1;
  if (name != "_SS" && name != "_TS") return r;
  auto number = [](std::string const& digits) {
    bool const whole = !digits.empty() && digits.size() < 5 && digits.find_first_not_of("0123456789") == digits.npos;
    return whole ? std::stoi(digits) : 0;
  };
  r.m = number(parts[4]), r.n = number(parts[5]), r.k = tf32 ? 8 : f16 ? 16 : 32;
  bool const rows = ctas == 2 ? r.m == 128 || r.m == 256 : r.m == 64 || r.m == 128;
  bool const columns = r.n >= 8 && r.n <= 256 && r.n % (ctas == 2 ? 32 : r.m == 128 ? 16 : 8) == 0;
  if (!rows || !columns) return r;
  r.ctas = ctas;
  int const d = int(bits_of(parts[3]));
  r.bits[0] = r.bits[3] = d, r.bits[1] = int(bits_of(parts[1])), r.bits[2] = int(bits_of(parts[2]));
  return r;
}

}  // namespace zellige
