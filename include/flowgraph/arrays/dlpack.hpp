// Arrays and DLPack, the exchange format of the Python frameworks: a tensor of theirs is used without a copy where it
// lies row by row in the memory of the CPU, and an fg::ndarray can be given to them. Needs <dlpack/dlpack.h>
// (CMake: find_package(dlpack)), which is why <flowgraph.hpp> does not include it.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <dlpack/dlpack.h>

#include "ndarray.hpp"

namespace flowgraph {

namespace detail {

// kDLBool by its number: headers before DLPack 0.8 have no name for it.
inline constexpr std::uint8_t dlpack_bool = 6;

template <element T>
constexpr DLDataType dlpack_type() {
  constexpr auto bits = static_cast<std::uint8_t>(8 * sizeof(T));
  std::uint8_t code = kDLInt;
  if constexpr (std::is_same_v<T, bool>)
    code = dlpack_bool;
  else if constexpr (std::is_same_v<T, bfloat16>)
    code = kDLBfloat;
  else if constexpr (is_floating(dtype_of<T>))
    code = kDLFloat;
  else if constexpr (std::is_unsigned_v<T>)
    code = kDLUInt;
  return {code, bits, 1};
}

inline std::string dlpack_text(const DLTensor& t) {
  const char* const codes[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  std::string s = t.dtype.code < 7 ? codes[t.dtype.code] : "type " + std::to_string(t.dtype.code) + " of ";
  s += std::to_string(t.dtype.bits);
  if (t.dtype.lanes != 1) s += "x" + std::to_string(t.dtype.lanes);
  s += '[';
  for (int i = 0; i < t.ndim; ++i) s += (i > 0 ? ", " : "") + std::to_string(t.shape[i]);
  s += ']';
  if (t.device.device_type != kDLCPU)
    s += " on device " + std::to_string(static_cast<int>(t.device.device_type)) + ":" +
         std::to_string(t.device.device_id);
  return s;
}

// In elements; without strides a tensor is row-major.
inline bool is_row_major(const DLTensor& t) {
  if (t.strides == nullptr) return true;
  std::int64_t stride = 1;
  for (int i = t.ndim - 1; i >= 0; --i) {
    if (t.shape[i] != 1 && t.strides[i] != stride) return false;
    stride *= t.shape[i];
  }
  return true;
}

struct release_dlpack {
  void operator()(DLManagedTensor* t) const {
    if (t->deleter != nullptr) t->deleter(t);
  }
};

}  // namespace detail

// A tensor of another framework as an array that can be read, viewed and fed. It holds the tensor, and gives it back
// at its end; or a copy of it, where the tensor does not lie row by row.
template <class T, auto... Extents>
class dlpack_array {
  static constexpr const detail::shape_text& shape = detail::array_extents<Extents...>::shape;

 public:
  // Takes the tensor over, unless it throws argument_error: it must have this element type and these extents, and lie
  // in the memory of the CPU.
  explicit dlpack_array(DLManagedTensor* tensor) : array_(take(tensor)) {
    tensor_.reset(tensor);
    if (is_copy()) tensor_.reset();
  }

  bool is_copy() const { return copied_ != nullptr; }
  const ndview<const T, Extents...>& view() const& { return array_; }
  void view() const&& = delete;  // it would outlive the tensor

 private:
  using view_type = ndview<const T, Extents...>;

  view_type take(const DLManagedTensor* managed) {
    if (managed == nullptr) refuse("no tensor");
    const DLTensor& t = managed->dl_tensor;
    constexpr DLDataType type = detail::dlpack_type<T>();
    if (t.device.device_type != kDLCPU && t.device.device_type != kDLCUDAHost) refuse(detail::dlpack_text(t));
    if (t.dtype.code != type.code || t.dtype.bits != type.bits || t.dtype.lanes != 1 || t.ndim != shape.rank)
      refuse(detail::dlpack_text(t));
    typename view_type::dims_type dims{};
    for (int i = 0; i < t.ndim; ++i) {
      dims[static_cast<std::size_t>(i)] = t.shape[i];
      if (t.shape[i] < 0 || (shape.number[i] >= 0 && shape.number[i] != t.shape[i])) refuse(detail::dlpack_text(t));
    }
    const view_type none(nullptr, dims);
    if (none.size() == 0) return none;
    if (t.data == nullptr) refuse("no memory");
    const auto* first = static_cast<const std::byte*>(t.data) + t.byte_offset;
    if (detail::is_row_major(t) && reinterpret_cast<std::uintptr_t>(first) % alignof(T) == 0)
      return {reinterpret_cast<const T*>(first), dims};
    copied_ = detail::allocate_aligned<T>(static_cast<std::size_t>(none.size()));
    T* to = copied_.get();
    copy(t, 0, first, to);
    return {copied_.get(), dims};
  }

  // Axis by axis; byte by byte, because the elements may lie anywhere.
  static void copy(const DLTensor& t, int axis, const std::byte* from, T*& to) {
    if (axis == t.ndim) {
      std::memcpy(to++, from, sizeof(T));
      return;
    }
    std::int64_t stride = 1;
    if (t.strides != nullptr)
      stride = t.strides[axis];
    else
      for (int i = axis + 1; i < t.ndim; ++i) stride *= t.shape[i];
    for (std::int64_t i = 0; i < t.shape[axis]; ++i)
      copy(t, axis + 1, from + i * stride * static_cast<std::int64_t>(sizeof(T)), to);
  }

  [[noreturn]] static void refuse(const std::string& given) {
    throw argument_error(problem::array_data, "dlpack: expected " + detail::shape_to_text(detail::dtype_of<T>, shape) +
                                                  " in the memory of the CPU, got " + given);
  }

  std::unique_ptr<DLManagedTensor, detail::release_dlpack> tensor_;
  detail::aligned_buffer<T> copied_;
  view_type array_;
};

// An array for another framework, which calls the tensor's deleter when it is done with it.
template <class T, auto... Extents>
DLManagedTensor* to_dlpack(ndarray<T, Extents...> array) {
  struct holder {
    ndarray<T, Extents...> array;
    std::int64_t shape[max_rank], strides[max_rank];
    DLManagedTensor tensor;
  };
  auto held = std::make_unique<holder>(holder{std::move(array), {}, {}, {}});
  constexpr int rank = ndarray<T, Extents...>::rank;
  std::int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    held->shape[i] = held->array.dim(i);
    held->strides[i] = stride;
    stride *= held->shape[i];
  }
  DLTensor& t = held->tensor.dl_tensor;
  t.data = held->array.data();
  t.device = {kDLCPU, 0};
  t.ndim = rank;
  t.dtype = detail::dlpack_type<T>();
  t.shape = held->shape;
  t.strides = held->strides;
  t.byte_offset = 0;
  held->tensor.manager_ctx = held.get();
  held->tensor.deleter = [](DLManagedTensor* self) { delete static_cast<holder*>(self->manager_ctx); };
  return &held.release()->tensor;
}

namespace detail {

template <class T, auto... E>
struct data_traits<dlpack_array<T, E...>> : shaped_traits<ndview<const T, E...>> {
  static const T* data(const dlpack_array<T, E...>& a) { return a.view().data(); }
  static void dims(const dlpack_array<T, E...>& a, std::int64_t* to) {
    shaped_traits<ndview<const T, E...>>::dims(a.view(), to);
  }
};

}  // namespace detail
}  // namespace flowgraph
