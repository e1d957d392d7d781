// Pictures as data: grids of labelled, coloured cells. A layout becomes one (layout_picture.hpp), a
// shared-memory access another (bank_picture.hpp); each is drawn as text for a terminal, as SVG, and as a
// page of HTML.
#pragma once
#include <string>
#include <vector>

namespace zellige::view {

struct Colour {
  unsigned char red = 255, green = 255, blue = 255;
  std::string hex() const;
  bool is_dark() const;
};

/// Of n things around a wheel of hues; neighbours differ.
Colour wheel(long long i, int n);
/// Eight hues, each in four strengths: a warp's lanes.
Colour lane_colour(long long thread);
/// Of eight greys by the index modulo 8, as print_latex has them.
Colour grey(long long i);
/// From green (the first) to red.
Colour heat(int i, int n);

struct Cell {
  std::string label;  // lines divided by '\n'
  std::string hover = {};
  Colour colour = {};
};

struct Grid {
  std::string title;
  int rows = 0, columns = 0;
  std::vector<Cell> cells;                   // row by row
  std::vector<std::string> row_labels = {};  // else 0, 1, 2, ...
  std::vector<std::string> column_labels = {};
  int row_step = 0, column_step = 0;  // a heavy line after every so many; 0: none
  std::string corner = {};            // above the row labels
  bool dense = false;                 // text: one character a cell, no frames
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
/// One page that needs nothing else; pictures one below the other.
std::string html(const std::string& title, const std::vector<Picture>&);

}  // namespace zellige::view
