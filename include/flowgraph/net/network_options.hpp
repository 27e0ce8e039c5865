// fg::network_options: what guards a task's connections, and when it gives up on others.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>

namespace flowgraph {

// Which way tasks are reached: any that both ends have, Unix sockets before TCP; or only this one.
enum class transport { any, unix_sockets, tcp };

struct network_options {
  // The cluster's key, the same for all tasks: at least 16 bytes, which nobody else has. Empty: that of the file that
  // FLOWGRAPH_KEY_FILE names, or FLOWGRAPH_KEY itself.
  std::string key{};
  // Or a certificate for each task: names of PEM files. docs/operations.md says what they have to name.
  std::string certificate{}, private_key{}, authorities{};
  // Or neither: whoever reaches a port reads and writes what goes over it, and can be any task.
  bool plaintext = false;

  flowgraph::transport transport = flowgraph::transport::any;
  // Where to listen, if others reach this task by another address: "0.0.0.0:4711".
  std::string listen{};
  // A line on stderr: which task this is, who says so, where it listens and what guards it.
  bool quiet = false;

  std::chrono::milliseconds beat{1000};       // nothing is silent for longer
  std::chrono::milliseconds patience{4000};   // who is silent for longer is gone
  std::chrono::milliseconds handshake{5000};  // who has not said who it is by then is shown out
  std::size_t strangers = 64;                 // so many may be about to say it
};

}  // namespace flowgraph
