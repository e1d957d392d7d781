// Caches in pages. A table has the numbers of the pages that each sequence has, in order. Custom operators read the rows of a
// sequence where they lie, page by page, and no kernel gathers them in memory first:
//
//   gather(cache (pages, rows, heads, depth), table (batch, n)) -> reshape (batch, n * rows, heads, depth) -> permute -> custom
//
// Element j of the joined dimension is row j % rows of page table[b, j / rows]: a load with Node::page.
#pragma once
#include <map>
#include <vector>

#include "target/target.hpp"
#include "tile/program.hpp"

namespace zellige::lower {

/// What is made of a gather of pages by reshapes and permutes, and is read by custom operators alone.
struct PagedReads {
  std::map<int, tile::PagedTensor> tensors;  // those that custom operators read
  std::vector<int> views;                    // the operators between them and the gather
  std::vector<int> made;                     // the results of all of these operators, none of which is in memory
};

/// Returns, by operator, the gathers whose rows custom operators can read in pages:
///
/// - they are seen with a dimension of the table and one of the cache joined, and all others as they are; or each tile is of one page,
///   as of an expert's weights; or each page is one row, and the operators mask by lengths;
/// - each tile is of one sequence;
/// - nothing overwrites the cache in its place after the gather.
std::map<int, PagedReads> paged_reads(const graph::KernelGraph&);

/// Makes the tensors paged ones of the program, and returns true. Returns false, and changes nothing, if the rows of a page are
/// not equally spaced, or if the cache or the table begins where a tensor says.
bool read_in_pages(tile::TilePrograms&, const PagedReads&, const target::Target&);

/// Adds to the kernel the load of a tile of a paged tensor, and that of the numbers of its pages. Returns the former's node. `tile`
/// has, by dimension, the cuts of the tensor as custom operators see it; its dimensions are the last ones of them.
int load_pages(tile::TilePrograms&, tile::TileProgram&, const tile::PagedTensor&, const tile::TileView& tile);

}  // namespace zellige::lower
