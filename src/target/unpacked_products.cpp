#include "target/unpacked_products.hpp"

#include <string_view>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/mma_traits/names.hpp>
#include <zellige/atom/mma_unpacked.hpp>

namespace zellige::target {
namespace {

/// Returns the descriptor of Unpacked<T>, whose C++ name is `name`.
template <class T>
Instruction unpacked_row(const char* name) {
  const Instruction* half = zellige::find_instruction(Unpacked<T>::Half::name);
  Instruction r = *zellige::find_instruction(Unpacked<T>::name);
  r.name = name, r.ptx = half->ptx, r.call = "";
  r.compute_capability = 90, r.only_of_its_architecture = true;  // later ones may multiply 8-bit floats again
  const int products = r.k / half->k;                            // each adds to the result of the one before
  r.cycles = products * half->cycles;
  if (half->latency) r.latency = products * *half->latency;
  r.body = nullptr;
  return r;
}

}  // namespace

std::span<const Instruction> unpacked_products() {
  static const Instruction rows[] = {unpacked_row<float_e4m3_t>("Unpacked<float_e4m3_t>"),
                                     unpacked_row<float_e5m2_t>("Unpacked<float_e5m2_t>")};
  return rows;
}

int instructions_in(const Instruction& row) {
  static const int k = zellige::find_instruction(Unpacked<float_e4m3_t>::Half::name)->k;
  for (const Instruction& known : unpacked_products())
    if (&row == &known) return row.k / k;
  return 1;
}

}  // namespace zellige::target
