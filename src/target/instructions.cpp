#include "target/instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <zellige/atom/instruction_table.hpp>

namespace zellige::target {

const std::vector<const Instruction*>& instructions_of(const Target& t) {
  static std::mutex mutex;
  static std::map<int, std::vector<const Instruction*>> known;
  const std::lock_guard lock(mutex);
  const auto [entry, fresh] = known.try_emplace(t.compute_capability);
  if (fresh)
    for (const Instruction& row : zellige::instructions()) {
      const bool has = row.only_of_its_architecture ? row.compute_capability == t.compute_capability
                                                    : row.compute_capability <= t.compute_capability;
      if (has) entry->second.push_back(&row);
    }
  return entry->second;
}

const Instruction* find_instruction(const Target& t, std::string_view name) {
  for (const Instruction* row : instructions_of(t))
    if (row->name == name) return row;
  return nullptr;
}

const Instruction* find_mma(const Target& t, std::string_view a, std::string_view b, std::string_view d) {
  const Instruction* most = nullptr;
  for (const Instruction* row : instructions_of(t))
    if (row->kind == Instruction::Kind::mma && row->issuers == 32 && row->a.type == a && row->b.type == b &&
        row->c.type == d && (!most || row->k > most->k))
      most = row;
  return most;
}

const Instruction* find_warpgroup_mma(const Target& t, std::string_view a, std::string_view b,
                                      std::string_view d, std::int64_t n, bool a_in_registers) {
  constexpr int either_way = 3;  // along K, or along M or N
  for (const Instruction* row : instructions_of(t))
    if (row->kind == Instruction::Kind::mma && row->issuers == 128 && row->n == n && row->a.type == a &&
        row->b.type == b && row->c.type == d && row->b.majors == either_way &&
        (a_in_registers ? row->a.space == Instruction::Space::rmem
                        : row->a.space == Instruction::Space::smem && row->a.majors == either_way))
      return row;
  return nullptr;
}

const Instruction* find_tensor_load(const Target& t, int dimensions) {
  return find_instruction(t, fmt::format("SM90_TMA_LOAD_{}D", dimensions));
}

const Instruction* find_tensor_multicast(const Target& t, int dimensions) {
  return find_instruction(t, fmt::format("SM90_TMA_LOAD_MULTICAST_{}D", dimensions));
}

const Instruction* find_tensor_store(const Target& t, int dimensions) {
  return find_instruction(t, fmt::format("SM90_TMA_STORE_{}D", dimensions));
}

bool has_programmatic_launch(const Target& t) { return find_instruction(t, "SM90_GRIDDEPCONTROL_WAIT"); }

const Instruction* find_matrix_load(const Target& t) {
  const Instruction* most = nullptr;
  for (const Instruction* row : instructions_of(t))
    if (row->kind == Instruction::Kind::matrix_load && (!most || row->c.registers > most->c.registers))
      most = row;
  return most;
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
