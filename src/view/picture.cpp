#include "view/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace zellige::view {
namespace {

// Returns a colour. Hue is in revolutions, saturation and lightness are in 0..1.
Colour from_hsl(double hue, double saturation, double lightness) {
  const double a = saturation * std::min(lightness, 1 - lightness);
  auto channel = [&](double n) {
    const double k = std::fmod(n + hue * 12, 12);
    const double v = lightness - a * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<unsigned char>(std::lround(255 * v));
  };
  return {channel(0), channel(8), channel(4)};
}
// Returns i modulo n, in 0..n-1 also for negative i.
long long wrapped(long long i, long long n) { return (i % n + n) % n; }

}  // namespace

std::string Colour::hex() const { return fmt::format("#{:02x}{:02x}{:02x}", red, green, blue); }
bool Colour::is_dark() const { return 299 * red + 587 * green + 114 * blue < 128000; }

Colour wheel(long long i, int n) {
  const auto at = static_cast<double>(wrapped(i, n));
  return from_hsl(at / n, 0.75, wrapped(i, 2) ? 0.80 : 0.68);
}
Colour lane_colour(long long thread) {
  const auto hue = static_cast<double>(wrapped(thread, 8)), strength = static_cast<double>(wrapped(thread / 8, 4));
  return from_hsl(hue / 8, 0.70, 0.86 - 0.08 * strength);
}
Colour grey(long long i) {
  static constexpr int black[] = {0, 40, 20, 60, 10, 50, 30, 70};
  const auto c = static_cast<unsigned char>(255 - 255 * black[wrapped(i, 8)] / 100);
  return {c, c, c};
}
Colour heat(int i, int n) {
  const double part = n > 1 ? static_cast<double>(i) / (n - 1) : 0;
  return from_hsl((1 - part) / 3, 0.65, 0.70);
}

std::string text(const Grid& g) {
  std::string out = g.title.empty() ? "" : g.title + "\n";
  auto row_label = [&](int r) { return g.row_labels.empty() ? std::to_string(r) : g.row_labels[r]; };
  auto cell = [&](int r, int c) {
    std::string s = g.cells[std::size_t(r) * std::size_t(g.columns) + std::size_t(c)].label;
    std::ranges::replace(s, '\n', ' ');
    return s;
  };
  std::size_t label_width = 2, width = 1;
  for (int r = 0; r < g.rows; ++r) label_width = std::max(label_width, row_label(r).size());
  label_width = std::max(label_width, g.corner.size());
  if (g.dense) {
    std::string head = fmt::format("{:>{}}  ", g.corner, label_width);
    for (int c = 0; c<g.columns; c += g.column_step> 0 ? g.column_step : g.columns)
      head += fmt::format("{:<{}}", std::to_string(c), g.column_step + 1);
    out += head.substr(0, head.find_last_not_of(' ') + 1) + "\n";
    for (int r = 0; r < g.rows; ++r) {
      out += fmt::format("{:>{}}  ", row_label(r), label_width);
      for (int c = 0; c < g.columns; ++c) {
        if (c > 0 && g.column_step > 0 && c % g.column_step == 0) out += ' ';
        const std::string s = cell(r, c);
        out += s.empty() ? "." : s.substr(0, 1);
      }
      out += '\n';
    }
    return out;
  }
  for (int r = 0; r < g.rows; ++r)
    for (int c = 0; c < g.columns; ++c) width = std::max({width, cell(r, c).size(), std::to_string(c).size()});
  std::string rule(label_width + 2, ' ');
  out += rule;
  for (int c = 0; c < g.columns; ++c) {
    rule += '+' + std::string(width + 2, '-');
    out += fmt::format("{:>{}} ", std::to_string(c), width + 2);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
  rule += "+\n";
  for (int r = 0; r < g.rows; ++r) {
    out += rule + fmt::format("{:>{}}  ", row_label(r), label_width);
    for (int c = 0; c < g.columns; ++c) out += fmt::format("| {:>{}} ", cell(r, c), width);
    out += "|\n";
  }
  return out + rule;
}

}  // namespace zellige::view
