// The conformance of carriers over MPI, as two ranks: rank 0 has all tasks, and rank 1 passes on what they say to each
// other, so that every byte goes through two processes.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <flowgraph/net/mpi_carrier.hpp>
#include <flowgraph/net/thread_loop.hpp>

#include "../../support/carrier_conformance.hpp"

namespace {

using namespace net_test;

constexpr unsigned places = 100;

// Listens here, and is known by the address at which rank 1 passes on.
class passed_on final : public carrier {
 public:
  explicit passed_on(event_loop& l) : own_(l) {}
  bool dials(std::string_view address) const override { return own_.dials(address); }
  void dial(const std::string& address, dialled d) override { own_.dial(address, std::move(d)); }
  std::string listen(const std::string& address, accepted a) override {
    return "mpi:1" + own_.listen(address, std::move(a)).substr(5);
  }
  void stop() override { own_.stop(); }

 private:
  mpi_carrier own_;
};

struct mpi_kind {
  static constexpr bool has_handshake = false, is_passed_on = true;
  static std::unique_ptr<event_loop> make_loop() { return std::make_unique<thread_loop>(); }
  static std::unique_ptr<carrier> make(event_loop& l, const task_name&) { return std::make_unique<passed_on>(l); }
  static std::string address() {
    static unsigned n = 0;
    return "mpi:0/" + std::to_string(n++ % places);
  }
};

// What comes at one end goes out at the other, until either ends.
class pipe_of : public std::enable_shared_from_this<pipe_of> {
 public:
  pipe_of(stream_handle a, stream_handle b) : ends_{std::move(a), std::move(b)} { ++alive; }
  ~pipe_of() { --alive; }
  static inline std::atomic<int> alive = 0;
  void begin() {
    pass(0);
    pass(1);
  }

 private:
  void pass(std::size_t from) {
    ends_[from]->read(room_[from], 1, [self = shared_from_this(), from](const stream_result& r) {
      if (!r.why.empty()) return self->end();
      const std::array<std::span<const std::byte>, 1> all{std::span(self->room_[from]).first(r.bytes)};
      self->ends_[1 - from]->write(all, [self, from](const stream_result& w) {
        if (!w.why.empty()) return self->end();
        self->pass(from);
      });
    });
  }
  void end() {
    for (const stream_handle& e : ends_) e->close();
  }
  stream_handle ends_[2];
  std::vector<std::byte> room_[2] = {std::vector<std::byte>(65536), std::vector<std::byte>(65536)};
};

void pass_on() {
  thread_loop loop;
  mpi_carrier c(loop);
  for (unsigned i = 0; i < places; ++i)
    c.listen("mpi:1/" + std::to_string(i), [&c, i](stream_handle s) {
      const auto from = std::make_shared<stream_handle>(std::move(s));
      c.dial("mpi:0/" + std::to_string(i), [from](const std::string&, stream_handle to) {
        if (to) std::make_shared<pipe_of>(std::move(*from), std::move(to))->begin();
      });
    });
  std::promise<void> done;
  c.listen("mpi:1/" + std::to_string(places), [&](stream_handle) { done.set_value(); });
  done.get_future().wait();
  // Those who spoke have gone, and what they said last is still under way.
  for (int i = 0; i < 1000 && pipe_of::alive > 0; ++i) std::this_thread::sleep_for(10ms);
  std::promise<void> stopped;
  loop.post([&] {
    c.stop();
    stopped.set_value();
  });
  stopped.get_future().wait();
}

}  // namespace

TEST_CASE("carriers: MPI") { conform<mpi_kind>(60); }

TEST_CASE("MPI: addresses") {
  mpi_place at;
  CHECK(parse_mpi("mpi:12", at));
  CHECK(at.rank == 12);
  CHECK(parse_mpi("mpi:1/7", at));
  CHECK(at.number == 7);
  for (const char* text : {"mpi:", "mpi:-1", "mpi:x", "mpi:1/", "mpi:1/x", "mpi:1x", "h:1"})
    CHECK_FALSE_MESSAGE(parse_mpi(text, at), text);
}

TEST_CASE("MPI: nobody, no such rank, and another's address") {
  thread_loop loop;
  mpi_carrier c(loop);
  for (const auto& [address, words] : std::vector<std::pair<std::string, std::string>>{
           {"mpi:1/9999", "nobody listens there"}, {"mpi:7", "MPI has no such rank"}}) {
    std::promise<std::string> why;
    c.dial(address, [&](const std::string& w, stream_handle) { why.set_value(w); });
    CHECK(why.get_future().get() == words);
  }
  CHECK_THROWS_AS(c.listen("mpi:1", [](stream_handle) {}), argument_error);
}

int main(int count, char** arguments) {
  if (mpi_hub::of_process().size() != 2) {
    std::puts("two ranks are needed: mpirun -n 2");
    return 2;
  }
  if (mpi_hub::of_process().rank() == 1) return pass_on(), 0;
  const int failed = doctest::Context(count, arguments).run();
  thread_loop loop;
  mpi_carrier c(loop);
  std::promise<void> told;
  c.dial("mpi:1/" + std::to_string(places), [&](const std::string&, stream_handle) { told.set_value(); });
  told.get_future().wait();
  return failed;
}
