// Unpacking what gzip and .npz files hold, through zlib. FLOWGRAPH_ZLIB is 1 where CMake found it (flowgraph::data);
// without it packed files are refused with an error that says so.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <new>
#include <string>
#include <string_view>

#include "file_error.hpp"
#include "file_limits.hpp"

#if FLOWGRAPH_ZLIB
#include <zlib.h>
#endif

namespace flowgraph::detail {

enum class packing { raw, gzip };

#if FLOWGRAPH_ZLIB

// begin: where the packed bytes lie in the file; most: how many they may become. Of a gzip file all members, one after
// another.
inline std::string inflate(std::string_view file, std::string_view packed, std::size_t begin, packing how,
                           memory_budget& budget, std::size_t most = std::string::npos) {
  const auto malformed = [&](std::size_t at, std::initializer_list<std::string_view> parts) {
    return file_error(problem::file_malformed, file, {.byte = static_cast<long long>(begin + at)}, parts);
  };
  struct stream : z_stream {
    explicit stream(packing format) : z_stream{} {
      if (inflateInit2(this, format == packing::raw ? -MAX_WBITS : 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
    }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    ~stream() { inflateEnd(this); }
  } z(how);

  std::string out, piece(65536, '\0');
  std::size_t used = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    const std::string_view rest = packed.substr(used, std::numeric_limits<uInt>::max());
    // zlib reads through this pointer only; it is not const for the sake of old compilers.
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    z.avail_in = static_cast<uInt>(rest.size());
    z.next_out = reinterpret_cast<Bytef*>(piece.data());
    z.avail_out = static_cast<uInt>(piece.size());
    status = ::inflate(&z, Z_NO_FLUSH);
    used += rest.size() - z.avail_in;
    budget.spend(piece.size() - z.avail_out);
    out.append(piece, 0, piece.size() - z.avail_out);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK && status != Z_STREAM_END)
      throw malformed(used, {"expected packed bytes: ", z.msg != nullptr ? z.msg : "the file is cut off"});
    if (out.size() > most) throw malformed(used, {"expected ", std::to_string(most), " unpacked bytes, got more"});
    if (status == Z_STREAM_END && how == packing::gzip && used < packed.size()) status = inflateReset(&z);
  }
  if (used < packed.size())
    throw malformed(used,
                    {"expected the end of the packed bytes, got ", std::to_string(packed.size() - used), " more"});
  return out;
}

#else

inline std::string inflate(std::string_view file, std::string_view, std::size_t begin, packing, memory_budget&,
                           std::size_t = 0) {
  throw file_error(problem::file_unsupported, file, {.byte = static_cast<long long>(begin)},
                   {"is packed, and the program was built without zlib; link flowgraph::data where CMake finds it"});
}

#endif

}  // namespace flowgraph::detail
