// Tensors of other frameworks: borrowed, copied or refused, and given back exactly once; arrays given to others.
#if __has_include(<dlpack/dlpack.h>)
#include <flowgraph/arrays/dlpack.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/session/session.hpp>

#include "models.hpp"

namespace fg = flowgraph;
using models::batch;

namespace {

// What a framework hands over, by hand: counts how often it is given back.
struct foreign {
  std::vector<std::int64_t> shape, strides;
  int released = 0;
  DLManagedTensor tensor{};

  foreign(void* data, DLDataType type, std::vector<std::int64_t> dims, std::vector<std::int64_t> steps = {},
          std::uint64_t offset = 0, DLDeviceType device = kDLCPU)
      : shape(std::move(dims)),
        strides(std::move(steps)) {
    tensor.dl_tensor = {data,  {device, 0},  static_cast<int>(shape.size()),
                        type,  shape.data(), strides.empty() ? nullptr : strides.data(),
                        offset};
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensor* self) { ++static_cast<foreign*>(self->manager_ctx)->released; };
  }
};

constexpr DLDataType f32{kDLFloat, 32, 1};

template <class T, auto... E>
std::string refusal(foreign& f) {
  try {
    fg::dlpack_array<T, E...> a(&f.tensor);
  } catch (const fg::argument_error& e) {
    CHECK(f.released == 0);  // still the caller's
    CHECK(e.why() == fg::problem::array_data);
    return e.what();
  }
  return "no exception";
}

constexpr auto model =
    fg::define([](fg::graph& g) { g.name("sum", reduce_sum<0>(g.placeholder<float, batch, 2>("x"))); });

}  // namespace

TEST_CASE("a row-major tensor is borrowed and given back once") {
  float data[] = {0, 1, 2, 3, 4, 5, 6};
  for (const std::vector<std::int64_t>& strides : {std::vector<std::int64_t>{}, {2, 1}}) {
    foreign f(data, f32, {3, 2}, strides, sizeof(float));
    {
      const fg::dlpack_array<float, batch, 2> a(&f.tensor);
      CHECK_FALSE(a.is_copy());
      CHECK(a.view().data() == data + 1);
      CHECK(a.view()(2, 1) == 6);
      fg::session<model> s;
      CHECK(s.run<"sum">(fg::feed<"x">(a)) == fg::ndarray<float, 2>{9, 12});
      const fg::ndarray<float, batch, 2> copy(a);
      CHECK(copy(0, 0) == 1);
      CHECK(f.released == 0);
    }
    CHECK(f.released == 1);
  }
  foreign one(data, f32, {1, 3}, {77, 1});  // the stride of an axis of one element says nothing
  CHECK_FALSE(fg::dlpack_array<float, 1, 3>(&one.tensor).is_copy());
  foreign scalar(data + 3, f32, {});
  const fg::dlpack_array<float> three(&scalar.tensor);
  CHECK(three.view()() == 3);
  foreign empty(nullptr, f32, {0, 2});
  const fg::dlpack_array<float, batch, 2> nothing(&empty.tensor);
  CHECK(nothing.view().size() == 0);
  foreign without(data, f32, {7});
  without.tensor.deleter = nullptr;
  const fg::dlpack_array<float, batch> kept(&without.tensor);
  CHECK(kept.view()(6) == 6);
}

TEST_CASE("what does not lie row by row is copied, and given back at once") {
  float data[] = {1, 2, 3, 4, 5, 6};
  foreign transposed(data, f32, {3, 2}, {1, 3});
  const fg::dlpack_array<float, batch, 2> a(&transposed.tensor);
  CHECK(a.is_copy());
  CHECK(transposed.released == 1);
  CHECK(fg::ndarray<float, batch, 2>(a) == fg::ndarray<float, batch, 2>{{1, 4}, {2, 5}, {3, 6}});
  foreign reversed(data, f32, {2, 2}, {2, -1}, 3 * sizeof(float));
  CHECK(fg::ndarray<float, 2, 2>(fg::dlpack_array<float, 2, 2>(&reversed.tensor)) ==
        fg::ndarray<float, 2, 2>{{4, 3}, {6, 5}});
  foreign repeated(data, f32, {3, 2}, {0, 1});
  CHECK(fg::ndarray<float, 3, 2>(fg::dlpack_array<float, 3, 2>(&repeated.tensor)) ==
        fg::ndarray<float, 3, 2>{{1, 2}, {1, 2}, {1, 2}});
  alignas(8) char bytes[12] = {};
  const float value = 1.5f;
  std::memcpy(bytes + 1, &value, sizeof value);
  foreign odd(bytes, f32, {1}, {}, 1);
  const fg::dlpack_array<float, 1> aligned(&odd.tensor);
  CHECK(aligned.is_copy());
  CHECK(aligned.view()(0) == 1.5f);
}

TEST_CASE("another device, element type or shape is refused, and stays the caller's") {
  float data[6] = {};
  foreign gpu(data, f32, {3, 2}, {}, 0, kDLCUDA);
  CHECK(refusal<float, batch, 2>(gpu) ==
        "dlpack: expected float[batch, 2] in the memory of the CPU, got float32[3, 2] on device 2:0");
  foreign plain(data, f32, {3, 2});
  CHECK(refusal<double, batch, 2>(plain) ==
        "dlpack: expected double[batch, 2] in the memory of the CPU, got float32[3, 2]");
  CHECK(refusal<float, batch, 3>(plain) ==
        "dlpack: expected float[batch, 3] in the memory of the CPU, got float32[3, 2]");
  CHECK(refusal<float, batch>(plain) == "dlpack: expected float[batch] in the memory of the CPU, got float32[3, 2]");
  foreign complex(data, {kDLComplex, 64, 1}, {3});
  CHECK(refusal<double, batch>(complex) == "dlpack: expected double[batch] in the memory of the CPU, got complex64[3]");
  foreign lanes(data, {kDLFloat, 32, 4}, {1});
  CHECK(refusal<float, batch>(lanes) == "dlpack: expected float[batch] in the memory of the CPU, got float32x4[1]");
  foreign negative(data, f32, {-1});
  CHECK(refusal<float, batch>(negative) != "no exception");
  const std::int64_t huge = std::int64_t{1} << 40;
  foreign enormous(data, f32, {huge, huge});
  CHECK(refusal<float, batch, batch>(enormous) != "no exception");
  foreign nowhere(nullptr, f32, {2});
  CHECK(refusal<float, 2>(nowhere) == "dlpack: expected float[2] in the memory of the CPU, got no memory");
  CHECK_THROWS_AS(fg::dlpack_array<float>(nullptr), fg::argument_error);
}

namespace {

template <class T>
void check_type(std::uint8_t code, std::uint8_t bits) {
  DLManagedTensor* t = fg::to_dlpack(fg::ndarray<T, 1>());
  CHECK(t->dl_tensor.dtype.code == code);
  CHECK(t->dl_tensor.dtype.bits == bits);
  CHECK(t->dl_tensor.dtype.lanes == 1);
  t->deleter(t);
}

}  // namespace

TEST_CASE("an array is given to others, and comes back") {
  fg::ndarray<float, batch, 3> a{{1, 2, 3}, {4, 5, 6}};
  const float* const memory = a.data();
  DLManagedTensor* t = fg::to_dlpack(std::move(a));
  const DLTensor& d = t->dl_tensor;
  CHECK(d.data == memory);  // moved, not copied
  CHECK(d.device.device_type == kDLCPU);
  CHECK(d.ndim == 2);
  CHECK(std::vector<std::int64_t>(d.shape, d.shape + 2) == std::vector<std::int64_t>{2, 3});
  CHECK(std::vector<std::int64_t>(d.strides, d.strides + 2) == std::vector<std::int64_t>{3, 1});
  CHECK(d.byte_offset == 0);
  const fg::dlpack_array<float, batch, 3> back(t);  // and releases it at its end
  CHECK(back.view().data() == memory);
  CHECK(back.view()(1, 2) == 6);

  check_type<bool>(6, 8);
  check_type<std::int8_t>(kDLInt, 8);
  check_type<std::uint8_t>(kDLUInt, 8);
  check_type<std::int32_t>(kDLInt, 32);
  check_type<std::int64_t>(kDLInt, 64);
  check_type<fg::half>(kDLFloat, 16);
  check_type<fg::bfloat16>(kDLBfloat, 16);
  check_type<double>(kDLFloat, 64);
}
#endif
