"""Is this port the published model? Its weights under our names, and the distance of the logits."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

Module = TypeVar("Module", bound=nn.Module)
Change = Callable[[Any], object]  # fills a slot of a model
_ROUNDING = 1e-4  # standard deviations

# What transformers' Llama, Qwen3 and Mixtral call the parameters of torchbook.llm.GPT, in the order of replacement.
LLAMA_NAMES = {
    "model.embed_tokens": "token_embedding",
    "model.layers": "blocks",
    "model.norm": "norm",
    "lm_head": "head",
    "input_layernorm": "attention_norm",
    "post_attention_layernorm": "mlp_norm",
    "self_attn.q_norm": "attention.query_norm",
    "self_attn.k_norm": "attention.key_norm",
    "self_attn.q_proj": "attention.query",
    "self_attn.k_proj": "attention.key",
    "self_attn.v_proj": "attention.value",
    "self_attn.o_proj": "attention.output",
    "_proj": "",
}

# For a mixture of experts in place of the MLP, and for DeepSeek-V3, whose attention has parts of its own.
MIXTRAL_NAMES = {"mlp.gate.": "mlp.router."} | LLAMA_NAMES
DEEPSEEK_NAMES = {
    "q_a_proj": "query_down",
    "q_a_layernorm": "query_norm",
    "q_b_proj": "query_up",
    "kv_a_proj_with_mqa": "down",
    "kv_a_layernorm": "norm",
    "kv_b_proj": "up",
    "o_proj": "output",
    "self_attn": "attention",
    "e_score_correction_bias": "bias",
    "shared_experts": "shared",
} | MIXTRAL_NAMES


def renamed(state: Mapping[str, Tensor], names: Mapping[str, str] = LLAMA_NAMES) -> dict[str, Tensor]:
    """A state dict with other names: every key of `names` that occurs in a name is replaced, one after the other.

    Raises:
        ValueError: two weights would have one name.
    """
    found: dict[str, Tensor] = {}
    for name, weight in state.items():
        ours = name
        for old, new in names.items():
            ours = ours.replace(old, new)
        if ours in found:
            raise ValueError(f"two weights would be called {ours!r}, the second of them {name!r}")
        found[ours] = weight
    return found


def large(model: Module, std: float = 0.3) -> Module:
    """Draw all parameters anew, normal and so large that every part of the model matters, and switch to `eval`."""
    for p in model.parameters():
        nn.init.normal_(p, std=std)
    return model.eval()


def loaded(model: Module, state: Mapping[str, Tensor]) -> Module:
    """The model with these weights, in `eval`; `RuntimeError` of `load_state_dict` where names or shapes differ."""
    model.load_state_dict(state)
    return model.eval()


@torch.no_grad()
def gap(ours: Callable[[Tensor], Tensor], theirs: Any, ids: Tensor) -> float:
    """The largest difference of two logits, in standard deviations of theirs.

    Args:
        ours: gives logits (B, T, V); a model, or any function of the ids.
        theirs: a model of transformers, which gives an object with `logits` (B, T, V).
        ids: (B, T), int64.
    """
    expected = theirs(ids).logits
    return float((ours(ids) - expected).abs().max() / expected.std())


# The values with which a config of transformers means "as in Llama", by the name of the switch.
AS_IN_LLAMA: dict[str, Any] = {
    "head_dim": 8,
    "hidden_act": "silu",
    "hidden_activation": "silu",
    "query_pre_attn_scalar": 16,  # the width of a head in the tiny Gemmas of the book
    "sliding_window": 64,  # longer than the texts that are compared
    "attn_logit_softcapping": None,
    "final_logit_softcapping": None,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e4},
}


def compare(
    theirs: Any,
    fit: Callable[[Mapping[str, Change]], Callable[[Tensor], Tensor]],
    changes: Mapping[str, Change],
    forget: Sequence[str],
    ids: Tensor,
) -> None:
    """Print how far ports of a model are from it: one with all changes to Llama, then each with one of them left out.

    Args:
        theirs: a model of transformers.
        fit: makes the port with some changes, and loads their weights.
        changes: what turns Llama into the model, by name.
        forget: names of changes, each of which one port leaves out; where its weights then do not fit, that is said.
        ids: (B, T), int64.

    Raises:
        AssertionError: with all changes, the logits are not those of the model up to rounding.
        KeyError: `forget` names no change.
    """
    found = {name: getattr(theirs.config, name, off) for name, off in AS_IN_LLAMA.items()}
    on = [f"{name}={value}" for name, value in found.items() if value not in (AS_IN_LLAMA[name], None)]
    for who, parts in (("theirs:", on), ("ours:", changes)):
        listed = textwrap.wrap(", ".join(parts) or "as in Llama", 60)
        print(f"{who:<9}" + ("\n" + 9 * " ").join(listed))
    complete = gap(fit(changes), theirs, ids)
    print(f"{'complete':<30}{complete:.0e}")
    assert complete < _ROUNDING, f"off by {complete:.2g} standard deviations with all changes"
    for name in forget:
        rest = dict(changes)
        del rest[name]
        try:
            said = f"{gap(fit(rest), theirs, ids):.2g}"
        except RuntimeError:  # of load_state_dict
            said = "load error"
        print(f"{'without ' + name:<30}{said}")


def three_tests(
    theirs: Any, fit: Callable[[Any], Callable[[Tensor], Tensor]], ids: Tensor, *, short: int = 8, seed: int = 0
) -> tuple[float, float, float] | None:
    """How far a port is from a model, in three tests: its own weights on a long text and a short one, and new weights.

    Args:
        theirs: a model of transformers.
        fit: makes the port with the weights of such a model.
        ids: (B, T), the long text.
        short: how many tokens of it the short text has.
        seed: of the new weights, which are those that transformers gives a new model.

    Returns:
        The gaps on the long text, on the short one, and on the long one with new weights; None where loading fails.
    """
    torch.manual_seed(seed)
    new = type(theirs)(theirs.config).eval()
    try:
        ours, ours_new = fit(theirs), fit(new)
    except RuntimeError:  # of load_state_dict
        return None
    return gap(ours, theirs, ids), gap(ours, theirs, ids[:, :short]), gap(ours_new, new, ids)


def met(config: Any) -> tuple[int, float]:
    """Parameters of a mixture of experts, and those that one token meets; the model is built without weights.

    A token meets `num_experts_per_tok` of `num_local_experts` of the weights of the experts, one row of the embedding,
    and all others.

    Args:
        config: a `PreTrainedConfig` of a decoder with experts.

    Returns:
        All parameters, and those that one token meets.
    """
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    share = {
        "experts": config.num_experts_per_tok / config.num_local_experts,
        "embed_tokens": 1 / config.vocab_size,
    }
    total, active = 0, 0.0
    for name, p in model.named_parameters():
        parts = [share[part] for part in name.split(".") if part in share]
        total += p.numel()
        active += p.numel() * (parts[0] if parts else 1)
    return total, active


def tiny(family: str) -> Any:
    """A model of transformers with three layers of width 32, four heads, 101 tokens, and large random weights.

    Args:
        family: "mixtral" (8 experts of 48 hidden units, 2 chosen) or "deepseek-v3" (16 experts of 24 hidden units in
            4 groups, of which 2 are kept, 4 chosen; the first layer has a plain MLP of 96 hidden units; the latent
            vector has 12 channels, that of the queries 20, keys have 16 and 8 turned ones, values 16). The biases of
            DeepSeek-V3's routers are random, too.

    Raises:
        KeyError: another family.
    """
    from transformers import DeepseekV3Config, DeepseekV3ForCausalLM, MixtralConfig, MixtralForCausalLM

    sizes: dict[str, Any] = {"vocab_size": 101, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}
    sizes |= {"max_position_embeddings": 64, "rms_norm_eps": 1e-5}
    mixtral = {"num_key_value_heads": 2, "intermediate_size": 48}
    deepseek = {
        "num_key_value_heads": 4,
        "intermediate_size": 96,
        "moe_intermediate_size": 24,
        "n_routed_experts": 16,
        "num_experts_per_tok": 4,
        "n_group": 4,
        "topk_group": 2,
        "first_k_dense_replace": 1,
        "kv_lora_rank": 12,
        "q_lora_rank": 20,
        "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8,
        "v_head_dim": 16,
    }
    kinds: dict[str, tuple[Any, Any, dict[str, int]]] = {
        "mixtral": (MixtralForCausalLM, MixtralConfig, mixtral),
        "deepseek-v3": (DeepseekV3ForCausalLM, DeepseekV3Config, deepseek),
    }
    model, config, own = kinds[family]
    found = large(model(config(**sizes, **own)))
    for name, buffer in found.named_buffers():
        if name.endswith("correction_bias"):
            nn.init.normal_(buffer, std=0.3)
    return found


def traits(config: Any) -> dict[str, str]:
    """How a model of transformers differs from `torchbook.llm.GPT`, read from its config and its parameters' names.

    Args:
        config: a `PreTrainedConfig` of a decoder; no weights are made.

    Returns:
        What to print, by the name of the trait; "–" where it does as ours.
    """
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        names = " ".join(name for name, _ in AutoModelForCausalLM.from_config(config).named_parameters())
    values = {name: value for name, value in config.to_dict().items() if value}
    rope = values["rope_parameters"]
    bases = [kind["rope_theta"] for kind in rope.values() if isinstance(kind, dict)] or [rope["rope_theta"]]
    width, heads = values["hidden_size"], values["num_attention_heads"]
    inner = "latent" if "kv_lora_rank" in values else f"{heads * (values.get('head_dim') or width // heads)}"
    caps = [values.get(f"{what}_logit_softcapping") for what in ("attn", "final")]
    experts = getattr(config, "num_local_experts", 0)
    found = {
        "base of RoPE": ", ".join(f"{base:,.0f}" for base in bases),
        "width → heads": f"{width} → {inner}",
        "QK norm": "yes" if "q_norm" in names else "",
        "norms": f"{len(re.findall(r'layers[.]0[.][a-z_]+norm[.]weight', names))}",
        "window": f"{values.get('sliding_window', '')}",
        "caps": ", ".join(f"{cap:.0f}" for cap in caps if cap),
        "experts": f"{config.num_experts_per_tok} of {experts}" if experts else "",
    }
    return {name: said or "–" for name, said in found.items()}
