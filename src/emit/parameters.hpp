// Lists a kernel's parameters: TMA descriptors first, then pointers that threads read, then pointers that
// they write, then sizes that are known at launch. The kernel's signature, the manifest and the host entry use this list.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "emit/names.hpp"
#include "kernel/kernel.hpp"

namespace zellige::emit {

/// One parameter of a kernel.
struct Parameter {
  int tensor = -1;  // index into TilePrograms::tensors
  bool writes = false;
  int node = -1;  // the load or store whose TMA descriptor the parameter is; -1: a pointer, or a size
  int size = -1;  // index into TilePrograms::sizes of the size that the parameter is, of which `tensor` is -1; -1: none
};

/// Returns the parameters of a kernel of the program, in order.
std::vector<Parameter> parameters(const kernel::Kernel&, const tile::TilePrograms&);
/// Returns the parameters of a kernel that runs several tile programs, each in some of its blocks: the pointers of
/// all programs, without duplicates, and their sizes. Such programs have no TMA descriptors.
std::vector<Parameter> parameters(std::span<const kernel::Kernel>, const tile::TilePrograms&);
/// Returns the declaration of a parameter that is a pointer or a size: "gmem<const half_t> pX", "int nT".
std::string parameter_text(const Parameter&, const tile::TilePrograms&, Names&);
/// Returns the name of a pointer or a size: pX, nT.
std::string parameter_name(const Parameter&, const tile::TilePrograms&, Names&);

/// Returns whether a size and all coordinates that a kernel compares with it fit into 32 bits. Tiles reach beyond the end of
/// a tensor, by less than 2^20 elements.
bool fits_int(const tile::SymbolicNumber&);
/// Returns the bytes of a size as a kernel's parameter: 4 or 8.
int bytes_of_size(const tile::TilePrograms&, int size);

}  // namespace zellige::emit
