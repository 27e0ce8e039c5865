// A carrier on a bad day, for virtual loops: what is written arrives later, and once, after so many bytes, the stream
// is cut in the middle of whatever it was, or carries nothing any more without a word.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/net/byte_stream.hpp>

namespace net_test {

struct weather {
  std::mt19937_64 random;
  std::chrono::microseconds most{0};  // each write is late by up to that
  std::int64_t bytes_left = -1;       // until the accident, of all streams together; < 0: there is none
  bool silent = false;                // the accident: nobody notices
};

class rough_stream final : public flowgraph::detail::byte_stream {
 public:
  rough_stream(flowgraph::detail::stream_handle inner, flowgraph::detail::event_loop& loop, std::shared_ptr<weather> w)
      : inner_(std::move(inner)),
        loop_(loop),
        weather_(std::move(w)) {}

  void shake_hands(const flowgraph::detail::stream_ends& e, done d) override { inner_->shake_hands(e, std::move(d)); }
  void read(std::span<std::byte> to, std::size_t least, done d) override { inner_->read(to, least, std::move(d)); }
  void write(buffers b, done d) override {
    std::vector<std::span<const std::byte>> parts(b.begin(), b.end());
    std::int64_t all = 0;
    for (const auto& p : parts) all += static_cast<std::int64_t>(p.size());
    weather& w = *weather_;
    const auto late = std::chrono::microseconds(
        w.most.count() == 0 ? 0 : static_cast<std::int64_t>(w.random() % static_cast<std::uint64_t>(w.most.count())));
    if (deaf_) return loop_.post([d = std::move(d)] { d({}); });
    if (w.bytes_left >= 0 && w.bytes_left < all) {
      std::int64_t left = std::exchange(w.bytes_left, -1);
      for (auto& p : parts) {
        p = p.first(static_cast<std::size_t>(std::min<std::int64_t>(left, static_cast<std::int64_t>(p.size()))));
        left -= static_cast<std::int64_t>(p.size());
      }
      deaf_ = true;
      auto both = std::make_shared<done>(std::move(d));
      inner_->write(parts, [](const flowgraph::detail::stream_result&) {});
      loop_.at(loop_.now() + late, [this, both] {
        if (!weather_->silent) inner_->close();
        if (weather_->silent)
          (*both)({});
        else
          (*both)({"the cable was cut", 0, false});
      });
      return;
    }
    if (w.bytes_left >= 0) w.bytes_left -= all;
    loop_.at(loop_.now() + late, [this, parts = std::move(parts), d = std::move(d)] { inner_->write(parts, d); });
  }
  void close() override { inner_->close(); }
  std::string name() const override { return inner_->name(); }

 private:
  flowgraph::detail::stream_handle inner_;
  flowgraph::detail::event_loop& loop_;
  std::shared_ptr<weather> weather_;
  bool deaf_ = false;
};

class rough_carrier final : public flowgraph::detail::carrier {
 public:
  rough_carrier(std::unique_ptr<flowgraph::detail::carrier> inner, flowgraph::detail::event_loop& loop,
                std::shared_ptr<weather> w)
      : inner_(std::move(inner)),
        loop_(loop),
        weather_(std::move(w)) {}

  bool dials(std::string_view address) const override { return inner_->dials(address); }
  void dial(const std::string& address, dialled d) override {
    inner_->dial(address, [this, d = std::move(d)](std::string why, flowgraph::detail::stream_handle s) {
      d(std::move(why), s ? rough(std::move(s)) : nullptr);
    });
  }
  std::string listen(const std::string& address, accepted a) override {
    return inner_->listen(address,
                          [this, a = std::move(a)](flowgraph::detail::stream_handle s) { a(rough(std::move(s))); });
  }
  void stop() override { inner_->stop(); }

 private:
  flowgraph::detail::stream_handle rough(flowgraph::detail::stream_handle s) {
    return std::make_unique<rough_stream>(std::move(s), loop_, weather_);
  }

  std::unique_ptr<flowgraph::detail::carrier> inner_;
  flowgraph::detail::event_loop& loop_;
  std::shared_ptr<weather> weather_;
};

}  // namespace net_test
