// Files that go around through us and through the format's own implementation, byte for byte.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/formats/safetensors.hpp>

#include "scratch.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;

namespace {

const std::filesystem::path goldens = fg::testing::test_file("golden/io");

// As tests/referee/make_safetensors_goldens.py says.
template <class T>
T expected_element(int i) {
  if constexpr (std::is_same_v<T, bool>)
    return i % 2 == 1;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return static_cast<T>(i);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(i - 2);
  else
    return static_cast<T>(static_cast<float>(i - 2) / 4);
}

template <class T>
struct owned_tensor {
  owned_tensor(std::string name, std::vector<std::int64_t> dims) {
    std::size_t n = 1;
    for (const std::int64_t d : dims) n *= static_cast<std::size_t>(d);
    elements = std::make_unique<T[]>(n);
    for (std::size_t i = 0; i < n; ++i) elements[i] = expected_element<T>(static_cast<int>(i));
    tensor = {std::move(name), fg::detail::dtype_of<T>, std::move(dims), std::as_bytes(std::span(elements.get(), n))};
  }
  std::unique_ptr<T[]> elements;
  fg::tensor_bytes tensor;
};

template <class F>
void for_each_type(const F& f) {
  f.template operator()<bool>();
  f.template operator()<std::int8_t>();
  f.template operator()<std::uint8_t>();
  f.template operator()<std::int32_t>();
  f.template operator()<std::int64_t>();
  f.template operator()<fg::half>();
  f.template operator()<fg::bfloat16>();
  f.template operator()<float>();
  f.template operator()<double>();
}

void check_all_types(const std::filesystem::path& path) {
  fg::safetensors_file file(path);
  CHECK(file.tensors().size() == 27);
  for_each_type([&]<class T>() {
    const std::string type(fg::name_of(fg::detail::dtype_of<T>));
    for (const auto& [kind, dims] : {std::pair<std::string, std::vector<std::int64_t>>{"/matrix", {3, 5}},
                                     {"/scalar", {}},
                                     {"/empty", {2, 0, 3}}}) {
      CAPTURE(type + kind);
      const owned_tensor<T> expected(type + kind, dims);
      const fg::stored_tensor* const t = file.find(type + kind);
      REQUIRE(t != nullptr);
      CHECK(t->type == fg::detail::dtype_of<T>);
      CHECK(std::equal(t->dims.begin(), t->dims.end(), dims.begin(), dims.end(),
                       [](std::uint64_t a, std::int64_t b) { return a == static_cast<std::uint64_t>(b); }));
      std::vector<std::byte> bytes(t->bytes());
      file.read(*t, bytes);
      CHECK(std::equal(bytes.begin(), bytes.end(), expected.tensor.bytes.begin(), expected.tensor.bytes.end()));
    }
  });
}

}  // namespace

TEST_CASE("safetensors: every type, scalars and empty tensors as the format's own implementation writes them") {
  check_all_types(goldens / "types.safetensors");
}

TEST_CASE("safetensors: what we write is what the format's own implementation writes") {
  const fg::testing::scratch_directory scratch;
  std::vector<fg::tensor_bytes> tensors;
  std::vector<std::shared_ptr<void>> owners;
  for_each_type([&]<class T>() {
    const std::string type(fg::name_of(fg::detail::dtype_of<T>));
    for (const auto& [kind, dims] : {std::pair<std::string, std::vector<std::int64_t>>{"/matrix", {3, 5}},
                                     {"/scalar", {}},
                                     {"/empty", {2, 0, 3}}}) {
      auto owner = std::make_shared<owned_tensor<T>>(type + kind, dims);
      tensors.push_back(owner->tensor);
      owners.push_back(owner);
    }
  });
  fg::write_safetensors(scratch / "types", tensors);
  check_all_types(scratch / "types");
  CHECK(fg::testing::file_content(scratch / "types") == fg::testing::file_content(goldens / "types.safetensors"));

  const owned_tensor<float> weight("weight \"ü\"", {2, 2});
  fg::write_safetensors(scratch / "metadata", {&weight.tensor, 1}, {{"format", "pt"}});
  CHECK(fg::testing::file_content(scratch / "metadata") == fg::testing::file_content(goldens / "metadata.safetensors"));
  fg::write_safetensors(scratch / "nothing", {});
  CHECK(fg::testing::file_content(scratch / "nothing") == fg::testing::file_content(goldens / "nothing.safetensors"));
  // No temporary file stays.
  CHECK(std::distance(std::filesystem::directory_iterator(scratch.path()), {}) == 3);
}

TEST_CASE("safetensors: metadata, names beyond ASCII, and types that we have not") {
  const fg::safetensors_file file(goldens / "metadata.safetensors");
  CHECK(file.metadata() == fg::file_metadata{{"format", "pt"}});
  CHECK(file.find("weight \"ü\"") != nullptr);
  CHECK(file.find("weight") == nullptr);

  const fg::safetensors_file other(goldens / "other_types.safetensors");
  REQUIRE(other.find("short") != nullptr);
  CHECK(other.find("short")->type == fg::dtype::none);
  CHECK(other.find("short")->type_name == "I16");
}

TEST_CASE("safetensors: a file that can't be made is refused, and the old one stays") {
  const fg::testing::scratch_directory scratch;
  const auto write = [&](std::vector<fg::tensor_bytes> tensors, const fg::file_metadata& metadata = {}) {
    fg::write_safetensors(scratch / "file", tensors, metadata);
  };
  const owned_tensor<float> a("a", {2}), b("b", {3});
  write({a.tensor});
  const std::string before = fg::testing::file_content(scratch / "file");
  fg::tensor_bytes same = b.tensor, reserved = b.tensor, not_utf8 = b.tensor, short_one = b.tensor, typeless = b.tensor;
  same.name = "a";
  reserved.name = "__metadata__";
  not_utf8.name = "\xff";
  short_one.dims = {4};
  typeless.type = fg::dtype::none;
  CHECK_THROWS_AS(write({a.tensor, same}), fg::argument_error);
  CHECK_THROWS_AS(write({reserved}), fg::argument_error);
  CHECK_THROWS_AS(write({not_utf8}), fg::argument_error);
  CHECK_THROWS_AS(write({short_one}), fg::argument_error);
  CHECK_THROWS_AS(write({typeless}), fg::argument_error);
  CHECK_THROWS_AS(write({a.tensor}, {{"key", "\xc0\xaf"}}), fg::argument_error);
  CHECK(fg::testing::file_content(scratch / "file") == before);

  try {
    fg::write_safetensors(scratch / "no/such/directory", {});
    FAIL("no exception");
  } catch (const fg::file_error& e) {
    CHECK(e.why() == fg::problem::file_access);
    CHECK(e.what() == (scratch / "no/such/directory").string() + ": can't be created: No such file or directory");
  }
  std::filesystem::create_directory(scratch / "directory");
  CHECK_THROWS_AS(fg::write_safetensors(scratch / "directory", {}), fg::file_error);  // the rename fails
  CHECK(std::distance(std::filesystem::directory_iterator(scratch.path()), {}) == 2);
}
