// The bytes of a .npy file, or of one within an .npz, as an array.
#pragma once
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "file_array.hpp"
#include "numpy_type.hpp"

namespace flowgraph::detail {

// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, the keys in any order.
class npy_header {
 public:
  npy_header(const byte_reader& reader, std::string_view text) : reader_(reader), text_(text) {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !has_descr_) {
        descr = quoted();
        has_descr_ = true;
      } else if (key == "fortran_order" && !has_order_) {
        layout.by_columns = boolean();
        has_order_ = true;
      } else if (key == "shape" && !has_shape_) {
        shape();
        has_shape_ = true;
      } else {
        fail("one of each key 'descr', 'fortran_order' and 'shape'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail("the end of the header");
    if (!has_descr_ || !has_order_ || !has_shape_) fail("the keys 'descr', 'fortran_order' and 'shape'");
  }

  std::string_view descr;
  file_layout layout;

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    const bool there = at_ < text_.size() && text_[at_] == c;
    at_ += there ? 1 : 0;
    return there;
  }
  void expect(char c) {
    if (!accept(c)) fail({&c, 1});
  }
  std::string_view quoted() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("a quotation mark");
    const std::string_view inside = text_.substr(at_, end - at_);
    at_ = end + 1;
    return inside;
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    fail("True or False");
  }
  void shape() {
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::uint64_t n = 0;
      const char* from = text_.data() + at_;
      const auto [end, problem] = std::from_chars(from, text_.data() + text_.size(), n);
      if (problem != std::errc{}) fail("an extent");
      at_ += static_cast<std::size_t>(end - from);
      layout.dims.push_back(n);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }
  [[noreturn]] void fail(std::string_view expected) const {
    reader_.fail({"the header is not that of an array of numbers: expected ", expected, " at its character ",
                  std::to_string(at_), ", got \"", text_.substr(std::min(at_, text_.size()), 40), "\""});
  }

  byte_reader reader_;
  std::string_view text_;
  std::size_t at_ = 0;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

inline loaded_array parse_npy(byte_reader reader, const wanted_array& wanted) {
  if (reader.take(6, "the magic number of .npy") != "\x93NUMPY")
    reader.fail({"expected a .npy file, which begins with \\x93NUMPY"});
  const std::uint64_t version = reader.little(1, "the version"), minor = reader.little(1, "the version");
  if (version < 1 || version > 3 || minor != 0)
    reader.fail(
        {"expected version 1.0, 2.0 or 3.0 of .npy, got ", std::to_string(version), ".", std::to_string(minor)});
  const std::uint64_t length = reader.little(version == 1 ? 2 : 4, "the header's length");
  const byte_reader at_header = reader;
  npy_header header(at_header, reader.take(length, "the header"));

  const std::string_view code = npy_code(wanted.type), descr = header.descr;
  const char order = descr.empty() ? '?' : descr[0];
  if (descr.substr(std::min<std::size_t>(1, descr.size())) != code || (order != '<' && order != '>' && order != '|'))
    at_header.fail({"expected elements of ", name_of(wanted.type), " (", code, " in NumPy's words), got ", descr},
                   problem::file_mismatch);
  header.layout.order = order == '>' ? std::endian::big : std::endian::little;
  return read_elements(reader, header.layout, wanted);
}

}  // namespace flowgraph::detail
