// A progress bar on a terminal; a line now and then where the output goes to a file.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <string>

namespace example {

class progress {
 public:
  explicit progress(int total) : total_(total), terminal_(isatty(fileno(stdout)) != 0) {}

  // done of total, and what there is to say.
  void show(int done, const std::string& text) const {
    constexpr int width = 32;
    if (terminal_) {
      std::string bar(static_cast<std::size_t>(width * done / total_), '#');
      bar.resize(width, '.');
      std::printf("\r[%s] %3d%%  %s\033[K%s", bar.c_str(), 100 * done / total_, text.c_str(),
                  done == total_ ? "\n" : "");
    } else if (done == 1 || done == total_ || done % ((total_ + 4) / 5) == 0) {
      std::printf("%3d%%  %s\n", 100 * done / total_, text.c_str());
    }
    std::fflush(stdout);
  }

 private:
  int total_;
  bool terminal_;
};

}  // namespace example
