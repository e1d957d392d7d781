// The proofs of a plan. Nothing that the emitter takes for granted is left to a compiler, a driver or a run to find. Each of these throws
// Rejected with what is wrong, where, and the two values that clash. A kernel's memory must be placed (place_buffers()).
#pragma once
#include "target/target.hpp"
#include "verify/words.hpp"

namespace zellige::verify {

// ---- of a source, which may say anything ----

/// Proves that a tile program is one: that the operands of each node have the shapes and types from which its kind yields the node's
/// shape and dtype. All other proofs, and the emitter, take that for granted.
void verify_tile_program(const TileProgram&);

/// Proves that each layout is a blocked layout, one of accumulators, one of the summands of a reduction, or one of the rows of another
/// layout of the kernel: the emitter prints loops for these, and the planner has no other way to make layouts. Of a layout only its
/// parameters are taken (threads, vector, order, warps, instruction): the layout that they make is built again and compared, so that
/// no stride or extent can say anything else.
///
///   layout t1 (128,128) (256,(8,8),1):(8@0,(1@0,2048@0),_0) in ((8,16,128)):((1@1,8@1,1@0))
///   // is blocked_layout({128, 128}, {1, 0}, 8, 256): each element once; half the chunks, or a stride of 0, is refused
void verify_forms(const Kernel&);

// ---- of the kernels of a program, in launch order ----

/// Proves that no kernel reads a tensor after its memory has been overwritten in place: follows which tensor's value each allocation
/// of device memory contains, and compares that tensor with the one that each load expects. No kernel both reads a tensor and
/// overwrites it in place.
void verify_memory(const TilePrograms&);

/// Proves what kernels take for granted of tensors in device memory. Throws Rejected if
///
/// - the strides of a tensor are not those of distinct elements, or reach too far;
/// - a view is no part of the tensor whose memory it lies in, or has another dtype;
/// - a tensor takes the memory of another one and is no view of it, or the other one is no input or is constant;
/// - a kernel stores to an input whose memory no tensor takes;
/// - two stores write the same element, unless all of the memory is written before the later one's kernel, which changes it;
/// - a kernel reads what no kernel before it has stored, or the program ends before all of an output is stored.
///
/// Of a store by indices nothing is known but that it changes memory that is written already.
void verify_tensors(const TilePrograms&);

// ---- of a kernel ----

/// Proves that a schedule is free of races, reads of unwritten data, deadlocks, asynchronous copies without a wait and missing proxy
/// fences. Throws DoesNotFit if the target lacks what the schedule needs. The message names the warp roles, steps and tensor, and what is
/// missing: "kernel: consumer reads sA[0] in step 'wgmma' of iteration 3, but ...".
///
/// The steps of all warp roles (agents) are executed symbolically, with one vector clock component per agent, per agent and kind of
/// asynchronous group, and per channel (a ring of shared-memory stages between warp roles). Long loops are shortened to enough iterations
/// to use every stage twice. docs/explanation/verifier.md has the rules and the proof.
void verify(const kernel::Kernel&, const target::Target&);

/// Returns a number of iterations such that a longer loop is proved where all shorter ones are: verify() shortens it to one of them that
/// uses the same stages.
std::int64_t distinct_trip_counts(const Kernel&);

/// Proves that the steps of each warp role do each work exactly once: a step that is missing leaves a value that is declared and read,
/// and a step too many adds a product or a partial result twice. The iterations in which a step does its work follow from the loops
/// around it, from its prefetch distance, and, of an asynchronous product, from the iteration whose stage it reads.
///
///   async_work "mma" peeled ...      reads sA[i mod 4]          iteration 0
///   loop iterations from 0 to 7
///     async_work "mma" ...           reads sA[(i+1) mod 4]      iterations 1 to 7: together each of 8 once
///
/// - A work is done once in each iteration if it belongs inside the loop, and otherwise once, in no loop over iterations.
/// - Each state of the loop that is read (accumulators, sums, a running maximum) is updated by some step.
/// - A loop's state starts once, before that, and the step that is said to begin a sum is its first one.
/// - Loops over slices, and loops whose bounds depend on a mask, are those that the layouts and the mask ask for.
void verify_iterations(const Kernel&);

/// Proves that the works of a layout are on tiles of its shape, by the number of threads that carry out their steps, that no value is
/// in two layouts, and that all steps that do the same with a value do it in the same way.
void verify_layouts(const Kernel&);

/// Proves that each tensor in shared memory has the dtype and shape of its value, and the padding that the instructions read that
/// multiply it; the swizzle and boxes of TMA or wgmma, if these address it; stages, if copies fill it in each iteration; partial
/// results, if threads leave such.
void verify_buffers(const Kernel&);

/// Proves that
///
/// - every layout in shared memory stays inside the tensor's memory, no two elements have the same address, and every vector of 16
///   bytes is aligned;
/// - every copy into shared memory is aligned to its access width;
/// - the zeros that a matmul reads in the padding of an operand's tile are written.
void verify_bounds(const Kernel&);

/// Proves that the blocks of a kernel store each element of what it stores exactly once, and access no element beyond its tensors. The
/// map from block and coordinate in the tile to the tensor's coordinate is read off the store's view, as a number in mixed radix:
///
///   grid (4,3)   view (by, -) -> (_3,_1,_128):(_128,_0,_1) from 0 to 384     // by has the digit 3: all of 3
///                view (bx, -) -> (_4,_1,_128):(_128,_0,_1) from 0 to 512     // bx has the digit 4: all of 4
///
/// Each axis of the grid has to be the product of the digits that number tiles along it; a third axis of 2 would be left, and two
/// blocks would store each tile.
///
/// - Every tile of a load or store stays inside its tensor or has a bounds check, for all values of the program's sizes.
/// - Different blocks store different tiles, and the tiles of all blocks cover the tensor from where the store begins to where it ends.
/// - Blocks that take several tiles take all tiles, each once, in whole clusters.
/// - Tensors that are stored with indices, whose places are known at run time, are so for all indices.
void verify_coverage(const Kernel&, const TilePrograms&);

/// Throws Rejected unless each part of a tensor that a kernel stores from a size on begins where another part ends, so that parts
/// neither overlap nor leave elements between them at any value of the size. The programs have their kernels as they are planned.
void verify_parts(const TilePrograms&);

/// Proves what steps take for granted of the instructions that they name, and of the target.
///
/// - A product and a copy are by the instruction that the target has for them: the types and columns that it multiplies, the memories
///   between which it copies, the bytes of an access.
/// - Accesses to global memory are aligned to their width, by the strides and places of their tensors.
/// - A tensor map can be encoded.
/// - Mbarriers are aligned, disjoint, and within the block's shared memory.
void verify_instructions(const Kernel&, const TilePrograms&, const target::Target&);

/// Proves that what a step says of itself is what the emitter makes of it. verify() believes these facts of steps; here they are
/// derived again from the work, its layout and its tensors. Each step of a warp role that does work
///
/// - is a copy or an asynchronous product if its instruction completes later, with the channel by which it does, and a computation
///   otherwise;
/// - writes the tensor of its work and no other, at the stage that the emitter gives it;
/// - reads at the stage of its iteration, and says what it accesses in global memory;
/// - copies the part of a tile that its rank has to copy.
void verify_step_facts(const Kernel&, const TilePrograms&);

/// Proves that works (matmuls, loop nests, ...) find the right values in registers: for each value that one reads from a register, an
/// earlier one has left that value in the same register of the same thread. This covers accumulators that become A fragments, fragments
/// and loop states that elementwise works read, partial results of reductions, and accumulators that are computed one slice of N at a
/// time. Where a buffer is read without a barrier, it proves that each thread reads only what it wrote. The thread-value layouts are
/// evaluated from the instruction descriptors (fragments.hpp), independently of the planner's decisions.
void verify_registers(const Kernel&);

}  // namespace zellige::verify
