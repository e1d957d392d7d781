// Accesses have the addresses that their descriptions give, and their wavefronts equal an explicit count of
// words.
#include <random>
#include <set>
#include <zellige/emulate/wavefronts.hpp>

#include "shorthand.hpp"

namespace zellige::view {
namespace {

// By the definition: in each phase, the most distinct words that one bank is asked for. Two phases of a load
// go as one where all their lanes agree with their neighbours, or all with the next but one.
long long by_definition(const std::vector<long long>& bytes, int width, bool load) {
  const std::size_t lanes = width <= 4 ? 32 : std::size_t(128 / width);
  auto agree = [&](std::size_t first, std::size_t with) {
    if (!load || lanes == 32 || first % (2 * lanes)) return false;
    for (std::size_t l = first; l < first + 2 * lanes; ++l) {
      if (bytes[l] != bytes[l ^ with]) return false;
    }
    return true;
  };
  long long total = 0;
  for (std::size_t first = 0, last = 0; first < bytes.size(); first = last) {
    last = first + (agree(first, 1) || agree(first, 2) ? 2 : 1) * lanes;
    std::set<long long> words[32];
    for (std::size_t l = first; l < last; ++l) {
      for (long long b = bytes[l]; b < bytes[l] + width; ++b) words[b / 4 % 32].insert(b / 4);
    }
    std::size_t worst = 0;
    for (const auto& w : words) worst = std::max(worst, w.size());
    total += static_cast<long long>(worst);
  }
  return total;
}

std::string refusal(const std::string& layout, int bits, const std::string& access) {
  try {
    count(layout, bits, access);
  } catch (const Error& e) {
    return e.what();
  }
  return "counted";
}

TEST(Conflicts, StridesOfWords) {
  const std::pair<int, int> strides[] = {{0, 1}, {1, 1}, {2, 2}, {4, 4}, {8, 8}, {16, 16}, {32, 32}, {33, 1}, {31, 1}};
  for (const auto& [stride, wavefronts] : strides)
    EXPECT_EQ(count("2048:1", 32, "ld.shared.b32 32:" + std::to_string(stride)).worst.total, wavefronts) << stride;
}

TEST(Conflicts, RandomLanesAgainstTheDefinitionAndTheEmulator) {
  std::mt19937 random(5);
  const std::pair<const char*, int> instructions[] = {{"ld.shared.u8", 1},      {"st.shared.b16", 2},
                                                      {"ld.shared.b32", 4},     {"ld.shared.v2.b32", 8},
                                                      {"st.shared.v4.b32", 16}, {"ldmatrix.x4", 16}};
  for (int i = 0; i < 300; ++i) {
    const auto& [name, width] = instructions[random() % std::size(instructions)];
    std::string lanes;
    std::vector<long long> bytes;
    std::vector<std::uint32_t> at;
    for (int l = 0; l < 32; ++l) {
      bytes.push_back(static_cast<long long>(random() % (1 + random() % 256)) * width);
      if (i % 3 == 1 && l % 2 == 1) bytes.back() = bytes[std::size_t(l) - 1];
      if (i % 3 == 2 && l % 4 > 1) bytes.back() = bytes[std::size_t(l) - 2];
      at.push_back(static_cast<std::uint32_t>(bytes.back()));
      lanes += (l ? "," : "") + std::to_string(bytes.back());
    }
    const Conflicts c = count("4096:1", 8, std::string(name) + " (" + lanes + ")");
    const bool load = name[0] == 'l' && name[2] == '.';
    EXPECT_EQ(c.worst.total, by_definition(bytes, width, load)) << name << lanes;
    EXPECT_EQ(c.worst.total, emulate::wavefronts(at.data(), nullptr, 32, width, load)) << name << lanes;
  }
}

TEST(Conflicts, MatricesAreTwoByTwoRowsOfSixteenBytes) {
  const Conflicts c = count("(16,64):(64,1)", 16, "ldmatrix.x4");
  ASSERT_EQ(c.addresses.address.size(), 32u);
  for (int l = 0; l < 32; ++l) EXPECT_EQ(c.addresses.address[std::size_t(l)], l % 16 * 128 + l / 16 * 16);
  EXPECT_EQ(c.instances, 4);
  EXPECT_EQ(c.worst.total, 32);
  EXPECT_EQ(c.worst.ideal, 4);
  EXPECT_EQ(c.degree, 8);
  // Columns together instead of rows: the same, transposed.
  const Conflicts t = count("(64,16):(1,64)", 16, "ldmatrix.x4.trans");
  EXPECT_EQ(t.addresses.address, c.addresses.address);
  // Only eight rows: the matrices are adjacent.
  const Conflicts flat = count("(8,64):(64,1)", 16, "stmatrix.x4");
  EXPECT_EQ(flat.addresses.address[31], 7 * 128 + 3 * 16);
  EXPECT_EQ(flat.instances, 2);
}

TEST(Conflicts, RowPitches) {
  const std::pair<int, int> pitches[] = {{32, 16}, {40, 4}, {64, 32}, {72, 4}, {8 * 9, 4}};
  for (const auto& [elements, wavefronts] : pitches) {
    const std::string l = "(16,32):(" + std::to_string(elements) + ",1)";
    EXPECT_EQ(count(l, 16, "ldmatrix.x4").worst.total, wavefronts) << l;
  }
  EXPECT_EQ(count("Sw<3,3,3> o (16,64):(64,1)", 16, "ldmatrix.x4").degree, 1);
  EXPECT_EQ(count("Sw<2,3,3> o (16,32):(32,1)", 16, "ldmatrix.x4").degree, 1);
  EXPECT_EQ(count("Sw<2,3,3> o (16,64):(64,1)", 16, "ldmatrix.x4").degree, 2);
}

TEST(Conflicts, SimpleInstructionsCoverTheTensor) {
  const Conflicts c = count("(8,64):(64,1)", 16, "st.shared.v4");
  EXPECT_EQ(c.instances, 2);  // 64 vectors
  for (int l = 0; l < 32; ++l) EXPECT_EQ(c.addresses.address[std::size_t(l)], 16 * l);
  EXPECT_EQ(count("(40,3):(1,64)", 32, "ld.shared.b32").instances, 4);  // 120 words, the last access of 24
}

TEST(Conflicts, AThreadValueLayoutIsAsWideAsItsValuesLieTogether) {
  // The accumulator of an m16n8 instruction in rows of 8 words: pairs of words.
  const auto l = shared("(16,8):(8,1)", 32);
  const WarpPattern a = parse_access("((4,8),(2,2)):((32,1),(16,8))", l);
  EXPECT_EQ(a.bytes, 8);
  ASSERT_EQ(a.instances.size(), 2u);
  for (int t = 0; t < 32; ++t) {
    EXPECT_EQ(l.address(a.instances[0][std::size_t(t)]), 4 * (t / 4 * 8 + t % 4 * 2));
    EXPECT_EQ(l.address(a.instances[1][std::size_t(t)]), 4 * ((t / 4 + 8) * 8 + t % 4 * 2));
  }
  EXPECT_EQ(parse_access("((4,8),(2,2)):((32,1),(16,8))", shared("(16,8):(1,16)", 32)).bytes, 4);
  // More than a warp: 32 lanes at a time.
  EXPECT_EQ(parse_access("(128,1):(1,0)", shared("256:1", 32)).instances.size(), 4u);
  // Coordinates say the same as indices.
  EXPECT_EQ(parse_access("ld.shared.b32 (8,4):(1@0,1@1)", shared("(8,8):(8,1)", 32)).instances,
            parse_access("ld.shared.b32 (8,4):(1,8)", shared("(8,8):(8,1)", 32)).instances);
}

TEST(Conflicts, WhatIsNoAccessIsRefused) {
  EXPECT_EQ(refusal("(32,32):(32,1)", 32, "ldmatrix.x3"),
            "access ldmatrix.x3: .x3 is unknown; ldmatrix and stmatrix take .x1, .x2 or .x4, and .trans");
  EXPECT_EQ(refusal("(32,32):(32,1)", 32, "ld.shared.v4.b64"),
            "access ld.shared.v4.b64: 256 bits a lane; at most 128 are possible");
  EXPECT_EQ(refusal("(32,32):(32,2)", 16, "ldmatrix.x1"),
            "access ldmatrix.x1: no mode of (32,32):(32,2) has 8 adjacent elements, which a lane takes");
  EXPECT_EQ(refusal("(4,32):(32,1)", 16, "ldmatrix.x1"),
            "access ldmatrix.x1: 8 lines of 8 elements are needed; (4,32):(32,1) has 4 of 32");
  EXPECT_EQ(refusal("1024:1", 32, "ld.shared.v4 32:1"),
            "access ld.shared.v4 32:1: the element of index 1 lies at byte 4, not a multiple of the 16 bytes "
            "of a lane");
  EXPECT_EQ(refusal("64:1", 32, "ld.shared.b32 32:4"),
            "access ld.shared.b32 32:4: element 64 is outside the 64 of 64:1");
  EXPECT_EQ(refusal("64:1", 32, "ld.shared.u8"),
            "access ld.shared.u8: 1 bytes a lane are no whole number of elements of 32 bits");
  EXPECT_EQ(refusal("(8,8):(-1,8)", 32, "ld.shared.b32"),
            "(8,8):(-1,8): element 1 lies at -1, before the start of the memory");
  EXPECT_EQ(refusal("identity((8,8))", 32, "ld.shared.b32"),
            "(8,8):(_1@0,_1@1): its indices are coordinates, not places in shared memory");
  EXPECT_EQ(refusal("(4096,8192):(1,4096)", 32, "ld.shared.b32"),
            "(4096,8192):(1,4096): 33554432 elements; 1 to 16777216 are possible");
}

}  // namespace
}  // namespace zellige::view
