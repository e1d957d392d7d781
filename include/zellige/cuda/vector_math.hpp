// What programs take of helper_math.h of NVIDIA's samples, where it is not beside the program: arithmetic on vectors of 2, 3 and 4
// numbers, element by element, and functions of vectors of floats.
//
//   float3 v = normalize(cross(a, b)) * 2.0f + make_float3(1.0f);
#pragma once
#include <cmath>

#include "zellige/cuda/runtime.hpp"

namespace zellige::cuda {

/// The number of elements of a vector type of CUDA with arithmetic, and their type; 0 for other types.
template <class V>
struct VectorElements {
  static constexpr int count = 0;
};
template <class T, int n>
struct ElementsAre {
  using type = T;
  static constexpr int count = n;
};
template <>
struct VectorElements<float2> : ElementsAre<float, 2> {};
template <>
struct VectorElements<float3> : ElementsAre<float, 3> {};
template <>
struct VectorElements<float4> : ElementsAre<float, 4> {};
template <>
struct VectorElements<int2> : ElementsAre<int, 2> {};
template <>
struct VectorElements<int3> : ElementsAre<int, 3> {};
template <>
struct VectorElements<int4> : ElementsAre<int, 4> {};
template <>
struct VectorElements<uint2> : ElementsAre<unsigned, 2> {};
template <>
struct VectorElements<uint3> : ElementsAre<unsigned, 3> {};
template <>
struct VectorElements<uint4> : ElementsAre<unsigned, 4> {};

template <class V>
concept Vector = VectorElements<V>::count >
0;
template <class V>
concept FloatVector = Vector<V> && std::is_same_v < typename VectorElements<V>::type,
float > ;
template <class V>
using ElementOf = typename VectorElements<V>::type;

/// Returns the vector of f(elements of the arguments).
template <Vector V, class F, class... More>
V each_element(F f, V a, More... more) {
  a.x = f(a.x, more.x...), a.y = f(a.y, more.y...);
  if constexpr (VectorElements<V>::count > 2) a.z = f(a.z, more.z...);
  if constexpr (VectorElements<V>::count > 3) a.w = f(a.w, more.w...);
  return a;
}
/// Returns the vector whose elements are all x.
template <Vector V>
V all_elements(ElementOf<V> x) {
  return each_element([x](ElementOf<V>) { return x; }, V{});
}

}  // namespace zellige::cuda

template <zellige::cuda::Vector V>
V operator+(V a, V b) {
  return zellige::cuda::each_element([](auto x, auto y) { return x + y; }, a, b);
}
template <zellige::cuda::Vector V>
V operator+(V a, zellige::cuda::ElementOf<V> b) {
  return a + zellige::cuda::all_elements<V>(b);
}
template <zellige::cuda::Vector V>
V operator+(zellige::cuda::ElementOf<V> a, V b) {
  return zellige::cuda::all_elements<V>(a) + b;
}
template <zellige::cuda::Vector V>
void operator+=(V& a, V b) {
  a = a + b;
}
template <zellige::cuda::Vector V>
void operator+=(V& a, zellige::cuda::ElementOf<V> b) {
  a = a + b;
}
template <zellige::cuda::Vector V>
V operator-(V a, V b) {
  return zellige::cuda::each_element([](auto x, auto y) { return x - y; }, a, b);
}
template <zellige::cuda::Vector V>
V operator-(V a, zellige::cuda::ElementOf<V> b) {
  return a - zellige::cuda::all_elements<V>(b);
}
template <zellige::cuda::Vector V>
V operator-(zellige::cuda::ElementOf<V> a, V b) {
  return zellige::cuda::all_elements<V>(a) - b;
}
template <zellige::cuda::Vector V>
void operator-=(V& a, V b) {
  a = a - b;
}
template <zellige::cuda::Vector V>
void operator-=(V& a, zellige::cuda::ElementOf<V> b) {
  a = a - b;
}
template <zellige::cuda::Vector V>
V operator*(V a, V b) {
  return zellige::cuda::each_element([](auto x, auto y) { return x * y; }, a, b);
}
template <zellige::cuda::Vector V>
V operator*(V a, zellige::cuda::ElementOf<V> b) {
  return a * zellige::cuda::all_elements<V>(b);
}
template <zellige::cuda::Vector V>
V operator*(zellige::cuda::ElementOf<V> a, V b) {
  return zellige::cuda::all_elements<V>(a) * b;
}
template <zellige::cuda::Vector V>
void operator*=(V& a, V b) {
  a = a * b;
}
template <zellige::cuda::Vector V>
void operator*=(V& a, zellige::cuda::ElementOf<V> b) {
  a = a * b;
}
template <zellige::cuda::Vector V>
V operator/(V a, V b) {
  return zellige::cuda::each_element([](auto x, auto y) { return x / y; }, a, b);
}
template <zellige::cuda::Vector V>
V operator/(V a, zellige::cuda::ElementOf<V> b) {
  return a / zellige::cuda::all_elements<V>(b);
}
template <zellige::cuda::Vector V>
V operator/(zellige::cuda::ElementOf<V> a, V b) {
  return zellige::cuda::all_elements<V>(a) / b;
}
template <zellige::cuda::Vector V>
void operator/=(V& a, V b) {
  a = a / b;
}
template <zellige::cuda::Vector V>
void operator/=(V& a, zellige::cuda::ElementOf<V> b) {
  a = a / b;
}
template <zellige::cuda::Vector V>
V operator-(V a) {
  return zellige::cuda::each_element([](auto x) { return -x; }, a);
}

inline float2 make_float2(float x) { return make_float2(x, x); }
inline float3 make_float3(float x) { return make_float3(x, x, x); }
inline float4 make_float4(float x) { return make_float4(x, x, x, x); }
inline float2 make_float2(float3 a) { return make_float2(a.x, a.y); }
inline float3 make_float3(float2 a, float z = 0) { return make_float3(a.x, a.y, z); }
inline float3 make_float3(float4 a) { return make_float3(a.x, a.y, a.z); }
inline float4 make_float4(float3 a, float w = 0) { return make_float4(a.x, a.y, a.z, w); }

template <zellige::cuda::Vector V>
zellige::cuda::ElementOf<V> dot(V a, V b) {
  const V p = a * b;
  if constexpr (zellige::cuda::VectorElements<V>::count == 2)
    return p.x + p.y;
  else if constexpr (zellige::cuda::VectorElements<V>::count == 3)
    return p.x + p.y + p.z;
  else
    return p.x + p.y + p.z + p.w;
}
template <zellige::cuda::FloatVector V>
float length(V a) {
  return std::sqrt(dot(a, a));
}
template <zellige::cuda::FloatVector V>
V normalize(V a) {
  return a * (1.0f / std::sqrt(dot(a, a)));
}
template <zellige::cuda::FloatVector V>
V lerp(V a, V b, float t) {
  return a + t * (b - a);
}
inline float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
template <zellige::cuda::FloatVector V>
V reflect(V incident, V normal) {
  return incident - 2.0f * normal * dot(normal, incident);
}

inline float clamp(float x, float low, float high) { return std::fmax(low, std::fmin(x, high)); }
inline int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
template <zellige::cuda::Vector V>
V clamp(V a, V low, V high) {
  return zellige::cuda::each_element([](auto x, auto l, auto h) { return x < l ? l : x > h ? h : x; }, a, low, high);
}
template <zellige::cuda::Vector V>
V clamp(V a, zellige::cuda::ElementOf<V> low, zellige::cuda::ElementOf<V> high) {
  return clamp(a, zellige::cuda::all_elements<V>(low), zellige::cuda::all_elements<V>(high));
}
template <zellige::cuda::FloatVector V>
V fminf(V a, V b) {
  return zellige::cuda::each_element([](float x, float y) { return std::fmin(x, y); }, a, b);
}
template <zellige::cuda::FloatVector V>
V fmaxf(V a, V b) {
  return zellige::cuda::each_element([](float x, float y) { return std::fmax(x, y); }, a, b);
}
template <zellige::cuda::FloatVector V>
V fabs(V a) {
  return zellige::cuda::each_element([](float x) { return std::fabs(x); }, a);
}
template <zellige::cuda::FloatVector V>
V floorf(V a) {
  return zellige::cuda::each_element([](float x) { return std::floor(x); }, a);
}
