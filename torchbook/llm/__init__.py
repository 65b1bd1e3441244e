"""The language model of the last chapters: a small GPT, its training loop, and a codec of characters.

The chapter "The transformer block and a GPT" grows this model cell by cell and shows that both give the same logits;
the later chapters import it.
"""

from torchbook.llm.model import GELUMLP, GPT, Attention, Block, Cache, Config, RMSNorm, SwiGLU, rotary_tables, rotate
from torchbook.llm.train import Characters, characters, evaluate, pretrain, windows

__all__ = [
    "GELUMLP",
    "GPT",
    "Attention",
    "Block",
    "Cache",
    "Characters",
    "Config",
    "RMSNorm",
    "SwiGLU",
    "characters",
    "evaluate",
    "pretrain",
    "rotary_tables",
    "rotate",
    "windows",
]
