// Event files: what TensorBoard's own reader can't be asked. check_events.py asks it the rest.
#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/arrays/ndarray.hpp>
#include <flowgraph/functions/matrix.hpp>
#include <flowgraph/language/graph.hpp>
#include <flowgraph/look/node_paths.hpp>
#include <flowgraph/look/summary_file.hpp>
#include <flowgraph/look/summary_values.hpp>
#include <flowgraph/summary.hpp>
#include "io/scratch.hpp"

namespace fg = flowgraph;
using fg::testing::file_content;
using fg::testing::scratch_directory;

// The check value of CRC-32C, and one of RFC 3720, B.4: 32 bytes of zeros.
static_assert(fg::detail::crc32c("123456789") == 0xE3069283u);
static_assert(fg::detail::crc32c(std::string_view("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                                                  32)) == 0x8A9136AAu);

namespace {

// How many records a file has; -1: their lengths don't add up to its size.
int records(const std::string& bytes) {
  int count = 0;
  std::size_t at = 0;
  for (; at + 16 <= bytes.size(); ++count) {
    std::size_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[at + i]);
    at += 16 + length;
  }
  return at == bytes.size() ? count : -1;
}

}  // namespace

TEST_CASE("every record is in the file when the call returns, in a file of its own for each writer") {
  const scratch_directory runs;
  fg::summary_writer a(runs / "run"), b(runs / "run");
  CHECK(a.path() != b.path());
  CHECK(records(file_content(a.path())) == 1);
  a.scalar("loss", 0.5, 1);
  a.text("note", "words", 1);
  CHECK(records(file_content(a.path())) == 3);
  CHECK(records(file_content(b.path())) == 1);
}

TEST_CASE("a writer goes on after the disk was full, without the record that did not fit") {
  const scratch_directory runs;
  fg::summary_writer log(runs / "run");
  log.scalar("loss", 0.5, 1);
  const auto size = std::filesystem::file_size(log.path());
  // As on a full disk: a file may not grow beyond the middle of the next record.
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto signal_before = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit little{static_cast<rlim_t>(size + 20), before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &little) == 0);
  std::string said;
  try {
    log.text("note", std::string(100, 'x'), 2);
  } catch (const fg::file_error& e) {
    said = e.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, signal_before);
  CHECK(said.find("can't be written: ") != std::string::npos);
  CHECK(std::filesystem::file_size(log.path()) == size);
  CHECK(records(file_content(log.path())) == 2);
  log.scalar("loss", 0.25, 3);
  CHECK(records(file_content(log.path())) == 3);
}

TEST_CASE("threads may share a writer") {
  const scratch_directory runs;
  fg::summary_writer log(runs.path());
  const auto work = [&log] {
    for (int i = 0; i < 100; ++i) log.scalar("loss", i, i);
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(records(file_content(log.path())) == 201);
}

TEST_CASE("numbers that a histogram can't hold are left out") {
  const std::vector<double> extremes{-1.7e308, 1.7e308, std::nan(""), -INFINITY};
  const fg::detail::histogram_counts h(fg::detail::lent<std::vector<double>>(extremes).data);
  CHECK(h.count == 2);
  CHECK(h.counts.front() == 1);
  CHECK(h.counts.back() == 1);
  const std::vector<float> nothing{std::nanf("")};
  const fg::detail::histogram_counts none(fg::detail::lent<std::vector<float>>(nothing).data);
  CHECK(none.count == 0);
  CHECK(none.counts == std::vector<double>{0});
}

TEST_CASE("what can't be written says so") {
  CHECK_THROWS_AS(fg::summary_writer("/proc/no/such/directory"), fg::file_error);
  const scratch_directory runs;
  fg::summary_writer log(runs.path());
  CHECK_THROWS_AS(log.image("flat", std::vector<float>(4), 0), fg::argument_error);
  try {
    log.image("five", fg::ndarray<float, 2, 2, 5>(), 0);
    FAIL("an image of five channels was taken");
  } catch (const fg::argument_error& e) {
    CHECK(e.why() == fg::problem::image_shape);
    CHECK(std::string(e.what()).find("image \"five\": expected [height, width]") == 0);
    CHECK(std::string(e.what()).find("got float[2, 2, 5]") != std::string::npos);
  }
  CHECK_THROWS_AS(log.image("empty", fg::ndarray<float, 0, 2>(), 0), fg::file_error);
  CHECK(records(file_content(log.path())) == 1);
}

TEST_CASE("every node has a path of its own, whatever users call theirs") {
  fg::graph g;
  auto x = g.placeholder<float, 2, 2>("matmul_2");
  auto scope = g.scope("layer");
  auto w = g.variable<float, 2, 2>("w:0^");
  auto y = matmul(x, w);
  auto z = matmul(y, w);
  g.name("out", z);
  const fg::graph_view view = g.view();
  const fg::detail::node_paths paths(view);
  CHECK(paths[x.id] == "matmul_2");
  CHECK(paths[w.id] == "layer/w_0_");
  CHECK(paths[y.id] == "layer/matmul_2");
  CHECK(paths[z.id] == "layer/out");
}
