import torch

State = dict[str, torch.Tensor]


def stored(state: State) -> int:
    """Bytes of all storages that the tensors of `state` lie on."""
    ### BEGIN SOLUTION
    storages = [tensor.untyped_storage() for tensor in state.values()]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())
    ### END SOLUTION


def compact(state: State) -> State:
    """Equal tensors, each on a storage of its own size."""
    ### BEGIN SOLUTION
    made: dict[tuple[object, ...], torch.Tensor] = {}
    result = {}
    for name, t in state.items():
        memory = t.untyped_storage().data_ptr()
        key = (memory, t.storage_offset(), t.shape, t.stride(), t.dtype)
        if key not in made:
            made[key] = t.detach().clone()
        result[name] = made[key]
    return result
    ### END SOLUTION
