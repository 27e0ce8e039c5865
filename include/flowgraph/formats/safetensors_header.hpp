// The header of a safetensors file: 8 bytes with its length, then JSON with the name, type, shape and place of every
// tensor. Apart from the file itself, so that any bytes can be given to the parser. Strict: what is accepted is what
// the format's own implementation accepts, without fields that it does not know.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/ranges.h>
#if !__has_include(<nlohmann/json.hpp>)
#error \
    "<flowgraph/checkpoint.hpp> needs nlohmann/json: install it (Debian: nlohmann-json3-dev), link flowgraph::checkpoint"
#endif
#include <nlohmann/json.hpp>

#include <flowgraph/core/dtype.hpp>
#include "file_error.hpp"
#include "stored_tensor.hpp"

namespace flowgraph {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

namespace detail {

inline constexpr std::uint64_t safetensors_length_bytes = 8;
inline constexpr std::uint64_t safetensors_max_header = 100'000'000;
inline constexpr std::string_view metadata_key = "__metadata__";

struct stored_type {
  std::string_view name;
  int bits;
  dtype type;
};
// Those of the format, in its order, by which files are sorted, last to first, so that every tensor is aligned.
inline constexpr stored_type stored_types[] = {
    {"BOOL", 8, dtype::boolean},   {"F4", 4, dtype::none},      {"F6_E2M3", 6, dtype::none},
    {"F6_E3M2", 6, dtype::none},   {"U8", 8, dtype::uint8},     {"I8", 8, dtype::int8},
    {"F8_E5M2", 8, dtype::none},   {"F8_E4M3", 8, dtype::none}, {"F8_E8M0", 8, dtype::none},
    {"I16", 16, dtype::none},      {"U16", 16, dtype::none},    {"F16", 16, dtype::float16},
    {"BF16", 16, dtype::bfloat16}, {"I32", 32, dtype::int32},   {"U32", 32, dtype::none},
    {"F32", 32, dtype::float32},   {"C64", 64, dtype::none},    {"F64", 64, dtype::float64},
    {"I64", 64, dtype::int64},     {"U64", 64, dtype::none},
};
inline const stored_type* stored_type_of(dtype type) {
  return std::find_if(std::begin(stored_types), std::end(stored_types),
                      [&](const stored_type& t) { return t.type == type; });
}

// F32[64, 32]
inline std::string stored_text(std::string_view type_name, const auto& dims) {
  return fmt::format("{}[{}]", type_name, fmt::join(dims, ", "));
}

// Of text that may be anything, as much as a message needs.
inline std::string shown(std::string_view text) {
  return text.size() <= 80 ? std::string(text) : std::string(text.substr(0, 80)) + "...";
}

// tensor: empty where none is to blame.
[[noreturn]] inline void refuse_stored(problem why, std::string_view file, std::uint64_t byte, std::string_view tensor,
                                       std::string_view expected, std::string_view found) {
  const std::string where = tensor.empty() ? "" : fmt::format("tensor \"{}\": ", shown(tensor));
  throw file_error(why, file, {.byte = static_cast<long long>(byte)}, {where, "expected ", expected, ", got ", found});
}

// Characters of the header, with the position that the parser has come to.
struct counted_text {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** reached;

  reference operator*() const { return *at; }
  counted_text& operator++() {
    *reached = ++at;
    return *this;
  }
  bool operator==(const counted_text& other) const { return at == other.at; }
};

// Called by the JSON parser for each token; nothing of the text is kept but what the format has. The place says what
// may come next.
class header_reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  header_reader(std::string_view file, std::string_view text) : file_(file), text_(text), reached_(text.data()) {}

  safetensors_header read() {
    nlohmann::json::sax_parse(counted_text{text_.data(), &reached_},
                              counted_text{text_.data() + text_.size(), &reached_}, this);
    return std::move(result_);
  }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_integer(number_integer_t n) override { return unexpected(fmt::format("{}", n)); }
  bool number_float(number_float_t, const string_t& s) override { return unexpected(shown(s)); }
  bool binary(binary_t&) override { return unexpected("bytes"); }
  bool number_unsigned(number_unsigned_t n) override {
    if (place_ != place::number) return unexpected(fmt::format("{}", n));
    numbers_->push_back(n);
    return true;
  }
  bool string(string_t& s) override {
    if (place_ == place::metadata_value) {
      result_.metadata[key_] = std::move(s);
      return go(place::metadata);
    }
    if (place_ != place::type) return unexpected("a string");
    tensor_.type_name = std::move(s);
    return go(place::field);
  }
  bool start_object(std::size_t) override {
    if (place_ == place::document) return go(place::name);
    if (place_ != place::tensor) return unexpected("an object");
    return go(tensor_.name == metadata_key ? place::metadata : place::field);
  }
  bool key(string_t& k) override {
    if (place_ == place::name) {
      if (!names_.insert(k).second) refuse("names that differ", fmt::format("\"{}\" twice", shown(k)));
      tensor_ = {};
      tensor_.name = std::move(k);
      offsets_.clear();
      fields_.clear();
      return go(place::tensor);
    }
    key_ = std::move(k);
    if (place_ == place::metadata) {
      if (result_.metadata.contains(key_)) refuse("keys that differ", fmt::format("\"{}\" twice", shown(key_)));
      return go(place::metadata_value);
    }
    if (std::find(fields_.begin(), fields_.end(), key_) != fields_.end())
      refuse("fields that differ", fmt::format("\"{}\" twice", shown(key_)));
    fields_.push_back(key_);
    if (key_ == "dtype") return go(place::type);
    if (key_ != "shape" && key_ != "data_offsets")
      refuse("dtype, shape or data_offsets", fmt::format("\"{}\"", shown(key_)));
    numbers_ = key_ == "shape" ? &tensor_.dims : &offsets_;
    return go(place::list);
  }
  bool end_object() override {
    if (place_ == place::field) {
      if (fields_.size() != 3) refuse("dtype, shape and data_offsets", fmt::format("{} of them", fields_.size()));
      if (offsets_.size() != 2) refuse("two data_offsets", fmt::format("{}", offsets_.size()));
      tensor_.begin = offsets_[0];
      tensor_.end = offsets_[1];
      result_.tensors.push_back(std::move(tensor_));
    }
    tensor_ = {};
    return go(place_ == place::name ? place::end : place::name);
  }
  bool start_array(std::size_t) override { return place_ == place::list ? go(place::number) : unexpected("a list"); }
  bool end_array() override { return go(place::field); }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception&) override {
    reached_ = text_.data() + std::min(position > 0 ? position - 1 : 0, text_.size());
    return refuse("JSON in UTF-8", token.empty() ? "something else" : fmt::format("\"{}\"", shown(printable(token))));
  }

 private:
  enum class place { document, name, tensor, metadata, metadata_value, field, type, list, number, end };

  bool go(place next) {
    place_ = next;
    return true;
  }
  bool unexpected(const std::string& found) {
    constexpr const char* expected[] = {"an object", "a name",   "an object",
                                        "a key",     "a string", "a field's name",
                                        "a string",  "a list",   "a whole number of at least 0",
                                        "nothing"};
    return refuse(expected[static_cast<int>(place_)], found);
  }
  [[noreturn]] bool refuse(std::string_view expected, std::string_view found) const {
    const auto offset = safetensors_length_bytes + static_cast<std::uint64_t>(reached_ - text_.data());
    refuse_stored(problem::file_malformed, file_, offset, tensor_.name, expected, found);
  }
  static std::string printable(std::string s) {
    for (char& c : s)
      if (c < ' ' || c > '~') c = '?';
    return s;
  }

  std::string_view file_, text_;
  const char* reached_;
  place place_ = place::document;
  safetensors_header result_;
  std::unordered_set<std::string> names_;
  stored_tensor tensor_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint64_t>* numbers_ = nullptr;
  std::vector<std::string> fields_;
  std::string key_;
};

// Its bits, or max where they can't be counted.
inline std::uint64_t stored_bits(const stored_tensor& t, int bits_of_one) {
  constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t n = static_cast<std::uint64_t>(bits_of_one);
  for (const std::uint64_t d : t.dims) {
    if (d != 0 && n > max / d) return max;
    n *= d;
  }
  return n;
}

// Types that exist, sizes that agree with them, and data that lies without gap or overlap up to the end of the file.
inline void check_tensors(std::string_view file, safetensors_header& h, std::uint64_t file_size) {
  const std::uint64_t size = file_size - h.data_begin;
  const stored_tensor* now = nullptr;
  const auto refuse = [&](std::uint64_t at, std::string_view expected, std::string_view found) {
    refuse_stored(problem::file_malformed, file, at, now->name, expected, found);
  };
  for (stored_tensor& t : h.tensors) {
    now = &t;
    const stored_type* known = std::find_if(std::begin(stored_types), std::end(stored_types),
                                            [&](const stored_type& s) { return s.name == t.type_name; });
    if (known == std::end(stored_types))
      refuse(h.data_begin, "a type of the format's", fmt::format("\"{}\"", shown(t.type_name)));
    t.type = known->type;
    if (t.begin > t.end || t.end > size)
      refuse(h.data_begin, fmt::format("data within 0 and {}", size), fmt::format("{} to {}", t.begin, t.end));
    const std::uint64_t bits = stored_bits(t, known->bits);
    if (bits % 8 != 0 || bits / 8 != t.bytes())
      refuse(h.data_begin + t.begin, "the bytes of " + shown(stored_text(t.type_name, t.dims)),
             fmt::format("{}", t.bytes()));
  }
  std::sort(h.tensors.begin(), h.tensors.end(), [](const stored_tensor& a, const stored_tensor& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t end = 0;
  for (const stored_tensor& t : h.tensors) {
    now = &t;
    if (t.begin != end)
      refuse(h.data_begin + end, fmt::format("data that begins at {}", end), fmt::format("{}", t.begin));
    end = t.end;
  }
  static const stored_tensor none;
  now = &none;
  if (end != size) refuse(h.data_begin + end, "the end of the file", fmt::format("{} more bytes", size - end));
}

// The length of the header of a file of that size, from its first 8 bytes.
inline std::uint64_t safetensors_header_length(std::string_view file, std::span<const std::byte> first,
                                               std::uint64_t file_size) {
  const auto refuse = [&](std::string_view expected, std::uint64_t found) {
    refuse_stored(problem::file_malformed, file, 0, "", expected, fmt::format("{}", found));
  };
  if (first.size() < safetensors_length_bytes) refuse("8 bytes with the length of the header", first.size());
  std::uint64_t length = 0;
  std::memcpy(&length, first.data(), safetensors_length_bytes);
  const std::uint64_t most = std::min(file_size - safetensors_length_bytes, safetensors_max_header);
  if (length > most) refuse(fmt::format("a header of at most {} bytes", most), length);
  return length;
}

// text: the JSON. file_size: with the header.
inline safetensors_header parse_safetensors_header(std::string_view file, std::string_view text,
                                                   std::uint64_t file_size) {
  // The parser takes a zero byte for the end of its input.
  const std::size_t zero = text.find('\0');
  if (zero != text.npos || !text.starts_with('{'))
    refuse_stored(problem::file_malformed, file, safetensors_length_bytes + (text.starts_with('{') ? zero : 0), "",
                  text.starts_with('{') ? "JSON in UTF-8" : "'{'",
                  text.starts_with('{') ? "a zero byte" : (text.empty() ? "an empty header" : "another byte"));
  safetensors_header h = header_reader(file, text).read();
  h.data_begin = safetensors_length_bytes + text.size();
  check_tensors(file, h, file_size);
  return h;
}

// The first bytes of a file with these tensors, up to their data. The text has a multiple of 8 bytes.
inline std::string safetensors_header_bytes(std::span<const stored_tensor> tensors, const file_metadata& metadata) {
  const auto quoted = [](const std::string& s) { return nlohmann::json(s).dump(); };
  std::string text = "{";
  if (!metadata.empty()) {
    text += quoted(std::string(metadata_key)) + ":{";
    for (const auto& [key, value] : metadata) text += quoted(key) + ":" + quoted(value) + ",";
    text.back() = '}';
    text += ',';
  }
  for (const stored_tensor& t : tensors)
    text += fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}},", quoted(t.name), t.type_name,
                        fmt::join(t.dims, ","), t.begin, t.end);
  if (text.size() > 1) text.pop_back();
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(safetensors_length_bytes, '\0');
  std::memcpy(bytes.data(), &length, safetensors_length_bytes);
  return bytes + text;
}

}  // namespace detail
}  // namespace flowgraph
