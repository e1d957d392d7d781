#include <map>

#include "verify/proofs.hpp"

namespace zellige::verify {

void verify_memory(const TilePrograms& program) {
  struct Contents {
    int value;                  // the tensor whose value the memory holds
    std::string_view producer;  // the kernel that wrote it
  };
  std::map<int, Contents> contents;  // by tensor; a tensor without an entry holds its own value
  const auto name = [&](int t) -> const std::string& { return program.tensors[t].name; };
  for (const TileProgram& kernel : program.kernels)
    for (const NodeKind kind : {NodeKind::load, NodeKind::store})  // all loads first
      for (const Node& n : kernel.nodes) {
        if (n.kind != kind) continue;
        const int memory = program.memory_of(n.tensor), value = program.value_of(n.tensor);
        const auto there = contents.find(memory);
        if (value == (there == contents.end() ? memory : there->second.value)) continue;
        if (kind == NodeKind::store) {
          for (const Node& load : kernel.nodes)
            if (load.kind == NodeKind::load && program.memory_of(load.tensor) == memory)
              reject("{} puts {} into memory from which it reads {}", kernel.name, name(value),
                     name(program.value_of(load.tensor)));
          contents.insert_or_assign(memory, Contents{value, kernel.name});
        } else if (there == contents.end()) {
          reject("{} reads {} from the memory of {}, where no kernel has put it yet", kernel.name, name(value),
                 name(memory));
        } else {
          reject("{} reads {} from memory where {} has put {}", kernel.name, name(value), there->second.producer,
                 name(there->second.value));
        }
      }
}

}  // namespace zellige::verify
