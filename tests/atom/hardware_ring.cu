// Runs every instruction in the forms used by emitted code, in a loop over a ring of stages in shared memory,
// on a real GPU.
//
//   nvcc -std=c++20 -O1 -I include -gencode arch=compute_90a,code=sm_90a tests/atom/hardware_ring.cu
//        -o hardware_ring && ./hardware_ring                          # --list: the names; --only NAME: one of them
//
// One self-contained binary for SM90. hardware*.cu run each row of the tables alone, at a fixed address; here
// addresses are those of emitted kernels, with a per-thread and a per-stage part, and trip counts are
// arguments. Each form is a kernel and runs in a separate process, so that a fault ends only that form. It
// prints one line per form, `ok NAME`, `WRONG NAME: where` or `FAULT NAME: the runtime's error`, then the
// counts, and exits with 0 only if all are ok.
//
// Data is random from a fixed seed; copies must agree bit for bit; matmuls are of small integers and exact.
// It measures nothing, and covers neither other architectures nor the machine code of other ptxas versions.
#include <type_traits>

#include "hardware_ring_products.hpp"

int main(int argc, char** argv) {
  using namespace zellige::ring_forms;
  add_copies();
  add_boxes();
  add_products();
  return zellige::run_forms(argc, argv);
}
