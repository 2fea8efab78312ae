"""What a page says about a model in plain words: its opening, and one line for every stage."""

from __future__ import annotations

from collections.abc import Sequence

from ..certify import Certificate
from ..dataset import Dataset
from ..labels import Point
from ..model.transformer import Transformer
from ..words import plural
from .style import STEPS

# stage -> what it does, and why
STAGE_LINES = {
    "input": "These are the tokens as the data give them. Each sequence is a cloud of tokens; "
    "colour and shape show its label.",
    "preprocess": "Moves all tokens a little, because a token at zero attends to all tokens "
    "alike and the next stage needs leaders.",
    "separate": "Pulls tokens apart until no two sequences share a token, because a shared token "
    "would always move in both sequences alike.",
    "cluster": "Sends every token to the leader of its sequence, because one point is easier to "
    "move than a cloud.",
    "match": "Moves one sequence at a time onto another of the same label, until there is one "
    "point for each label.",
    "classify": "Moves the point of each label into the set of that label, because the output "
    "must lie there.",
    "split": "Gives sequences with equal means different means, because the next stage replaces "
    "each sequence by one point.",
    "feature": "Writes how strongly a pattern shows in each token, weighted for each label, into "
    "extra coordinates that were zero.",
    "read-out": "Adds the score of one label to the coordinate of that label; the label with the "
    "largest coordinate wins.",
    "collapse": "Replaces every sequence by one point, because a point is easier to move than a "
    "cloud.",
    "flatten": "Replaces every sequence by one point and puts all points at one height, so that "
    "the height is free to carry the label.",
    "peel": "Moves the outermost point that is left to its target. Nothing else lies beyond the "
    "hyperplane, so nothing else moves.",
    "rule": "Raises all points on one side of a hyperplane, because most of them share a label.",
    "half-space": "Raises the points beyond a hyperplane, which all share a label.",
    "tent": "Takes three blocks to raise the points between two parallel hyperplanes, and no "
    "others.",
    "shell": "Raises points of the convex hull to the height of their label; there, one "
    "hyperplane can touch several points at once.",
    "clamp": "Cuts all heights off at one level, so that the raised points end at exactly the "
    "same height.",
    "repair": "Corrects the points that the blocks before have sent to a wrong place.",
    "shift": "Translates all points, because the label sets lie elsewhere.",
    "kill": "Sets one coordinate to the same number for all points, because only the height may "
    "still tell them apart.",
    "line": "Bends the line of heights, so that the height of each label goes to its label set.",
    "stair": "Bends the line of heights into a staircase, so that each band of heights goes to "
    "its label set.",
    "load": "Changes the slopes of some coordinates at chosen points. The slopes hold the labels "
    "as long binary numbers.",
    "hash": "Spreads the points over cells, so that each cell has a string of labels of its own.",
    "select": "Picks for every point the string of labels of its cell.",
    "fold": "Folds the line in half, like a strip of paper. After enough folds the place on the "
    "strip shows one bit of the string: the label.",
    "place": "Moves each height to the label of its sequence, because all happens on one line.",
    "end": "Moves the points from the bands of the last fold into their label sets.",
}
OTHER_STAGE = "Moves the tokens on one side of a hyperplane, or pulls tokens together."


def stage_line(stage: str) -> str:
    """One line on what a stage does and why.

    >>> stage_line("collapse").partition(",")[0]
    'Replaces every sequence by one point'
    """
    return STAGE_LINES.get(stage, OTHER_STAGE)


def _labels(count: int) -> str:
    return "one label, the same for all" if count == 1 else f"their labels, {count} different ones"


def lead(model: Transformer, data: Dataset, certificate: Certificate) -> list[str]:
    """Three sentences that open the page: the task, the blocks, the verdict."""
    task = (
        f"This transformer gives {plural(len(data), 'sequence')} "
        f"({plural(len(data.tokens), 'token')} in dimension {data.dimension}) "
        f"{_labels(certificate.M)}, in {plural(len(model), 'block')}."
    )
    block = (
        "Each block first pushes the tokens beyond a hyperplane along one direction "
        "(feed-forward), and then pulls the tokens of a sequence towards its leader, the one that "
        "lies farthest along a direction v, or towards their mean where v = 0 (attention)."
    )
    if certificate.proved:
        verdict = (
            "The output is the mean of the final tokens; exact arithmetic proves that for every "
            "sequence it lies in the set of its label."
        )
    else:
        verdict = (
            "The output is the mean of the final tokens; it does not lie in the set of the right "
            "label for every sequence, and exact arithmetic has found where."
        )
    return [task, block, verdict]


def token_texts(data: Dataset, chosen: Sequence[int]) -> dict[int, list[str]]:
    """The words that tokens stand for, by sequence, where the data say them.

    They do in two cases. The id of every sequence has as many words as the sequence has tokens.
    Or every token agrees in all coordinates but the last, which is its position, with the point
    of a label; then the label names the token, as in next-word prediction.

    >>> token_texts(Dataset([[(1, 2), (3, 4)]], ["a"], ids=["two words"]), [0])
    {0: ['two', 'words']}
    """
    lengths = (data.offsets[1:] - data.offsets[:-1]).tolist()
    words = [(name or "").split() for name in data.ids]
    if all(len(found) == n for found, n in zip(words, lengths, strict=True)):
        return {j: words[j] for j in chosen}
    names = {
        tuple(found.point[:-1]): visible(label)
        for label, found in data.sets.items()
        if isinstance(found, Point)
    }
    if data.dimension == 1 or len(names) < len(data.sets):
        return {}
    found = {}
    for j in chosen:
        tokens = data.sequence(j)
        if any(z[:-1] not in names or z[-1] != i for i, z in enumerate(tokens, start=1)):
            return {}
        found[j] = [names[z[:-1]] for z in tokens]
    return found


def visible(name: str) -> str:
    """A label's name with line breaks that can be seen.

    >>> visible("a\\n")
    'a↵'
    """
    return name.replace("\r", "").replace("\n", "↵") or "(empty)"


def step_name(stage: str) -> str:
    """The name of a stage on the page, capitalised."""
    name = STEPS.get(stage, stage)
    return name[:1].upper() + name[1:]
