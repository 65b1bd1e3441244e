import torch

from torchbook.llm import GPT


def left_pad(prompts: list[torch.Tensor], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids (B, T), padded on the left, and the mask (B, T) of tokens that are not padding."""
    ### BEGIN SOLUTION
    width = max(len(prompt) for prompt in prompts)
    gaps = torch.tensor([width - len(prompt) for prompt in prompts])
    filled = [torch.cat((torch.full((width - len(prompt),), pad), prompt)) for prompt in prompts]
    return torch.stack(filled), torch.arange(width) >= gaps[:, None]
    ### END SOLUTION


@torch.inference_mode()
def decode(model: GPT, prompts: list[torch.Tensor], new: int, end: int) -> list[list[int]]:
    """Return the greedy answer to each prompt, up to and including `end`, at most `new` tokens."""
    ### BEGIN SOLUTION
    batch, valid = left_pad(prompts, end)
    said: list[list[int]] = [[] for _ in prompts]
    going = set(range(len(prompts)))
    for _ in range(new):
        if not going:
            break
        size = batch.shape[1]
        order = torch.arange(size)
        sees = valid[:, None, None, :] & (order <= order[:, None])
        counted = (valid.long().cumsum(1) - 1).clamp(min=0)
        best = model(batch, positions=counted, mask=sees)[:, -1].argmax(-1)
        for row in sorted(going):
            said[row].append(int(best[row]))
            if best[row] == end:
                going.remove(row)
        batch = torch.cat((batch, best[:, None]), dim=1)
        valid = torch.cat((valid, valid.new_ones(len(prompts), 1)), dim=1)
    return said
    ### END SOLUTION
