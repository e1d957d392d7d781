// Writes pictures as SVG, and as an HTML page that contains the SVG. Colours are attributes instead of
// styles, so that any viewer shows them.
#include <fmt/format.h>

#include <algorithm>

#include "view/picture.hpp"

namespace zellige::view {
namespace {

// Sizes in pixels: width of a letter, height of a line, margin of the picture, smallest cell.
constexpr int letter = 7, line = 14, margin = 12, min_cell = 26;

// Returns the text with XML's reserved characters escaped.
std::string escaped(const std::string& s) {
  std::string out;
  for (const char& c : s)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string_view(&c, 1);
  return out;
}

// Sizes of a grid's parts in pixels: cells, the row labels, and what is above the cells.
struct Measures {
  int cell_width = min_cell, cell_height = min_cell, labels = 24, top = 0;
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
    m.labels = std::max(m.labels, letter * static_cast<int>(std::to_string(g.rows).size()) + 10);
  m.top = (g.title.empty() ? 0 : line + 4) + line + 4;
  return m;
}

// Writes one picture.
class SvgWriter {
 public:
  std::string whole(const Picture& p) {
    int y = margin;
    auto put_line = [&](const std::string& s, const char* style) {
      y += line;
      text(margin, y, "start", s, style);
      wide(margin + letter * static_cast<int>(s.size()) + margin);
      y += 4;
    };
    put_line(p.title, "font-weight:bold");
    for (const std::string& fact : p.facts) put_line(fact, "");
    for (const Grid& g : p.grids) y = grid(g, y + 8);
    if (!p.legend.empty()) y = legend(p, y + 10);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"monospace\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#ffffff\"/>\n{2}</svg>\n",
        width_, y + margin, out_);
  }

 private:
  void wide(int x) { width_ = std::max(width_, x); }
  void text(int x, int y, const char* anchor, const std::string& s, const char* style = "") {
    out_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor,
                        *style ? fmt::format(" style=\"{}\"", style) : "", escaped(s));
  }
  /// Begins a framed rectangle; the caller ends it.
  void rectangle(int x, int y, int width, int height, const Colour& colour) {
    out_ += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#666666\" stroke-width=\"0.5\"", x, y,
        width, height, colour.hex());
  }
  void cell(const GridCell& c, int x, int y, const Measures& m) {
    rectangle(x, y, m.cell_width, m.cell_height, c.colour);
    out_ += (c.hover.empty() ? ">" : "><title>" + escaped(c.hover) + "</title>") + "</rect>\n";
    if (c.label.empty()) return;
    const char* ink = c.colour.is_dark() ? "fill:#ffffff;pointer-events:none" : "pointer-events:none";
    const std::vector<std::string> lines = lines_of(c.label);
    int at = y + (m.cell_height - line * static_cast<int>(lines.size())) / 2 + 11;
    for (auto l = lines.begin(); l != lines.end(); ++l, at += line) text(x + m.cell_width / 2, at, "middle", *l, ink);
  }
  // Writes a grid whose upper end is at y, in pixels. Returns the y of its lower end.
  int grid(const Grid& g, int y) {
    const Measures m = measure(g);
    const int left = margin + m.labels, top = y + m.top, right = left + g.columns * m.cell_width,
              bottom = top + g.rows * m.cell_height;
    if (!g.title.empty()) text(margin, y + line, "start", g.title);
    wide(std::max(right, margin + letter * static_cast<int>(g.title.size())) + margin);
    for (int c = 0; c < g.columns; ++c)
      text(left + c * m.cell_width + m.cell_width / 2, top - 5, "middle", std::to_string(c), "fill:#555555");
    for (int r = 0; r < g.rows; ++r) {
      text(left - 5, top + r * m.cell_height + m.cell_height / 2 + 4, "end",
           g.row_labels.empty() ? std::to_string(r) : g.row_labels[r], "fill:#555555");
      for (int c = 0; c < g.columns; ++c)
        cell(g.cells[std::size_t(r) * std::size_t(g.columns) + std::size_t(c)], left + c * m.cell_width,
             top + r * m.cell_height, m);
    }
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
      rectangle(x, y, wanted, 18, l.colour);
      out_ += "/>\n";
      text(x + wanted / 2, y + 13, "middle", l.label, l.colour.is_dark() ? "fill:#ffffff" : "");
      x += wanted + 2;
      wide(x + margin);
    }
    return y + 18;
  }

  std::string out_;
  int width_ = 200;
};

}  // namespace

std::string svg(const Picture& p) { return SvgWriter().whole(p); }

std::string html(const std::string& title, const std::vector<Picture>& pictures) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>\n"
      "body {{ font-family: sans-serif; margin: 2em; }}\nfigure {{ margin: 0 0 2em 0; overflow-x: auto; }}\n"
      "rect:hover {{ stroke: #000000; stroke-width: 2; }}\n</style>\n</head>\n<body>\n",
      escaped(title));
  for (const Picture& p : pictures) page += "<figure>\n" + svg(p) + "</figure>\n";
  return page + "</body>\n</html>\n";
}

}  // namespace zellige::view
