// Builds the table of all instructions, one row per instruction with its name, PTX and latency: the instructions of
// sm80.hpp and sm90.hpp, and the matrix instructions of mma_traits/table.hpp. Host code only.
#pragma once

#include <cctype>
#include <deque>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>
#include <zellige/atom/latency.hpp>
#include <zellige/atom/mma_traits/instruction.hpp>
#include <zellige/atom/mma_traits/narrow_table.hpp>
#include <zellige/atom/sm80.hpp>
#include <zellige/atom/sm90.hpp>
#include <zellige/atom/text.hpp>

namespace zellige::detail {

/// Returns the PTX name of a number type, such as "bf16".
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
/// Returns the PTX mnemonic of a matrix instruction, with all its qualifiers. Returns "" for scalar
/// multiply-adds and complex MMAs, which are not one PTX instruction.
inline std::string mma_ptx(MmaRow const& row) {
  if (row.issuer == Issuer::thread || row.a == Number::c64) return "";
  std::string const shape = "m" + std::to_string(row.m) + "n" + std::to_string(row.n) + "k" + std::to_string(row.k);
  std::string const a = ptx_type(row.a), b = ptx_type(row.b), d = ptx_type(row.d);
  std::string const saturate = row.ending == MmaRow::Ending::saturate ? ".satfinite" : "";
  if (row.issuer == Issuer::warpgroup)
    return "wgmma.mma_async.sync.aligned." + shape + "." + d + "." + a + "." + b + saturate;
  std::string text = "mma.sync.aligned." + shape + (row.a_rows ? ".row" : ".col") + (row.b_columns ? ".col" : ".row") +
                     saturate + "." + d + "." + a + "." + b + "." + d;
  if (row.ending == MmaRow::Ending::xor_popc) text += ".xor.popc";
  if (row.ending == MmaRow::Ending::and_popc) text += ".and.popc";
  return text;
}
/// The table of instructions, with the strings to which their const char* members point.
struct InstructionRows {
  std::deque<std::string> texts;
  std::vector<Instruction> rows;

  /// Stores `text` and returns a pointer to it that remains valid.
  char const* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
  /// Appends the descriptor of matrix instruction `row`, with its CuTe name, PTX mnemonic and call.
  void add(MmaRow const& row) {
    Instruction i = instruction_of(row);
    bool const narrow = row.kind != MmaKind::standard;
    i.name = keep(narrow ? std::string(narrow_mma_name(row).text) : mma_name(row));
    i.ptx = keep(narrow ? std::string(narrow_mma_ptx(row).text) : mma_ptx(row));
    if (i.issuers < 128 && *i.ptx) i.call = keep(std::string("mma<").append(i.name).append(">(d, a, b)"));
    i.a.type = keep(ptx_type(row.a));
    i.b.type = keep(ptx_type(row.b));
    i.c.type = keep(ptx_type(row.d));
    rows.push_back(i);
  }
};

/// Returns the table of all instructions, which the first call builds.
inline InstructionRows const& instruction_rows() {
  static InstructionRows const all = [] {
    InstructionRows r;
    r.rows.assign(std::begin(sm80_instructions), std::end(sm80_instructions));
    each_mma_row([&](MmaRow const& row) { r.add(row); });
    r.rows.insert(r.rows.end(), std::begin(movement_rows), std::end(movement_rows));
    for (Instruction& row : r.rows)
      for (MeasuredLatency const& known : measured_latencies)
        if (row.name == std::string_view(known.name)) row.latency = known.cycles;
    return r;
  }();
  return all;
}

/// Returns the table of the instructions of SM120 on narrow floats, which the first call builds.
inline InstructionRows const& narrow_instruction_rows() {
  static InstructionRows const all = [] {
    InstructionRows r;
    each_narrow_row([&](MmaRow const& row) { r.add(row); });
    return r;
  }();
  return all;
}

}  // namespace zellige::detail
