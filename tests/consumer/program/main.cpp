// A small training on two threads, the same numbers whichever compiler, standard library or processor runs it, and one
// mistake that must come back as the exception it is.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stop_token>
#include <vector>

#include "model.hpp"

int main() {
  std::vector<float> x;
  std::vector<std::int64_t> y;
  for (int i = -3; i <= 3; i += 2)
    for (int j = -3; j <= 3; j += 2) {
      x.insert(x.end(), {static_cast<float>(i) / 2, static_cast<float>(j) / 2});
      y.push_back((i > 0) != (j > 0));
    }

  fg::session<either> s({.threads = 2, .seed = 7});
  float loss = 0;
  for (int step = 0; step < 100; ++step) loss = s.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y));
  const float right = accuracy(s, x, y);
  std::printf("loss %.6f, accuracy %.2f\n", loss, right);
  if (std::abs(loss / 0.006470f - 1) > 1e-3f || right != 1) return 1;

  std::stop_source stop;
  stop.request_stop();
  try {
    s.run<"loss">(fg::limits{.stop = stop.get_token()}, fg::feed<"x">(x), fg::feed<"y">(y));
    return 2;
  } catch (const fg::cancelled_error& e) {
    std::puts(e.what());
  }
}
