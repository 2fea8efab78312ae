"""Run a notebook and turn it into a page."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter


def executed(path: Path) -> tuple[str, dict[str, bytes]]:
    """The page, and its pictures by name. A cell that raises an error stops the build."""
    notebook = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": str(path.parent)}}
    quiet = ["--log-level=ERROR"]  # it warns that it listens on this machine's own network
    NotebookClient(notebook, timeout=60, resources=folder, extra_arguments=quiet).execute()
    resources = {"output_files_dir": ".", "unique_key": path.stem}
    text, found = MarkdownExporter().from_notebook_node(notebook, resources=resources)
    pictures = {Path(name).name: content for name, content in found.get("outputs", {}).items()}
    text = re.sub(r"!\[(?:png|svg)\]\(\./", "![The picture that the cell above draws](", text)
    return text, pictures
