// How the goldens of one op in several element types are told apart: matmul_odd_f16, matmul_odd_bf16.
#pragma once
#include <cstdint>
#include <string>

#include <flowgraph/core/dtype.hpp>

namespace flowgraph::testing {

template <class T>
std::string in_type(const std::string& name) {
  const char* const suffix[] = {"none", "bool", "i8", "u8", "i32", "i64", "f16", "bf16", "f32", "f64"};
  return name + "_" + suffix[static_cast<int>(flowgraph::detail::dtype_of<T>)];
}

}  // namespace flowgraph::testing
