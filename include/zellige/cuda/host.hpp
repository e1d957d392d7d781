// The functions of the emulator that a CUDA program calls, which `zellige emulate` has compiled for the CPU. The program
// is a shared library; the emulator sets `host` before it calls the program's main.
#pragma once
#include <cstddef>
#include <cstdint>

#include "zellige/emulate/thread.hpp"

namespace zellige::cuda {

/// A grid or a block, as a launch gives it.
struct Extent {
  unsigned x = 1, y = 1, z = 1;
};

/// A kernel launch: the kernel's name as the source has it, its configuration, and a function object that calls the
/// kernel with its arguments.
struct KernelCall {
  const char* kernel = "";
  Extent grid, block, cluster;
  std::size_t shared_bytes = 0;
  bool cooperative = false;
  const void* closure = nullptr;
  std::size_t closure_bytes = 0;
  void (*run)(const void* closure) = nullptr;
};

/// A call for findings: its return address and the frame of the function that makes it.
struct CallSite {
  std::uintptr_t address = 0, frame = 0;
};

/// Which memory an allocation is: of the device alone, of device and host, or a `__constant__`, `__device__` or
/// `__shared__` variable.
enum class MemoryKind : int { device, managed, constant, variable, shared };

/// A `__constant__`, `__device__` or `__shared__` variable of the program. They form a list, which the emulator reads
/// before main.
struct Declaration {
  inline static Declaration* first = nullptr;

  void* address;  // null: shared
  std::size_t bytes, alignment;
  MemoryKind kind;
  const char* name;
  Declaration* next;
  // of a shared variable, set by the emulator: its offset in the block's shared memory, and whether the launch has used it
  unsigned offset = 0;
  mutable bool used = false;

  Declaration(void* p, std::size_t n, std::size_t align, MemoryKind k, const char* the_name)
      : address(p), bytes(n), alignment(align), kind(k), name(the_name), next(first) {
    first = this;
  }
};

/// Changes the value of an atomic; `with`: the operation's function object.
using AtomicChange = void (*)(void* value, void* with);
/// Computes the results of a warp collective. lanes: mask of those that take part; in[i] and out[i]: of lane i.
using LanesCompute = void (*)(void* compute, std::uint32_t lanes, const void* const* in, void* const* out);

/// An operand of a statement of inline PTX.
struct PtxOperand {
  void* result = nullptr;  // where the result goes; null: it is none
  // the operand, if it is a variable of 4 bytes: instructions that run asynchronously read it later
  const void* variable = nullptr;
  unsigned long long value = 0;  // of an operand that is no result
  unsigned char bytes = 0;
  bool reads = false;          // of a result: the statement reads it, too ("+r")
  const char* text = nullptr;  // of "C"(s): a string that is a part of the statement
};

/// The arguments of cuTensorMapEncodeTiled, and of cuTensorMapEncodeIm2col if `lower` is not null.
struct TensorMapCall {
  void* map;
  int element;
  unsigned rank;
  void* address;
  const unsigned long long *extents, *strides;
  const unsigned *box, *element_strides;
  int interleave, swizzle, promotion, fill;
  const int *lower, *upper;
  unsigned channels, pixels;
};

/// Products of matrices by columns, D = f(alpha A B + beta C + bias), where A and B may be transposed.
struct MatrixProduct {
  /// A matrix: its first element, its cudaDataType_t, and how many elements lie between columns, and between matrices of a batch.
  struct Operand {
    const void* p = nullptr;
    int type = 0;
    long long pitch = 0, stride = 0;
  };
  enum class Function : int { none, relu, gelu, gelu_slope };
  // results: a cublasStatus_t
  static constexpr int invalid = 7, not_supported = 15;

  bool transpose_a, transpose_b;
  int m, n, k, batch;
  double alpha, beta;
  Operand a, b, c, d;
  Operand bias{};  // one number for each row, or none
  Operand aux{};   // gelu: where its operands go; gelu_slope: where they lie
  Function function = Function::none;
};

/// The emulator's functions. Those of the host return a cudaError_t.
struct Host {
  // Called by the compiler's instrumentation.
  void (*access)(const void* p, std::size_t bytes, bool writes, CallSite);
  void (*volatile_access)(const void* p, std::size_t bytes, bool writes, CallSite);
  void (*bad_index)(const char* type, long long index, CallSite);
  void (*bad_alignment)(const char* type, const void* p, std::size_t alignment, CallSite);
  // Of the host.
  void (*launch)(const KernelCall&);
  int (*allocate)(void** out, std::size_t bytes, MemoryKind, const char* name);
  int (*release)(void* p);
  int (*copy)(void* to, const void* from, std::size_t bytes, int kind);
  int (*copy_2d)(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t height, int kind);
  int (*fill)(void* p, int value, std::size_t bytes);
  int (*error)(int set);  // returns the last error; `set`: the next one, or -1 to keep it
  void (*allow_shared)(const char* kernel, std::size_t bytes);
  std::size_t (*memory)(bool free);  // bytes of device memory
  int (*kind_of)(const void* p);     // 0: memory of the host, 1: of the device, 2: managed
  int (*multiply)(const MatrixProduct&);
  // Of kernels.
  void* (*static_shared)(const Declaration&);
  void* (*dynamic_shared)(const char* name);
  void (*converge)(std::uint32_t mask, const void* in, void* out, LanesCompute, void* with, const char* what);
  std::uint32_t (*active)();
  bool (*atomic)(void* p, unsigned bytes, AtomicChange, void* with);
  void (*fence)(bool of_block);
  int (*vote_block)(bool predicate, int what);  // 0: count, 1: and, 2: or; also a barrier of the block
  void (*grid_sync)();
  void (*assert_failed)(const char* condition, const char* function);
  void (*trap)();
  std::uint64_t (*clock)();
  // an error of the kernel, at the call; of_mask: the mask of a collective is wrong
  void (*fault)(const char* message, bool of_mask);
  void (*cp_async)(void* to, const void* from, unsigned bytes, unsigned valid);
  unsigned (*shared_address)(const void* p);  // the offset of p in the block's shared memory
  void* (*shared_pointer)(unsigned address);
  void (*ptx)(const char* statement, const PtxOperand*, unsigned operands);
  int (*encode_tensor_map)(const TensorMapCall&);
  void* (*map_shared)(void* p, unsigned rank);  // p of another block of the cluster
};

/// The emulator, set by `zellige emulate`.
inline const Host* host = nullptr;

}  // namespace zellige::cuda
