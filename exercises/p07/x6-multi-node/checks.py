import contextlib
import io
import json
import random
import socket
import sys
import tempfile
from pathlib import Path

from torch.distributed.run import get_args_parser

from torchbook.practice.ranks import Ranks, on_loopback, started, waited

RANKS = Ranks(world=4)
AGENTS = 100  # seconds in which two agents on one machine must be done

# Four processes as torchrun would start them on two nodes; each node has a folder as its disk.
_CASES = """
import socket, time

os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "1"
joined = dist.init_process_group


def join(*args, **more):
    return joined(*args, **{"timeout": limit} | more)


def as_torchrun(name):
    '''Sets the variables of two nodes with two processes each.'''
    place = folder / f"{name}.port"
    if rank == 0:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            (folder / "part").write_text(str(probe.getsockname()[1]))
        os.replace(folder / "part", place)
    end = time.monotonic() + 10
    while not place.exists() and time.monotonic() < end:
        time.sleep(0.01)
    values = {"RANK": rank, "LOCAL_RANK": rank % 2, "GROUP_RANK": rank // 2, "NODE_RANK": rank // 2}
    values |= {"WORLD_SIZE": 4, "LOCAL_WORLD_SIZE": 2, "GROUP_WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1"}
    values["MASTER_PORT"] = place.read_text()
    os.environ.update({key: str(value) for key, value in values.items()})
    dist.init_process_group = join


def cases(answer):
    def job():
        as_torchrun("job")
        disk = folder / f"disk{rank // 2}"
        said = {"fetched": 0, "trained": [], "saved": []}

        def fetch():
            said["fetched"] += 1
            time.sleep(0.5)
            disk.write_text("data")

        def train(device):
            said["trained"].append([str(device), disk.exists(), torch.is_grad_enabled()])
            total = torch.tensor([float(rank)])
            dist.all_reduce(total)
            return total.item()

        answer.work(fetch, train, said["saved"].append)
        return said | {"left": not dist.is_initialized()}

    def breaks():
        as_torchrun("breaks")

        def train(device):
            raise FloatingPointError

        try:
            answer.work(lambda: None, train, lambda result: None)
            raised = "nothing"
        except NotImplementedError:
            raise
        except Exception as error:
            raised = type(error).__name__
        return {"raised": raised, "left": not dist.is_initialized()}

    def alone():
        as_torchrun("alone")
        if rank:
            return {}
        os.environ.update(dict.fromkeys(("WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE"), "1"))
        said = {"fetched": 0, "saved": []}

        def fetch():
            said["fetched"] += 1

        answer.work(fetch, lambda device: 7.0, said["saved"].append)
        return said

    def gpus():
        as_torchrun("gpus")
        said = {"backend": "nothing", "current": "none", "joined": "none", "device": "none"}
        meet = dist.barrier

        def choose(device):
            said["current"] = f"cuda:{device}" if isinstance(device, int) else str(device)

        def join_gloo(backend=None, *args, device_id=None, **more):
            if device_id is not None:
                choose(device_id)
            said.update(backend=str(backend or "gloo and nccl"), joined=said["current"])
            return join("gloo", *args, **more)

        def meet_gloo(*args, device_ids=None, **more):
            return meet(*args, **more)

        def train(device):
            said["device"] = str(device)

        cuda = torch.cuda
        played = {joined: join_gloo, join: join_gloo, dist.barrier: meet_gloo}
        played |= {cuda.is_available: lambda: True, cuda.device_count: lambda: 2, cuda.set_device: choose}
        for module in (dist, cuda, answer):  # also what the answer has imported by name
            for name, value in list(vars(module).items()):
                if isinstance(value, types.FunctionType) and value in played:
                    setattr(module, name, played[value])
        answer.work(lambda: None, train, lambda result: None)
        return said

    yield "job", job, 0
    yield "breaks", breaks, 0
    yield "alone", alone, 0
    yield "gpus", gpus, 0  # the last one: it leaves torch.cuda changed
"""

_ADDRESSES = ("10.0.0.5", "10.0.0.6", "10.0.0.7")


def _options(command):
    """Return what torchrun would understand; its options come after its name."""
    words = [str(word) for word in command]
    names = [n for n, word in enumerate(words) if word == "torch.distributed.run" or Path(word).name == "torchrun"]
    assert names, f"the command starts torchrun, or Python with -m torch.distributed.run, not {words[0]}"
    own = words[names[0] + 1 :]
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            return own, get_args_parser().parse_args(own)
    except SystemExit:
        why = said.getvalue().strip().splitlines()[-1:] or ["error: it ends"]
        raise AssertionError(f"torchrun does not understand the command: {why[0].partition('error: ')[2]}") from None


def _three(launch):
    found = [launch(node, list(_ADDRESSES), 29400, "eth1", 4, "train.py", ["--lr", "0.1"]) for node in range(3)]
    return [_options(command)[1] for command, _ in found]


def _meeting(options):
    if options.standalone:
        return "this machine alone"
    if options.rdzv_endpoint:
        return options.rdzv_endpoint
    return f"{options.master_addr}:{options.master_port}"


def test_meeting_point(launch):
    everyone = _three(launch)
    for node, options in enumerate(everyone):
        assert _meeting(options) == "10.0.0.5:29400", (
            f"all machines meet at the first one, 10.0.0.5:29400, but machine {node} goes to {_meeting(options)}"
        )
    kinds = {(options.rdzv_backend, options.rdzv_id) for options in everyone}
    assert len(kinds) == 1, (
        f"machines need the same backend and the same id to meet, but here there are {len(kinds)} combinations"
    )


def test_sizes(launch):
    for node, options in enumerate(_three(launch)):
        found = options.nnodes.split(":")[-1], options.nproc_per_node
        assert found == ("3", "4"), (
            f"three machines with four processes each need --nnodes=3 and --nproc-per-node=4 on each machine, but "
            f"machine {node} has {found[0]} and {found[1]}"
        )


def test_node_numbers(launch):
    everyone = _three(launch)
    if any(options.rdzv_backend == "static" for options in everyone):
        found = [int(options.node_rank) for options in everyone]
        assert found == [0, 1, 2], (
            f"with the static rendezvous, each machine is told its number, 0, 1 and 2, not {found}; with "
            "--rdzv-backend=c10d, they agree on it themselves"
        )


def test_arguments(launch):
    wanted = ["--nproc-per-node", "7", "--lr=0.1", "two words"]
    options = _options(launch(1, list(_ADDRESSES), 29400, "eth1", 2, "my train.py", wanted)[0])[1]
    found = [options.training_script, *options.training_script_args]
    assert found == ["my train.py", *wanted], (
        f"each process runs {['my train.py', *wanted]}, not {found}: what comes before the script is torchrun's, "
        "what follows belongs to the script, and each argument is one element of the list"
    )


def test_variables(launch):
    variables = launch(0, list(_ADDRESSES), 29400, "eth1", 4, "train.py", [])[1]
    for library in ("GLOO", "NCCL"):
        found = variables.get(f"{library}_SOCKET_IFNAME")
        assert found == "eth1", f"{library}_SOCKET_IFNAME must be eth1, not {found}: each library has its own variable"


def test_device(own_device):
    for rank, local in ((0, 0), (3, 3), (4, 0), (6, 2)):
        environment = {"RANK": str(rank), "LOCAL_RANK": str(local), "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}
        found = str(own_device(environment, 4))
        assert found == f"cuda:{local}", (
            f"rank {rank}, which is local rank {local} on a machine with 4 GPUs, gets cuda:{local}, not {found}"
        )
    found = str(own_device({"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8"}, 0))
    assert found == "cpu", f"without GPUs, the device is cpu, not {found}"


def test_too_many(own_device):
    try:
        found = own_device({"RANK": "2", "LOCAL_RANK": "2", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "4"}, 2)
    except NotImplementedError:
        raise
    except Exception as error:
        found = type(error).__name__
    assert found == "ValueError", (
        f"for local rank 2 on a machine with 2 GPUs there is none: raise a ValueError, not {found}"
    )


def test_fetch_each_node(work, source):
    found = [one["fetched"] for one in RANKS.values(_CASES, source, "job")]
    for node in range(2):
        assert sum(found[2 * node : 2 * node + 2]), f"no process on machine {node} has fetched the data to its disk"
    alone = RANKS.values(_CASES, source, "alone")[0]["fetched"]
    assert alone == 1, f"in a job with a single process, this process fetches once, not {alone} times"


def test_fetch_once(work, source):
    found = [one["fetched"] for one in RANKS.values(_CASES, source, "job")]
    for node in range(2):
        times = sum(found[2 * node : 2 * node + 2])
        assert times <= 1, f"on machine {node}, the data were fetched {times} times into the same file"


def test_train_waits(work, source):
    for rank, one in enumerate(RANKS.values(_CASES, source, "job")):
        assert len(one["trained"]) == 1, f"each process trains once, but rank {rank} did so {len(one['trained'])} times"
        found, there, records = one["trained"][0]
        assert there, f"rank {rank} began to train before the data were on the disk of its machine"
        assert found == "cpu", f"there is no GPU, so rank {rank} trains on the cpu, not on {found}"
        assert records, f"rank {rank} calls train under torch.no_grad(), so train cannot call backward"


def test_one_save(work, source):
    found = [one["saved"] for one in RANKS.values(_CASES, source, "job")]
    times = sum(map(len, found))
    assert times == 1, f"of all 4 processes, one saves; here save was called {times} times"
    assert [6.0] in found, f"save gets what train returned, 6.0, not {next(filter(None, found))[0]}"
    alone = RANKS.values(_CASES, source, "alone")[0]["saved"]
    assert alone == [7.0], (
        f"in a job with a single process, this process saves what train returned, [7.0]; here {alone} was saved"
    )


def test_gpus(work, source):
    for rank, one in enumerate(RANKS.values(_CASES, source, "gpus")):
        own = f"cuda:{rank % 2}"
        assert "nccl" in one["backend"], (
            f"with two GPUs on each machine, the group uses nccl, but rank {rank} joined one with {one['backend']}"
        )
        assert one["device"] == own, (
            f"with two GPUs on its machine, rank {rank} trains on {own}, not on {one['device']}"
        )
        assert one["joined"] == own, (
            f"when rank {rank} joins, its GPU {own} must be the current device or be passed as device_id, not "
            f"{one['joined']}; otherwise the barrier uses GPU 0 in each process"
        )


def test_leaves(work, source):
    for rank, one in enumerate(RANKS.values(_CASES, source, "job")):
        assert one["left"], f"at the end, rank {rank} is still in the process group"
    for rank, one in enumerate(RANKS.values(_CASES, source, "breaks")):
        assert one["raised"] == "FloatingPointError", (
            f"an exception of train must be passed on, but rank {rank} raised {one['raised']}"
        )
        assert one["left"], f"after train raised an exception, rank {rank} is still in the process group"


_WORKER = """
import json, os, sys

keys = "RANK", "LOCAL_RANK", "WORLD_SIZE", "GLOO_SOCKET_IFNAME"
said = {key: os.environ.get(key) for key in keys} | {"arguments": sys.argv[2:]}
with open(os.path.join(sys.argv[1], os.environ["RANK"] + ".part"), "w") as file:
    json.dump(said, file)
os.replace(file.name, file.name[:-4] + "json")
"""


def _on_two_nodes(launch, per_node, worker, arguments):
    """Start the agents of two machines, both on this one, and return what their processes wrote."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, socket.socket() as probe:
        folder = Path(name)
        (folder / "worker.py").write_text(worker, encoding="utf-8")
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        interface = on_loopback().get("GLOO_SOCKET_IFNAME", "lo")
        commands, environments, meetings = [], [], []
        for node in range(2):
            script = str(folder / "worker.py")
            command, variables = launch(node, ["127.0.0.1"] * 2, port, interface, per_node, script, [name, *arguments])
            own, options = _options(command)
            meetings.append((_meeting(options), options.nnodes.split(":")[-1], options.rdzv_id))
            told = options.rdzv_backend != "static" or options.standalone or int(options.node_rank) == node
            assert told, f"two machines do not meet: machine {node} was told that it is number {options.node_rank}"
            own = own if options.local_addr else ["--local-addr=127.0.0.1", *own]
            commands.append([sys.executable, "-m", "torch.distributed.run", *own])
            environments.append(on_loopback({str(key): str(value) for key, value in variables.items()}))
        for node, (meeting, nodes, _) in enumerate(meetings):
            where = "the place they were given" if meeting == f"127.0.0.1:{port}" else meeting
            assert where.startswith("the place") and nodes == "2", (
                f"two machines do not meet: machine {node} waits at {where} for {nodes} machines in all"
            )
        assert meetings[0] == meetings[1], "two machines do not meet: each has a different id for the job"
        with started(commands, environments, folder) as processes:
            done = waited(processes, AGENTS)
            codes = [process.returncode for process in processes]
        assert done, f"two agents on this machine had not finished after {AGENTS} s"
        assert codes == [0, 0], f"the agents ended with exit codes {codes[0]} and {codes[1]}, not 0"
        return [json.loads(path.read_text()) for path in sorted(folder.glob("[0-9].json"))]


def test_two_agents(launch):
    everyone = _on_two_nodes(launch, 2, _WORKER, ["--lr", "0.1"])
    found = [f"{one['RANK']}/{one['LOCAL_RANK']} of {one['WORLD_SIZE']}" for one in everyone]
    assert found == ["0/0 of 4", "1/1 of 4", "2/0 of 4", "3/1 of 4"], (
        "two machines with two processes each have the ranks and local ranks 0/0, 1/1, 2/0 and 3/1 of 4, not "
        f"{', '.join(found) or 'none'}"
    )
    for one in everyone:
        assert one["arguments"] == ["--lr", "0.1"], (
            f"each process gets --lr 0.1, but rank {one['RANK']} got {one['arguments']}"
        )


_WHOLE = """
import json, os, pathlib, sys, types

import torch
import torch.distributed as dist
from torch import nn

torch.set_num_threads(1)
folder, rank = pathlib.Path(sys.argv[1]), os.environ["RANK"]
answer = sys.modules["answer"] = types.ModuleType("answer")
vars(answer).update(torch=torch, dist=dist, nn=nn)
exec(compile(SOURCE, "<answer>", "exec"), vars(answer))
said = {"fetched": 0, "saved": []}


def fetch():
    said["fetched"] += 1


def train(device):
    gradient = torch.full((3,), float(rank) + 1)
    dist.all_reduce(gradient)
    return gradient.tolist()


answer.work(fetch, train, said["saved"].append)
(folder / f"{rank}.part").write_text(json.dumps(said))
os.replace(folder / f"{rank}.part", folder / f"{rank}.json")
"""


def test_hidden_two_nodes(launch, work, source, seed):
    per_node = random.Random(seed).randint(1, 2)
    worker = f"SOURCE = {source!r}\n{_WHOLE}"
    everyone = _on_two_nodes(launch, per_node, worker, [])
    world = 2 * per_node
    assert len(everyone) == world, f"of {world} processes on two machines, {len(everyone)} came to their end"
    assert sum(one["fetched"] for one in everyone) == 2, (
        "on two machines, the data are fetched twice in all, once on each"
    )
    saved = [result for one in everyone for result in one["saved"]]
    expected = [[world * (world + 1) / 2] * 3]
    assert saved == expected, f"the sum over {world} ranks is saved once, {expected}, not {saved}"
