#!/usr/bin/env python3
"""Opens the page that look_samples wrote in headless Chromium: in each of its views, light and dark, and with every
scope, tab and button used, it draws and the console stays silent.

  check_page.py page.html

Ends with 77, after saying why, where there is no Chromium.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BROWSERS = ["chromium", "chromium-browser", "google-chrome", "chrome"]

# What a link can ask for, and the least number of boxes or spans that it must draw.
VIEWS = {
    "": 5,
    "theme=dark&open=all": 300,
    "open=block2&colours=op&pick=block2/out": 10,
    "tab=memory&theme=dark&pick=block2/out": 20,
    "tab=timeline&colours=time&search=relu_gradient": 20,
}

# A user who presses everything.
USE = """<script>
{
const press = e => e.dispatchEvent(new MouseEvent('click', { bubbles: true }));
for (let turn = 0; turn < 3; ++turn)
  for (const tab of document.querySelectorAll('#tabs button')) {
    press(tab);
    for (const b of document.querySelectorAll('#tools button')) press(b);
    for (const s of document.querySelectorAll('#tools select'))
      for (const o of [...s.options].map(o => o.value)) { s.value = o; s.dispatchEvent(new Event('change')); }
    for (const r of [...document.querySelectorAll('#stage rect')].slice(0, 40)) press(r);
    press(document.getElementById('theme'));
  }
const search = document.getElementById('search');
for (const words of ['matmul', 'no such thing', '']) { search.value = words; search.dispatchEvent(new Event('input')); }
press(document.querySelector('#side li button'));
document.body.dataset.used = String(document.querySelectorAll('#stage .box').length);
}
</script>
"""


def look(browser: str, page: pathlib.Path, view: str, profile: str) -> str:
    """The page as the browser leaves it."""
    done = subprocess.run(
        [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         f"--user-data-dir={profile}", "--window-size=1400,900", "--enable-logging=stderr", "--virtual-time-budget=10000",
         "--dump-dom", f"{page.resolve().as_uri()}#{view}"],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    said = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    assert not said, f"#{view}: {said}"
    assert "</html>" in done.stdout, f"#{view}: the browser gave no page: {done.stderr[-2000:]}"
    return done.stdout


def main() -> int:
    page = pathlib.Path(sys.argv[1])
    text = page.read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert len(data["nodes"]) >= 300 and len(data["steps"]) == 3, "the sample is smaller than it should be"
    assert {n.get("device") for n in data["nodes"]} >= {0, 1}, "the sample is on one device only"
    for node in data["nodes"]:
        assert all(0 <= i < len(data["nodes"]) for i in node.get("in", [])), node
    for value in data["plan"]["values"]:
        assert 0 <= value["from"] <= value["to"] <= len(data["plan"]["instructions"]), value
        assert value["offset"] + value["bytes"] <= data["plan"]["totals"][value["device"]], value

    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("skipped: there is no Chromium here")
        return 77
    with tempfile.TemporaryDirectory() as profile:
        for view, least in VIEWS.items():
            drawn = re.search(r'data-drawn="(\d+)"', look(browser, page, view, profile))
            assert drawn and int(drawn[1]) >= least, f"#{view}: drew {drawn and drawn[1]}, expected at least {least}"
        used = page.with_name("used.html")
        used.write_text(text.replace("</body>", USE + "</body>"), encoding="utf-8")
        found = re.search(r'data-used="(\d+)"', look(browser, used, "", profile))
        assert found and int(found[1]) > 0, "pressing everything left no graph"
        broken = page.with_name("broken.html")
        broken.write_text(text.replace("'use strict';", "'use strict'; nothing();"), encoding="utf-8")
        try:
            look(browser, broken, "", profile)
        except AssertionError:
            pass
        else:
            raise AssertionError("this test does not see errors in the console")
    print(f"{len(data['nodes'])} nodes in {len(VIEWS)} views, light and dark, and everything pressed: no errors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
