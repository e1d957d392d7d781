// The emulator's part of multiply.hpp. A warp's step over K consists of many warp-collective instructions. On the emulator
// each of them suspends 32 threads, so a step is two collectives: one in which all of its ldmatrix are executed, and one for
// all of its matrix instructions. What is executed, checked and counted is the same.
//
//   MatrixLoads<6> loads;                                        // of a thread; its registers are not filled with a pattern
//   load_a<...>(unused, a, b, m, k, lane, loads.later()), ...    // names the rows that the thread addresses
//   loads.execute();
//   load_a<...>(fragment, a, b, m, k, lane, loads.loaded()), ... // takes what they have loaded, in the same order
#pragma once
#include <zellige/atom/ldmatrix.hpp>
#include <zellige/atom/mma.hpp>

namespace zellige {

/// The ldmatrix of a thread in one step, at most Count.
template <int Count>
class MatrixLoads {
  struct Load {
    unsigned char* row;
    const emulate::Region* region;
    const Instruction* instruction;
    const char* name;
    unsigned matrices;
    uint32_t r[4];
  };

  template <bool transposed, int Matrices>
  static constexpr const char* row_name() {
    using namespace ldmatrix_rows;
    return transposed ? (Matrices == 4   ? x4_trans
                         : Matrices == 2 ? x2_trans
                                         : x1_trans)
                      : (Matrices == 4   ? x4
                         : Matrices == 2 ? x2
                                         : x1);
  }
  template <bool transposed, int Matrices>
  static constexpr const char* call_name() {
    return transposed ? (Matrices == 4   ? "ldmatrix_x4_trans"
                         : Matrices == 2 ? "ldmatrix_x2_trans"
                                         : "ldmatrix_x1_trans")
                      : (Matrices == 4   ? "ldmatrix_x4"
                         : Matrices == 2 ? "ldmatrix_x2"
                                         : "ldmatrix_x1");
  }

  // Executes load number i for the 32 lanes.
  static void load(MatrixLoads* const* lanes, int i) {
    emulate::Place rows[32];
    const void* safe[32] = {};
    __attribute__((uninitialized)) void* registers[32];
    for (int l = 0; l < 32; ++l) {
      const Load& load = lanes[l]->loads_[i];
      rows[l] = {load.row, load.region}, registers[l] = lanes[l]->loads_[i].r;
    }
    emulate::count(emulate::Counter::ldmatrix);
    emulate::read_rows(rows, lanes[0]->loads_[i].matrices, safe);
    emulate::run_body(*lanes[0]->loads_[i].instruction, {safe, nullptr, nullptr, registers});
  }

 public:
  /// Replaces ldmatrix where a thread names the rows of its loads.
  struct Later {
    static constexpr bool only_names = true;
    template <bool transposed, int Matrices, class T>
    ZELLIGE_CALL void load(uint32_t (&)[Matrices], emulate::pointer<T> row) const {
      Load& load = all->loads_[all->count_++];
      const emulate::Place place = row;
      load.row = place.p, load.region = place.region, load.matrices = Matrices,
      load.name = call_name<transposed, Matrices>();
      load.instruction = &emulated_row<row_name<transposed, Matrices>()>();
    }
    MatrixLoads* all;
  };
  /// Replaces ldmatrix where a thread takes what its loads have loaded.
  struct Loaded {
    static constexpr bool only_names = false;
    template <bool transposed, int Matrices, class T>
    ZELLIGE_CALL void load(uint32_t (&r)[Matrices], emulate::pointer<T>) const {
      __builtin_memcpy(r, all->loads_[all->taken_++].r, sizeof(r));
    }
    MatrixLoads* all;
  };

  ZELLIGE_CALL Later later() { return {this}; }
  ZELLIGE_CALL Loaded loaded() { return {this}; }
  /// Executes the loads, as a warp collective.
  ZELLIGE_CALL void execute() {
    struct Nothing {};
    if (count_ == 0) return;
    const auto compute = [](MatrixLoads* const* lanes, Nothing*) {
      int low = Count, high = 0;
      for (int l = 0; l < 32; ++l) {
        low = lanes[l]->count_ < low ? lanes[l]->count_ : low;
        high = lanes[l]->count_ > high ? lanes[l]->count_ : high;
      }
      if (low != high) emulate::fail_at("", "the lanes of a warp execute different numbers of ldmatrix");
      for (int i = 0; i < low; ++i) load(lanes, i);
    };
    emulate::meet<MatrixLoads*, Nothing>(this, compute, loads_[0].name);
  }

 private:
  Load loads_[Count];
  int count_ = 0, taken_ = 0;
};

/// The matrix instructions Op of a thread in one step: of each of M fragments of A with each of N fragments of B.
template <class Op, int M, int N>
class MatrixProducts {
 public:
  /// Adds the product of fragment i of A and fragment j of B to d. The three must live until `execute` returns.
  ZELLIGE_CALL void add(int i, int j, typename Op::DRegisters& d, const typename Op::ARegisters& a,
                        const typename Op::BRegisters& b) {
    using Numbers = MmaNumbers<Op>;
    if constexpr (Numbers::sum != 0) emulate::look_for_unwritten<Numbers::sum>(d, sizeof(d), emulate::Use::accumulates);
    if constexpr (Numbers::operand != 0) {
      if (!a_[i]) emulate::look_for_unwritten<Numbers::operand>(a, sizeof(a), emulate::Use::multiplies);
      if (!b_[j]) emulate::look_for_unwritten<Numbers::operand>(b, sizeof(b), emulate::Use::multiplies);
    }
    a_[i] = a, b_[j] = b, d_[i * N + j] = d;
  }
  /// Executes the instructions, as a warp collective.
  ZELLIGE_CALL void execute() {
    struct Nothing {};
    const auto compute = [](MatrixProducts* const* lanes, Nothing*) {
      __attribute__((uninitialized)) const void* a[M * 32];
      __attribute__((uninitialized)) const void* b[N * 32];
      __attribute__((uninitialized)) void* d[M * N * 32];
      bool same = true;
      for (int l = 0; l < 32; ++l) {
        for (int i = 0; i < M; ++i) a[i * 32 + l] = lanes[l]->a_[i];
        for (int j = 0; j < N; ++j) b[j * 32 + l] = lanes[l]->b_[j];
        for (int t = 0; t < M * N; ++t) {
          d[t * 32 + l] = lanes[l]->d_[t];
          same = same && !lanes[l]->d_[t] == !lanes[0]->d_[t];
        }
      }
      if (!same) return emulate::fail_at("", "the lanes of a warp multiply different fragments");
      emulate::count(emulate::Counter::mma, emulate::multiply(emulated_row<Op::name>(), M, N, a, b, d));
    };
    emulate::meet<MatrixProducts*, Nothing>(this, compute, Op::name);
  }

 private:
  const void *a_[M] = {}, *b_[N] = {};
  void* d_[M * N] = {};
};

/// The same of an Op that executes other instructions (atom/mma_unpacked.hpp): one after the other.
template <class Op>
struct ComposedProducts {
  ZELLIGE_CALL void add(int, int, typename Op::DRegisters& d, const typename Op::ARegisters& a,
                        const typename Op::BRegisters& b) {
    mma<Op>(d, a, b);
  }
  ZELLIGE_CALL void execute() {}
};

namespace detail {
template <class Op, int M, int N>
struct products_of {
  using type = MatrixProducts<Op, M, N>;
};
template <class Op, int M, int N>
requires requires(typename Op::DRegisters& d, const typename Op::ARegisters& a, const typename Op::BRegisters& b) {
  Op::call(d, a, b);
}
struct products_of<Op, M, N> {
  using type = ComposedProducts<Op>;
};
}  // namespace detail
/// The products of a step by Op, M fragments of A by N of B.
template <class Op, int M, int N>
using StepProducts = typename detail::products_of<Op, M, N>::type;

}  // namespace zellige
