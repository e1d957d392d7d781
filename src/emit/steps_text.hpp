// The source of a schedule, step by step. Used only by the emitter.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emit/kernel_text.hpp"
#include "kernel/evaluation.hpp"
#include "kernel/widened.hpp"

namespace zellige::emit {

// steps_text.cpp
/// Emits the code of steps, in order. Adjacent steps that can share a loop nest are emitted as one.
void run(const KernelText&, const StepPlace&, const std::vector<kernel::Step>&);
/// Returns whether the variable `trips` is declared before the kernel's steps: a length that all of them know decides it.
bool reads_trips_first(const kernel::Kernel&);
/// Emits the variable `trips`: the number of iterations of which a mask leaves something.
void declare_masked_trips(const KernelText&);
/// Emits the variable `name`: the integer that a load has for the block, from 0 to the number of keys; of one for each of its rows
/// the minimum or the maximum. Rows beyond the tensor's end have none.
void declare_of_rows(const KernelText&, const std::string& name, int load, bool maximum);
/// Emits the declaration of the registers that hold the value of a node in a thread-value layout.
void registers(const KernelText&, int node, const Context&);
/// Returns whether a `start` step has declared what the node's value is accumulated in.
bool started(const KernelText&, int node);
/// Emits the declaration of a reduction's partial results, with their initial values.
void sum_declaration(const KernelText&, const Work&);

// role_text.cpp: warp roles, their shared-memory rings, TMA copies and synchronisation.
/// Emits the kernel's setup, the code of every warp role, and the teardown.
void roles(const KernelText&);
/// Emits the loop of a persistent block over its output tiles.
void tiles(const KernelText&, const StepPlace&, const kernel::Loop&);
void handover(const KernelText&, const StepPlace&, const kernel::Step&, const kernel::Sync&);
void box(const KernelText&, const StepPlace&, const kernel::Step&, const kernel::Copy&);
void issue(const KernelText&, const Work&, bool peeled);
/// A channel, and the position of a buffer's tile among those that the channel fills.
struct InRing {
  int channel, tile;
};
std::optional<InRing> in_ring(const KernelText&, int buffer);
/// Returns the stage of a channel's ring that the agent has acquired.
Index ring_stage(const KernelText&, int channel);
/// Returns a buffer's tile at the stage of its ring that the agent has acquired.
std::string ring_tile(const KernelText&, int buffer);
/// Returns the name of the TMA descriptor of a load or store.
std::string map_name(const KernelText&, int node);

// copy_text.cpp: copies of tiles from global to shared memory.
void copy_in(const KernelText&, const kernel::Step&, const Index& stage, const Index& iteration);
void fetch(const KernelText&, const StepPlace&, const Work&);

// widened_text.cpp: operands that are widened in registers, by a product's step or by one of their own.
void widened_product(const KernelText&, const StepPlace&, const Work&, const kernel::WidenedOperand&);
void widened_rows(const KernelText&, const StepPlace&, const Work&, const kernel::WidenedOperand&);
void bytes_declaration(const KernelText&, const Work&, const kernel::WidenedOperand&);

// evaluate_text.cpp
/// Emits a matmul by mma.sync or by multiply-adds.
void mma(const KernelText&, const StepPlace&, const Work&);
/// Returns operand `side` of a matmul, which is in shared memory, as a tile with coordinates (batch, row, column).
std::string operand_tile(const KernelText&, const StepPlace&, const Work&, int side);
/// Emits the declaration of A fragments, with zeros if some threads do not write all elements, which are multiplied, too.
void operand_declaration(const KernelText&, const Work&);
/// Emits one loop nest for the works of steps with one thread-value layout, after the declarations of their results.
void nest(const KernelText&, const StepPlace&, kernel::StepSpan);

// reduce_text.cpp: reductions across lanes, and stores of tiles from shared to global memory.
void lanes_nest(const KernelText&, const StepPlace&, const kernel::Step&);
void finish(const KernelText&, const Work&);
void staged_store(const KernelText&, const StepPlace&, const Work&);

}  // namespace zellige::emit
