"""Both programs read the same bytes: neither breaks, and they read the same numbers.

What one refuses the other refuses, but for what the specification leaves to a checker or to a
program that needs no labels; these cases are named here.
"""

import os
import tempfile
from fractions import Fraction

from hardmax import checker
from hardmax.dataset import Reading
from hardmax.errors import InputError
from hardmax.formats.data import load
from hardmax.formats.model_file import read_model

from .judges import DisagreementError, ask_checker, long_integers, memory_folder
from .pairs import NAMES

# what the package refuses and a checker may accept, by the reason that the package gives
ONLY_CHECKER = (
    "label sets must be disjoint",  # decided at once; a checker decides it with a certificate
    "the polyhedron is empty",  # section 3: PROVED does not speak about it
    "half a surrogate pair",  # such a label could not be written again
    "is no array",  # headers of .npy that only one of two parsers reads; never two readings
    "unknown npy version",  # a minor version, which says nothing
    "unpacks to more than",  # by the sizes that an archive states, which may lie
    "nested",  # the limit on nesting is the interpreter's in both
    "recursion",
)
# what a checker refuses and the package may accept, by the reason that the checker gives
ONLY_PACKAGE = ("not an array of numbers or text", "recursion")


class Readers:
    """Reads bytes by both programs; a context manager that owns a file."""

    def __enter__(self):
        handle, self.path = tempfile.mkstemp(dir=memory_folder())
        os.close(handle)
        return self

    def __exit__(self, *exception):
        os.unlink(self.path)

    def _package(self, read, raw, **options):
        with open(self.path, "wb") as file:
            file.write(raw)
        try:
            return read(self.path, **options), None
        except InputError as problem:
            if "\n" in str(problem) or not str(problem):
                raise DisagreementError(f"not one line: {problem!r}") from None
            return None, str(problem)

    @staticmethod
    def _checker(read, *arguments):
        with long_integers():
            try:
                return checker.reading("it", read, *arguments), None
            except checker.Stop as stop:
                code, reason = stop.args
                if code != 2 or not reason or "\n" in reason:
                    raise DisagreementError(f"not a refusal in one line: {stop!r}") from None
                return None, reason

    def data(self, raw, numbers="exact"):
        """Read a data set; return whether both accept it."""
        mine, why = self._package(load, raw, numbers=numbers)
        theirs, reason = self._checker(checker.read_data, raw, numbers)
        if mine is None:
            # a data set without sequences is refused in `check`
            if theirs is not None and theirs[0] and not any(x in why for x in ONLY_CHECKER):
                raise DisagreementError(f"data: only the checker accepts it; the package: {why}")
            return False
        if None in mine.names:
            return False  # read for commands that need no labels
        if mine.source["sha256"] is None:
            return False  # Parquet and .ts, which the checker does not read
        if theirs is None:
            if any(x in reason for x in ONLY_PACKAGE):
                return False
            raise DisagreementError(f"data: only the package accepts it; the checker: {reason}")
        sequences, sets, d = theirs
        same = (
            mine.dimension == d
            and [label for _, label, _ in sequences] == mine.names
            and _same([Z for *_, Z in sequences], mine.sequences)
            and [*sets] == [*mine.given_sets]
            and all(_same_set(sets[name], entry) for name, entry in mine.given_sets.items())
        )
        if not same:
            raise DisagreementError("data: read differently")
        return True

    def model(self, raw):
        """Read a model; return whether both accept it."""
        mine, why = self._package(read_model, raw)
        theirs, reason = self._checker(_model_and_reading, raw)
        if mine is not None:
            try:
                sound = mine.meta.get("numbers", "exact") in ("exact", "binary64")
                how, offsets = mine.reading, mine.reading.offsets
            except InputError:
                sound = False
            if not sound:
                mine, why = None, "meta"  # refused when the data is read
        if mine is None or theirs is None:
            if theirs is not None and not any(x in why for x in ONLY_CHECKER):
                raise DisagreementError(f"model: only the checker accepts it; the package: {why}")
            if mine is not None and not any(x in reason for x in ONLY_PACKAGE):
                raise DisagreementError(
                    f"model: only the package accepts it; the checker: {reason}"
                )
            return False
        found, stages, d, _, read, far = theirs
        same = (
            mine.dimension == d
            and mine.stages == stages
            and all(list(mine.parameters.arrays[x].numbers()) == found[x] for x in NAMES)
            and mine.meta.get("numbers", "exact") == read.pop("numbers")
            and mine.masked == read.pop("masked")
            and Reading(**read) == how
            and far == [*offsets]
        )
        if not same:
            raise DisagreementError("model: read differently")
        return True


def _model_and_reading(raw):
    """What the checker makes of a model file, the meaning of its meta included."""
    found = checker.read_model(raw)
    return *found, *checker.read_meta(found[3])


def _same(theirs, mine):
    """Whether nested sequences hold the same numbers."""
    if isinstance(theirs, Fraction):
        return theirs == mine
    theirs, mine = list(theirs), list(mine)
    return len(theirs) == len(mine) and all(map(_same, theirs, mine))


def _same_set(region, label_set):
    kind, *values = region
    if kind != label_set.kind:
        return False
    document = label_set.to_json()
    del document["kind"]

    def fractions(value):
        return [fractions(x) for x in value] if isinstance(value, list) else Fraction(value)

    with long_integers():
        theirs = [fractions(value) for value in document.values()]
    return _same([value for value in values if value is not None], theirs)


def certificate(model, data, raw):
    """The checker answers 0, 1, or 2 in one line, whatever the certificate."""
    code, reason = ask_checker(model, data, raw)
    if code not in (0, 1, 2) or "\n" in reason:
        raise DisagreementError(f"certificate: {code} {reason}")
    return code
