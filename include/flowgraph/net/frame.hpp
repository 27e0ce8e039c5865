// What goes over a link: a head of 32 bytes, then so many bytes of payload as it says. Little-endian, whatever the
// machine is.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <flowgraph/formats/crc32.hpp>

namespace flowgraph::detail {

// Kinds below first_kind are the link's own; those that use links number theirs from there.
inline constexpr std::uint8_t first_kind = 32;
// The upper four bits are the link's own, too.
inline constexpr std::uint8_t flags_of_users = 0x0F;

inline constexpr std::size_t head_bytes = 32;
// A payload of so many bytes may arrive before anybody waits for it; a larger one is offered first.
inline constexpr std::uint64_t early_bytes = 64 * 1024;
// So many of them may lie aside at the receiver, on each link.
inline constexpr std::uint64_t early_window = 1024 * 1024;
// No payload is larger: 1 TiB.
inline constexpr std::uint64_t max_payload_bytes = std::uint64_t{1} << 40;
// Control: its payloads are small, and never wait for credit.
inline constexpr std::uint32_t control_channel = 0;

struct frame_head {
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint16_t session = 0;
  std::uint32_t channel = control_channel;
  std::uint64_t step = 0;
  std::uint32_t turn = 0;   // of a loop
  std::uint64_t bytes = 0;  // of the payload

  bool operator==(const frame_head&) const = default;
};

using head_text = std::array<std::byte, head_bytes>;

//   kind 1, flags 1, session 2, channel 4, step 8, turn 4, crc 4, bytes 8
// The check sum is of the other 28 bytes: a stream that has lost its place must not be believed about sizes. Payloads
// have the stream's own: that of TCP, or TLS's, which nobody can forge.
inline std::uint32_t crc_of(const head_text& t) {
  const auto* text = reinterpret_cast<const char*>(t.data());
  return crc32_of({text + 24, 8}, crc32_of({text, 20}));
}

template <class N>
void put_little(std::byte* to, N n) {
  for (std::size_t i = 0; i < sizeof(N); ++i) to[i] = static_cast<std::byte>(static_cast<std::uint64_t>(n) >> (8 * i));
}
template <class N>
N get_little(const std::byte* from) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < sizeof(N); ++i) n |= static_cast<std::uint64_t>(from[i]) << (8 * i);
  return static_cast<N>(n);
}

inline head_text encode(const frame_head& h) {
  head_text t;
  put_little(&t[0], h.kind);
  put_little(&t[1], h.flags);
  put_little(&t[2], h.session);
  put_little(&t[4], h.channel);
  put_little(&t[8], h.step);
  put_little(&t[16], h.turn);
  put_little(&t[24], h.bytes);
  put_little(&t[20], crc_of(t));
  return t;
}
// False: this is no head.
inline bool decode(const head_text& t, frame_head& h) {
  if (get_little<std::uint32_t>(&t[20]) != crc_of(t)) return false;
  h.kind = get_little<std::uint8_t>(&t[0]);
  h.flags = get_little<std::uint8_t>(&t[1]);
  h.session = get_little<std::uint16_t>(&t[2]);
  h.channel = get_little<std::uint32_t>(&t[4]);
  h.step = get_little<std::uint64_t>(&t[8]);
  h.turn = get_little<std::uint32_t>(&t[16]);
  h.bytes = get_little<std::uint64_t>(&t[24]);
  return h.kind != 0 && h.bytes <= max_payload_bytes;
}

}  // namespace flowgraph::detail
