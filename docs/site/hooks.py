"""Hooks of mkdocs: the site shows the repository's own pages, with its notebooks executed.

Pages keep their places, so links that work in the repository work on the site. A link to a folder
or to code that is not part of the site becomes plain text. Formulas become MathML when the site is
built, so that no reader's browser has to fetch a program.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from notebooks import executed

ROOT = Path(__file__).parents[2]
PICTURES = (".svg", ".png", ".gif")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")


def _paths(entry: Any) -> list[str]:
    """The pages under an entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    entries = entry.values() if isinstance(entry, dict) else entry
    return [path for each in entries for path in _paths(each)]


def _kept(entry: Any) -> Any:
    """An entry without pages that are not there."""
    if isinstance(entry, str):
        return entry if (ROOT / entry).exists() else None
    if isinstance(entry, dict):
        found = {name: _kept(each) for name, each in entry.items()}
        return {name: each for name, each in found.items() if each} or None
    return [each for each in map(_kept, entry) if each]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Leave pages out that other branches of the work have yet to bring."""
    config.nav = _kept(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages of the navigation and the pages and pictures that they link to, in their places."""
    found = [file for file in files if not file.src_uri.startswith(("site/", "notebooks/"))
             and not (ROOT / "docs" / file.src_uri).exists()]  # what the theme brings  # fmt: skip
    open_paths, seen = [*_paths(config.nav), "docs/site/extra.css", "docs/site/extra.js"], set()
    while open_paths:
        path = open_paths.pop()
        if path in seen:
            continue
        seen.add(path)
        if path.endswith(".ipynb"):
            text, pictures = executed(ROOT / path)
            page = path.removesuffix(".ipynb") + ".md"
            found.append(File.generated(config, page, content=text))
            for name, content in pictures.items():
                place = str(Path(path).parent / name)
                found.append(File.generated(config, place, content=content))
            continue
        found.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
        if path.endswith(".md"):
            open_paths += [target for target in _targets(path) if _shown(target)]
    config.nav = _renamed(config.nav)
    return Files(found)


def _renamed(entry: Any) -> Any:
    """The navigation, in which an executed notebook is a page."""
    if isinstance(entry, str):
        return re.sub(r"\.ipynb$", ".md", entry)
    if isinstance(entry, dict):
        return {name: _renamed(each) for name, each in entry.items()}
    return [_renamed(each) for each in entry]


def _targets(page: str) -> list[str]:
    """The files of the repository that a page links to."""
    found = [target.partition("#")[0] for _, _, target in LINK.findall((ROOT / page).read_text())]
    found += re.findall(r'<img src="([^"]+)"', (ROOT / page).read_text())
    places = [(ROOT / page).parent / target for target in found if target and ":" not in target]
    return [str(place.resolve().relative_to(ROOT)) for place in places if place.is_file()]


def _shown(path: str) -> bool:
    return path.endswith((".md", *PICTURES))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to folders and to code become text."""
    folder = (ROOT / page.file.src_uri).parent

    def mended(match: re.Match[str]) -> str:
        target = match[3].partition("#")[0]
        if not target or ":" in target:
            return match[0]
        place = (folder / target).resolve()
        inside = place.is_relative_to(ROOT) and _shown(str(place.relative_to(ROOT)))
        return match[0] if inside or place.suffix == ".ipynb" else match[2]

    parts = re.split(r"(```.*?```)", markdown, flags=re.DOTALL)
    return "".join(part if k % 2 else LINK.sub(mended, part) for k, part in enumerate(parts))


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Formulas from LaTeX to MathML, in the table of contents to plain text."""
    from latex2mathml.converter import convert

    def formula(match: re.Match[str]) -> str:
        display = "block" if match[1] == "div" else "inline"
        latex = html.unescape(match[2].strip()[2:-2]).replace(r"\arg\max", r"\operatorname{argmax}")
        return str(convert(latex, display=display))

    for heading in _headings(page.toc):
        heading.title = re.sub(r"\\\((.*?)\\\)", r"\1", heading.title)
    pattern = r'<(div|span) class="arithmatex">(.*?)</\1>'
    return re.sub(pattern, formula, content, flags=re.DOTALL)


def _headings(entries: Any) -> list[Any]:
    return [each for entry in entries for each in (entry, *_headings(entry.children))]
