#include "target/instructions.hpp"

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

}  // namespace zellige::target
