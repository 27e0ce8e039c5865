// Any bytes from a peer: a head and a HELLO are understood or refused, and a link ends in order or by an error, without
// more memory than it was asked for. The first byte says which of them; docs/CONTRIBUTING.md says how to run it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/net/stream_link.hpp>
#include <flowgraph/net/virtual_loop.hpp>

namespace fg = flowgraph;

namespace {

using namespace fg::detail;

void require(bool truth) {
  if (!truth) std::abort();
}

void any_head(std::string_view text) {
  head_text t{};
  std::memcpy(t.data(), text.data(), std::min(text.size(), t.size()));
  frame_head h, again;
  if (!decode(t, h)) return;
  require(h.kind != 0 && h.bytes <= max_payload_bytes);
  require(encode(h) == t && decode(encode(h), again) && again == h);
}

void any_hello(std::string_view text) {
  hello h, again;
  if (!decode(text, h) || h.version != wire_version) return;
  require(is_task(h.from) && is_task(h.to) && h.incarnation != 0 && h.cluster.size() <= max_cluster_bytes);
  require(decode(encode(h), again));
  require(again.cluster == h.cluster && again.from == h.from && again.to == h.to &&
          again.incarnation == h.incarnation && again.fingerprint == h.fingerprint);
}

// Gives what was written down, in pieces, and takes whatever is written.
class scripted_stream final : public byte_stream {
 public:
  scripted_stream(event_loop& loop, std::string text, std::size_t piece)
      : loop_(loop),
        text_(std::move(text)),
        piece_(piece) {}
  void shake_hands(const stream_ends&, done d) override {
    loop_.post([d] { d({}); });
  }
  void read(std::span<std::byte> to, std::size_t least, done d) override {
    require(!to.empty() && least > 0 && least <= to.size());
    const std::size_t n = std::min({std::max(least, piece_), to.size(), text_.size() - at_});
    if (n < least || closed_) {
      loop_.post([d] { d({"it has ended the connection", 0, false}); });
      return;
    }
    std::memcpy(to.data(), text_.data() + at_, n);
    at_ += n;
    loop_.post([d, n] { d({{}, n, false}); });
  }
  void write(buffers b, done d) override {
    for (const auto part : b) written += part.size();
    loop_.post([d] { d({}); });
  }
  void close() override { closed_ = true; }
  std::string name() const override { return "script"; }
  std::size_t written = 0;

 private:
  event_loop& loop_;
  std::string text_;
  std::size_t piece_, at_ = 0;
  bool closed_ = false;
};

// Answers by channel, and never holds more than it has said that it would.
class eater final : public link_receiver {
 public:
  void up(const peer_info&) override { ups++; }
  placement place(const frame_head& h) override {
    require(h.bytes > 0 && ups == 1 && downs == 0);
    const bool large = h.bytes > early_bytes, control = h.channel == control_channel;
    if (h.bytes > most) return {placement::what::refuse, nullptr};
    if (large && h.channel % 4 == 1) {
      later.push_back(h);
      return {placement::what::later, nullptr};
    }
    if (h.channel % 4 == 2) return {placement::what::drop, nullptr};
    const bool aside = !large && !control && h.channel % 4 == 3;
    if (aside) kept += h.bytes;
    require(kept <= early_window);
    return {aside ? placement::what::aside : placement::what::here, room(h)};
  }
  void arrived(const frame_head& h) override {
    require(ups == 1 && downs == 0 && (h.bytes == 0 || rooms.contains(key_of(h))));
  }
  void down(const fg::peer_error&) override { require(++downs == 1); }

  std::byte* room(const frame_head& h) {
    auto& v = rooms[key_of(h)].emplace_back(static_cast<std::size_t>(h.bytes));
    return v.data();
  }

  static constexpr std::uint64_t most = 1 << 20;
  int ups = 0, downs = 0;
  std::uint64_t kept = 0;
  std::vector<frame_head> later;
  std::map<channel_key, std::vector<std::vector<std::byte>>> rooms;
};

struct host final : link_owner {
  std::shared_ptr<eater> at = std::make_shared<eater>();
  bool ended = false;
  std::shared_ptr<link_receiver> admit(stream_link&, const peer_info&, std::string&) override { return at; }
  bool try_again(stream_link&, const stream_result&) override { return false; }
  void is_up(stream_link&) override {}
  void is_down(stream_link&) override {
    require(!ended);
    ended = true;
  }
};

struct counted final : sent_listener {
  int told = 0;
  void sent(const frame_head&, delivery) noexcept override { ++told; }
};

const fg::task_name here{"ps", 0}, there{"worker", 1};

std::string framed(frame_head h, std::string_view body) {
  const head_text t = encode(h);
  return std::string(reinterpret_cast<const char*>(t.data()), t.size()).append(body);
}
std::string greeting() {
  const std::string text = encode(hello{wire_version, "test", there, here, 7, 0});
  frame_head h;
  h.kind = static_cast<std::uint8_t>(link_kind::hello);
  h.bytes = text.size();
  return framed(h, text);
}
// Six bytes a frame: what a peer can say that keeps to the form.
std::string frames_of(std::string_view text) {
  static constexpr std::uint64_t sizes[] = {
      0, 1, 100, early_bytes, early_bytes + 1, 100'000, eater::most + 1, max_payload_bytes};
  std::string all = greeting();
  for (std::size_t i = 0; i + 6 <= text.size() && all.size() < (std::size_t{2} << 20); i += 6) {
    const auto byte = [&](std::size_t k) { return static_cast<std::uint8_t>(text[i + k]); };
    frame_head h;
    h.kind = byte(0) % 40;
    h.flags = byte(1);
    h.session = byte(2) % 2;
    h.channel = byte(3) % 16;
    h.step = std::uint64_t{1} << (byte(4) % 64);
    h.bytes = h.kind < first_kind && byte(5) < 240 ? 0 : sizes[byte(5) % 8];
    const bool offered = (h.flags & offered_flag) != 0;
    all += framed(h, offered || h.bytes > 200'000 ? "" : std::string(static_cast<std::size_t>(h.bytes), 'x'));
  }
  return all;
}

void any_peer(const std::string& text, std::size_t piece) {
  virtual_loop loop;
  host owner;
  counted done;
  const std::vector<std::byte> body(200'000);
  constexpr int sends = 40;
  const hello own{wire_version, "test", here, {}, 1, 0};
  const auto l = std::make_shared<stream_link>(loop, static_cast<link_owner&>(owner), own, false,
                                               link_times{std::chrono::seconds(1), std::chrono::seconds(4)}, nullptr);
  for (int i = 0; i < sends; ++i) {
    frame_head h;
    h.kind = first_kind;
    h.channel = static_cast<std::uint32_t>(i % 16);
    const std::size_t bytes = h.channel == control_channel || i % 3 != 0 ? 60'000 : body.size();
    l->send(h, {body.data(), bytes, nullptr, &done});
  }
  l->begin(std::make_unique<scripted_stream>(loop, text, piece));
  for (int turn = 0; turn < 20; ++turn) {
    loop.run_until(loop.now() + std::chrono::milliseconds(100));
    for (const frame_head& h : std::exchange(owner.at->later, {}))
      if (!owner.ended) l->take(h, h.step % 2 == 0 ? nullptr : owner.at->room(h));
    if (owner.at->kept > 0 && !owner.ended) l->give_back(static_cast<std::size_t>(std::exchange(owner.at->kept, 0)));
  }
  loop.run_until(loop.now() + std::chrono::seconds(60));
  require(owner.ended && owner.at->downs == owner.at->ups);
  require(done.told == sends);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t piece = 1 + std::size_t{data[1]} * data[1];
  switch (data[0] % 5) {
    case 0:
      any_head(text);
      break;
    case 1:
      any_hello(text);
      break;
    case 2:
      any_peer(std::string(text), piece);
      break;
    case 3:
      any_peer(greeting().append(text), piece);
      break;
    default:
      any_peer(frames_of(text), piece);
  }
  return 0;
}
