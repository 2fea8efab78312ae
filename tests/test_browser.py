"""The report in a real browser: it opens fast, its controls move the tokens, nothing complains."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

import hardmax as hm
from hardmax.draw import figures

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
EXAMPLES = Path(__file__).parents[1] / "examples"
SECONDS = 3  # in which a page must be ready

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="there is no chromium here"),
    pytest.mark.filterwarnings("ignore"),  # of the libraries that drive it
]
webdriver = pytest.importorskip("selenium.webdriver") if CHROMIUM and DRIVER else None


@pytest.fixture(scope="module")
def browser():
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_window_size(1300, 950)
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, run, tmp_path):
    """Report on data, open the page, and check at the end that nothing complained."""

    def open_page(source):
        hm.build(hm.load(source)).save(tmp_path / "model.npz")
        target = tmp_path / "run.html"
        result = run("report", tmp_path / "model.npz", source, "-o", target)
        assert result.code == 0, result.err
        browser.get(target.as_uri())
        wait(browser, "return document.documentElement.dataset.ready === 'yes'", 20)
        return browser

    yield open_page
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.fixture
def small(opened, tmp_path):
    (tmp_path / "data.json").write_bytes(figures.source("figure2"))
    return opened(tmp_path / "data.json")


def wait(browser, script, seconds=5):
    end = time.monotonic() + seconds
    while not browser.execute_script(script):
        assert time.monotonic() < end, f"never true: {script}"
        time.sleep(0.05)


TOKENS = """return document.getElementById('plot').data
  .filter((trace) => trace.text).map((trace) => [trace.x, trace.y])"""


def press(browser, *keys):
    from selenium.webdriver import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def test_the_slider_moves_the_tokens(small):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    before = small.execute_script(TOKENS)
    small.find_element(By.ID, "slider").send_keys(Keys.ARROW_RIGHT)
    wait(small, "return at === 1")
    time.sleep(0.8)
    after = small.execute_script(TOKENS)
    assert before != after
    assert "block 1" in small.find_element(By.ID, "now").text
    small.find_element(By.ID, "slider").send_keys(Keys.END)
    wait(small, "return at === last")
    time.sleep(0.8)
    data = figures.dataset("figure2")
    outputs = {tuple(map(float, z)) for z in hm.build(data).outputs(data.sequences)}
    drawn = {tuple(p) for xs, ys in small.execute_script(TOKENS) for p in zip(xs, ys, strict=True)}
    assert drawn == outputs


def test_keys_and_the_play_button_step_through_the_run(small):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    press(small, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert small.execute_script("return at") == 1
    press(small, Keys.END)
    assert small.execute_script("return at === last")
    press(small, Keys.HOME)
    small.execute_script("document.getElementById('speed').value = '350'")
    small.find_element(By.ID, "play").click()
    wait(small, "return at === last", 15)
    wait(small, "return document.getElementById('play').getAttribute('aria-pressed') === 'false'")


def test_pointing_at_a_token_tells_its_exact_value(small):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    small.execute_script("go(2)")
    point = small.find_element(
        By.CSS_SELECTOR, "#plot .scatterlayer .trace:last-of-type .points path"
    )
    ActionChains(small).move_to_element(point).perform()
    wait(small, "return document.querySelectorAll('#plot .hoverlayer .hovertext').length > 0")
    text = small.find_element(By.CSS_SELECTOR, "#plot .hoverlayer").text
    assert "sequence" in text
    assert "label" in text
    assert any(text.endswith(exact) for exact in small.execute_script("return page.texts"))


def test_on_a_phone_nothing_sticks_out(small):
    small.set_window_size(390, 844)
    time.sleep(0.3)
    wide = small.execute_script("return document.documentElement.scrollWidth - innerWidth")
    small.set_window_size(1300, 950)
    assert wide <= 0


def sixty_four(path):
    rng = np.random.default_rng(1)
    tokens = rng.integers(-9, 10, (40, 8, 64)).tolist()
    sequences = [{"tokens": Z, "label": f"label {j % 3}"} for j, Z in enumerate(tokens)]
    path.write_text(json.dumps({"dimension": 64, "sequences": sequences}))
    return path


@pytest.mark.parametrize("name", ["figure2", "vowels", "d64"])
def test_pages_open_within_three_seconds(opened, tmp_path, name):
    if name == "figure2":
        (tmp_path / "data.json").write_bytes(figures.source(name))
        source = tmp_path / "data.json"
    elif name == "vowels":
        source = EXAMPLES / "vowels.json.gz"
        if not source.exists():
            pytest.skip("no examples here")
    else:
        source = sixty_four(tmp_path / "data.json")
    browser = opened(source)
    taken = browser.execute_script(
        "return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
    )
    assert taken < 1000 * SECONDS
    assert (tmp_path / "run.html").stat().st_size < 6_000_000
    for view in ("", "principal components of the input") if name != "figure2" else ():
        browser.execute_script(
            "const view = document.getElementById('view'); view.value = arguments[0];"
            "view.dispatchEvent(new Event('change')); step(last)",
            view,
        )
    browser.execute_script("document.getElementById('follow').click(); go(last)")
    assert browser.execute_script("return shown.points.every((p) => p.every(Number.isFinite))")
