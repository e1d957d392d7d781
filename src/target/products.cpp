#include "target/products.hpp"

#include <deque>
#include <functional>
#include <string>
#include <vector>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/mma_traits/names.hpp>
#include <zellige/atom/mma_unpacked.hpp>
#include <zellige/atom/outer_product.hpp>

namespace zellige::target {
namespace {

constexpr int both_ways = 3;  // an operand may be contiguous along K, or along M or N

/// Returns the descriptor of OuterProduct<TM, TN, LM, LN> (block/multiply_outer.hpp): in a warp's tile each
/// thread has TM x TN accumulators, and the 32 lanes are arranged as LM x LN.
template <int TM, int TN, int LM, int LN>
Instruction row(const char* name) {
  using P = OuterProduct<TM, TN, LM, LN>;
  using Space = Instruction::Space;
  Instruction r{.name = name,
                .ptx = "fma.rn.f32",
                .compute_capability = 0,
                .kind = Instruction::Kind::mma,
                .issuers = 32,
                .m = P::m,
                .n = P::n,
                .k = P::k};
  r.a = r.b = {.type = "f32", .bits = 32, .space = Space::smem, .alignment = 16};
  r.c = {.type = "f32", .bits = 32, .space = Space::rmem, .layout = P::layout, .registers = TM * TN};
  r.cycles = TM * TN * P::k;
  return r;
}

/// Returns the descriptor of Unpacked<T>, whose C++ name is `name`, on one architecture.
template <class T>
Instruction unpacked_row(const char* name, int compute_capability) {
  const Instruction* half = zellige::find_instruction(Unpacked<T>::Half::name);
  Instruction r = *zellige::find_instruction(Unpacked<T>::name);
  r.name = name, r.ptx = half->ptx, r.call = "";
  r.compute_capability = compute_capability, r.only_of_its_architecture = true;  // sm_120 multiplies 8-bit floats again
  const int products = r.k / half->k;  // each adds to the result of the one before
  r.cycles = products * half->cycles;
  if (half->latency) r.latency = products * *half->latency;
  r.body = nullptr;
  return r;
}

}  // namespace

std::span<const Instruction> outer_products() {
  static const Instruction rows[] = {
      row<4, 4, 4, 8>("OuterProduct<4, 4, 4, 8>"),   row<4, 4, 8, 4>("OuterProduct<4, 4, 8, 4>"),
      row<4, 4, 2, 16>("OuterProduct<4, 4, 2, 16>"), row<4, 2, 4, 8>("OuterProduct<4, 2, 4, 8>"),
      row<4, 1, 1, 32>("OuterProduct<4, 1, 1, 32>"), row<2, 1, 1, 32>("OuterProduct<2, 1, 1, 32>"),
      row<1, 1, 1, 32>("OuterProduct<1, 1, 1, 32>"),
  };
  return rows;
}

int thread_columns(const Instruction& r) { return r.c.layout.values[0].shape; }
int thread_rows(const Instruction& r) { return r.c.layout.values[1].shape; }

std::span<const Instruction> unpacked_products() {
  static const std::vector<Instruction> rows = [] {
    std::vector<Instruction> of_all;
    for (const int compute_capability : {90, 100, 103}) {
      of_all.push_back(unpacked_row<float_e4m3_t>("Unpacked<float_e4m3_t>", compute_capability));
      of_all.push_back(unpacked_row<float_e5m2_t>("Unpacked<float_e5m2_t>", compute_capability));
    }
    return of_all;
  }();
  return rows;
}

std::span<const Instruction> tensor_memory_products() {
  static const std::vector<Instruction> rows = [] {
    static std::deque<std::string> names;
    std::vector<Instruction> of_all;
    of_all.reserve(128);
    for (const Instruction& wgmma : zellige::instructions()) {
      if (wgmma.completion != Instruction::Completion::commit_group || wgmma.c.number != Number::f32 ||
          wgmma.a.number != wgmma.b.number || wgmma.a.space != Instruction::Space::smem)
        continue;
      const bool of_16_bits = wgmma.a.number == Number::f16 || wgmma.a.number == Number::bf16,
                 of_8_bits = wgmma.a.number == Number::e4m3 || wgmma.a.number == Number::e5m2;
      if (of_16_bits ? wgmma.a.majors != both_ways || wgmma.b.majors != both_ways : !of_8_bits) continue;
      const std::string_view name = wgmma.name;
      std::string& call = names.emplace_back();
      call.reserve(name.size() + 16);
      call.append("TensorProducts<").append(name).append(">");
      for (const int compute_capability : {100, 103}) {
        Instruction& row = of_all.emplace_back(wgmma);
        row.name = names.back().c_str();
        row.ptx = of_8_bits ? "tcgen05.mma.cta_group::1.kind::f8f6f4" : "tcgen05.mma.cta_group::1.kind::f16";
        row.compute_capability = compute_capability;
      }
    }
    return of_all;
  }();
  return rows;
}

bool only_along_k(const Instruction& row) { return row.b.majors != both_ways; }

bool in_tensor_memory(const Instruction& row) {
  const std::span<const Instruction> all = tensor_memory_products();
  return !std::less<>()(&row, all.data()) && std::less<>()(&row, all.data() + all.size());
}

int instructions_in(const Instruction& row) {
  static const int k = zellige::find_instruction(Unpacked<float_e4m3_t>::Half::name)->k;
  for (const Instruction& known : unpacked_products())
    if (&row == &known) return row.k / k;
  return 1;
}

}  // namespace zellige::target
