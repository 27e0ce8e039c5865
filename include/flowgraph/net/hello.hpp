// The first thing that both ends of a link say: who they are, of which cluster, and how they speak. A message of
// protobuf's encoding, so that later versions can add to it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <flowgraph/core/text_from.hpp>

#include "task_name.hpp"

namespace flowgraph::detail {

// Frames of another version can't be understood.
inline constexpr std::uint32_t wire_version = 1;
inline constexpr std::size_t max_hello_bytes = 4096;
inline constexpr std::size_t max_cluster_bytes = 256;

struct hello {
  std::uint32_t version = wire_version;
  std::string cluster;
  task_name from, to;
  std::uint64_t incarnation = 0;
  std::uint64_t fingerprint = 0;
};

inline std::string encode(const hello& h) {
  std::string text;
  protozero::pbf_writer w(text);
  w.add_uint32(1, h.version);
  w.add_string(2, h.cluster);
  w.add_string(3, h.from.text());
  w.add_string(4, h.to.text());
  w.add_fixed64(5, h.incarnation);
  w.add_fixed64(6, h.fingerprint);
  return text;
}

// Which key is meant: that of one direction of one pair.
inline std::string key_label(const std::string& cluster, const task_name& from, const task_name& to) {
  return cluster + "|" + from.text() + ">" + to.text();
}

// False: this is no such message. Of another version only the version is sure.
inline bool decode(std::string_view text, hello& h) {
  if (text.size() > max_hello_bytes) return false;
  h = {.version = 0, .cluster = {}, .from = {}, .to = {}};
  try {
    protozero::pbf_reader r(text.data(), text.size());
    while (r.next()) {
      const auto text_field = [&] { return r.get_view().to_string(); };
      switch (r.tag_and_type()) {
        case protozero::tag_and_type(1, protozero::pbf_wire_type::varint):
          h.version = r.get_uint32();
          break;
        case protozero::tag_and_type(2, protozero::pbf_wire_type::length_delimited):
          h.cluster = text_field();
          break;
        case protozero::tag_and_type(3, protozero::pbf_wire_type::length_delimited):
          if (!parse_task(text_field(), h.from)) return h.version != wire_version;
          break;
        case protozero::tag_and_type(4, protozero::pbf_wire_type::length_delimited):
          if (!parse_task(text_field(), h.to)) return h.version != wire_version;
          break;
        case protozero::tag_and_type(5, protozero::pbf_wire_type::fixed64):
          h.incarnation = r.get_fixed64();
          break;
        case protozero::tag_and_type(6, protozero::pbf_wire_type::fixed64):
          h.fingerprint = r.get_fixed64();
          break;
        default:
          r.skip();
      }
    }
  } catch (const protozero::exception&) {
    return h.version != 0 && h.version != wire_version;
  }
  if (h.version != wire_version) return h.version != 0;
  return h.cluster.size() <= max_cluster_bytes && is_task(h.from) && is_task(h.to) && h.incarnation != 0;
}

// What is wrong with it, as the task that `own` is of sees it; empty: nothing. proven: what the stream knows of names.
inline std::string mistake_in(const hello& h, const hello& own, bool dials, const std::string& proven) {
  if (h.version != wire_version) return text_from({"version ", h.version, " of the wire meets version ", wire_version});
  if (h.cluster != own.cluster) return "they are of different clusters";
  if (h.to != own.from) return text_from({"it looks for ", h.to.text(), ", and this is ", own.from.text()});
  if (dials && h.from != own.to) return text_from({"this is ", h.from.text(), ", not ", own.to.text()});
  if (h.from == own.from) return "a task does not connect to itself";
  if (!dials && !proven.empty() && proven != key_label(h.cluster, h.from, h.to))
    return text_from({"its key is not that of ", h.from.text()});
  if (h.fingerprint != 0 && own.fingerprint != 0 && h.fingerprint != own.fingerprint)
    return "the two were compiled from different models";
  return {};
}

}  // namespace flowgraph::detail
