// Formats instructions and their tilings as CuTe prints them. Host only.
#pragma once

#include <string>
#include <zellige/atom/algebra/gmma.hpp>
#include <zellige/atom/algebra/tma.hpp>
#include <zellige/atom/copy_traits/row.hpp>
#include <zellige/layout/text.hpp>

namespace zellige {

/// "name: value\n" for each, the values in one column.
inline std::string lines_text(std::initializer_list<std::pair<char const*, std::string>> lines,
                              std::size_t width) {
  std::string text;
  for (auto const& [name, value] : lines) {
    std::string line = std::string("  ") + name + ":";
    line.resize(std::max(line.size() + 1, width), ' ');
    text += line + value + '\n';
  }
  return text;
}

/// The name of a matrix instruction: find_mma(mma_name(row)) returns the row.
inline std::string mma_name(MmaRow const& row) {
  auto type = [](Number n) {
    for (NumberName const& known : number_names) {
      if (known.number == n) return std::string(known.name);
    }
    return std::string();
  };
  bool const group = row.issuer == Issuer::warpgroup;
  std::string name = group ? "SM90::GMMA::MMA_" : "SM" + std::to_string(row.arch) + "_";
  name += std::to_string(row.m) + "x" + std::to_string(row.n) + "x" + std::to_string(row.k) + "_";
  name += type(row.d) + type(row.a) + type(row.b) + (group ? row.a_from_smem ? "_SS" : "_RS" : type(row.c));
  if (!group)
    name += std::string("_") + (row.a_rows ? "T" : "N") + (row.b_columns ? "N" : "T");
  else if (bits_of(row.a) != 16)
    name += "_TN";
  if (row.ending == MmaRow::Ending::saturate) name += "_SATURATE";
  if (row.ending == MmaRow::Ending::xor_popc) name += "_XORPOPC";
  if (row.ending == MmaRow::Ending::and_popc) name += "_ANDPOPC";
  return name;
}

/// A matrix instruction in the form used by its printers.
struct MmaAtomValue {
  Value threads, shape, a, b, c;
};
/// The layout of A. CuTe nests the value strides of a 16x8x128 b1 instruction one level deeper than the
/// shape.
inline std::string mma_a_text(Value const& a) {
  std::string const text = to_text(a);
  return text == "((_4,_8),(_32,_2)):((_512,_1),(_16,_8))" ? "((_4,_8),(_32,_2)):((_512,_1),((_16,_8)))"
                                                           : text;
}
inline std::string mma_atom_text(MmaAtomValue const& m) {
  return "MMA_Atom\n" + lines_text({{"ThrID", to_text(m.threads)},
                                    {"Shape_MNK", to_text(m.shape)},
                                    {"LayoutA_TV", mma_a_text(m.a)},
                                    {"LayoutB_TV", to_text(m.b)},
                                    {"LayoutC_TV", to_text(m.c)}},
                                   14);
}
inline std::string tiled_mma_text(Value const& vmnk, Value const& permutation, MmaAtomValue const& atom) {
  return "TiledMMA\n" +
         lines_text({{"ThrLayoutVMNK", to_text(vmnk)}, {"PermutationMNK", to_text(permutation)}}, 18) +
         mma_atom_text(atom);
}

struct CopyAtomValue {
  Value threads, source, destination, reference;
  long long bits;
};
inline std::string copy_atom_text(CopyAtomValue const& c) {
  return "Copy_Atom\n" + lines_text({{"ThrID", to_text(c.threads)},
                                     {"ValLayoutSrc", to_text(c.source)},
                                     {"ValLayoutDst", to_text(c.destination)},
                                     {"ValLayoutRef", to_text(c.reference)},
                                     {"ValueType", std::to_string(c.bits) + "b"}},
                                    16);
}
inline std::string tiled_copy_text(Value const& tiler, Value const& tv, CopyAtomValue const& atom) {
  return "TiledCopy\n" + lines_text({{"Tiler_MN", to_text(tiler)}, {"TiledLayout_TV", to_text(tv)}}, 18) +
         copy_atom_text(atom);
}

/// The traits of a matrix instruction, line by line; bits are those of D, A, B, C.
inline std::string mma_traits_text(MmaAtomValue const& m, int const (&bits)[4]) {
  std::string text = "Shape_MNK: " + to_text(m.shape) + "\nThrID: " + to_text(m.threads) +
                     "\nALayout: " + mma_a_text(m.a) + "\nBLayout: " + to_text(m.b) +
                     "\nCLayout: " + to_text(m.c) + "\nValBits_DABC:";
  for (int b : bits) text += ' ' + std::to_string(b);
  return text;
}
inline std::string copy_traits_text(CopyAtomValue const& c) {
  return "ThrID: " + to_text(c.threads) + "\nSrcLayout: " + to_text(c.source) +
         "\nDstLayout: " + to_text(c.destination) + "\nRefLayout: " + to_text(c.reference);
}
inline std::string gmma_strides_text(GmmaStrides const& s) {
  return "layout_type=" + std::to_string(s.layout_type) + " lbo=" + std::to_string(s.leading) +
         " sbo=" + std::to_string(s.stride) + " base_offset=0";
}

}  // namespace zellige
