// Pictures as data: grids of labelled, coloured cells, made from a layout (layout_picture.hpp) or a
// shared-memory access (bank_picture.hpp), and drawn as characters for a terminal, as SVG, or as an HTML
// page.
#pragma once
#include <string>
#include <vector>

namespace zellige::view {

struct Colour {
  unsigned char red = 255, green = 255, blue = 255;
  std::string hex() const;
  bool is_dark() const;
};

/// One of n colours around a wheel of hues; neighbours differ.
Colour wheel(long long i, int n);
/// Eight hues, four shades each: the lanes of a warp.
Colour lane_colour(long long thread);
/// One of eight greys, by the index modulo 8, as in print_latex.
Colour grey(long long i);
/// From green (the first) to red.
Colour heat(int i, int n);

struct Cell {
  std::string label;  // lines separated by '\n'
  std::string hover = {};
  Colour colour = {};
};

struct Grid {
  std::string title;
  int rows = 0, columns = 0;
  std::vector<Cell> cells;                   // row by row
  std::vector<std::string> row_labels = {};  // default: 0, 1, 2, ...
  std::vector<std::string> column_labels = {};
  int row_step = 0, column_step = 0;  // a heavy line after every N rows or columns; 0: none
  std::string corner = {};            // above the row labels
  bool dense = false;                 // on a terminal: one character per cell, no frames
};

struct Legend {
  std::string label;
  Colour colour;
};

struct Picture {
  std::string title;
  std::vector<std::string> facts = {};  // lines below the title
  std::vector<Grid> grids = {};
  std::vector<Legend> legend = {};
};

std::string text(const Grid&);
std::string text(const Picture&);
std::string svg(const Picture&);
/// One self-contained page, with the pictures below one another.
std::string html(const std::string& title, const std::vector<Picture>&);

}  // namespace zellige::view
