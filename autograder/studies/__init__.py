"""The staff's part of each study, in one folder per study, and the modules that read these files.

A folder such as `study3_type_a/` contains the answers, the mutants, the hidden cases and the
rubrics; `course.checks.study_paths` lists its files. May import only the public packages.
"""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def load_module(file: Path) -> ModuleType:
    """Import a Python file of a study's folder as a new module; raises ImportError."""
    spec = spec_from_file_location(f"{file.parent.name}_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python module")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
