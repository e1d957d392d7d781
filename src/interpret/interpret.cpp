#include "interpret/interpret.hpp"

#include "interpret/block.hpp"
#include "reference/parallel.hpp"

namespace zellige::interpret {

Memory interpret(const tile::TilePrograms& program, const std::vector<reference::Array>& inputs, Rounding rounding) {
  Memory memory(program, inputs);
  for (std::size_t k = 0; k < program.kernels.size(); ++k) {
    const tile::TileProgram& p = program.kernels[k];
    const std::int64_t blocks = p.grid.count();
    const int threads = static_cast<int>(std::min<std::int64_t>(reference::hardware_threads(), blocks));
    std::vector<InterpretedBlock> workers(threads, InterpretedBlock(program, p, static_cast<int>(k), rounding, memory));
    reference::parallel_for(blocks, threads, [&](std::int64_t index, int worker) {
      const std::int64_t x = index % p.grid.x, yz = index / p.grid.x;
      workers[worker].run({x, yz % p.grid.y, yz / p.grid.y});
    });
  }
  return memory;
}

}  // namespace zellige::interpret
