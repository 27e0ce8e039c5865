// Tasks that one mpirun or srun has started as ranks of MPI: over whatever MPI runs on. It buys fast networks; a rank
// that dies takes the run with it, and whoever is in the run is believed to be who it says.
#pragma once
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "mpi_hub.hpp"

namespace flowgraph::detail {

struct mpi_place {
  int rank = 0;
  unsigned number = 0;  // of several listeners of one rank
};
// "mpi:3", "mpi:3/1". False: neither.
inline bool parse_mpi(std::string_view address, mpi_place& at) {
  if (!address.starts_with("mpi:")) return false;
  const char* const last = address.data() + address.size();
  const auto rank = std::from_chars(address.data() + 4, last, at.rank);
  if (rank.ec != std::errc() || at.rank < 0) return false;
  at.number = 0;
  if (rank.ptr == last) return true;
  const auto number = std::from_chars(rank.ptr + 1, last, at.number);
  return *rank.ptr == '/' && number.ec == std::errc() && number.ptr == last && at.number <= 1'000'000;
}

// Addresses "mpi:RANK".
class mpi_carrier final : public carrier {
 public:
  // Throws cluster_error: there is no MPI, or not all ranks want it.
  explicit mpi_carrier(event_loop& loop) : hub_(mpi_hub::of_process()), loop_(loop) {}
  ~mpi_carrier() override { hub_.leave(loop_, listening_); }

  bool dials(std::string_view address) const override {
    mpi_place at;
    return parse_mpi(address, at);
  }
  void dial(const std::string& address, dialled d) override {
    mpi_place at;
    parse_mpi(address, at);
    if (stopped_ || at.rank >= hub_.size())
      return loop_.post(
          [d = std::move(d), why = stopped_ ? "this task is leaving" : "MPI has no such rank"] { d(why, nullptr); });
    hub_.dial(loop_, at.rank, at.number, std::move(d));
  }
  std::string listen(const std::string& address, accepted a) override {
    mpi_place at;
    parse_mpi(address, at);
    if (at.rank != hub_.rank())
      throw argument_error(problem::address_taken, {address, ": this is ", text_from({"rank ", hub_.rank()})});
    if (!hub_.listen(at.number, {&loop_, std::move(a)}))
      throw argument_error(problem::address_taken, {address, ": another task of this process listens there"});
    listening_.insert(at.number);
    return address;
  }
  void stop() override {
    stopped_ = true;
    hub_.leave(loop_, std::exchange(listening_, {}));
  }

 private:
  mpi_hub& hub_;
  event_loop& loop_;
  std::set<unsigned> listening_;
  bool stopped_ = false;
};

}  // namespace flowgraph::detail
