// Pictures as data: grids of labelled, coloured cells, which are written for a terminal, as SVG or as an HTML
// page. layout_picture.hpp makes them from layouts, bank_picture() from accesses to shared memory.
#pragma once
#include <string>
#include <vector>

#include "predict/banks.hpp"

namespace zellige::view {

struct Colour {
  unsigned char red = 255, green = 255, blue = 255;
  /// Returns the colour as "#rrggbb".
  std::string hex() const;
  /// Returns whether white letters are more legible on this colour than black ones.
  bool is_dark() const;
};

/// Returns colour i of n around a wheel of hues. Neighbouring colours have different lightness.
Colour wheel(long long i, int n);
/// Returns the colour of a thread: one of eight hues in four shades, so that the 32 lanes of a warp differ.
Colour lane_colour(long long thread);
/// Returns grey number i modulo 8 of eight greys, those of CuTe's print_latex.
Colour grey(long long i);
/// Returns colour i of n from green (0) to red (n - 1).
Colour heat(int i, int n);

/// One cell of a grid.
struct GridCell {
  std::string label;  // may have several lines
  // Text that is shown under the pointer; SVG only.
  std::string hover = {};
  Colour colour = {};
};

/// A rectangle of cells with row labels; columns are numbered.
struct Grid {
  std::string title;
  int rows = 0, columns = 0;
  std::vector<GridCell> cells;                  // row by row
  std::vector<std::string> row_labels = {};     // default: 0, 1, 2, ...
  int row_step = 0, column_step = 0;            // a heavy line after every this many rows or columns; 0: none
  std::string corner = {};                      // what is above the row labels
  bool dense = false;                           // for a terminal: one character per cell, without frames
  std::string row_axis = {}, column_axis = {};  // what rows and columns are: "lane", "bank"
  int row_unit = 1, column_unit = 1;            // elements that a cell covers down and across, if cells are merged
  bool next_to_previous = false;                // to the right of the grid before it, not below
};

/// An entry of a picture's legend.
struct Legend {
  std::string label;
  Colour colour;
};

/// A titled list of grids.
struct Picture {
  std::string title;
  std::vector<std::string> facts = {};  // lines below the title
  std::vector<Grid> grids = {};
  std::vector<Legend> legend = {};
};

/// Returns the grid with neighbouring cells merged until at most `limit` are left. A merged cell has the first one's colour,
/// and its label has the lowest and the highest number of each line: "T0..3". A picture of more cells cannot be read.
Grid merged(Grid, int limit = 4096);

/// Returns a grid as a string for a terminal.
std::string text(const Grid&);
/// Returns the picture as an SVG file.
std::string svg(const Picture&);
/// Returns an HTML page that contains the pictures, one below another, and needs no other file.
std::string html(const std::string& title, const std::vector<Picture>&);

/// Returns a picture of a warp-wide access to shared memory, with one grid per phase. Rows are lanes, columns the 32 banks.
/// A cell shows the wavefront (1, 2, ..., a, b, ...) that serves the lane in this bank. Lanes that access the same word
/// share a wavefront.
Picture bank_picture(const predict::BankAccess&, const std::string& title);

}  // namespace zellige::view
