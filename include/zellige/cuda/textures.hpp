// CUDA's texture and surface objects. What a texture reads is not watched: its coordinates cannot leave it, and nothing may write it
// meanwhile. tex1Dfetch reads as an ordinary load does, and is watched.
#pragma once
#include "zellige/cuda/arrays.hpp"
#include "zellige/cuda/math.hpp"

enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D
};
struct cudaResourceDesc {
  cudaResourceType resType = cudaResourceTypeLinear;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
  } res{};
};
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3] = {};
  cudaTextureFilterMode filterMode = cudaFilterModePoint;
  cudaTextureReadMode readMode = cudaReadModeElementType;
  int sRGB = 0;
  float borderColor[4] = {};
  int normalizedCoords = 0;
  unsigned maxAnisotropy = 0;
  cudaTextureFilterMode mipmapFilterMode = cudaFilterModePoint;
  float mipmapLevelBias = 0, minMipmapLevelClamp = 0, maxMipmapLevelClamp = 0;
  int disableTrilinearOptimization = 0;
};
struct cudaResourceViewDesc {};

namespace zellige::cuda {

/// A texture or surface: rows of elements in memory of the device, and how they are read.
struct Texture {
  unsigned char* p = nullptr;
  cudaChannelFormatDesc format;
  std::size_t pitch = 0;
  int extent[3] = {1, 1, 1};
  cudaTextureDesc how;

  /// Returns the number of the element that a coordinate along dimension d names; -1: outside, where a border reads 0.
  __attribute__((no_sanitize("thread"))) int place(int i, int d) const {
    const int n = extent[d];
    if (i >= 0 && i < n) return i;
    switch (how.addressMode[d]) {
      case cudaAddressModeWrap:
        return how.normalizedCoords ? (i % n + n) % n : i < 0 ? 0 : n - 1;
      case cudaAddressModeMirror: {
        if (!how.normalizedCoords) return i < 0 ? 0 : n - 1;
        const int j = (i % (2 * n) + 2 * n) % (2 * n);
        return j < n ? j : 2 * n - 1 - j;
      }
      case cudaAddressModeBorder:
        return -1;
      default:
        return i < 0 ? 0 : n - 1;
    }
  }
  /// Returns the first byte of an element; null beyond a border.
  __attribute__((no_sanitize("thread"))) const unsigned char* at(int x, int y, int z) const {
    const int i = place(x, 0), j = place(y, 1), k = place(z, 2);
    if (i < 0 || j < 0 || k < 0) return nullptr;
    return p + (static_cast<std::size_t>(k) * extent[1] + j) * pitch + static_cast<std::size_t>(i) * bytes_of(format);
  }
  /// Returns channel c of an element as a number; of integers that are read as such, divided by the largest one.
  __attribute__((no_sanitize("thread"))) float channel(const unsigned char* e, int c) const {
    if (!e) return how.borderColor[c];
    const int bits = format.x;
    if (format.f == cudaChannelFormatKindFloat) {
      if (bits == 16) {
        unsigned short half;
        __builtin_memcpy(&half, e + 2 * c, 2);
        _Float16 number;
        __builtin_memcpy(&number, &half, 2);
        return static_cast<float>(number);
      }
      float number;
      __builtin_memcpy(&number, e + 4 * c, 4);
      return number;
    }
    const bool has_sign = format.f == cudaChannelFormatKindSigned;
    const int whole = bits == 8 ? (has_sign ? static_cast<signed char>(e[c]) : e[c])
                      : bits == 16
                          ? (has_sign ? static_cast<short>(e[2 * c] | e[2 * c + 1] << 8) : e[2 * c] | e[2 * c + 1] << 8)
                          : 0;
    const float largest = has_sign ? (bits == 8 ? 127.0f : 32767.0f) : (bits == 8 ? 255.0f : 65535.0f);
    const float number = static_cast<float>(whole) / largest;
    return number < -1 ? -1 : number;
  }
  /// Reads the texture at (x, y, z). `dims`: how many of them are coordinates; a layer's number is z (of two dimensions) or y.
  template <class T>
  __attribute__((noinline, no_sanitize("thread"))) T read(float x, float y, float z, int dims) const {
    float at_[3] = {x, y, z};
    for (int d = 0; d < dims; ++d)
      if (how.normalizedCoords) at_[d] *= static_cast<float>(extent[d]);
    if (how.filterMode == cudaFilterModePoint) {
      int i[3] = {0, 0, 0};
      for (int d = 0; d < 3; ++d) i[d] = static_cast<int>(std::floor(at_[d]));
      return element<T>(at(i[0], i[1], i[2]));
    }
    if constexpr (std::is_same_v<ChannelType<T>, float>) {
      // Linear: the weights have 8 bits of fraction.
      int first[3] = {0, 0, 0};
      float weight[3] = {0, 0, 0};
      for (int d = 0; d < 3; ++d) {
        if (d >= dims) {
          first[d] = static_cast<int>(at_[d]);
          continue;
        }
        const float shifted = at_[d] - 0.5f, low = std::floor(shifted);
        first[d] = static_cast<int>(low);
        weight[d] = std::floor((shifted - low) * 256.0f + 0.5f) / 256.0f;
      }
      float sums[4] = {};
      for (int corner = 0; corner < 1 << dims; ++corner) {
        float share = 1;
        for (int d = 0; d < dims; ++d) share *= corner >> d & 1 ? weight[d] : 1 - weight[d];
        if (share == 0) continue;
        const unsigned char* e =
            at(first[0] + (corner & 1), first[1] + (corner >> 1 & 1), first[2] + (corner >> 2 & 1));
        for (int c = 0; c < channels<T>; ++c) sums[c] += share * channel(e, c);
      }
      T result;
      __builtin_memcpy(static_cast<void*>(&result), sums, sizeof(T));
      return result;
    }
    return element<T>(at(static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)));
  }
  template <class T>
  __attribute__((no_sanitize("thread"))) T element(const unsigned char* e) const {
    T result{};
    if constexpr (std::is_same_v<ChannelType<T>, float>) {
      if (how.readMode == cudaReadModeNormalizedFloat || format.x != 32 || !e) {
        float all[4] = {};
        for (int c = 0; c < channels<T>; ++c) all[c] = channel(e, c);
        __builtin_memcpy(static_cast<void*>(&result), all, sizeof(T));
        return result;
      }
    }
    if (e) __builtin_memcpy(static_cast<void*>(&result), e, sizeof(T));
    return result;
  }
  /// Reads or writes an element of a surface; x is in bytes. Outside, a read gives 0 and a write does nothing.
  template <class T>
  __attribute__((noinline, no_sanitize("thread"))) bool surface(T* value, bool writes, int x, int y, int z) const {
    const bool inside = x >= 0 && static_cast<std::size_t>(x) + sizeof(T) <= pitch && y >= 0 && y < extent[1] &&
                        z >= 0 && z < extent[2];
    if (!inside) return false;
    unsigned char* const e = p + (static_cast<std::size_t>(z) * extent[1] + y) * pitch + x;
    if (writes)
      __builtin_memcpy(e, static_cast<const void*>(value), sizeof(T));
    else
      __builtin_memcpy(static_cast<void*>(value), e, sizeof(T));
    return true;
  }
};

inline Texture texture_of(const cudaResourceDesc& r) {
  Texture t;
  switch (r.resType) {
    case cudaResourceTypeArray: {
      const cudaArray& a = *r.res.array.array;
      t.p = a.p, t.format = a.format, t.pitch = a.pitch();
      t.extent[0] = static_cast<int>(a.extent.width), t.extent[1] = static_cast<int>(a.rows()),
      t.extent[2] = static_cast<int>(a.slices());
      break;
    }
    case cudaResourceTypePitch2D:
      t.p = static_cast<unsigned char*>(r.res.pitch2D.devPtr), t.format = r.res.pitch2D.desc;
      t.pitch = r.res.pitch2D.pitchInBytes;
      t.extent[0] = static_cast<int>(r.res.pitch2D.width), t.extent[1] = static_cast<int>(r.res.pitch2D.height);
      break;
    default:
      t.p = static_cast<unsigned char*>(r.res.linear.devPtr), t.format = r.res.linear.desc,
      t.pitch = r.res.linear.sizeInBytes;
      t.extent[0] = bytes_of(t.format) ? static_cast<int>(t.pitch / static_cast<std::size_t>(bytes_of(t.format))) : 1;
  }
  return t;
}
__attribute__((noinline, no_sanitize("thread"))) inline const void* memory_of(unsigned long long texture) {
  return reinterpret_cast<const Texture*>(texture)->p;
}

}  // namespace zellige::cuda

/// The address of a ::zellige::cuda::Texture.
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* t, const cudaResourceDesc* r,
                                           const cudaTextureDesc* how, const cudaResourceViewDesc*) {
  if (r->resType == cudaResourceTypeMipmappedArray) return ::zellige::cuda::done(cudaErrorNotSupported);
  auto* made = new ::zellige::cuda::Texture(::zellige::cuda::texture_of(*r));
  made->how = *how;
  return *t = reinterpret_cast<unsigned long long>(made), cudaSuccess;
}
inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t t) {
  return delete reinterpret_cast<::zellige::cuda::Texture*>(t), cudaSuccess;
}
inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* s, const cudaResourceDesc* r) {
  if (r->resType != cudaResourceTypeArray) return ::zellige::cuda::done(cudaErrorInvalidValue);
  return *s = reinterpret_cast<unsigned long long>(new ::zellige::cuda::Texture(::zellige::cuda::texture_of(*r))),
         cudaSuccess;
}
inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t s) { return cudaDestroyTextureObject(s); }

template <class T>
ZELLIGE_DEVICE T tex1Dfetch(cudaTextureObject_t t, int index) {
  return static_cast<const T*>(::zellige::cuda::memory_of(t))[index];
}
template <class T>
ZELLIGE_DEVICE void tex1Dfetch(T* result, cudaTextureObject_t t, int index) {
  *result = tex1Dfetch<T>(t, index);
}
// Each way to read: by the result, and into a variable.
#define ZELLIGE_TEXTURE(NAME, PARAMETERS, ARGUMENTS, X, Y, Z, DIMS)                      \
  template <class T>                                                                     \
  T NAME(cudaTextureObject_t t, PARAMETERS) {                                            \
    return reinterpret_cast<const ::zellige::cuda::Texture*>(t)->read<T>(X, Y, Z, DIMS); \
  }                                                                                      \
  template <class T>                                                                     \
  void NAME(T* result, cudaTextureObject_t t, PARAMETERS) {                              \
    *result = NAME<T>(t, ARGUMENTS);                                                     \
  }
#define ZELLIGE_LIST(...) __VA_ARGS__
ZELLIGE_TEXTURE(tex1D, float x, x, x, 0, 0, 1)
ZELLIGE_TEXTURE(tex1DLod, ZELLIGE_LIST(float x, float), ZELLIGE_LIST(x, 0), x, 0, 0, 1)
ZELLIGE_TEXTURE(tex2D, ZELLIGE_LIST(float x, float y), ZELLIGE_LIST(x, y), x, y, 0, 2)
ZELLIGE_TEXTURE(tex2DLod, ZELLIGE_LIST(float x, float y, float), ZELLIGE_LIST(x, y, 0), x, y, 0, 2)
ZELLIGE_TEXTURE(tex2DLayered, ZELLIGE_LIST(float x, float y, int layer), ZELLIGE_LIST(x, y, layer), x, y,
                static_cast<float>(layer), 2)
ZELLIGE_TEXTURE(tex3D, ZELLIGE_LIST(float x, float y, float z), ZELLIGE_LIST(x, y, z), x, y, z, 3)
#undef ZELLIGE_TEXTURE

#define ZELLIGE_SURFACE(DIMS, PARAMETERS, ARGUMENTS, X, Y, Z)                                                          \
  template <class T>                                                                                                   \
  void surf##DIMS##read(T* result, cudaSurfaceObject_t s, PARAMETERS,                                                  \
                        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {                                              \
    if (!reinterpret_cast<const ::zellige::cuda::Texture*>(s)->surface(result, false, X, Y, Z)) *result = T{};         \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  T surf##DIMS##read(cudaSurfaceObject_t s, PARAMETERS, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {              \
    T result;                                                                                                          \
    surf##DIMS##read(&result, s, ARGUMENTS);                                                                           \
    return result;                                                                                                     \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  void surf##DIMS##write(T value, cudaSurfaceObject_t s, PARAMETERS, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) { \
    reinterpret_cast<const ::zellige::cuda::Texture*>(s)->surface(&value, true, X, Y, Z);                              \
  }
ZELLIGE_SURFACE(1D, int x, x, x, 0, 0)
ZELLIGE_SURFACE(2D, ZELLIGE_LIST(int x, int y), ZELLIGE_LIST(x, y), x, y, 0)
ZELLIGE_SURFACE(2DLayered, ZELLIGE_LIST(int x, int y, int layer), ZELLIGE_LIST(x, y, layer), x, y, layer)
ZELLIGE_SURFACE(3D, ZELLIGE_LIST(int x, int y, int z), ZELLIGE_LIST(x, y, z), x, y, z)
#undef ZELLIGE_SURFACE
#undef ZELLIGE_LIST
