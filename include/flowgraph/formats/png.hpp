// PNG through libpng. FLOWGRAPH_PNG is 1 where CMake found it (flowgraph::data).
#pragma once
#if FLOWGRAPH_PNG
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <png.h>

#include "pixels.hpp"

namespace flowgraph::detail {

// libpng reports errors by longjmp: what lies between here and there must need no destructor, so that everything that
// does is a member.
class png_decoder {
 public:
  png_decoder(std::string_view file, std::string_view bytes) : file_(file), bytes_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, [](png_structp, png_const_charp) {});
    info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
  }
  png_decoder(const png_decoder&) = delete;
  png_decoder& operator=(const png_decoder&) = delete;
  ~png_decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }

  // 8 bits a channel: deeper ones are scaled, palettes and fewer bits expanded.
  pixels decode(pixel_check& check) {
    if (!header()) fail();
    const std::uint64_t unpacked = out_.height * (packed_row_ + 1);  // each row has a byte that says how it is filtered
    check(out_, unpacked / most_inflation, bytes_.size(), out_.height * out_.width * out_.channels);
    out_.values.resize(out_.height * out_.width * out_.channels);
    for (std::size_t y = 0; y < out_.height; ++y) rows_.push_back(out_.values.data() + y * out_.width * out_.channels);
    if (!body()) fail();
    return std::move(out_);
  }

 private:
  bool header() {
    if (setjmp(jump_) != 0) return false;
    png_set_read_fn(png_, this, read);
    // Texts and profiles, which are not asked for, may be packed as well.
    png_set_chunk_cache_max(png_, 64);
    png_set_chunk_malloc_max(png_, std::size_t{1} << 22);
    png_read_info(png_, info_);
    packed_row_ = png_get_rowbytes(png_, info_);
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    out_.width = png_get_image_width(png_, info_);
    out_.height = png_get_image_height(png_, info_);
    out_.channels = png_get_channels(png_, info_);
    return true;
  }
  bool body() {
    if (setjmp(jump_) != 0) return false;
    png_read_image(png_, rows_.data());
    png_read_end(png_, nullptr);
    return true;
  }
  [[noreturn]] void fail() const {
    throw file_error(problem::file_malformed, file_, {.byte = static_cast<long long>(at_)},
                     {"expected a whole PNG image: ", message_});
  }

  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto* self = static_cast<png_decoder*>(png_get_error_ptr(png));
    std::strncpy(self->message_, message, sizeof(self->message_) - 1);
    std::longjmp(self->jump_, 1);
  }
  static void read(png_structp png, png_bytep to, std::size_t count) {
    auto* self = static_cast<png_decoder*>(png_get_io_ptr(png));
    if (count > self->bytes_.size() - self->at_) png_error(png, "the file is cut off");
    std::memcpy(to, self->bytes_.data() + self->at_, count);
    self->at_ += count;
  }

  std::string_view file_, bytes_;
  std::size_t at_ = 0, packed_row_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf jump_;
  char message_[128]{};
  pixels out_;
  std::vector<png_bytep> rows_;
};

}  // namespace flowgraph::detail
#endif
