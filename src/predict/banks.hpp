// Counts the wavefronts (passes through the banks, as Nsight Compute counts them) of one access of a warp to shared
// memory.
//
//   BankAccess column{.bytes = 4, .address = {0, 128, 256, 384}};   // four lanes, all in bank 0
//   Wavefronts w = evaluate(column);   // total 4 wavefronts; ideal: 1; degree (maximum of a phase): 4
//
// - The hardware serves at most banks * bank_bytes (128) bytes at once. A warp is therefore split into phases of
//   min(32, 128 / bytes) consecutive lanes: 32 lanes for up to 4 bytes per lane, 16 for 8 bytes, 8 for 16 bytes.
// - In a phase each bank serves one of its words per wavefront. Lanes that access the same word are served by
//   the same wavefront.
// - ldmatrix and stmatrix have one 16-byte row address per lane and 8 rows per matrix: set `bytes` to 16, and give
//   addresses for 8, 16 or 32 lanes.
// - Two adjacent phases of a load are merged into one if in both every lane i has the same address as lane i ^ 1, or
//   every lane i the same as lane i ^ 2 (measured on hardware, docs/reference/banks.md).
#pragma once
#include <cstdint>
#include <vector>

namespace zellige::predict {

/// One shared-memory instruction of a warp.
struct BankAccess {
  int bytes = 4;                      // per lane: 1, 2, 4, 8 or 16
  std::vector<std::int64_t> address;  // one byte address per lane; -1: inactive
  bool load = false;                  // ld.shared: not a store, ldmatrix or stmatrix
};

/// The number of wavefronts of an access. The access is free of conflicts if total == ideal.
struct Wavefronts {
  std::vector<int> per_phase;  // 0 if no lane is active, or the phase was merged into the one before
  int total = 0;
  int ideal = 0;   // number of phases with an active lane; merged phases count once
  int degree = 0;  // maximum wavefronts of a phase: 1 is conflict-free, 0 is no access
};

/// Returns the wavefronts of a warp's access. Throws Error if access.bytes is not 1, 2, 4, 8 or 16, if an active
/// lane's address is not a multiple of access.bytes, or if `banks` or `bank_bytes` is not positive.
Wavefronts evaluate(const BankAccess& access, int banks = 32, int bank_bytes = 4);

}  // namespace zellige::predict
