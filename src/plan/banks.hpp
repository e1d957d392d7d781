// Counts the wavefronts of one warp-wide access to shared memory.
//
//   BankAccess column{.bytes = 4, .address = {0, 128, 256, 384}};   // four lanes, all in bank 0
//   Wavefronts w = evaluate(column);                            // total 4, ideal 1, degree 4
//
// The hardware serves at most banks * bank_bytes (128) bytes at once, so a warp is split into phases of
// min(32, 128 / bytes) consecutive lanes: 32 lanes up to 4 bytes, 16 of 8 bytes, 8 of 16 bytes. In a phase
// each bank serves one of its words per wavefront; lanes that access the same word share it. ldmatrix and
// stmatrix take one 16-byte row address per lane, 8 rows per matrix: bytes = 16 and 8, 16 or 32 active lanes.
// Two phases of a load are merged if all their lanes have equal addresses in pairs, i with i ^ 1 or i with i
// ^ 2: measured on hardware, docs/reference/banks.md.
#pragma once
#include <cstdint>
#include <vector>

namespace zellige::plan {

struct BankAccess {
  int bytes = 4;                      // per lane: 1, 2, 4, 8 or 16
  std::vector<std::int64_t> address;  // one byte address per lane; -1: inactive
  bool load = false;                  // ld.shared: not a store, ldmatrix or stmatrix
};

struct Wavefronts {
  std::vector<int> per_phase;  // 0 if no lane is active, or the phase was merged into the one before
  int total = 0;
  int ideal = 0;   // phases with an active lane
  int degree = 0;  // maximum wavefronts of a phase: 1 is conflict-free, 0 is no access
};

Wavefronts evaluate(const BankAccess& access, int banks = 32, int bank_bytes = 4);

}  // namespace zellige::plan
