// Lesson 6: swizzles. Shared memory has 32 banks of 4 bytes; lanes that access different words of one bank
// are serialised. A swizzle Sw<B,M,S> xors B bits of an index, those from M on, with the B bits that are S
// higher: it moves elements to other banks, costs an xor, and is one more function to compose.
#include <cstdio>
#include <string>
#include <zellige/layout.hpp>
#include <zellige/layout/print.hpp>

#include "view/access.hpp"
#include "view/layout_picture.hpp"
#include "view/picture.hpp"

using namespace zellige;

template <class L>
void access(char const* name, L const& layout, int bits, bool draw = false) {
  view::SharedLayout const memory(describe(layout), bits);
  view::Conflicts const c = view::conflicts(view::parse_access(name, memory), memory);
  std::printf("%-36s %-20s wavefronts %2lld, %lld would do\n", to_text(layout).c_str(), name, c.wavefronts, c.ideal);
  if (draw) std::printf("%s", text(view::bank_picture(c.addresses, "").grids.at(0)).c_str());
}

int main() {
  // Bits: Sw<3,3,3> takes bits 6..8 and flips bits 3..5 with them.
  std::printf("Sw<3,3,3>: 64 -> %d, 65 -> %d, 72 -> %d, 512 -> %d\n", Swizzle<3, 3, 3>{}(64), Swizzle<3, 3, 3>{}(65),
              Swizzle<3, 3, 3>{}(72), Swizzle<3, 3, 3>{}(512));
  std::printf("twice is the identity: %d\n\n", Swizzle<3, 3, 3>{}(Swizzle<3, 3, 3>{}(200)));

  // ldmatrix reads eight rows of 16 bytes at a time. In an 8 x 64 tile of halves a row has 128 bytes, which
  // is all the banks once, so the eight rows start in the same bank.
  auto const unswizzled = Layout<Shape<_8, _64>, Stride<_64, _1>>{};
  auto const swizzled = composition(Swizzle<3, 3, 3>{}, unswizzled);
  std::printf("the first matrix, lanes down and banks across, in each cell the wavefront that serves it:\n");
  access("ldmatrix.x1", unswizzled, 16, true);
  access("ldmatrix.x1", swizzled, 16, true);
  std::printf("\n");

  // The unit that moves is 2^M elements: 8 halves are 16 bytes, so chunks of 16 bytes stay contiguous and
  // 16-byte copies still work. The position of each chunk of 8:
  auto const chunks = composition(Swizzle<3, 0, 3>{}, Layout<Shape<_8, _8>, Stride<_8, _1>>{});
  std::printf("the same in units of 16 bytes, %s:\n", to_text(upcast<8>(swizzled)).c_str());
  print_layout(chunks);

  // Padding also works, but costs memory. Other accesses need other swizzles: here 32-bit words by columns.
  auto const words = Layout<Shape<_32, _32>, Stride<_32, _1>>{};
  std::printf("\n");
  access("ld.shared.b32 32:1", words, 32);  // lane l at index l: down a column
  access("ld.shared.b32 32:1", Layout<Shape<_32, _32>, Stride<_33, _1>>{}, 32);
  access("ld.shared.b32 32:1", composition(Swizzle<5, 0, 5>{}, words), 32);
  access("ld.shared.b32 32:32", composition(Swizzle<5, 0, 5>{}, words), 32);  // and along a row

  // The library also finds swizzles: the cheapest conflict-free layout for all accesses at once.
  view::SharedLayout const memory(describe(words), 32);
  view::Remedies const found = view::remedies(
      {view::parse_access("ld.shared.b32 32:1", memory), view::parse_access("ld.shared.b32 32:32", memory)}, memory);
  for (view::Remedy const& r : found.all)
    std::printf("%-10s %-40s %lld bytes more, %lld wavefronts of %lld\n", r.kind.c_str(), to_text(r.layout).c_str(),
                r.extra_bytes, r.wavefronts, r.ideal);
}
