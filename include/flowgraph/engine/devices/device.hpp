// A device as the engine knows it: memory, kernels and copies, done in the order in which they are given, and somebody
// who is told of each one's end. A step's own threads are the CPU: its instructions are called, and wait for nothing.
#pragma once
#include <cstddef>
#include <exception>
#include <memory>
#include <string_view>

#include <flowgraph/engine/step/row_views.hpp>

namespace flowgraph::detail {

// Something that a device is given to do.
class device_work {
 public:
  // Once, from any thread, also within the call that gave it. Null: it has been done. The device knows it no more.
  virtual void done(std::exception_ptr failure) noexcept = 0;

 protected:
  ~device_work() = default;
};

class device {
 public:
  device() = default;
  device(const device&) = delete;
  device& operator=(const device&) = delete;
  virtual ~device() = default;

  // For values of steps, aligned as slots are. The host reads and writes it where nothing of the device does. Throws
  // std::bad_alloc.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* memory, std::size_t bytes) noexcept = 0;

  // Behind all that was given before. What call and work point to stays until the work is done. Who throws has not
  // taken it.
  virtual void compute(const bound_call& call, device_work& work) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes, device_work& work) = 0;
  // True, to one caller: it has not begun, never will, and nobody is told. False: it is done, or is going to be.
  virtual bool withdraw(device_work& work) noexcept = 0;
};

// Which devices there are beside the CPU.
class device_source {
 public:
  virtual ~device_source() = default;
  // Null: a CPU of this process. name: as the plan has it.
  virtual std::shared_ptr<device> find(std::string_view name) = 0;
};

}  // namespace flowgraph::detail
