// Defines the tiles of generated kernels: a pointer and a layout, which map a coordinate to an address. read and write
// access several adjacent elements at an address at once, and convert them to and from float32 (or double, or int).
//
//   // name "X", at byte 0 of shared memory, 512 elements; W is at byte 1024
//   const auto sX = shared_tile<half_t, Layout<Shape<_8, _64>, Stride<_64, _1>>>("X", 0, 512);
//   const auto sW = shared_tile<half_t, Swizzled<3, 3, 3, Layout<Shape<_8, _64>, Stride<_64, _1>>>>("W", 1024, 512);
//   Vec<float, 8> x = read<8>(sX(row, 8 * chunk));        // one 16-byte load, converted to float32
//   write<8>(sX(row, 8 * chunk), x);                      // rounded to half_t, one 16-byte store
//
// A static layout is passed as a type, of which no object is created. NVRTC then instantiates no class of the layout
// library; instantiating them would be two thirds of a tile's compile time. shared_tile<half_t>("X", 0, 512, layout)
// accepts a layout by value.
#pragma once
#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/cast.hpp>
#include <zellige/atom/convert.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/math.hpp>
#include <zellige/atom/tfloat32.hpp>
#include <zellige/atom/vec.hpp>
#include <zellige/block/float64.hpp>
#include <zellige/layout/names.hpp>
#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/access.hpp>
#include <zellige/atom/cp_async.hpp>
#endif
#if defined(ZELLIGE_EMULATE)
#include <zellige/emulate/arrangement.hpp>
#endif

namespace zellige {

/// A pointer with a layout: tile(coordinates...) returns the address of an element. Index is the type of offsets: int,
/// or long long for tensors of more than 2^31 elements, whose coordinates must nevertheless fit an int.
template <class Pointer, class Layout, class Index = int>
struct AddressTile {
  Pointer data;
  [[no_unique_address]] Layout layout = {};

  template <class... Coordinate>
  ZELLIGE_CALL Pointer operator()(Coordinate... c) const {
    if constexpr (sizeof(Index) > sizeof(int))
      return data + layout(Index(c)...);
    else
      return data + layout(c...);
  }
  /// Returns a tile with the same layout that begins `elements` elements after this one, such as another stage of a
  /// ring.
  ZELLIGE_CALL AddressTile shift(int elements) const { return {data + elements, layout}; }
};

namespace detail {
// index_of, index_of_mode: Index, once per element of a parameter pack.
template <class, class Index>
using index_of = Index;
template <auto, class Index>
using index_of_mode = Index;

/// True if the extents and strides of a layout mode are compile-time constants, and the mode is not nested deeper than
/// one level.
template <class S, class D>
inline constexpr bool is_static_mode = false;
template <auto s, auto d>
inline constexpr bool is_static_mode<C<s>, C<d>> = true;
template <auto... s, auto... d>
inline constexpr bool is_static_mode<tuple<C<s>...>, tuple<C<d>...>> = true;

/// offset(c) returns what coordinate c of a static mode contributes to the offset. In a mode with several sub-modes, c
/// is a linear index, the first sub-mode fastest.
template <class S, class D>
struct static_mode;
template <auto s, auto d>
struct static_mode<C<s>, C<d>> {
  template <class Index>
  ZELLIGE_CALL static Index offset(Index c) {
    return c * d;
  }
};
template <auto s, auto... rest, auto d, auto... steps>
struct static_mode<tuple<C<s>, C<rest>...>, tuple<C<d>, C<steps>...>> {
  template <class Index>
  ZELLIGE_CALL static Index offset(Index c) {
    if constexpr (sizeof...(rest) == 0)
      return c * d;
    else
      return c % s * d + static_mode<tuple<C<rest>...>, tuple<C<steps>...>>::offset(c / s);
  }
};
}  // namespace detail

/// AddressTile for static layouts, as in generated kernels. This specialisation computes offsets without instantiating
/// the layout library's classes, so it compiles fast.
template <class Pointer, auto... s, auto... d, class Index>
struct AddressTile<Pointer, Layout<tuple<C<s>...>, tuple<C<d>...>>, Index> {
  Pointer data;

  ZELLIGE_CALL Pointer operator()(detail::index_of_mode<s, Index>... c) const { return data + (... + (c * d)); }
  ZELLIGE_CALL AddressTile shift(int elements) const { return {data + elements}; }
};
template <class Pointer, class... S, class... D, class Index>
requires(detail::is_static_mode<S, D>&&...) struct AddressTile<Pointer, Layout<tuple<S...>, tuple<D...>>, Index> {
  Pointer data;

  ZELLIGE_CALL Pointer operator()(detail::index_of<S, Index>... c) const {
    return data + (... + detail::static_mode<S, D>::offset(c));
  }
  ZELLIGE_CALL AddressTile shift(int elements) const { return {data + elements}; }
};
/// Specialization of AddressTile, a pointer with a layout, for static layouts with a swizzle. The swizzle permutes
/// the offsets that the layout returns.
template <class Pointer, int B, int M, int S, class... Modes, class... Strides, class Index>
requires(B > 0 && S > 0 &&
         (detail::is_static_mode<Modes, Strides> &&
          ...)) struct AddressTile<Pointer, Swizzled<B, M, S, Layout<tuple<Modes...>, tuple<Strides...>>>, Index> {
  Pointer data;

  ZELLIGE_CALL Pointer operator()(detail::index_of<Modes, Index>... c) const {
    const Index offset = AddressTile<Index, Layout<tuple<Modes...>, tuple<Strides...>>, Index>{0}(c...);
    return data + (offset ^ ((offset & ((1 << B) - 1) << (M + S)) >> S));
  }
  ZELLIGE_CALL AddressTile shift(int elements) const { return {data + elements}; }
};

#if defined(ZELLIGE_EMULATE)
/// Returns `data`, tagged with Layout on the emulator, which reports reads through an incompatible layout. If the
/// memory consists of equal parts (the stages of a ring, or partial results), `part` is the number of elements of one
/// part, else 0. `stages` is true for the stages of a ring.
template <class Layout, class T>
ZELLIGE_CALL emulate::pointer<T> arranged(emulate::pointer<T> data, unsigned part = 0, bool stages = false) {
  static constexpr emulate::Arrangement a = emulate::arrangement(Layout{}, sizeof(T));
  if (!a.known || data.region->space != emulate::Space::shared) return data;
  const emulate::Parts parts{part * unsigned(sizeof(T)), stages};
  emulate::Thread& t = emulate::self();
  return {data.p, t.engine->arranged(t, data.region, a, part ? &parts : nullptr)};
}
#else
template <class Layout, class Pointer>
ZELLIGE_CALL Pointer arranged(Pointer data, unsigned = 0, bool = false) {
  return data;
}
#endif

/// Returns a tile of `count` elements that begins at byte `byte_offset` of shared memory. The emulator uses `name` in
/// its error reports.
template <class T, class Layout>
ZELLIGE_CALL AddressTile<smem<T>, Layout> shared_tile(const char* name, unsigned byte_offset, unsigned count) {
  return {arranged<Layout>(shared<T>(name, byte_offset, count))};
}
/// Returns the first of `Stages` contiguous tiles with `count` elements in total, from byte `byte_offset` of shared
/// memory on; AddressTile::shift returns the other tiles. Layout is that of one tile. The emulator checks that every
/// filled stage is read, and that no outdated stage is read.
template <class T, int Stages, class Layout>
ZELLIGE_CALL AddressTile<smem<T>, Layout> shared_ring(const char* name, unsigned byte_offset, unsigned count) {
  return {arranged<Layout>(shared<T>(name, byte_offset, count), count / Stages, true)};
}
/// Returns a tile of `Sums` partial results in shared memory: the first mode of Layout selects a partial result, the
/// others an element. read_sum or read_max combines the partial results; the emulator checks that all of them are read.
template <class T, int Sums, class Layout>
ZELLIGE_CALL AddressTile<smem<T>, Layout> shared_sums(const char* name, unsigned byte_offset, unsigned count) {
  unsigned part = 0;  // elements of one partial result; 0 with a swizzle, which may interleave them
#if defined(ZELLIGE_EMULATE)
  static_assert(int(size<0>(Layout{})) == Sums, "shared_sums: the layout's first mode counts the partial results");
  if constexpr (!is_composed_layout_v<Layout>) part = unsigned(int(Layout{}.template stride<0>()));
#endif
  return {arranged<Layout>(shared<T>(name, byte_offset, count), part)};
}
template <class T, class Layout>
ZELLIGE_CALL AddressTile<smem<T>, Layout> shared_tile(const char* name, unsigned byte_offset, unsigned count, Layout) {
  return shared_tile<T, Layout>(name, byte_offset, count);
}
template <class T, int Stages, class Layout>
ZELLIGE_CALL AddressTile<smem<T>, Layout> shared_ring(const char* name, unsigned byte_offset, unsigned count, Layout) {
  return shared_ring<T, Stages, Layout>(name, byte_offset, count);
}

/// Returns a tile in global memory with the given layout that begins at `data`. Index is the type of its offsets.
template <class Layout, class Index = int, class Pointer>
ZELLIGE_CALL AddressTile<Pointer, Layout, Index> global_tile(Pointer data) {
  return {data};
}

/// Returns the smaller of `index` and `last`. For an index beyond the end of a tile, kernels read the element at the
/// returned index instead, and discard its value.
template <class Index>
ZELLIGE_CALL Index at_most(Index index, int last) {
  return index < last ? index : last;
}

/// Returns the integer stored at `number`, such as the index of a gathered row, clamped to 0 ... `last`.
template <class Pointer>
ZELLIGE_CALL int numbered(Pointer number, int last) {
  return min(max(static_cast<int>(load<1>(number)[0]), 0), last);
}

/// Returns how many of a chunk's `whole` elements exist, if `left` elements remain from the chunk's first one on:
/// `left` clamped to 0 ... `whole`.
ZELLIGE_CALL int edge(int left, int whole) { return left < 0 ? 0 : left < whole ? left : whole; }

/// Returns a tile of the same memory with the layout `Layout` in place of `Old`.
template <class Layout, class Pointer, class Old>
ZELLIGE_CALL AddressTile<Pointer, Layout> view(const AddressTile<Pointer, Old>& tile) {
  return {arranged<Layout>(tile.data)};
}

/// A view of the columns from `first` on of a tile with coordinates (batch, row, column).
template <class View>
struct ColumnsFrom {
  View tile;
  int first;
  ZELLIGE_CALL auto operator()(int b, int row, int column) const { return tile(b, row, column + first); }
};
template <class View>
ZELLIGE_CALL ColumnsFrom<View> columns_from(View tile, int first) {
  return {tile, first};
}

/// The type to which a pointer points, on the device or on the emulator.
template <class T>
struct pointee;
template <class T>
struct pointee<T*> {
  using type = T;
};
#if defined(ZELLIGE_EMULATE)
template <class T>
struct pointee<emulate::pointer<T>> {
  using type = T;
};
#endif

/// Returns x with its elements converted to the type in which kernels compute: float32 for floating-point elements, int
/// for integers.
template <class T, int N>
ZELLIGE_CALL Vec<register_t<T>, N> widened(const Vec<T, N>& x) {
  Vec<register_t<T>, N> result;
#pragma unroll
  for (int i = 0; i < N; ++i) result[i] = static_cast<register_t<T>>(x[i]);
  return result;
}

/// Returns the N adjacent elements at `from` as float32 (integers as int), loaded in one access of at most 16 bytes.
template <int N, class Pointer>
ZELLIGE_CALL auto read(Pointer from) {
  return widened(load<N>(from));
}

/// Writes the N elements x[at], x[at + 1], ..., rounded to the type of `to`, in one access.
template <int N, class Pointer, class Register, int M>
ZELLIGE_CALL void write(Pointer to, const Vec<Register, M>& x, int at = 0) {
  using T = typename pointee<Pointer>::type;
#if defined(ZELLIGE_EMULATE)
  if constexpr (emulate::number_bytes<Register> == 4)
    emulate::look_for_unwritten<4>(&x.values[at], 4 * N, emulate::Use::stores);
#endif
  Vec<T, N> v;
  if constexpr (sizeof(T) == 2 && N % 2 == 0 && detail::is_float_register<T>) {
    Vec<uint32_t, N / 2> packed;
#pragma unroll
    for (int i = 0; i < N / 2; ++i) packed[i] = pack<T>(x[at + 2 * i], x[at + 2 * i + 1]);
    v = bit_cast<Vec<T, N>>(packed);
  } else if constexpr (requires { T::pack(0.f, 0.f); }) {
    // Converts with the instruction for two values: ptxas (CUDA 13.0) merges the conversions of adjacent single values,
    // and moves them before the wait for the wgmma that computes these values.
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] = bit_cast<Vec<T, 2>>(pack<T>(x[at + i], 0))[0];
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] = rounded<T>(x[at + i]);
  }
  store(to, v);
}

/// Writes x[at] to the address `first` and x[at + 1] to the address `second`. Rounds both in one instruction if the
/// type has a packed conversion.
template <class Pointer, class Register, int M>
ZELLIGE_CALL void write_apart(Pointer first, Pointer second, const Vec<Register, M>& x, int at = 0) {
  using T = typename pointee<Pointer>::type;
  if constexpr (requires { T::pack(0.f, 0.f); }) {
#if defined(ZELLIGE_EMULATE)
    emulate::look_for_unwritten<4>(&x.values[at], 8, emulate::Use::stores);
#endif
    const auto v = bit_cast<Vec<T, 2>>(pack<T>(x[at], x[at + 1]));
    store(first, Vec<T, 1>{{v[0]}});
    store(second, Vec<T, 1>{{v[1]}});
  } else {
    write<1>(first, x, at);
    write<1>(second, x, at + 1);
  }
}

/// Returns the concatenation of one or more vectors of N elements each.
template <class Register, int N>
ZELLIGE_CALL Vec<Register, N> join(const Vec<Register, N>& x) {
  return x;
}
template <class Register, int N, class... Rest>
ZELLIGE_CALL auto join(const Vec<Register, N>& x, const Rest&... rest) {
  Vec<Register, N*(1 + static_cast<int>(sizeof...(rest)))> result;
  const Vec<Register, N> parts[] = {x, rest...};
#pragma unroll
  for (int p = 0; p < 1 + static_cast<int>(sizeof...(rest)); ++p)
#pragma unroll
    for (int i = 0; i < N; ++i) result[p * N + i] = parts[p][i];
  return result;
}

/// Reports an error on the emulator if `Parts` is not the number of partial results in the tile. Does nothing on the
/// device.
template <int Parts, class Pointer, class Layout>
ZELLIGE_CALL void check_parts([[maybe_unused]] const AddressTile<Pointer, Layout>& tile) {
#if defined(ZELLIGE_EMULATE)
  const int have = size<0>(Layout{});
  if (have == Parts) return;
  char text[160];
  __builtin_snprintf(text, sizeof(text), "it puts %d partial results of a tile of %d together", Parts, have);
  emulate::fail_at(tile.data.region->name, text);
#endif
}

/// Returns N adjacent elements, each the sum of its `Parts` partial results. The N elements of partial result p begin
/// at tile(p, c...).
template <int N, int Parts, class Pointer, class Layout, class... Coordinate>
ZELLIGE_CALL auto read_sum(const AddressTile<Pointer, Layout>& tile, Coordinate... c) {
  check_parts<Parts>(tile);
  auto x = read<N>(tile(0, c...));
#pragma unroll
  for (int p = 1; p < Parts; ++p) {
    const auto y = read<N>(tile(p, c...));
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = sum_of(x[i], y[i]);
  }
  return x;
}

/// Returns N adjacent elements, each the maximum of its `Parts` partial results. The N elements of partial result p
/// begin at tile(p, c...).
template <int N, int Parts, class Pointer, class Layout, class... Coordinate>
ZELLIGE_CALL auto read_max(const AddressTile<Pointer, Layout>& tile, Coordinate... c) {
  check_parts<Parts>(tile);
  auto x = read<N>(tile(0, c...));
#pragma unroll
  for (int p = 1; p < Parts; ++p) {
    const auto y = read<N>(tile(p, c...));
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = max(x[i], y[i]);
  }
  return x;
}

/// Returns N adjacent elements, each what join(x, y) makes of its `Parts` partial results, like read_sum.
template <int N, int Parts, class Pointer, class Layout, class Join, class... Coordinate>
ZELLIGE_CALL auto read_joined(const AddressTile<Pointer, Layout>& tile, const Join& join, Coordinate... c) {
  check_parts<Parts>(tile);
  auto x = read<N>(tile(0, c...));
#pragma unroll
  for (int p = 1; p < Parts; ++p) {
    const auto y = read<N>(tile(p, c...));
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = join(x[i], y[i]);
  }
  return x;
}

}  // namespace zellige
