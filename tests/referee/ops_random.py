"""The bit generator behind the random ops."""

import numpy as np

from golden_writer import Family, literal


def philox(counter, key):
    """Philox4x32-10 of Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC'11)."""
    c, k = [int(v) for v in counter], [int(v) for v in key]
    mask = 0xFFFFFFFF
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(b >> 32) ^ c[1] ^ k[0], b & mask, (a >> 32) ^ c[3] ^ k[1], a & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return np.array(c)


def random() -> Family:
    """The bit generator only; distributions are tested by their moments and by their independence of thread counts."""
    family = Family("random")
    ones = 0xFFFFFFFF
    known = [  # the known answers that the authors' library Random123 is tested with
        ("zeros", (0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ("ones", (ones,) * 4, (ones,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        ("pi", (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
         (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
    ]
    for name, counter, key, answer in known:
        assert tuple(philox(counter, key)) == answer, name
    more = [("counter_1", (1, 0, 0, 0), (0, 0)), ("counter_high", (0, 0, 0, 1), (0, 0)),
            ("key_42", (0, 0, 0, 0), (42, 0)),
            ("key_high", (5, 6, 7, 8), (0, 9))]
    for name, counter, key in [(n, c, k) for n, c, k, _ in known] + more:
        family.case(f"philox_{name}", "philox4x32_10", lambda r: [literal(counter, "u32"), literal(key, "u32")], None,
                    philox,
                    out=["u32"])
    return family
