// PTX's matrix instructions: mma.sync, ldmatrix, stmatrix, movmatrix and wgmma, by the rows of the instruction table.
#include <array>
#include <cstdlib>
#include <mutex>
#include <set>
#include <span>
#include <unordered_map>
#include <zellige/atom/instruction_table.hpp>

#include "cuda/ptx_machine.hpp"
#include "emulate/calls.hpp"
#include "zellige/emulate/async.hpp"
#include "zellige/emulate/device.hpp"

namespace zellige::cuda {

namespace {

using emulate::Counter;
using emulate::Place;

// Returns the instruction with this PTX name; of two with one name, that whose first operand is in this memory.
const Instruction* row_by_ptx(const std::string& ptx, bool a_in_shared) {
  static const auto known = [] {
    std::unordered_map<std::string, const Instruction*> all[2];
    const auto add = [&](const Instruction& row) {
      if (row.body && *row.ptx && row.scale == Number::none && !row.sparse)
        all[row.issuers == 128 && row.a.space == Instruction::Space::smem].emplace(row.ptx, &row);
    };
    for (const Instruction& row : instructions()) add(row);
    for (const Instruction& row : narrow_instructions()) add(row);
    return std::array{std::move(all[0]), std::move(all[1])};
  }();
  const auto& names = known[a_in_shared];
  const auto found = names.find(ptx);
  return found == names.end() ? nullptr : found->second;
}

/// A lane's registers of a matrix instruction, and of its result.
struct MatrixRegisters {
  std::uint32_t a[16], b[16], c[16];
  Place row;
};
struct MatrixResult {
  std::uint32_t d[16];
};

// Fills registers with an operand; returns how many words it has.
unsigned take(PtxMachine& m, const PtxInstruction& i, const PtxValue& v, std::uint32_t (&words)[16]) {
  const std::span<const PtxValue> parts =
      v.kind == PtxValue::Kind::group ? std::span<const PtxValue>(v.parts) : std::span<const PtxValue>(&v, 1);
  unsigned n = 0;
  for (const PtxValue& part : parts) {
    const bool twice = part.kind == PtxValue::Kind::slot && m.operands[part.index].bytes == 8;
    if (n + 2 > 16) m.refuse(i, "with so many registers");
    const std::uint64_t x =
        part.kind == PtxValue::Kind::real ? ptx_round(i.type, std::bit_cast<double>(m.read(part))) : m.read(part);
    words[n++] = std::uint32_t(x);
    if (twice) words[n++] = std::uint32_t(x >> 32);
  }
  return n;
}
void give_words(PtxMachine& m, const PtxValue& v, const std::uint32_t* words) {
  const std::span<const PtxValue> parts =
      v.kind == PtxValue::Kind::group ? std::span<const PtxValue>(v.parts) : std::span<const PtxValue>(&v, 1);
  for (const PtxValue& part : parts) {
    const bool twice = part.kind == PtxValue::Kind::slot && m.operands[part.index].bytes == 8;
    std::uint64_t x = *words++;
    if (twice) x |= std::uint64_t(*words++) << 32;
    m.write(part, x);
  }
}

const Instruction& row_of_instruction(PtxMachine& m, const PtxInstruction& i) {
  const Instruction* const row = row_by_ptx(i.name, false);
  if (!row || row->issuers != 32) m.refuse(i, "(no instruction of the tables)");
  return *row;
}

void compute_mma(void* with, const void* const* in, void* const* out) {
  const auto& row = *static_cast<const Instruction*>(with);
  emulate::count(Counter::mma);
  const void *a[32], *b[32], *c[32];
  for (unsigned t = 0; t < 32; ++t) {
    const auto& mine = *static_cast<const MatrixRegisters*>(in[t]);
    a[t] = mine.a, b[t] = mine.b, c[t] = mine.c;
  }
  emulate::execute_matrix(row, {a, b, c, out});
}
void run_mma(PtxMachine& m, const PtxInstruction& i) {
  const Instruction& row = row_of_instruction(m, i);
  if (i.operands.size() != 4) m.refuse(i, "with other than four operands");
  MatrixRegisters mine;
  MatrixResult result;
  if (take(m, i, i.operands[1], mine.a) != unsigned(row.a.registers) ||
      take(m, i, i.operands[2], mine.b) != unsigned(row.b.registers) ||
      take(m, i, i.operands[3], mine.c) != unsigned(row.c.registers))
    m.refuse(i, "with another number of registers than it has");
  m.f.engine->meet(m.f, &mine, &result, compute_mma, const_cast<Instruction*>(&row), i.name.c_str());
  give_words(m, i.operands[0], result.d);
}

// Returns the row of ldmatrix or stmatrix, whose words have no fixed order in programs.
const Instruction& matrix_move(PtxMachine& m, const PtxInstruction& i, unsigned& matrices) {
  matrices = i.has("x4") ? 4 : i.has("x2") ? 2 : 1;
  const std::string name =
      fmt::format("{}.sync.aligned.m8n8.x{}{}.shared.b16", i.words[0], matrices, i.has("trans") ? ".trans" : "");
  const Instruction* const row = i.has("m8n8") && i.has("b16") ? row_by_ptx(name, false) : nullptr;
  if (!row) m.refuse(i, "(no instruction of the tables)");
  return *row;
}
// Returns the row that this lane names, if the instruction has so many.
Place matrix_row(PtxMachine& m, const PtxValue& address, unsigned matrices) {
  if (m.f.lane >= 8 * matrices) return {};
  return m.place(m.address(address, true), "reads");
}

struct MatrixMove {
  const Instruction* row;
  unsigned matrices;
};
void compute_ldmatrix(void* with, const void* const* in, void* const* out) {
  const auto& move = *static_cast<const MatrixMove*>(with);
  emulate::count(Counter::ldmatrix);
  Place rows[32];
  for (unsigned t = 0; t < 32; ++t) rows[t] = static_cast<const MatrixRegisters*>(in[t])->row;
  const void* safe[32] = {};
  emulate::read_rows(rows, move.matrices, safe);
  move.row->body(*move.row, {safe, nullptr, nullptr, out});
}
void run_ldmatrix(PtxMachine& m, const PtxInstruction& i) {
  MatrixMove move{};
  move.row = &matrix_move(m, i, move.matrices);
  MatrixRegisters mine;
  MatrixResult result;
  mine.row = matrix_row(m, i.operands[1], move.matrices);
  m.f.engine->meet(m.f, &mine, &result, compute_ldmatrix, &move, i.name.c_str());
  give_words(m, i.operands[0], result.d);
}
void compute_stmatrix(void* with, const void* const* in, void* const*) {
  const auto& move = *static_cast<const MatrixMove*>(with);
  emulate::count(Counter::stmatrix);
  Place rows[32];
  const void* registers[32];
  for (unsigned t = 0; t < 32; ++t) {
    const auto& mine = *static_cast<const MatrixRegisters*>(in[t]);
    rows[t] = mine.row, registers[t] = mine.a;
  }
  void* safe[32] = {};
  emulate::write_rows(rows, move.matrices, safe);
  move.row->body(*move.row, {registers, nullptr, nullptr, safe});
}
void run_stmatrix(PtxMachine& m, const PtxInstruction& i) {
  MatrixMove move{};
  move.row = &matrix_move(m, i, move.matrices);
  MatrixRegisters mine;
  MatrixResult result;
  take(m, i, i.operands[1], mine.a);
  mine.row = matrix_row(m, i.operands[0], move.matrices);
  m.f.engine->meet(m.f, &mine, &result, compute_stmatrix, &move, i.name.c_str());
}
void compute_movmatrix(void* with, const void* const* in, void* const* out) {
  const auto& row = *static_cast<const Instruction*>(with);
  emulate::count(Counter::shuffle);
  const void* from[32];
  for (unsigned t = 0; t < 32; ++t) from[t] = static_cast<const MatrixRegisters*>(in[t])->a;
  row.body(row, {from, nullptr, nullptr, out});
}
void run_movmatrix(PtxMachine& m, const PtxInstruction& i) {
  const Instruction& row = row_of_instruction(m, i);
  MatrixRegisters mine;
  MatrixResult result;
  mine.a[0] = std::uint32_t(m.read(i, 1));
  m.f.engine->meet(m.f, &mine, &result, compute_movmatrix, const_cast<Instruction*>(&row), i.name.c_str());
  m.write(i.operands[0], result.d[0]);
}

// Returns the address of an array of 4-byte variables that a group names, or null: they are not adjacent in memory.
const unsigned char* adjacent(PtxMachine& m, const PtxValue& group, bool results) {
  const unsigned char* first = nullptr;
  for (std::size_t k = 0; k < group.parts.size(); ++k) {
    if (group.parts[k].kind != PtxValue::Kind::slot) return nullptr;
    const PtxOperand& o = m.operands[group.parts[k].index];
    const auto* at = static_cast<const unsigned char*>(results ? o.result : o.variable);
    if (!at || o.bytes != 4 || (k && at != first + 4 * k)) return nullptr;
    if (!k) first = at;
  }
  return first;
}

// Returns the types of a wgmma as the engine has them, without .satfinite; the string lives as long as the process.
const char* types_of_wgmma(std::string_view types) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> kept;
  if (types.ends_with(".satfinite")) types.remove_suffix(10);
  const std::lock_guard lock(mutex);
  return kept.emplace(types).first->c_str();
}

// wgmma.mma_async d, a, b, scale-d{, imm-scale-a, imm-scale-b{, imm-trans-a}, imm-trans-b}.
void run_wgmma(PtxMachine& m, const PtxInstruction& i) {
  if (i.operands.size() < 4 || i.operands[0].kind != PtxValue::Kind::group) m.refuse(i, "with these operands");
  const bool in_registers = i.operands[1].kind == PtxValue::Kind::group;
  if (!row_by_ptx(i.name, !in_registers)) m.refuse(i, "(no instruction of the tables)");
  const unsigned char* const d = adjacent(m, i.operands[0], true);
  if (!d) m.refuse(i, "with accumulators that are not adjacent elements of one array");
  std::uint32_t copied[16];
  const unsigned char* a = nullptr;
  if (in_registers) {
    a = adjacent(m, i.operands[1], false);
    if (!a) m.refuse(i, "with registers of A that are not adjacent elements of one array of 4-byte variables");
    take(m, i, i.operands[1], copied);
  }
  const auto flag = [&](unsigned k) { return k < i.operands.size() ? std::int64_t(std::int32_t(m.read(i, k))) : 0; };
  const std::size_t shape = i.name.find(".m64n") + 5, k = i.name.find('k', shape);
  const std::string_view types = std::string_view(i.name).substr(k + 1);
  const bool saturate = types.ends_with(".satfinite");
  const emulate::WgmmaCall call{const_cast<unsigned char*>(d),
                                reinterpret_cast<const std::uint32_t*>(a),
                                in_registers ? 0 : m.read(i, 1),
                                m.read(i, 2),
                                types_of_wgmma(types),
                                unsigned(std::atoi(i.name.c_str() + shape)),
                                saturate,
                                !in_registers && flag(6) != 0,
                                flag(in_registers ? 6 : 7) != 0,
                                (m.read(i, 3) & 0xffffffffu) != 0,
                                (flag(4) < 0 ? -1 : 1) * (flag(5) < 0 ? -1 : 1)};
  m.f.engine->async->wgmma(m.f, call);
}
void run_wgmma_fence(PtxMachine& m, const PtxInstruction&) { m.f.engine->async->wgmma_fence(m.f); }
void run_wgmma_commit(PtxMachine& m, const PtxInstruction&) { m.f.engine->async->wgmma_commit(m.f); }
void run_wgmma_wait(PtxMachine& m, const PtxInstruction& i) {
  m.f.engine->async->wgmma_wait(m.f, unsigned(m.read(i, 0)));
}

constexpr auto matrix_rows = std::to_array<PtxRow>({
    {"mma.sync", run_mma, "*"},
    {"mma.sp", nullptr, ""},
    {"ldmatrix", run_ldmatrix, "*"},
    {"stmatrix", run_stmatrix, "*"},
    {"movmatrix", run_movmatrix, "*"},
    {"wgmma.mma_async", run_wgmma, "*"},
    {"wgmma.mma_async.sp", nullptr, ""},
    {"wgmma.fence", run_wgmma_fence, "sync aligned"},
    {"wgmma.commit_group", run_wgmma_commit, "sync aligned"},
    {"wgmma.wait_group", run_wgmma_wait, "sync aligned"},
});

}  // namespace

std::span<const PtxRow> ptx_matrices() { return matrix_rows; }

}  // namespace zellige::cuda
