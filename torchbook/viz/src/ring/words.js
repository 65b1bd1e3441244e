/** The ring in words, and the same by hand in PyTorch. */

import { amount, duration, plain, plural, several } from "../core/units.js";
import { chunkSizes, costs, factor, perLink, REDUCE, ringMessages, ringSteps } from "./model.js";

const sum = (all) => all.reduce((a, b) => a + b, 0);

function chunksIn(elements, ranks) {
  const sizes = chunkSizes(elements, ranks);
  if (sizes[0] === sizes.at(-1)) return `${ranks} chunks of ${sizes[0]}`;
  const most = elements % ranks;
  return `${most} chunk${plural(most)} of ${sizes[0]} and ${ranks - most} of ${sizes.at(-1)}`;
}

/** What happened in the last step. */
export function told(steps, step) {
  const now = steps[step];
  const last = steps.length - 1;
  if (!step) return "Nothing is sent yet: every chunk holds only its own rank's numbers.";
  const ranks = now.vectors.length;
  const sent = several(now.messages.map((one) => `rank ${one.source} sends chunk ${one.chunk} to rank ${one.target}`));
  const held = now.parts[now.messages[0].target][now.messages[0].chunk].length;
  const then = now.phase === REDUCE ? `The receiver adds it to its own; that chunk then holds the numbers of ${held} of ${ranks} ranks.` : "The receiver puts the finished chunk in the place of its own.";
  return `Step ${step} of ${last}, ${now.phase}: ${sent}. ${then}${step === last ? ` All ranks hold the sum ${now.vectors[0].join(" ")}.` : ""}`;
}

/** "3" or "3 to 4". */
export const between = (all) => (Math.min(...all) === Math.max(...all) ? String(all[0]) : `${Math.min(...all)} to ${Math.max(...all)}`);

/** The same sentences as `describe` in torchbook/viz/ring.py. */
export function describe(setting, vectors, step) {
  const [ranks, elements] = [vectors.length, vectors[0].length];
  const steps = ringSteps(vectors);
  const at = Math.min(step, steps.length - 1);
  const soFar = perLink(steps.slice(0, at + 1).flatMap((one) => one.messages), ranks);
  const all = sum(perLink(ringMessages(vectors), ranks));
  const { ring, gather, tree } = costs(setting);
  return (
    `Ring all-reduce, ${ranks} ranks, ${elements} element${plural(elements)} each in ${chunksIn(elements, ranks)}. ${told(steps, at)} ` +
    `Each link has carried ${between(soFar)} elements so far; at the end all links together ${all}, on average ${plain(all / ranks)} each, ` +
    `${plain(all / ranks / elements)} times a vector: 2(K−1)/K = ${plain(factor(ranks))}. For ${amount(setting.size_mb * 1e6)} at ` +
    `${amount(setting.bandwidth_gbs * 1e9)} a second and ${duration(setting.latency_us * 1e-6)} a message the ring takes ${duration(ring.seconds)}, ` +
    `${duration(ring.bandwidth)} for the bytes and ${duration(ring.latency)} for ${ring.steps} latencies; gathering at one rank and sending back ` +
    `${duration(gather.seconds)}, with ${amount(gather.busiest)} through the busiest link in place of ${amount(ring.busiest)}; a tree ${duration(tree.seconds)}.`
  );
}

/** Whose numbers a chunk holds, short. */
export const who = (parts, ranks) => (parts.length === ranks ? "all" : parts.length === 1 || (ranks <= 8 && parts.length <= 3) ? parts.join("+") : `${parts[0]}…${parts.at(-1)}`);

/** The all-reduce by hand with isend and irecv, to be started by torchrun; it checks itself against dist.all_reduce. */
export const script = (vectors) => `"""torchrun --standalone --nproc-per-node ${vectors.length} ring.py"""

import torch
import torch.distributed as dist

VECTORS = [
${vectors.map((one) => `    [${one.join(", ")}],`).join("\n")}
]


def ring_all_reduce(x):
    """Sum x over all ranks, in place; returns the number of elements this rank sent."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    chunks = x.tensor_split(ranks)  # views: what is written here is in x
    sent = 0
    for step in range(2 * (ranks - 1)):
        out, into = chunks[(rank - step) % ranks], chunks[(rank - step - 1) % ranks]
        received = torch.empty_like(into)
        work = []
        if out.numel():
            work.append(dist.isend(out, right))
        if into.numel():
            work.append(dist.irecv(received, left))
        for one in work:
            one.wait()
        if step < ranks - 1:  # reduce-scatter
            into += received
        else:  # all-gather
            into.copy_(received)
        sent += out.numel()
    return sent


if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    x = torch.tensor(VECTORS[rank])
    expected = x.clone()
    dist.all_reduce(expected)
    sent = torch.tensor(ring_all_reduce(x))
    assert torch.equal(x, expected)
    dist.all_reduce(sent)
    assert sent.item() == 2 * (ranks - 1) * x.numel()
    if rank == 0:
        print(x.tolist(), "elements sent per link, on average:", sent.item() / ranks)
    dist.destroy_process_group()
`;
