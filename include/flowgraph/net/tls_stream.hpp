// TLS over any stream. OpenSSL sees bytes alone, so that what it does can be run on a network that a test has made up.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <openssl/bio.h>

#include "byte_stream.hpp"
#include "event_loop.hpp"
#include "hello.hpp"
#include "tls_keys.hpp"

namespace flowgraph::detail {

class tls_stream final : public byte_stream {
 public:
  tls_stream(event_loop& loop, stream_handle below, std::shared_ptr<const tls_keys> keys, bool dials)
      : core_(std::make_shared<core>(loop, std::move(below), std::move(keys), dials)) {}
  ~tls_stream() override { close(); }

  void shake_hands(const stream_ends& expected, done d) override { core_->shake_hands(expected, std::move(d)); }
  std::string proven() const override { return core_->proven; }
  void read(std::span<std::byte> to, std::size_t least, done d) override { core_->read(to, least, std::move(d)); }
  void write(buffers b, done d) override { core_->write(b, std::move(d)); }
  void close() override { core_->close(); }
  std::string name() const override { return core_->below->name(); }

 private:
  static constexpr std::size_t record = 16384;  // of TLS
  static constexpr std::size_t sealed_ahead = 262144;

  struct core final : tls_names, std::enable_shared_from_this<core> {
    event_loop& loop;
    stream_handle below;
    std::shared_ptr<const tls_keys> keys;
    ssl_handle<SSL> ssl;
    const bool dials;
    stream_ends ends;
    std::string label, proven;
    bool closed = false;

    std::vector<std::byte> in = std::vector<std::byte>(record + 1024);
    std::size_t in_begin = 0, in_end = 0;
    bool listening = false;  // below reads
    std::vector<std::byte> sealed, flying;

    done shaken, has_read, has_written;
    std::span<std::byte> to;
    std::size_t least = 0, got = 0;
    std::vector<std::span<const std::byte>> parts;
    std::size_t part = 0;
    std::array<std::byte, record> stage;

    core(event_loop& l, stream_handle b, std::shared_ptr<const tls_keys> k, bool d)
        : loop(l),
          below(std::move(b)),
          keys(std::move(k)),
          ssl(keys->make(d, *this)),
          dials(d) {
      BIO* const bio = BIO_new(method());
      if (bio == nullptr) throw std::bad_alloc();
      BIO_set_data(bio, this);
      SSL_set_bio(ssl.get(), bio, bio);
    }

    // ---- names

    const std::string& own_label() override { return label; }
    bool accepts_label(std::string_view text) override {
      const std::string begin = ends.cluster + "|", end = ">" + ends.to.text();
      if (text.size() > 2 * max_cluster_bytes + 256 || !text.starts_with(begin) || !text.ends_with(end)) return false;
      label = text;
      return true;
    }

    // ---- OpenSSL's side of the bytes

    static const BIO_METHOD* method() {
      static const ssl_handle<BIO_METHOD> one = [] {
        ssl_handle<BIO_METHOD> m(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "flowgraph"));
        if (!m) throw std::bad_alloc();
        BIO_meth_set_create(m.get(), [](BIO* b) {
          BIO_set_init(b, 1);
          return 1;
        });
        BIO_meth_set_read_ex(m.get(), &take);
        BIO_meth_set_write_ex(m.get(), &seal);
        BIO_meth_set_ctrl(m.get(), [](BIO*, int what, long, void*) -> long { return what == BIO_CTRL_FLUSH ? 1 : 0; });
        return m;
      }();
      return one.get();
    }
    static int take(BIO* b, char* data, std::size_t room, std::size_t* n) {
      core& c = *static_cast<core*>(BIO_get_data(b));
      BIO_clear_retry_flags(b);
      *n = std::min(room, c.in_end - c.in_begin);
      if (*n == 0) return BIO_set_retry_read(b), 0;
      std::memcpy(data, c.in.data() + c.in_begin, *n);
      c.in_begin += *n;
      return 1;
    }
    static int seal(BIO* b, const char* data, std::size_t bytes, std::size_t* n) {
      core& c = *static_cast<core*>(BIO_get_data(b));
      BIO_clear_retry_flags(b);
      try {
        const auto* const from = reinterpret_cast<const std::byte*>(data);
        c.sealed.insert(c.sealed.end(), from, from + bytes);
      } catch (...) {
        return 0;
      }
      *n = bytes;
      return 1;
    }

    // ---- both directions

    // Nobody is called back before the call that asks has returned.
    void answer(done& d, stream_result r) {
      if (d) loop.post([d = std::exchange(d, nullptr), r = std::move(r)] { d(r); });
    }
    void listen() {
      if (std::exchange(listening, true)) return;
      in_begin = in_end = 0;
      below->read(in, 1, [self = shared_from_this()](const stream_result& r) {
        self->listening = false;
        if (self->closed) return;
        if (!r.why.empty()) {  // what is being written may have arrived, and says so itself
          self->answer(self->shaken, r);
          return self->answer(self->has_read, r);
        }
        self->in_end = r.bytes;
        if (self->shaken) return self->go_on_shaking();
        self->go_on_reading();
      });
    }
    void flush() {
      if (closed || !flying.empty() || sealed.empty()) return;
      flying.swap(sealed);
      const std::array<std::span<const std::byte>, 1> all{flying};
      below->write(all, [self = shared_from_this()](const stream_result& r) {
        self->flying.clear();
        if (self->closed) return;
        if (!r.why.empty()) {
          self->answer(self->shaken, r);
          return self->answer(self->has_written, r);
        }
        self->go_on_writing();
      });
    }

    // ---- the handshake

    void shake_hands(const stream_ends& expected, done d) {
      ends = expected;
      if (dials) label = key_label(ends.cluster, ends.from, ends.to);
      shaken = std::move(d);
      go_on_shaking();
    }
    void go_on_shaking() {
      ERR_clear_error();
      const int r = SSL_do_handshake(ssl.get());
      const int why = r == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl.get(), r);
      flush();  // or an alert, which says why
      if (why == SSL_ERROR_WANT_READ) return listen();
      if (why != SSL_ERROR_NONE)
        return answer(shaken, {text_from({"TLS: ", ssl_reason(), ": ",
                                          keys->by_key() ? "both ends need the same key, and must mean each other"
                                                         : "both ends need certificates of the same authorities"}),
                               0, true});
      if (const std::string wrong = not_meant(); !wrong.empty()) return answer(shaken, {wrong, 0, true});
      answer(shaken, {});
    }
    std::string not_meant() {
      if (keys->by_key()) {
        if (SSL_session_reused(ssl.get()) != 1) return "TLS: the other end does not use the key";
        proven = label;
        return {};
      }
      const std::string name = tls_keys::certified_name(ssl.get());
      if (dials) {
        const std::string expected = certificate_name(ends.cluster, ends.to);
        return name == expected ? std::string()
                                : text_from({"TLS: its certificate is of \"", name, "\", not ", expected});
      }
      const std::string begin = "flowgraph://" + ends.cluster + "/";
      task_name from;
      if (!name.starts_with(begin) || !parse_task(std::string_view(name).substr(begin.size() - 1), from))
        return "TLS: its certificate is of no task of this cluster";
      proven = key_label(ends.cluster, from, ends.to);
      return {};
    }

    // ---- reading

    void read(std::span<std::byte> room, std::size_t n, done d) {
      to = room;
      least = n;
      got = 0;
      has_read = std::move(d);
      go_on_reading();
    }
    void go_on_reading() {
      if (!has_read) return;
      while (got < to.size()) {
        std::size_t n = 0;
        ERR_clear_error();
        if (SSL_read_ex(ssl.get(), to.data() + got, to.size() - got, &n) == 1) {
          got += n;
          continue;
        }
        const int why = SSL_get_error(ssl.get(), 0);
        if (why == SSL_ERROR_WANT_READ || got >= least) break;  // an end comes after what came before it
        return answer(has_read, {why == SSL_ERROR_ZERO_RETURN ? std::string("it has ended the connection")
                                                              : "TLS: " + ssl_reason(),
                                 0, false});
      }
      flush();  // what TLS itself has to say
      if (got >= least) return answer(has_read, {{}, got, false});
      listen();
    }

    // ---- writing

    void write(buffers b, done d) {
      parts.assign(b.begin(), b.end());
      part = 0;
      has_written = std::move(d);
      go_on_writing();
    }
    void go_on_writing() {
      if (!seal_more()) return answer(has_written, {"TLS: " + ssl_reason(), 0, false});
      flush();
      if (!seal_more()) return answer(has_written, {"TLS: " + ssl_reason(), 0, false});  // while that is on its way
      if (has_written && part == parts.size() && sealed.empty() && flying.empty()) answer(has_written, {});
    }
    // False: TLS has failed.
    bool seal_more() {
      while (has_written && sealed.size() < sealed_ahead && part < parts.size()) {
        std::span<const std::byte> next = parts[part];
        if (next.size() >= record) {
          next = next.first(record);
          take_parts(record);
        } else {  // small ones share a record
          std::size_t n = 0;
          while (n < record && part < parts.size()) {
            const std::size_t some = std::min(record - n, parts[part].size());
            if (some > 0) std::memcpy(stage.data() + n, parts[part].data(), some);
            n += some;
            take_parts(some);
          }
          next = std::span(stage).first(n);
        }
        while (!next.empty()) {
          std::size_t n = 0;
          ERR_clear_error();
          if (SSL_write_ex(ssl.get(), next.data(), next.size(), &n) != 1) return false;
          next = next.subspan(n);
        }
      }
      return true;
    }
    // Of the first part.
    void take_parts(std::size_t n) {
      parts[part] = parts[part].subspan(n);
      if (parts[part].empty()) ++part;
    }

    void close() {
      if (closed) return;
      if (SSL_is_init_finished(ssl.get()) == 1) {
        ERR_clear_error();
        SSL_shutdown(ssl.get());
        ERR_clear_error();
      }
      flush();
      closed = true;
      parts.clear();
      for (done* d : {&shaken, &has_read, &has_written}) answer(*d, {"the stream was closed", 0, false});
      below->close();
    }
  };

  std::shared_ptr<core> core_;
};

}  // namespace flowgraph::detail
