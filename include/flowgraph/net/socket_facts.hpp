// What the operating system says and does of sockets beyond Asio: who is at the other end, when data that nobody
// confirms is given up, and files that sockets leave behind.
#pragma once
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace flowgraph::detail {

// The user that a socket's other end ran as when it connected, or listened.
struct socket_user {
  bool known = false;
  std::uint32_t id = 0;
};

inline socket_user user_at(int socket) {
  ucred c{};
  socklen_t n = sizeof c;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &c, &n) != 0 || n != sizeof c) return {};
  return {true, c.uid};
}
inline std::uint32_t own_user() { return ::geteuid(); }

// Without it a cut cable is noticed when the system gives up, after a quarter of an hour.
inline void give_up_after(int socket, std::chrono::milliseconds silence) {
  const int ms = static_cast<int>(silence.count());
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

// Before it is bound: the file that it will have is its user's alone.
inline void keep_private(int socket) { ::fchmod(socket, S_IRUSR | S_IWUSR); }

// Which file a path means; no two files have the same at a time.
struct file_identity {
  std::uint64_t device = 0, number = 0;
  bool is_socket = false;
  bool operator==(const file_identity&) const = default;
};
inline file_identity identity_of(const std::string& path) {
  struct stat s {};
  if (::lstat(path.c_str(), &s) != 0) return {};
  return {static_cast<std::uint64_t>(s.st_dev), static_cast<std::uint64_t>(s.st_ino), S_ISSOCK(s.st_mode)};
}
// A directory of this user alone, made if need be. False: it is somebody else's, or others may write there.
inline bool make_private_directory(const std::string& path) {
  ::mkdir(path.c_str(), S_IRWXU);
  struct stat s {};
  return ::lstat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == own_user() &&
         (s.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}
inline void remove_file(const std::string& path) { ::unlink(path.c_str()); }

}  // namespace flowgraph::detail
