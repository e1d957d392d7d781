#include "target/instructions.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <zellige/atom/float8.hpp>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/mma_traits/names.hpp>
#include <zellige/atom/sm80_sync.hpp>

#include "target/pipe.hpp"
#include "target/products.hpp"

namespace zellige::target {

namespace {

/// A target's instruction descriptors, and its matrix instructions by operand types.
struct TargetRows {
  using Types = std::tuple<std::string_view, std::string_view, std::string_view>;  // of A, B and D
  std::vector<const Instruction*> all;
  std::map<Types, const Instruction*> of_warps;  // of one warp, per types: see find_mma
  // Those that only start a product (wgmma), by N, whether A is in registers, and types.
  std::map<std::tuple<std::int64_t, bool, Types>, const Instruction*> asynchronous;
  // The same of 8-bit floats by wgmma, whose accumulators have fewer bits than float32 (atom/mma_reference.hpp).
  std::map<std::tuple<std::int64_t, bool, Types>, const Instruction*> cut;
  // Of TMA, by source, destination and dimensions of the box: the one with the fewest qualifiers.
  std::map<std::tuple<Instruction::Space, Instruction::Space, std::size_t>, const Instruction*> of_boxes;
};

/// Returns the number of dimensions of the box that a TMA instruction copies: 2 of "cp.async.bulk.tensor.2d.global...".
std::size_t dimensions(const Instruction& row) {
  constexpr std::string_view before = ".tensor.";
  const std::string_view ptx = row.ptx;
  return static_cast<std::size_t>(ptx.at(ptx.find(before) + before.size()) - '0');
}

/// Returns whether `row` has the larger K, or the same K and is of a later architecture.
bool is_larger(const Instruction& row, const Instruction& than) {
  return std::pair(row.k, row.compute_capability) > std::pair(than.k, than.compute_capability);
}

/// Adds the names of the instructions by which kernels multiply elements of T into float32: mma_row of any power of two.
template <class T>
void add_called(std::set<std::string_view>& names) {
  const auto add = [&]<int k>() {
    if constexpr (requires { typename mma_row<T, k, float>::type; }) names.insert(mma_row<T, k, float>::type::name);
  };
  [&]<int... log>(std::integer_sequence<int, log...>) { (add.template operator()<1 << log>(), ...); }
  (std::make_integer_sequence<int, 10>());
}

/// Returns the names of the instructions by which block/multiply.hpp multiplies.
std::set<std::string_view> called_in_blocks() {
  std::set<std::string_view> names;
  add_called<half_t>(names);
  add_called<bfloat16_t>(names);
  add_called<tfloat32_t>(names);
  add_called<float_e4m3_t>(names);
  add_called<float_e5m2_t>(names);
  return names;
}

constexpr int either_way = 3;  // an operand may be contiguous along K, or along M or N

/// Returns the descriptors of all instructions that a target has. Instructions that only one architecture
/// has, such as sm_90a's wgmma, are omitted for other targets.
TargetRows rows_of(const Target& t) {
  TargetRows rows;
  const auto add = [&](const Instruction& row) {
    const bool has = row.only_of_its_architecture ? row.compute_capability == t.compute_capability
                                                  : row.compute_capability <= t.compute_capability;
    if (!has) return;
    rows.all.push_back(&row);
    if (row.kind == Instruction::Kind::tensor_copy) {
      const Instruction*& plainest = rows.of_boxes[{row.a.space, row.c.space, dimensions(row)}];
      if (!plainest || std::string_view(row.ptx).size() < std::string_view(plainest->ptx).size()) plainest = &row;
    }
    if (row.kind != Instruction::Kind::mma) return;
    const TargetRows::Types types{row.a.type, row.b.type, row.c.type};
    if (issuer(row) == Issuer::warp) {
      const Instruction*& best = rows.of_warps[types];
      if (!best || is_larger(row, *best)) best = &row;
    } else if (row.completion != Instruction::Completion::at_once &&
               (row.b.majors == either_way || in_tensor_memory(row))) {
      const bool in_registers = row.a.space == Instruction::Space::rmem;
      const bool in_memory =
          row.a.space == Instruction::Space::smem && (row.a.majors == either_way || in_tensor_memory(row));
      if (in_registers || in_memory) rows.asynchronous.insert({{row.n, in_registers, types}, &row});
    } else if (row.completion == Instruction::Completion::commit_group && row.a.bits == 8 &&
               row.a.number == row.b.number && row.c.number == Number::f32 && row.a.space == Instruction::Space::smem) {
      rows.cut.insert({{row.n, false, types}, &row});
    }
  };
  for (const Instruction& row : zellige::instructions()) add(row);
  for (const Instruction& row : sm80_sync_instructions) add(row);
  for (const Instruction& row : unpacked_products()) add(row);
  for (const Instruction& row : tensor_memory_products()) add(row);
  return rows;
}

/// Returns the descriptors of all instructions that the target has, as rows_of() does, but computes them only once
/// per compute capability.
const TargetRows& known_rows(const Target& t) {
  static std::mutex mutex;
  static std::map<int, TargetRows> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(t.compute_capability);
  return found != known.end() ? found->second : known.emplace(t.compute_capability, rows_of(t)).first->second;
}

}  // namespace

const std::vector<const Instruction*>& instructions_of(const Target& t) { return known_rows(t).all; }

const Instruction* find_instruction(const Target& t, std::string_view name) {
  for (const Instruction* row : instructions_of(t))
    if (row->name == name) return row;
  return nullptr;
}

std::string_view multiplied_as(graph::DType dtype, bool tf32) { return tf32 ? "tf32" : graph::name(dtype); }

const Instruction* find_mma(const Target& t, std::string_view a, std::string_view b, std::string_view d) {
  const auto& rows = known_rows(t).of_warps;
  const auto row = rows.find({a, b, d});
  return row == rows.end() ? nullptr : row->second;
}

bool has_half_step(const Instruction& row) {
  using Step = std::tuple<Number, Number, Number, int, int, int>;
  const auto step = [](const Instruction& r, int k) { return Step{r.a.number, r.b.number, r.c.number, r.m, r.n, k}; };
  static const std::set<Step> all = [&] {
    const std::set<std::string_view> called = called_in_blocks();
    std::set<Step> steps;
    for (const Instruction& r : zellige::instructions())
      if (called.contains(r.name)) steps.insert(step(r, r.k));
    return steps;
  }();
  return issuer(row) == Issuer::warp && all.contains(step(row, row.k / 2));
}

const Instruction* find_warpgroup_mma(const Target& t, std::string_view a, std::string_view b, std::string_view d,
                                      std::int64_t n, bool a_in_registers, bool cut) {
  const TargetRows& all = known_rows(t);
  for (const auto* rows : {&all.asynchronous, &all.cut}) {
    if (rows == &all.cut && !cut) break;
    const auto row = rows->find({n, a_in_registers, {a, b, d}});
    if (row != rows->end()) return row->second;
  }
  return nullptr;
}

bool has_warpgroup_mma(const Target& t) { return !known_rows(t).asynchronous.empty(); }

const Instruction* find_tma(const Target& t, Instruction::Space from, Instruction::Space to, std::size_t dimensions) {
  const auto& rows = known_rows(t).of_boxes;
  const auto row = rows.find({from, to, dimensions});
  return row == rows.end() ? nullptr : row->second;
}

const Instruction& single_tile_mma() {
  static const Instruction* const found = [] {
    const Instruction* best = nullptr;
    for (const Instruction& row : zellige::instructions()) {
      const bool of_halves = row.a.number == Number::f16 && row.b.number == Number::f16 && row.c.number == Number::f32;
      if (row.kind == Instruction::Kind::mma && issuer(row) == Issuer::warp && of_halves && row.k <= row.n &&
          (!best || is_larger(row, *best)))
        best = &row;
    }
    return best;
  }();
  return *found;
}

bool has_programmatic_launch(const Target& t) {
  return std::ranges::any_of(instructions_of(t), [](const Instruction* row) {
    return row->kind == Instruction::Kind::control && std::string_view(row->ptx) == "griddepcontrol.wait";
  });
}

const Instruction* find_matrix_load(const Target& t) {
  const Instruction* maximum = nullptr;
  for (const Instruction* row : instructions_of(t))
    if (row->kind == Instruction::Kind::matrix_load && (!maximum || row->c.registers > maximum->c.registers))
      maximum = row;
  return maximum;
}

std::vector<const Instruction*> matrix_stores(const Target& t) {
  std::vector<const Instruction*> found;
  for (const Instruction* row : instructions_of(t))
    if (row->kind == Instruction::Kind::matrix_store && row->c.space == Instruction::Space::smem) found.push_back(row);
  std::stable_sort(found.begin(), found.end(),
                   [](const Instruction* a, const Instruction* b) { return a->a.registers > b->a.registers; });
  return found;
}

std::vector<const Instruction*> async_copies(const Target& t) {
  std::vector<const Instruction*> found;
  for (const Instruction* row : instructions_of(t))
    if (row->kind == Instruction::Kind::async_copy && row->zero_fill) found.push_back(row);
  std::stable_sort(found.begin(), found.end(),
                   [](const Instruction* a, const Instruction* b) { return a->c.bits > b->c.bits; });
  return found;
}

}  // namespace zellige::target
