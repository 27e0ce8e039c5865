// The elements of an array of whatever type as numbers.
#pragma once
#include <cstdint>

#include <flowgraph/arrays/borrow.hpp>
#include <flowgraph/core/convert.hpp>

namespace flowgraph::detail {

// f(double) for each element.
template <class F>
void for_each_number(const borrowed& b, const F& f) {
  with_type(b.type, [&]<class T>(T) {
    const T* const x = static_cast<const T*>(b.data);
    for (std::int64_t i = 0; i < b.count; ++i) f(static_cast<double>(x[i]));
  });
}

}  // namespace flowgraph::detail
