"""fovea for Python: converted models with numpy arrays in and out.

    import fovea
    with fovea.Model("model.fovea") as model:
        print(model.describe())
        print(model.classify(["What a lovely day"])[0][0])
"""

from ._library import Error, Threads
from ._notices import DefaultWarning, OptionError, SpecialTokensWarning, TruncationWarning
from .answers import Answer, Weight
from .batch import Ragged, Result
from .explain import Explanation, Sentence, Word
from .generate import Generated, Generation, Generator, Sampling
from .model import SIMD_TARGET, VERSION, Model, Program, Space, Step, Tensor, Value
from .predict import Class, run_texts
from .session import AttentionMap, Session, Tap
from .similar import Hit
from .text import CutWarning, Encoding, Tokenizer
from . import _c as status

__version__ = VERSION
__all__ = ["Answer", "AttentionMap", "Class", "CutWarning", "DefaultWarning", "Encoding", "Error", "Explanation",
           "Generated", "Generation", "Generator", "Hit", "Model", "OptionError", "Program", "Ragged", "Result",
           "SIMD_TARGET", "Sampling", "Sentence", "Session", "Space", "SpecialTokensWarning", "Step", "Tap", "Tensor",
           "Threads", "Tokenizer", "TruncationWarning", "VERSION", "Value", "Weight", "Word", "run_texts", "status"]
