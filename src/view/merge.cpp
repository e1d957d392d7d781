// Merges neighbouring cells of a grid that has too many to be read.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "view/picture.hpp"

namespace zellige::view {
namespace {

// A line of a label: letters, then a number, such as T17.
struct NumberedLine {
  std::string letters;
  long long number = 0;
};
std::optional<NumberedLine> numbered(std::string_view line) {
  while (line.ends_with('+')) line.remove_suffix(1);  // several hold the element
  std::size_t at = line.find_first_of("-0123456789");
  if (at == line.npos) return {};
  NumberedLine r{std::string(line.substr(0, at))};
  const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), r.number);
  if (error != std::errc() || end != line.data() + line.size()) return {};
  return r;
}

std::vector<std::string> lines_of_label(const std::string& label) {
  std::vector<std::string> lines(1);
  for (const char c : label)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  return lines;
}

// Returns one line for the same line of several labels: "T0..3" for T0, T1, T2 and T3; the first line if they have no numbers.
std::string merged_line(const std::vector<std::vector<std::string>>& labels, std::size_t line) {
  std::string letters;
  long long lowest = 0, highest = 0;
  bool first = true, equal = true;
  for (const auto& lines : labels) {
    if (line >= lines.size()) continue;
    equal = equal && lines[line] == labels[0][line];
    const std::optional<NumberedLine> n = numbered(lines[line]);
    if (!n || (!first && n->letters != letters)) return equal ? labels[0][line] : labels[0][line] + "..";
    lowest = first ? n->number : std::min(lowest, n->number),
    highest = first ? n->number : std::max(highest, n->number);
    letters = n->letters, first = false;
  }
  if (equal) return labels[0][line];
  return lowest == highest ? fmt::format("{}{}", letters, lowest) : fmt::format("{}{}..{}", letters, lowest, highest);
}

// Returns the cell in place of the cells of rows [r, r_end) and columns [c, c_end) of a grid.
GridCell cell_of(const Grid& g, int r, int r_end, int c, int c_end) {
  const auto at = [&](int row, int column) -> const GridCell& {
    return g.cells[std::size_t(row) * std::size_t(g.columns) + std::size_t(column)];
  };
  std::vector<std::vector<std::string>> labels;
  for (int row = r; row < r_end; ++row)
    for (int column = c; column < c_end; ++column) labels.push_back(lines_of_label(at(row, column).label));
  GridCell made{.label = "", .hover = at(r, c).hover, .colour = at(r, c).colour};
  for (std::size_t line = 0; line < labels[0].size(); ++line)
    made.label += (line ? "\n" : "") + merged_line(labels, line);
  if (!made.hover.empty()) made.hover += " to " + at(r_end - 1, c_end - 1).hover;
  return made;
}

// Returns the first line of a cell's label: the thread, of a thread and a value.
std::string_view first_line(const GridCell& c) { return std::string_view(c.label).substr(0, c.label.find('\n')); }

// Returns how many cells have the first line of their neighbour `down` rows below and `across` columns to the right.
long long equal_neighbours(const Grid& g, int down, int across) {
  long long n = 0;
  for (int r = 0; r + down < g.rows; r += 1 + down)
    for (int c = 0; c + across < g.columns; c += 1 + across) {
      const std::size_t at = std::size_t(r) * std::size_t(g.columns) + std::size_t(c);
      const std::size_t to = at + std::size_t(down) * std::size_t(g.columns) + std::size_t(across);
      n += first_line(g.cells[at]) == first_line(g.cells[to]);
    }
  return n;
}

}  // namespace

Grid merged(Grid g, int limit) {
  while (static_cast<long long>(g.rows) * g.columns > limit) {
    const long long below = g.rows > 1 ? equal_neighbours(g, 1, 0) : -1;
    const long long right = g.columns > 1 ? equal_neighbours(g, 0, 1) : -1;
    const bool across = right > below || (right == below && g.columns >= g.rows);
    const int down = across ? 1 : 2, along = across ? 2 : 1;
    Grid next = g;
    next.rows = (g.rows + down - 1) / down, next.columns = (g.columns + along - 1) / along;
    next.cells.clear();
    for (int r = 0; r < g.rows; r += down)
      for (int c = 0; c < g.columns; c += along)
        next.cells.push_back(cell_of(g, r, std::min(g.rows, r + down), c, std::min(g.columns, c + along)));
    next.row_unit *= down, next.column_unit *= along;
    next.row_step = g.row_step % down == 0 ? g.row_step / down : 0;
    next.column_step = g.column_step % along == 0 ? g.column_step / along : 0;
    next.row_labels.clear();
    for (std::size_t r = 0; r < g.row_labels.size(); r += std::size_t(down)) next.row_labels.push_back(g.row_labels[r]);
    g = std::move(next);
  }
  if (g.row_unit * g.column_unit > 1)
    g.title += fmt::format("{}each cell is {} x {} elements", g.title.empty() ? "" : "; ", g.row_unit, g.column_unit);
  return g;
}

}  // namespace zellige::view
