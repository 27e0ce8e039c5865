// Tasks that have an address on the network and may yet be on one host: there they are reached by a Unix socket in a
// directory that both find by the same name, and by TCP everywhere else.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <flowgraph/core/text_from.hpp>

#include "byte_stream.hpp"
#include "socket_facts.hpp"

namespace flowgraph::detail {

// "unix:/tmp/flowgraph-1000/0123456789abcdef"; empty: this user can have no such directory. Two tasks that look alike
// to it are told apart by HELLO.
inline std::string near_address(const std::string& cluster, const std::string& address) {
  const std::string directory = text_from({"/tmp/flowgraph-", own_user()});
  if (!make_private_directory(directory)) return {};
  std::uint64_t h = 14695981039346656037u;
  for (const char c : cluster + "|" + address) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::string name;
  for (int shift = 60; shift >= 0; shift -= 4) name += "0123456789abcdef"[(h >> shift) & 15];
  return "unix:" + directory + "/" + name;
}

class near_carrier final : public carrier {
 public:
  // far: nullptr: there is no other way.
  near_carrier(std::string cluster, std::shared_ptr<carrier> near, std::shared_ptr<carrier> far)
      : cluster_(std::move(cluster)),
        near_(std::move(near)),
        far_(std::move(far)) {}

  bool dials(std::string_view address) const override {
    for (const std::string_view other : {"unix:", "process:", "mpi:"})
      if (address.starts_with(other)) return false;
    return !far_ || far_->dials(address);
  }
  void dial(const std::string& address, dialled d) override {
    const std::string at = near_address(cluster_, address);
    if (far_ && (at.empty() || !identity_of(at.substr(5)).is_socket)) return far_->dial(address, std::move(d));
    near_->dial(at.empty() ? "unix:" : at,
                [d = std::move(d), far = far_, address, stopped = stopped_](const std::string& why, stream_handle s) {
                  if (s || !far || *stopped) return d(why, std::move(s));
                  far->dial(address, d);
                });
  }
  std::string listen(const std::string& address, accepted a) override { return far_->listen(address, std::move(a)); }
  void stop() override {
    *stopped_ = true;
    near_->stop();
    if (far_) far_->stop();
  }

 private:
  std::string cluster_;
  std::shared_ptr<carrier> near_, far_;
  std::shared_ptr<bool> stopped_ = std::make_shared<bool>(false);
};

}  // namespace flowgraph::detail
