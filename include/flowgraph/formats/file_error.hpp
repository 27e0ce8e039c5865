// What is wrong with a file, and where: the one error of everything that reads and writes files.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include <flowgraph/core/error.hpp>

namespace flowgraph {

// A file that can't be read as what it is read as, or not be written. The message is "file:line: ..." or "file: at byte
// n: ...".
class file_error : public error {
 public:
  // Where in the file: a line from 1 on, a byte from 0 on, or neither.
  struct place {
    long long line = 0, byte = -1;
  };

  file_error(problem why, std::string_view file, place where, std::initializer_list<std::string_view> parts)
      : file_error(why, file, where, number_text(where.line > 0 ? where.line : where.byte), parts) {}

  std::string_view file() const noexcept {
    const std::string_view message = what();
    return message.substr(0, file_length_);
  }
  // 0 where the mistake has no line.
  long long line() const noexcept { return where_.line; }
  // -1 where the mistake has no byte.
  long long byte() const noexcept { return where_.byte; }

 private:
  struct number_text {
    char digits[20];
    int first = 20;

    explicit number_text(long long n) {
      do digits[--first] = static_cast<char>('0' + n % 10);
      while ((n /= 10) > 0);
    }
    std::string_view view() const { return {digits + first, static_cast<std::size_t>(20 - first)}; }
  };

  file_error(problem why, std::string_view file, place where, const number_text& number,
             std::initializer_list<std::string_view> parts)
      : error(why,
              {file,
               where.line > 0    ? ":"
               : where.byte >= 0 ? ": at byte "
                                 : "",
               where.line > 0 || where.byte >= 0 ? number.view() : "", ": "},
              parts),
        where_(where),
        file_length_(file.size()) {}

  place where_;
  std::size_t file_length_;
};

}  // namespace flowgraph
