// Writes pictures as SVG, and as an HTML page that contains the SVG. Colours are attributes instead of
// styles, so that any viewer shows them. A viewer that prefers dark pages gets a dark ground, light letters and
// darker cells from the style sheet.
#include <fmt/format.h>

#include <algorithm>

#include "view/picture.hpp"

namespace zellige::view {
namespace {

// Sizes in pixels: width of a letter, height of a line, margin of the picture, smallest cell.
constexpr int letter = 7, line = 14, margin = 12, min_cell = 26;

constexpr std::string_view dark_style =
    "<style>@media (prefers-color-scheme: dark) { .ground { fill: #16181c } .ink { fill: #e8e8e8 } .faint { fill: "
    "#a8adb5 } "
    ".cells { filter: brightness(0.82) } }</style>\n";

// Returns the string with XML's reserved characters escaped.
std::string escaped(const std::string& s) {
  std::string out;
  for (const char& c : s)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string_view(&c, 1);
  return out;
}

// Sizes of a grid's parts in pixels: cells, the row labels, and what is above the cells.
struct Measures {
  int cell_width = min_cell, cell_height = min_cell, labels = 24, top = 0, axis = 0;
};

std::vector<std::string> lines_of(const std::string& s) {
  std::vector<std::string> lines;
  for (std::size_t at = 0, end; at <= s.size(); at = end + 1) {
    end = std::min(s.find('\n', at), s.size());
    lines.push_back(s.substr(at, end - at));
  }
  return lines;
}
int longest_line(const std::string& s) {
  return static_cast<int>(std::ranges::max(lines_of(s), {}, &std::string::size).size());
}

// Returns the sizes, in pixels, that the grid's cells and labels need.
Measures measure(const Grid& g) {
  Measures m;
  for (const GridCell& c : g.cells) {
    m.cell_width = std::max(m.cell_width, letter * longest_line(c.label) + 8);
    m.cell_height = std::max(m.cell_height, line * static_cast<int>(lines_of(c.label).size()) + 6);
  }
  for (const std::string& s : g.row_labels) m.labels = std::max(m.labels, letter * longest_line(s) + 10);
  if (g.row_labels.empty())
    m.labels = std::max(m.labels, letter * static_cast<int>(std::to_string(g.rows * g.row_unit).size()) + 10);
  m.axis = g.row_axis.empty() ? 0 : letter * static_cast<int>(g.row_axis.size()) + 8;
  m.labels += m.axis;
  m.top = (g.title.empty() ? 0 : line + 4) + line + 4 + (g.column_axis.empty() ? 0 : line);
  return m;
}

// Writes one picture.
class SvgWriter {
 public:
  std::string whole(const Picture& p) {
    int y = margin;
    auto put_line = [&](const std::string& s, const char* style) {
      y += line;
      const std::size_t indent = std::min(s.find_first_not_of(' '), s.size());  // XML drops leading blanks
      text(margin + letter * static_cast<int>(indent), y, "start", s.substr(indent), style, "ink");
      wide(margin + letter * static_cast<int>(s.size()) + margin);
      y += 4;
    };
    put_line(p.title, "font-weight:bold");
    for (const std::string& fact : p.facts) put_line(fact, "");
    int x = 0, top = y;  // of the grids next to each other
    for (const Grid& g : p.grids) {
      if (!g.next_to_previous) x = 0, top = y;
      y = std::max(y, grid(g, x, top + 8));
      x = right_ + 24;
    }
    if (!p.legend.empty()) y = legend(p, y + 10);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"monospace\" font-size=\"11\">\n{2}<rect class=\"ground\" width=\"100%\" height=\"100%\" "
        "fill=\"#ffffff\"/>\n{3}</svg>\n",
        width_, y + margin, dark_style, out_);
  }

 private:
  void wide(int x) { width_ = std::max(width_, x); }
  // Writes a line of letters. `kind`: "ink" or "faint", which a dark page changes; "" for letters on a cell.
  void text(int x, int y, const char* anchor, const std::string& s, const char* style = "", const char* kind = "") {
    out_ +=
        fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}{}>{}</text>\n", x, y, anchor,
                    *kind ? fmt::format(" class=\"{}\" fill=\"{}\"", kind, kind[0] == 'f' ? "#555555" : "#000000") : "",
                    *style ? fmt::format(" style=\"{}\"", style) : "", escaped(s));
  }
  /// Begins a framed rectangle; the caller ends it.
  void rectangle(int x, int y, int width, int height, const Colour& colour) {
    out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"", x, y, width, height,
                        colour.hex());
  }
  void cell(const GridCell& c, int x, int y, const Measures& m) {
    rectangle(x, y, m.cell_width, m.cell_height, c.colour);
    out_ += (c.hover.empty() ? ">" : "><title>" + escaped(c.hover) + "</title>") + "</rect>\n";
  }
  // Writes a cell's label in lines: one element, whose further lines are below the first.
  void cell_label(const GridCell& c, int x, int y, const Measures& m) {
    if (c.label.empty()) return;
    const std::vector<std::string> lines = lines_of(c.label);
    const int first = y + (m.cell_height - line * static_cast<int>(lines.size())) / 2 + 11,
              middle = x + m.cell_width / 2;
    out_ += fmt::format("<text x=\"{}\" y=\"{}\"{}>{}", middle, first, c.colour.is_dark() ? " fill=\"#ffffff\"" : "",
                        escaped(lines[0]));
    for (std::size_t l = 1; l < lines.size(); ++l)
      out_ += fmt::format("<tspan x=\"{}\" dy=\"{}\">{}</tspan>", middle, line, escaped(lines[l]));
    out_ += "</text>\n";
  }
  // Writes a grid's title, the names of its axes, and the numbers of its rows and columns.
  void labels(const Grid& g, const Measures& m, int x, int left, int top) {
    if (!g.title.empty()) text(x, top - m.top + line, "start", g.title, "", "ink");
    const int row_middle = top + g.rows * m.cell_height / 2, column_middle = left + g.columns * m.cell_width / 2;
    if (!g.row_axis.empty()) text(x, row_middle + 4, "start", g.row_axis, "font-style:italic", "ink");
    if (!g.column_axis.empty())
      text(column_middle, top - line - 5, "middle", g.column_axis, "font-style:italic", "ink");
    for (int c = 0; c < g.columns; ++c)
      text(left + c * m.cell_width + m.cell_width / 2, top - 5, "middle", std::to_string(c * g.column_unit), "",
           "faint");
    for (int r = 0; r < g.rows; ++r)
      text(left - 5, top + r * m.cell_height + m.cell_height / 2 + 4, "end",
           g.row_labels.empty() ? std::to_string(r * g.row_unit) : g.row_labels[r], "", "faint");
  }
  // Writes a grid that begins x pixels from the margin and whose upper end is at y. Returns the y of its lower end, and
  // sets right_ to its right end.
  int grid(const Grid& g, int x, int y) {
    const Measures m = measure(g);
    const int left = margin + x + m.labels, top = y + m.top, right = left + g.columns * m.cell_width,
              bottom = top + g.rows * m.cell_height;
    right_ = std::max(right, margin + x + letter * static_cast<int>(g.title.size())) - margin;
    wide(right_ + 2 * margin);
    labels(g, m, margin + x, left, top);
    out_ += "<g class=\"cells\" stroke=\"#666666\" stroke-width=\"0.5\">\n";
    for (int r = 0; r < g.rows; ++r)
      for (int c = 0; c < g.columns; ++c)
        cell(g.cells[std::size_t(r) * std::size_t(g.columns) + std::size_t(c)], left + c * m.cell_width,
             top + r * m.cell_height, m);
    out_ += "</g>\n<g text-anchor=\"middle\" pointer-events=\"none\">\n";
    for (int r = 0; r < g.rows; ++r)
      for (int c = 0; c < g.columns; ++c)
        cell_label(g.cells[std::size_t(r) * std::size_t(g.columns) + std::size_t(c)], left + c * m.cell_width,
                   top + r * m.cell_height, m);
    out_ += "</g>\n";
    auto stroke = [&](int x1, int y1, int x2, int y2) {
      out_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#000000\" stroke-width=\"2\"/>\n", x1,
                          y1, x2, y2);
    };
    for (int r = 0; r <= g.rows; r += g.row_step > 0 ? g.row_step : std::max(g.rows, 1))
      stroke(left, top + r * m.cell_height, right, top + r * m.cell_height);
    for (int c = 0; c <= g.columns; c += g.column_step > 0 ? g.column_step : std::max(g.columns, 1))
      stroke(left + c * m.cell_width, top, left + c * m.cell_width, bottom);
    return bottom;
  }
  // Writes the legend of the picture with its upper end at y, in pixels. Returns the y of its lower end.
  int legend(const Picture& p, int y) {
    int x = margin;
    for (const Legend& l : p.legend) {
      const int wanted = letter * static_cast<int>(l.label.size()) + 10;
      if (x + wanted > std::max(width_, 600)) x = margin, y += 22;
      out_ += "<g class=\"cells\" stroke=\"#666666\" stroke-width=\"0.5\">";
      rectangle(x, y, wanted, 18, l.colour);
      out_ += "/></g>\n";
      text(x + wanted / 2, y + 13, "middle", l.label, l.colour.is_dark() ? "fill:#ffffff" : "");
      x += wanted + 2;
      wide(x + margin);
    }
    return y + 18;
  }

  std::string out_;
  int width_ = 200, right_ = 0;
};

}  // namespace

std::string svg(const Picture& p) { return SvgWriter().whole(p); }

std::string html(const std::string& title, const std::vector<Picture>& pictures) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>\n"
      "body {{ font-family: sans-serif; margin: 2em; }}\nfigure {{ margin: 0 0 2em 0; overflow-x: auto; }}\n"
      "rect:hover {{ stroke: #000000; stroke-width: 2; }}\n"
      "@media (prefers-color-scheme: dark) {{ body {{ background: #16181c; color: #e8e8e8; }} "
      "}}\n</style>\n</head>\n<body>\n",
      escaped(title));
  for (const Picture& p : pictures) page += "<figure>\n" + svg(p) + "</figure>\n";
  return page + "</body>\n</html>\n";
}

}  // namespace zellige::view
