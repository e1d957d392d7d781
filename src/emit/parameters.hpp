// Lists a kernel's parameters: TMA descriptors first, then pointers that threads read, then pointers that
// they write. The kernel's signature, the manifest and the host entry use this list.
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
  int node = -1;  // the load or store whose TMA descriptor the parameter is; -1: a pointer
};

/// Returns the parameters of a kernel, in order.
std::vector<Parameter> parameters(const kernel::Kernel&);
/// Returns the parameters of a kernel that runs several tile programs, each in some of its blocks: the pointers of
/// all programs, without duplicates. Such programs have no TMA descriptors.
std::vector<Parameter> parameters(std::span<const kernel::Kernel>);
/// Returns the declaration of a pointer parameter: "gmem<const half_t> pX".
std::string pointer_text(const Parameter&, const tile::TilePrograms&, Names&);

}  // namespace zellige::emit
