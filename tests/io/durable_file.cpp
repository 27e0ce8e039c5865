// What saving leaves behind: the mode, the link, the device that a path had, nothing of what was killed, and
// directories that survive a power failure.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/formats/durable_file.hpp>

#include "scratch.hpp"

namespace fg = flowgraph;
using fg::testing::file_content;
using fg::testing::put_content;
using fg::testing::scratch_directory;

namespace {

std::mutex synced_mutex;
std::vector<std::string> synced;  // where, in the order in which it happened

void save(const std::filesystem::path& path, const std::string& content) {
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(content))};
  fg::detail::write_durably(path, parts);
}
mode_t mode_of(const std::filesystem::path& path) {
  struct stat s {};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  return s.st_mode & 07777;
}
int count_temporaries(const std::filesystem::path& directory) {
  int n = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory)) n += file.path().extension() == ".tmp";
  return n;
}

}  // namespace

// In place of the C library's: the same, with a note of what was synced.
extern "C" int fsync(int descriptor) {
  char path[4096];
  const ssize_t n = ::readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path, sizeof path);
  if (n > 0) {
    const std::lock_guard lock(synced_mutex);
    synced.emplace_back(path, static_cast<std::size_t>(n));
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

TEST_CASE("saving keeps the mode of the file that is replaced") {
  const scratch_directory scratch;
  save(scratch / "new", "1");
  const mode_t usual = mode_of(scratch / "new");
  CHECK((usual & 0600) == 0600);
  for (const mode_t mode : {0600u, 0640u, 0664u}) {
    ::chmod((scratch / "new").c_str(), mode);
    save(scratch / "new", "2");
    CHECK(mode_of(scratch / "new") == mode);
    CHECK(file_content(scratch / "new") == "2");
  }
}

TEST_CASE("saving to a link writes what it leads to, and leaves the link") {
  const scratch_directory scratch;
  std::filesystem::create_directories(scratch / "far");
  put_content(scratch / "far/file", "old");
  std::filesystem::create_symlink("far/file", scratch / "link");
  std::filesystem::create_symlink("link", scratch / "link_to_link");
  std::filesystem::create_symlink("far/nothing_yet", scratch / "dangling");
  save(scratch / "link_to_link", "new");
  CHECK(std::filesystem::is_symlink(scratch / "link"));
  CHECK(std::filesystem::is_symlink(scratch / "link_to_link"));
  CHECK(file_content(scratch / "far/file") == "new");
  save(scratch / "dangling", "made");
  CHECK(std::filesystem::is_symlink(scratch / "dangling"));
  CHECK(file_content(scratch / "far/nothing_yet") == "made");
  std::filesystem::create_symlink("around", scratch / "around");
  CHECK_THROWS_AS(save(scratch / "around", "?"), fg::file_error);
}

TEST_CASE("saving to what is no file writes there, and leaves it what it is") {
  const scratch_directory scratch;
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  std::string read;
  std::thread reader([&] { read = file_content(scratch / "pipe"); });
  save(scratch / "pipe", "through");
  reader.join();
  CHECK(read == "through");
  CHECK(std::filesystem::is_fifo(scratch / "pipe"));
  save("/dev/null", "nothing");
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("who is killed while saving leaves no file behind the next save") {
  const scratch_directory scratch;
  const std::string large(std::size_t{1} << 20, 'x');
  save(scratch / "file", "whole");
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0)
      for (;;) save(scratch / "file", large);
    ::usleep(static_cast<useconds_t>(500 + 700 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::string now = file_content(scratch / "file");
    CHECK((now == "whole" || now == large));
  }
  // As a file system without nameless files leaves it.
  put_content(scratch / "file.999999.0.tmp", "half");
  const char* others[] = {"other.999999.0.tmp", "file.tmp",       "file.mine.tmp",
                          "file.1.tmp",         "file.old.1.tmp", "file.1.x.tmp"};
  for (const char* name : others) put_content(scratch / name, "not mine");
  save(scratch / "file", "whole");
  CHECK(count_temporaries(scratch.path()) == 6);
  for (const char* name : others) CHECK(std::filesystem::exists(scratch / name));
}

TEST_CASE("what another process is writing is not taken for a leftover") {
  const scratch_directory scratch;
  const std::string busy = scratch / "file.999999.0.tmp";
  put_content(busy, "half");
  const fg::detail::open_file writer(busy, O_WRONLY, busy);
  REQUIRE(::flock(writer.descriptor(), LOCK_EX | LOCK_NB) == 0);
  save(scratch / "file", "whole");
  CHECK(std::filesystem::exists(busy));
}

TEST_CASE("a directory that is made is synced in the one above it, a file in its own") {
  const scratch_directory scratch;
  const std::string base = std::filesystem::canonical(scratch.path());
  synced.clear();
  fg::detail::make_directories(base + "/runs/first/");
  CHECK(synced == std::vector<std::string>{base, base + "/runs"});
  CHECK(std::filesystem::is_directory(base + "/runs/first"));
  synced.clear();
  fg::detail::make_directories(base + "/runs/first");
  CHECK(synced.empty());
  save(base + "/runs/first/file", "1");
  REQUIRE(synced.size() == 2);
  CHECK(synced[1] == base + "/runs/first");
}
