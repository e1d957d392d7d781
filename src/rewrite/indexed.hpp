// A list of what a graph numbers: values, steps, tensors. -1 means "none" in many places; as an index it is a fault of
// ours, by name, and never reads what is not there.
//
//   Indexed<Value> values;
//   values[-1]              // Fault: "value -1 of 3: there is none"
#pragma once
#include <string_view>
#include <vector>

#include "graph/error.hpp"

namespace zellige::rewrite {

/// Throws Fault unless `at` is an index of a list of `size` elements. `what`: what the list has.
template <class At>
void check_index(std::string_view what, At at, std::size_t size) {
  if (static_cast<std::size_t>(at) >= size) fault("{} {} of {}: there is none", what, at, size);
}

/// Returns the element of a graph's list, such as its tensors. Throws Fault if there is none.
template <class T, class At>
const T& checked(const std::vector<T>& list, At at, std::string_view what) {
  check_index(what, at, list.size());
  return list[static_cast<std::size_t>(at)];
}

/// A vector whose indices are checked.
template <class T>
struct Indexed : std::vector<T> {
  using std::vector<T>::vector;
  template <class At>
  T& operator[](At at) {
    check_index(T::called, at, this->size());
    return this->data()[static_cast<std::size_t>(at)];
  }
  template <class At>
  const T& operator[](At at) const {
    check_index(T::called, at, this->size());
    return this->data()[static_cast<std::size_t>(at)];
  }
};

}  // namespace zellige::rewrite
