// How many wavefronts one warp-wide access to shared memory takes.
//
//   BankAccess column{.bytes = 4, .address = {0, 128, 256, 384}};   // four lanes, all in bank 0
//   Wavefronts w = evaluate(column);                            // total 4, ideal 1, degree 4
//
// The hardware serves at most banks * bank_bytes (128) bytes at once, so a warp is cut into phases of
// min(32, 128 / bytes) consecutive lanes: 32 lanes up to 4 bytes, 16 of 8 bytes, 8 of 16 bytes. In a phase
// each bank serves one of its words per wavefront; lanes in the same word share it. ldmatrix and stmatrix
// give one 16-byte row address per lane, 8 rows a matrix: bytes = 16 and 8, 16 or 32 lanes say the same.
// Two phases of a load become one where all their lanes agree in pairs, i with i ^ 1 or i with i ^ 2: counted on
// hardware, docs/reference/banks.md.
#pragma once
#include <cstdint>
#include <vector>

namespace zellige::plan {

struct BankAccess {
  int bytes = 4;                      // of each lane: 1, 2, 4, 8 or 16
  std::vector<std::int64_t> address;  // one byte address per lane; -1: inactive
  bool load = false;                  // ld.shared: not a store, ldmatrix or stmatrix
};

struct Wavefronts {
  std::vector<int> per_phase;  // 0 where no lane is active, or where the lanes went with the phase before
  int total = 0;
  int ideal = 0;   // phases with an active lane
  int degree = 0;  // the most wavefronts of a phase: 1 is conflict-free, 0 is no access
};

Wavefronts evaluate(const BankAccess& access, int banks = 32, int bank_bytes = 4);

}  // namespace zellige::plan
