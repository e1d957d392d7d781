// Every instruction in the forms in which emitted text uses it, in a loop over a ring of stages in shared memory, on a real GPU.
//
//   nvcc -std=c++20 -O1 -I include -gencode arch=compute_90a,code=sm_90a tests/atom/hardware_ring.cu
//        -o hardware_ring && ./hardware_ring                          # --list: the names; --only NAME: one of them
//
// One self-contained binary for SM90. hardware*.cu run each row of the tables alone, at a fixed address; here addresses are those of
// emitted kernels, a thread's part and a stage's, and loops make as many trips as their argument says. Each form is a kernel and runs
// in a process of its own, so that a fault ends that form only. It prints a line a form, `ok NAME`, `WRONG NAME: where` or
// `FAULT NAME: what the runtime answered`, then how many of each, and exits with 0 only if all are ok.
//
// Data is random from a fixed seed, copies must agree bit for bit, products are of small integers and exact. It does not measure, says
// nothing of other architectures, and of a machine's code only what ptxas of the nvcc that built it made.
#include <type_traits>

#include "hardware_ring_products.hpp"

int main(int argc, char** argv) {
  using namespace zellige::ring_forms;
  add_copies();
  add_boxes();
  add_products();
  return zellige::run_forms(argc, argv);
}
