// Textures of linear memory, which a kernel reads by index like an array. Other textures are not known.
#pragma once
#include "zellige/cuda/runtime.hpp"

enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat };
struct cudaChannelFormatDesc {
  int x = 0, y = 0, z = 0, w = 0;
  cudaChannelFormatKind f = cudaChannelFormatKindFloat;
};
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  return {static_cast<int>(8 * sizeof(T)), 0, 0, 0, cudaChannelFormatKindFloat};
}
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
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
  } res{};
};
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3] = {};
  cudaTextureFilterMode filterMode = cudaFilterModePoint;
  cudaTextureReadMode readMode = cudaReadModeElementType;
  int normalizedCoords = 0;
};
struct cudaResourceViewDesc {};
/// The address of the memory.
using cudaTextureObject_t = unsigned long long;

inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* t, const cudaResourceDesc* r,
                                           const cudaTextureDesc* how, const cudaResourceViewDesc*) {
  if (r->resType != cudaResourceTypeLinear || how->readMode != cudaReadModeElementType)
    return ::zellige::cuda::done(cudaErrorNotSupported);
  return *t = reinterpret_cast<unsigned long long>(r->res.linear.devPtr), cudaSuccess;
}
inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t) { return cudaSuccess; }
template <class T>
T tex1Dfetch(cudaTextureObject_t t, int index) {
  return reinterpret_cast<const T*>(t)[index];
}
