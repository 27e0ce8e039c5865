// JPEG through libjpeg, whose well-kept form is libjpeg-turbo. FLOWGRAPH_JPEG is 1 where CMake found it
// (flowgraph::data).
#pragma once
#if FLOWGRAPH_JPEG
#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it before
#include <string>
#include <string_view>
#include <utility>

#include <jpeglib.h>

#include <jerror.h>

#include "pixels.hpp"

namespace flowgraph::detail {

// libjpeg reports errors through a function that must not return: as in png.hpp, it jumps, over nothing that needs a
// destructor. Warnings of missing or damaged data are errors here: half an image is none.
class jpeg_decoder {
 public:
  jpeg_decoder(std::string_view file, std::string_view bytes) : file_(file), bytes_(bytes) {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
    info_.client_data = this;
  }
  jpeg_decoder(const jpeg_decoder&) = delete;
  jpeg_decoder& operator=(const jpeg_decoder&) = delete;
  ~jpeg_decoder() { jpeg_destroy_decompress(&info_); }

  // Gray or red, green, blue.
  pixels decode(pixel_check& check) {
    if (!header()) fail();
    std::uint64_t blocks = 0, fewest = UINT64_MAX;  // of 64 coefficients
    for (int i = 0; i < info_.num_components; ++i) {
      const jpeg_component_info& c = info_.comp_info[i];
      const std::uint64_t own = std::uint64_t{c.width_in_blocks} * c.height_in_blocks;
      blocks += own;
      fewest = std::min(fewest, own);
    }
    // Huffman's codes have a bit for a block or more. An image in several scans is kept as coefficients until the last.
    const std::uint64_t at_least = info_.arith_code ? 0 : fewest / 8;
    const std::uint64_t kept = info_.progressive_mode ? blocks * 64 * sizeof(JCOEF) : 0;
    check(out_, at_least, bytes_.size(), out_.height * out_.width * out_.channels + kept);
    out_.values.resize(out_.height * out_.width * out_.channels);
    if (!body()) fail();
    return std::move(out_);
  }

 private:
  bool header() {
    if (setjmp(jump_) != 0) return false;
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes_.data()),
                 static_cast<unsigned long>(bytes_.size()));
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = info_.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    out_.width = info_.image_width;
    out_.height = info_.image_height;
    out_.channels = info_.out_color_space == JCS_GRAYSCALE ? 1 : 3;
    return true;
  }
  bool body() {
    if (setjmp(jump_) != 0) return false;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = out_.values.data() + info_.output_scanline * out_.width * out_.channels;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }
  [[noreturn]] void fail() const {
    throw file_error(problem::file_malformed, file_, {.byte = place_}, {"expected a whole JPEG image: ", message_});
  }

  [[noreturn]] static void on_error(j_common_ptr info) {
    auto* self = static_cast<jpeg_decoder*>(info->client_data);
    info->err->format_message(info, self->message_);
    if (self->info_.src != nullptr && info->err->msg_code != JWRN_JPEG_EOF)
      self->place_ = static_cast<long long>(self->bytes_.size() - self->info_.src->bytes_in_buffer);
    else
      self->place_ = static_cast<long long>(self->bytes_.size());
    std::longjmp(self->jump_, 1);
  }
  static void on_message(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code != JWRN_EXTRANEOUS_DATA) on_error(info);
  }

  std::string_view file_, bytes_;
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf jump_;
  char message_[JMSG_LENGTH_MAX]{};
  long long place_ = 0;
  pixels out_;
};

}  // namespace flowgraph::detail
#endif
