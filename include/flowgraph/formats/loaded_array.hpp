// An array out of a file, as plain data on its way to an fg::ndarray: what is read is no template.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <flowgraph/arrays/ndarray.hpp>

namespace flowgraph::detail {

// What a file is asked for: named extents get their numbers from it.
struct wanted_array {
  dtype type;
  const shape_text& shape;
};
template <class Array>
constexpr wanted_array wanted_of() {
  return {dtype_of<typename Array::value_type>, Array::shape};
}

// As many extents as were wanted, and elements row by row.
struct loaded_array {
  std::int64_t dims[max_rank]{};
  aligned_buffer<std::byte> elements;

  template <class Array>
  Array as() && {
    typename Array::dims_type d{};
    std::copy_n(dims, d.size(), d.begin());
    using value = typename Array::value_type;
    return Array(d, aligned_buffer<value>(reinterpret_cast<value*>(elements.release())));
  }
};

}  // namespace flowgraph::detail
