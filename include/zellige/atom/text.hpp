// Formats instructions and their tilings as CuTe prints them. The functions take layouts as objects of class `Value`,
// not as C++ types. They serve print.hpp, which converts types to such objects, and the command line, which finds
// instructions by name. Host only.
//
//   mma_name(find_mma("SM80_16x8x16_F32F16F16F32_TN"))          the same name, from the parsed fields
#pragma once

#include <string>
#include <zellige/atom/algebra/gmma.hpp>
#include <zellige/atom/algebra/tma.hpp>
#include <zellige/atom/copy_traits/row.hpp>
#include <zellige/layout/text.hpp>

namespace zellige {

/// Returns one line "  name: value" per pair. Values begin at column `width`.
inline std::string lines_text(std::initializer_list<std::pair<char const*, std::string>> lines, std::size_t width) {
  std::string text;
  for (auto const& [name, value] : lines) {
    std::string line = std::string("  ") + name + ":";
    line.resize(std::max(line.size() + 1, width), ' ');
    text += line + value + '\n';
  }
  return text;
}

/// Returns the CuTe name of the matrix instruction `row`, so that find_mma(mma_name(row)) is `row`.
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

/// The layouts of a matrix instruction's traits, as the printers below take them.
struct MmaAtomValue {
  Value threads, shape, a, b, c;
};
/// Returns the layout of A as CuTe prints it. It is to_text(a), except for the single-bit 16x8x128 instruction, for
/// which CuTe nests the value strides one level deeper than the shape.
inline std::string mma_a_text(Value const& a) {
  std::string const text = to_text(a);
  return text == "((_4,_8),(_32,_2)):((_512,_1),(_16,_8))" ? "((_4,_8),(_32,_2)):((_512,_1),((_16,_8)))" : text;
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
  return "TiledMMA\n" + lines_text({{"ThrLayoutVMNK", to_text(vmnk)}, {"PermutationMNK", to_text(permutation)}}, 18) +
         mma_atom_text(atom);
}

/// The layouts of a copy instruction's traits and the element size in bits, as the printers below take them.
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

/// Returns the traits of a matrix instruction as a string, one per line. `bits` are the element sizes of D, A, B and
/// C in bits.
inline std::string mma_traits_text(MmaAtomValue const& m, int const (&bits)[4]) {
  std::string text = "Shape_MNK: " + to_text(m.shape) + "\nThrID: " + to_text(m.threads) +
                     "\nALayout: " + mma_a_text(m.a) + "\nBLayout: " + to_text(m.b) + "\nCLayout: " + to_text(m.c) +
                     "\nValBits_DABC:";
  for (int b : bits) text += ' ' + std::to_string(b);
  return text;
}
inline std::string copy_traits_text(CopyAtomValue const& c) {
  return "ThrID: " + to_text(c.threads) + "\nSrcLayout: " + to_text(c.source) +
         "\nDstLayout: " + to_text(c.destination) + "\nRefLayout: " + to_text(c.reference);
}
/// Returns the fields of a wgmma shared-memory descriptor as a string: swizzle mode, leading offset (lbo) and stride
/// offset (sbo).
inline std::string gmma_strides_text(GmmaStrides const& s) {
  return "layout_type=" + std::to_string(s.layout_type) + " lbo=" + std::to_string(s.leading) +
         " sbo=" + std::to_string(s.stride) + " base_offset=0";
}

}  // namespace zellige
