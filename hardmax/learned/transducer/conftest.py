"""Keep pytest from importing the modules that need PyTorch where it is not installed."""

from importlib.util import find_spec

collect_ignore = ["conftest.py"]
if find_spec("torch") is None:
    collect_ignore += ["layers.py", "network.py", "trainer.py", "transducer.py", "torch_library.py"]
