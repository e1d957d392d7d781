// Suggests the known name that is nearest to an unknown one, for error messages.
//
//   fail("target {}: unknown{}", name, known_names("targets", names, name));
//   // target sm_91: unknown; known targets are sm_80, ..., sm_90a; did you mean sm_90a?
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace zellige {

/// Returns the edit distance of two strings: the number of letters to change, insert, delete or swap with a
/// neighbour. Ignores case.
inline std::size_t distance(std::string_view a, std::string_view b) {
  const auto letter = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const bool equal = letter(a[i - 1]) == letter(b[j - 1]);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (equal ? 0 : 1)});
      if (i > 1 && j > 1 && letter(a[i - 1]) == letter(b[j - 2]) && letter(a[i - 2]) == letter(b[j - 1]))
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

/// Returns the known name that is nearest to `name`, or "" if more than about a third of the letters differ
/// or `name` is longer than 100 characters.
inline std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t minimum = std::max<std::size_t>(1, name.size() / 3) + 1;
  if (name.size() > 100) return best;
  for (const std::string& k : known) {
    if (const std::size_t d = distance(name, k); d < minimum) {
      minimum = d;
      best = k;
    }
  }
  return best;
}

/// Returns "; did you mean relu?" with the nearest known name, or "" if no name is near.
inline std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string near = nearest(name, known);
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

/// Returns the names as a list in words, such as "f16, bf16 or f32". Precondition: there are at least two names.
inline std::string listed(const std::vector<std::string>& names) {
  const auto last = names.size() - 1;
  return fmt::format("{} or {}", fmt::join(names.begin(), names.begin() + static_cast<long>(last), ", "), names[last]);
}

/// Returns the end of a message about the unknown name `name`: "; known operators are matmul, exp, ...; did you
/// mean exp?". `what` is the word for the known names: "operators".
inline std::string known_names(std::string_view what, const std::vector<std::string>& known, std::string_view name) {
  return fmt::format("; known {} are {}{}", what, fmt::join(known, ", "), did_you_mean(name, known));
}

}  // namespace zellige
