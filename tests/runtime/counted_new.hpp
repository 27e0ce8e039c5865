// The heap of test_runtime: its operator new counts, and fails when it is asked to.
#pragma once
#include <atomic>
#include <cstdint>

namespace allocations {

// False: the thread sanitizer brings an operator new of its own.
extern const bool are_counted;
// By all threads; and the bytes of those that are aligned as values are.
extern std::atomic<std::int64_t> made, value_bytes;

// The n-th from now on, from 1, fails, and no other. 0: none does.
void fail(std::int64_t n);
// Ends that. True: it has failed.
bool failed();

}  // namespace allocations
