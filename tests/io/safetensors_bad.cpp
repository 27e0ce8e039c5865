// Files that are not what they say: each is refused, with the place and the reason.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/formats/safetensors.hpp>

#include "scratch.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;

namespace {

std::string file_with(const std::string& header, std::size_t data_bytes, std::uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\0');
}
std::string file_with(const std::string& header, std::size_t data_bytes = 0) {
  return file_with(header, data_bytes, header.size());
}
// A tensor "a" of this entry, with as many bytes of data.
std::string one_tensor(const std::string& entry, std::size_t data_bytes) {
  return file_with("{\"a\":{" + entry + "}}", data_bytes);
}

struct refusal {
  std::string message;  // without the file and the byte; empty: the file was accepted
  long long byte = -1;
};
template <class Act>
refusal refusal_of(const Act& act) {
  try {
    act();
    return {};
  } catch (const fg::file_error& e) {
    const std::string message = e.what(), at = e.byte() < 0 ? "" : " at byte " + std::to_string(e.byte()) + ":";
    const std::string beginning = std::string(e.file()) + ":" + at + " ";
    CHECK(message.starts_with(beginning));
    return {message.substr(beginning.size()), e.byte()};
  }
}
refusal open(const std::filesystem::path& path) {
  return refusal_of([&] { fg::safetensors_file{path}; });
}

}  // namespace

TEST_CASE("safetensors: bad files are refused with what was expected") {
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  const struct {
    std::string what, bytes, tensor, expected, found;
  } cases[] = {
      {"nothing at all", "", "", "8 bytes with the length of the header", "0"},
      {"half a length", "abc", "", "8 bytes with the length of the header", "3"},
      {"header longer than the file", file_with("{}", 0, 3), "", "a header of at most 2 bytes", "3"},
      {"hostile length", file_with("{}", 0, ~0ull), "", "a header of at most 2 bytes", "18446744073709551615"},
      {"empty header", file_with(""), "", "'{'", "an empty header"},
      {"leading space", file_with(" {}"), "", "'{'", "another byte"},
      {"byte order mark", file_with("\xef\xbb\xbf{}"), "", "'{'", "another byte"},
      {"zero byte", file_with(std::string("{}\0 ", 4)), "", "JSON in UTF-8", "a zero byte"},
      {"unfinished", file_with("{"), "", "JSON in UTF-8", ""},
      {"two documents", file_with("{}{}"), "", "JSON in UTF-8", ""},
      {"comment", file_with("{/**/}"), "", "JSON in UTF-8", ""},
      {"bad UTF-8", file_with("{\"\xff\":{" + good + "}}", 8), "", "JSON in UTF-8", ""},
      {"overlong UTF-8", file_with("{\"\xc0\xaf\":{" + good + "}}", 8), "", "JSON in UTF-8", ""},
      {"lone surrogate", file_with("{\"\\ud800\":{" + good + "}}", 8), "", "JSON in UTF-8", ""},
      {"a list in place of an entry", file_with("{\"a\":[]}"), "a", "an object", "a list"},
      {"a number in place of an entry", file_with("{\"a\":1}"), "a", "an object", "1"},
      {"null in place of an entry", file_with("{\"a\":null}"), "a", "an object", "null"},
      {"the same name twice", file_with("{\"a\":{" + good + "},\"a\":{" + good + "}}", 8), "", "names that differ",
       "\"a\" twice"},
      {"the same name, escaped", file_with("{\"a\":{" + good + "},\"\\u0061\":{" + good + "}}", 8), "",
       "names that differ", "\"a\" twice"},
      {"two kinds of metadata", file_with(R"({"__metadata__":{},"__metadata__":{}})"), "", "names that differ",
       "\"__metadata__\" twice"},
      {"the same key twice", file_with(R"({"__metadata__":{"k":"1","k":"2"}})"), "__metadata__", "keys that differ",
       "\"k\" twice"},
      {"metadata that is no text", file_with(R"({"__metadata__":{"k":1}})"), "__metadata__", "a string", "1"},
      {"nested metadata", file_with(R"({"__metadata__":{"k":{}}})"), "__metadata__", "a string", "an object"},
      {"no fields", one_tensor("", 0), "a", "dtype, shape and data_offsets", "0 of them"},
      {"no shape", one_tensor(R"("dtype":"F32","data_offsets":[0,4])", 4), "a", "dtype, shape and data_offsets",
       "2 of them"},
      {"a field twice", one_tensor(R"("dtype":"F32","dtype":"F32")", 4), "a", "fields that differ", "\"dtype\" twice"},
      {"an unknown field", one_tensor(good + R"(,"strides":[1])", 8), "a", "dtype, shape or data_offsets",
       "\"strides\""},
      {"a dtype that is a number", one_tensor(R"("dtype":5)", 0), "a", "a string", "5"},
      {"an unknown dtype", one_tensor(R"("dtype":"F31","shape":[2],"data_offsets":[0,8])", 8), "a",
       "a type of the format's", "\"F31\""},
      {"a negative extent", one_tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])", 8), "a",
       "a whole number of at least 0", "-2"},
      {"a fraction", one_tensor(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])", 8), "a",
       "a whole number of at least 0", "2.0"},
      {"an extent beyond 64 bits", one_tensor(R"("dtype":"F32","shape":[18446744073709551616])", 8), "a",
       "a whole number of at least 0", "18446744073709551616"},
      {"a shape in a shape", one_tensor(R"("dtype":"F32","shape":[[2]])", 8), "a", "a whole number of at least 0",
       "a list"},
      {"one offset", one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0])", 8), "a", "two data_offsets", "1"},
      {"three offsets", one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])", 8), "a", "two data_offsets",
       "3"},
      {"offsets in the wrong order", one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])", 8), "a",
       "data within 0 and 8", "8 to 0"},
      {"beyond the end", one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,16])", 8), "a",
       "data within 0 and 8", "8 to 16"},
      {"too few bytes", one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,7])", 7), "a", "the bytes of F32[2]",
       "7"},
      {"a product that wraps around",
       one_tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])", 0), "a",
       "the bytes of F32[4294967296, 4294967296]", "0"},
      {"a product that wraps around, then 0",
       one_tensor(R"("dtype":"U8","shape":[4294967296,4294967296,0],"data_offsets":[0,0])", 0), "a",
       "the bytes of U8[4294967296, 4294967296, 0]", "0"},
      {"half a byte", one_tensor(R"("dtype":"F4","shape":[1],"data_offsets":[0,0])", 0), "a", "the bytes of F4[1]",
       "0"},
      {"a gap at the front", one_tensor(R"("dtype":"U8","shape":[2],"data_offsets":[1,3])", 3), "a",
       "data that begins at 0", "1"},
      {"overlap",
       file_with(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                 R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                 3),
       "b", "data that begins at 2", "1"},
      {"the same data twice",
       file_with(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                 R"("b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                 2),
       "b", "data that begins at 2", "0"},
      {"a gap between",
       file_with(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                 R"("b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})",
                 5),
       "b", "data that begins at 2", "3"},
      {"bytes after the end", one_tensor(good, 9), "", "the end of the file", "1 more bytes"},
  };
  const fg::testing::scratch_directory scratch;
  for (const auto& c : cases) {
    CAPTURE(c.what);
    fg::testing::put_content(scratch / "file", c.bytes);
    const refusal r = open(scratch / "file");
    const std::string where = c.tensor.empty() ? "" : "tensor \"" + c.tensor + "\": ";
    const std::string message = where + "expected " + c.expected + ", got " + c.found;
    CHECK(r.message.substr(0, c.found.empty() ? message.size() : r.message.npos) == message);
    CHECK(r.byte >= 0);
    CHECK(r.byte <= static_cast<long long>(c.bytes.size()));
  }

  fg::testing::put_content(scratch / "file", one_tensor(good, 8));
  CHECK(open(scratch / "file").message == "");
  fg::testing::put_content(scratch / "file", file_with("{ \"a\" : {" + good + "} } \n ", 8));  // white space is JSON's
  CHECK(open(scratch / "file").message == "");
}

TEST_CASE("safetensors: the place of a mistake in the header is told") {
  const fg::testing::scratch_directory scratch;
  const std::string bytes = one_tensor(R"("dtype":"F32","shape":[1,-7],"data_offsets":[0,8])", 8);
  fg::testing::put_content(scratch / "file", bytes);
  const auto after = static_cast<long long>(bytes.find("-7") + 2);
  const long long byte = open(scratch / "file").byte;
  CHECK(byte >= after);  // the parser has looked at one more byte
  CHECK(byte <= after + 1);
}

TEST_CASE("safetensors: a file cut at any byte is refused") {
  const fg::testing::scratch_directory scratch;
  const auto golden = std::filesystem::path(fg::testing::test_file("golden/io/types.safetensors"));
  const std::string whole = fg::testing::file_content(golden);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    fg::testing::put_content(scratch / "cut", whole.substr(0, n));
    const refusal r = open(scratch / "cut");
    if (r.message.empty()) FAIL("accepted with " << n << " bytes");
  }
}

TEST_CASE("safetensors: what is no file, and truth values that are neither") {
  const fg::testing::scratch_directory scratch;
  CHECK(open(scratch / "nowhere").message == "can't be opened: No such file or directory");
  CHECK(open(scratch.path()).message == "can't be opened: it is not a file");

  std::string bytes = one_tensor(R"("dtype":"BOOL","shape":[3],"data_offsets":[0,3])", 3);
  bytes[bytes.size() - 2] = 2;
  fg::testing::put_content(scratch / "file", bytes);
  fg::safetensors_file file(scratch / "file");
  std::vector<std::byte> data(3);
  const refusal neither = refusal_of([&] { file.read(*file.find("a"), data); });
  CHECK(neither.message == "tensor \"a\": expected 0 or 1, got 2");
  CHECK(neither.byte == static_cast<long long>(bytes.size() - 2));

  // A file that shrinks after it was opened.
  const std::string whole = one_tensor(R"("dtype":"U8","shape":[3],"data_offsets":[0,3])", 3);
  fg::testing::put_content(scratch / "shrinks", whole);
  fg::safetensors_file shrinking(scratch / "shrinks");
  std::filesystem::resize_file(scratch / "shrinks", whole.size() - 1);
  CHECK_THROWS_AS(shrinking.read(*shrinking.find("a"), data), fg::file_error);
}
