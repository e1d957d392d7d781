// CUDA arrays, pitched memory of three dimensions, and copies between them. An array lies row by row in memory of the device.
#pragma once
#include "zellige/cuda/runtime.hpp"

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone
};
/// An element: the bits of its channels, and what they are.
struct cudaChannelFormatDesc {
  int x = 0, y = 0, z = 0, w = 0;
  cudaChannelFormatKind f = cudaChannelFormatKindNone;
};
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

namespace zellige::cuda {

/// The type of a vector's elements, and their number.
template <class T>
auto element_of(int) -> decltype(T::x);
template <class T>
T element_of(...);
template <class T>
using ChannelType = decltype(element_of<T>(0));
template <class T>
inline constexpr int channels = static_cast<int>(sizeof(T) / sizeof(ChannelType<T>));

__attribute__((no_sanitize("thread"))) inline int bytes_of(const cudaChannelFormatDesc& d) {
  return (d.x + d.y + d.z + d.w) / 8;
}

}  // namespace zellige::cuda

template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using E = ::zellige::cuda::ChannelType<T>;
  constexpr int bits = 8 * sizeof(E), n = ::zellige::cuda::channels<T>;
  constexpr cudaChannelFormatKind kind = E(0.5f) != E(0) ? cudaChannelFormatKindFloat
                                         : E(-1) < E(0)  ? cudaChannelFormatKindSigned
                                                         : cudaChannelFormatKindUnsigned;
  return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0, kind};
}

struct cudaExtent {
  std::size_t width = 0, height = 0, depth = 0;
};
struct cudaPos {
  std::size_t x = 0, y = 0, z = 0;
};
struct cudaPitchedPtr {
  void* ptr = nullptr;
  std::size_t pitch = 0, xsize = 0, ysize = 0;
};
inline cudaExtent make_cudaExtent(std::size_t w, std::size_t h, std::size_t d) { return {w, h, d}; }
inline cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* p, std::size_t pitch, std::size_t x, std::size_t y) {
  return {p, pitch, x, y};
}

/// A CUDA array. Extents that it lacks are 0; `rows` and `slices` are at least 1.
struct cudaArray {
  unsigned char* p = nullptr;
  cudaChannelFormatDesc format;
  cudaExtent extent;
  std::size_t element() const { return static_cast<std::size_t>(::zellige::cuda::bytes_of(format)); }
  std::size_t pitch() const { return extent.width * element(); }
  std::size_t rows() const { return extent.height ? extent.height : 1; }
  std::size_t slices() const { return extent.depth ? extent.depth : 1; }
};
using cudaArray_t = cudaArray*;
using cudaArray_const_t = const cudaArray*;
enum : unsigned {
  cudaArrayDefault = 0,
  cudaArrayLayered = 1,
  cudaArraySurfaceLoadStore = 2,
  cudaArrayCubemap = 4,
  cudaArrayTextureGather = 8
};

inline cudaError_t cudaMalloc3DArray(cudaArray_t* a, const cudaChannelFormatDesc* format, cudaExtent extent,
                                     unsigned = 0) {
  *a = new cudaArray{nullptr, *format, extent};
  return cudaMalloc(::zellige::cuda::named("array", &(*a)->p), (*a)->pitch() * (*a)->rows() * (*a)->slices());
}
inline cudaError_t cudaMallocArray(cudaArray_t* a, const cudaChannelFormatDesc* format, std::size_t width,
                                   std::size_t height = 0, unsigned flags = 0) {
  return cudaMalloc3DArray(a, format, {width, height, 0}, flags);
}
inline cudaError_t cudaFreeArray(cudaArray_t a) {
  const cudaError_t e = cudaFree(a->p);
  return delete a, e;
}
inline cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t a) {
  if (format) *format = a->format;
  if (extent) *extent = a->extent;
  if (flags) *flags = 0;
  return cudaSuccess;
}
inline cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t a) {
  return *format = a->format, cudaSuccess;
}

// Copies: x is in bytes.
inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                       std::size_t pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2D(to->p + y * to->pitch() + x, to->pitch(), from, pitch, width, height, kind);
}
inline cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                         std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2D(to, pitch, from->p + y * from->pitch() + x, from->pitch(), width, height, kind);
}
inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                            std::size_t pitch, std::size_t width, std::size_t height,
                                            cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind);
}
inline cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  return cudaMemcpy(to->p + y * to->pitch() + x, from, bytes, kind);
}
inline cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                       std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpy(to, from->p + y * from->pitch() + x, bytes, kind);
}

inline cudaError_t cudaMalloc3D(cudaPitchedPtr* p, cudaExtent extent) {
  *p = {nullptr, (extent.width + 511) / 512 * 512, extent.width, extent.height};
  return cudaMalloc(::zellige::cuda::named("pitched memory", &p->ptr), p->pitch * extent.height * extent.depth);
}
inline cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent) {
  for (std::size_t z = 0; z < extent.depth; ++z)
    if (const cudaError_t e = cudaMemset2D(static_cast<char*>(p.ptr) + z * p.pitch * p.ysize, p.pitch, value,
                                           extent.width, extent.height);
        e != cudaSuccess)
      return e;
  return cudaSuccess;
}
/// A copy of three dimensions; each side is an array or pitched memory. The extent's width is in elements if there is an array.
struct cudaMemcpy3DParms {
  cudaArray_t srcArray = nullptr;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray = nullptr;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* c) {
  const std::size_t element = c->srcArray ? c->srcArray->element() : c->dstArray ? c->dstArray->element() : 1;
  const auto side = [](cudaArray_t a, cudaPitchedPtr p, cudaPos at, std::size_t z) {
    const std::size_t pitch = a ? a->pitch() : p.pitch, rows = a ? a->rows() : p.ysize;
    return cudaPitchedPtr{(a ? a->p : static_cast<unsigned char*>(p.ptr)) + ((at.z + z) * rows + at.y) * pitch +
                              at.x * (a ? a->element() : 1),
                          pitch, 0, 0};
  };
  for (std::size_t z = 0; z < (c->extent.depth ? c->extent.depth : 1); ++z) {
    const cudaPitchedPtr to = side(c->dstArray, c->dstPtr, c->dstPos, z),
                         from = side(c->srcArray, c->srcPtr, c->srcPos, z);
    if (const cudaError_t e = cudaMemcpy2D(to.ptr, to.pitch, from.ptr, from.pitch, c->extent.width * element,
                                           c->extent.height ? c->extent.height : 1, c->kind);
        e != cudaSuccess)
      return e;
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* c, cudaStream_t = nullptr) {
  const cudaMemcpy3DParms copy = *c;
  return ::zellige::cuda::in_order([copy] { return cudaMemcpy3D(&copy); });
}
