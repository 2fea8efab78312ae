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
SECONDS = 2  # in which a page must be ready
MEGABYTES = 4

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

    def open_page(source, strategy="paper"):
        hm.build(hm.load(source), strategy=strategy).save(tmp_path / "model.npz")
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
    wait(small, "return document.getElementById('play').textContent.includes('Play')")


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


def test_brackets_go_from_stage_to_stage(small):
    names = ["Input", "Separation", "Clustering", "Matching labels", "Classification"]
    seen = []
    for _ in names:
        seen.append(small.execute_script("return document.getElementById('now').textContent"))
        press(small, "]")
    assert [title.partition(":")[0] for title in seen] == names
    press(small, "[")
    assert small.execute_script("return document.getElementById('now').textContent") == seen[-2]


def test_every_stage_says_what_it_does_and_why(small):
    count = small.execute_script("return last + 1")
    lines = [
        small.execute_script("go(arguments[0]); return $('why').textContent", k)
        for k in range(count)
    ]
    assert all(line.endswith(".") for line in lines)
    assert len(set(lines)) == 5


def test_a_followed_sequence_shows_its_leaders_and_weights(small):
    small.execute_script("go(2); pick({ sequence: 0 })")
    text = small.execute_script("return document.getElementById('followed').innerText")
    model, data = hm.build(figures.dataset("figure2")), figures.dataset("figure2")
    block = model.parameters[0]
    moved = [tuple(x + max(block.b, 0) * w for x, w in zip(z, block.w, strict=True))
             for z in data.sequence(0)]  # fmt: skip
    along = [sum(x * y for x, y in zip(z, block.v, strict=True)) for z in moved]
    assert all(t > 0 for t in along)
    assert text.count(f"token {along.index(max(along)) + 1}, weight 1") == 3
    lit = small.execute_script("return page.tokens.map((_, token) => lit(token))")
    assert lit == [j == 0 for j, sequence in enumerate(data.sequences) for _ in sequence]
    drawn = small.execute_script("return trail(2).x.filter((x) => x !== null)")
    assert len(drawn) == 2 * 5  # three tokens are translated, two of them pulled to the third


def test_a_link_leads_back_to_the_step(small):
    small.execute_script("step(4); pick({ sequence: 1 })")
    address = small.current_url
    small.get("about:blank")
    small.get(address)
    wait(small, "return document.documentElement.dataset.ready === 'yes'", 20)
    assert small.execute_script("return [at, picked.sequence]") == [4, 1]
    small.get(address.partition("#")[0] + "#step=999&sequence=x&view=y&label=-1")
    small.refresh()
    wait(small, "return document.documentElement.dataset.ready === 'yes'", 20)
    assert small.execute_script("return [at, picked.sequence, picked.label]") == [0, None, None]


def test_dark_and_light(small):
    from selenium.webdriver.common.by import By

    ground = "return getComputedStyle(document.body).backgroundColor"
    first = small.execute_script(ground)
    small.find_element(By.ID, "theme").click()
    assert small.execute_script(ground) != first
    paper = small.execute_script("return plot.layout.paper_bgcolor")
    assert paper == small.execute_script("return style('--ground')")


def test_numbers_are_set_as_mathematics(small):
    shown = "const p = document.createElement('p'); maths(arguments[0], p); return p.innerHTML"
    text = small.execute_script(shown, "-1·e11 + 1/2·e3")
    assert "<msub><mi>e</mi><mn>11</mn></msub>" in text
    assert "<mfrac><mn>1</mn><mn>2</mn></mfrac>" in text
    assert "−</mo><mn>1</mn>" in text


AXE = Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: npm install axe-core")
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_serious_stands_in_the_way_of_screen_readers(small, dark):
    small.execute_script("theme(arguments[0]); go(2); pick({ sequence: 0 })", dark)
    small.execute_script(AXE.read_text("utf-8"))
    found = small.execute_async_script(
        "const done = arguments[0]; axe.run().then((result) => done(result.violations))"
    )
    assert [each["help"] for each in found if each["impact"] in ("serious", "critical")] == []


def test_words_and_labels_of_next_word_prediction(opened):
    source = EXAMPLES / "zen.json"
    if not source.exists():
        pytest.skip("no examples here")
    browser = opened(source)
    browser.execute_script("pick({ sequence: 3 })")
    words = browser.execute_script("return page.sequences[3].texts.join(' ')")
    assert words.startswith("The Zen of Python,")
    glyphs = browser.execute_script("return page.labels.map((l) => l.colours[0] + l.symbol)")
    assert len(set(glyphs)) == len(glyphs) == 97
    browser.execute_script("$('find').value = 'beaut'; $('find').dispatchEvent(new Event('input'))")
    shown = browser.execute_script(
        "return [...$('labels').children].filter((x) => !x.hidden).map((x) => x.textContent)"
    )
    assert shown == ["Beautiful"]


def sixty_four(path):
    rng = np.random.default_rng(1)
    tokens = rng.integers(-9, 10, (40, 8, 64)).tolist()
    sequences = [{"tokens": Z, "label": f"label {j % 3}"} for j, Z in enumerate(tokens)]
    path.write_text(json.dumps({"dimension": 64, "sequences": sequences}))
    return path


def ten_thousand(path):
    rng = np.random.default_rng(1)
    tokens = rng.normal(size=(10_000, 4, 8))
    label = np.where(tokens[:, :, 0].mean(axis=1) > 0.3, "up", "down")
    np.savez(path, tokens=tokens.reshape(-1, 8), offsets=np.arange(0, 40_001, 4), label=label)
    return path


@pytest.mark.parametrize("name", ["figure2", "vowels", "d64", "ten thousand"])
def test_pages_open_within_two_seconds(opened, tmp_path, name):
    strategy = "paper"
    if name == "figure2":
        (tmp_path / "data.json").write_bytes(figures.source(name))
        source = tmp_path / "data.json"
    elif name == "vowels":
        source = EXAMPLES / "vowels.json.gz"
        if not source.exists():
            pytest.skip("no examples here")
    elif name == "d64":
        source = sixty_four(tmp_path / "data.json")
    else:
        source, strategy = ten_thousand(tmp_path / "data.npz"), "cover"
    browser = opened(source, strategy)
    taken = browser.execute_script(
        "return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
    )
    assert taken < 1000 * SECONDS
    assert (tmp_path / "run.html").stat().st_size < MEGABYTES * 1_000_000
    for view in ("", "principal components of the input") if name != "figure2" else ():
        browser.execute_script(
            "const view = document.getElementById('view'); view.value = arguments[0];"
            "view.dispatchEvent(new Event('change')); step(last)",
            view,
        )
    browser.execute_script("document.getElementById('follow').click(); go(last)")
    assert browser.execute_script("return shown.points.every((p) => p.every(Number.isFinite))")


SITE = Path(__file__).parents[1] / "site"  # make docs


@pytest.mark.skipif(not (AXE.exists() and SITE.exists()), reason="no axe-core, or no site built")
@pytest.mark.parametrize("page", ["index", "docs/tutorial", "docs/api", "docs/notebooks/vowels"])
@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_the_site_has_nothing_serious_in_the_way_of_screen_readers(browser, page, scheme):
    browser.get((SITE / f"{page}.html").as_uri())
    wait(browser, "return document.querySelector('.md-search').ariaLabel === 'Search'")
    browser.execute_script("document.body.dataset.mdColorScheme = arguments[0]", scheme)
    time.sleep(0.4)  # colours fade from one scheme to the other
    browser.execute_script(AXE.read_text("utf-8"))
    found = browser.execute_async_script(
        "const done = arguments[0]; axe.run().then((result) => done(result.violations))"
    )
    browser.get_log("browser")  # opened as a file, a page can't load its index for searches
    assert [each["help"] for each in found if each["impact"] in ("serious", "critical")] == []
