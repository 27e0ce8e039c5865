// What stands in for std::from_chars reads as it does.
#include <doctest/doctest.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <flowgraph/formats/real_text.hpp>

#ifdef __cpp_lib_to_chars
TEST_CASE_TEMPLATE("numbers by a stream are those of from_chars", T, float, double) {
  for (const std::string_view text : {"0",
                                      "-0",
                                      "1.5",
                                      "-2.25e-3",
                                      "3E+8",
                                      ".5",
                                      "5.",
                                      "-.5",
                                      "0.1",
                                      "1e",
                                      "1e+",
                                      "1.5x",
                                      "0x10",
                                      "1,5",
                                      "12 3",
                                      "3.4028235e38",
                                      "1.1754944e-38",
                                      "16777217",
                                      "123456789012345678901234567890",
                                      "inf",
                                      "-inf",
                                      "Infinity",
                                      "INFINITE",
                                      "-NaN",
                                      "nano",
                                      "",
                                      "-",
                                      ".",
                                      "-.",
                                      "e5",
                                      "+1",
                                      " 1",
                                      "--1",
                                      "1e99999",
                                      "-1e99999",
                                      "in",
                                      "na"}) {
    CAPTURE(text);
    T expected = 42, got = 42;
    const char* const last = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data(), last, expected);
    const auto [our_end, our_problem] = flowgraph::detail::real_by_stream(text.data(), last, got);
    CHECK(our_problem == problem);
    CHECK(our_end - text.data() == end - text.data());
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (expected == expected)
      CHECK(std::bit_cast<bits>(got) == std::bit_cast<bits>(expected));
    else
      CHECK(got != got);
  }
}
#endif
