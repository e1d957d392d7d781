// The rows of the matrix table as Instructions, beside those that sm80.hpp and sm90.hpp spell out. Host code
// only.
#pragma once

#include <cctype>
#include <deque>
#include <iterator>
#include <set>
#include <string>
#include <vector>
#include <zellige/atom/sm80.hpp>
#include <zellige/atom/sm90.hpp>
#include <zellige/atom/text.hpp>

namespace zellige::detail {

/// A number as PTX writes it.
inline std::string ptx_type(Number n) {
  if (n == Number::u1) return "b1";
  for (NumberName const& known : number_names)
    if (known.number == n) {
      std::string text = known.name;
      for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return text;
    }
  return "";
}
/// The mnemonic with all its qualifiers; "" where the name stands for several instructions, or for none.
inline std::string mma_ptx(MmaRow const& row) {
  if (row.issuer == Issuer::thread || row.a == Number::c64) return "";
  std::string const shape =
      "m" + std::to_string(row.m) + "n" + std::to_string(row.n) + "k" + std::to_string(row.k);
  std::string const a = ptx_type(row.a), b = ptx_type(row.b), d = ptx_type(row.d);
  std::string const saturate = row.ending == MmaRow::Ending::saturate ? ".satfinite" : "";
  if (row.issuer == Issuer::warpgroup)
    return "wgmma.mma_async.sync.aligned." + shape + "." + d + "." + a + "." + b + saturate;
  std::string text = "mma.sync.aligned." + shape + (row.a_rows ? ".row" : ".col") +
                     (row.b_columns ? ".col" : ".row") + saturate + "." + d + "." + a + "." + b + "." + d;
  if (row.ending == MmaRow::Ending::xor_popc) text += ".xor.popc";
  if (row.ending == MmaRow::Ending::and_popc) text += ".and.popc";
  return text;
}
inline ThreadValue thread_value(Value const& layout) {
  ThreadValue r;
  auto const fill = [](ThreadValue::Mode(&modes)[ThreadValue::max_modes], Value const& part) {
    int i = 0;
    for (ValueNode const& n : values::leaves_of(part))
      modes[i++] = {static_cast<int>(n.s.v), static_cast<int>(n.d.v)};
  };
  fill(r.threads, layout[0]);
  fill(r.values, layout[1]);
  return r;
}
/// Products of one tensor pipe a cycle.
inline int products_a_cycle(MmaRow const& row) {
  if (row.issuer == Issuer::thread) return 1;
  if (row.arch < 80) return row.a == Number::f16 ? 64 : 128;
  int const of_half = row.issuer == Issuer::warpgroup ? 512 : 256, bits = bits_of(row.a);
  if (row.a == Number::f64) return row.arch == 90 ? 32 : 16;
  return bits >= 16 ? of_half * 16 / bits : bits == 8 ? 2 * of_half : bits == 4 ? 4 * of_half : 16 * of_half;
}

/// Rows point to their names, which lie here.
struct InstructionRows {
  std::deque<std::string> texts;
  std::vector<Instruction> rows;

  char const* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
  Instruction::Operand operand(MmaRow const& row, MmaPart part, Number n) {
    Instruction::Operand o;
    o.type = keep(ptx_type(n));
    o.bits = bits_of(n);
    o.layout = thread_value(algebra::mma_layout(row, part));
    bool const group = row.issuer == Issuer::warpgroup;
    if (group && (part == MmaPart::b || (part == MmaPart::a && row.a_from_smem))) {
      o.space = Instruction::Space::smem;
      o.alignment = 16;
      o.swizzles = 0b1111;
      o.majors = o.bits == 16 ? 0b11 : 0b01;
    } else {
      o.space = Instruction::Space::rmem;
      o.registers = (o.layout.value_count() * o.bits + 31) / 32;
    }
    return o;
  }
  void add(MmaRow const& row) {
    Instruction i{};
    i.name = keep(mma_name(row));
    i.ptx = keep(mma_ptx(row));
    i.compute_capability = row.arch;
    i.kind = Instruction::Kind::mma;
    i.issuers = row.issuer == Issuer::thread      ? 1
                : row.issuer == Issuer::quad_pair ? 8
                : row.issuer == Issuer::warp      ? 32
                                                  : 128;
    i.m = row.m, i.n = row.n, i.k = row.k;
    i.a = operand(row, MmaPart::a, row.a);
    i.b = operand(row, MmaPart::b, row.b);
    i.c = operand(row, MmaPart::c, row.d);
    bool const group = row.issuer == Issuer::warpgroup;
    if (group) i.completion = Instruction::Completion::commit_group;
    int const at_once = products_a_cycle(row) * (group ? 4 : 1);
    i.cycles = (row.m * row.n * row.k + at_once - 1) / at_once;
    i.only_of_its_architecture = group;
    rows.push_back(i);
  }
};

inline InstructionRows const& instruction_rows() {
  static InstructionRows const all = [] {
    InstructionRows r;
    std::set<std::string> met;
    for (Instruction const& row : sm80_instructions) {
      r.rows.push_back(row);
      met.insert(row.name);
    }
    each_mma_row([&](MmaRow const& row) {
      if (met.insert(mma_name(row)).second) r.add(row);
    });
    r.rows.insert(r.rows.end(), std::begin(movement_rows), std::end(movement_rows));
    return r;
  }();
  return all;
}

}  // namespace zellige::detail
