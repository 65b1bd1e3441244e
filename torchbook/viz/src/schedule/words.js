/** The schedule in words, and the same as PyTorch. */

import { plain, several, significant } from "../core/units.js";
import { bubble, bubbleFormula, doing, held, KINDS, messages, moments, refusal, rival, schedule, span, virtualOf } from "./model.js";


export const percent = (part) => (part > 1e-9 ? `${significant(100 * part)} %` : "0 %");

export function nameOf(op, virtual) {
  const name = `${op.kind === "F" ? "forward" : "backward"} ${op.microbatch}`;
  return virtual > 1 ? `${name} of stage ${op.stage}` : name;
}

/** What a rank does. */
export function tell(one, virtual) {
  if (one.op) return nameOf(one.op, virtual);
  if (!one.following) return "is done";
  return `waits${one.from === null ? "" : ` for rank ${one.from}`}, then ${nameOf(one.following, virtual)}`;
}

/** All that is counted, with the rule beside it. */
export function counted(setting) {
  const { stages: p, microbatches: m } = setting;
  const v = virtualOf(setting);
  const ops = schedule(setting);
  const [share, rule] = [bubble(ops, p), bubbleFormula(p, m, v)];
  return { ops, v, whole: span(ops), work: m * (1 + setting.backward), share, rule, same: Math.abs(share - rule) < 1e-9, peaks: held(ops, p), sent: messages(ops, p), formula: v > 1 ? "(p−1)/(v·m+p−1)" : "(p−1)/(m+p−1)", fraction: `${p - 1}/${v * m + p - 1}` };
}

/** How much longer one takes than another. */
export function gain(by) {
  if (Math.abs(by) < 1e-9) return "equally long";
  return `${plain(Number(Math.abs(by).toPrecision(6)))} ${by < 0 ? "shorter" : "longer"}`;
}

/** What stands above or below: name, and what is counted or why PyTorch refuses it. */
export function planned(setting) {
  const v = virtualOf(setting);
  const label = setting.kind === "interleaved" ? `Interleaved, ${v} stages a rank` : KINDS[setting.kind].label;
  const refused = refusal(setting.kind, setting.stages, setting.microbatches);
  const must = setting.kind === "1f1b" ? `at least ${setting.stages}` : `a multiple of ${Math.floor(setting.microbatches / setting.stages)}`;
  return refused ? { label, refused, must } : { label, gloss: KINDS[setting.kind].gloss, ...counted(setting) };
}

/** The schedule below in words. */
function compare(setting, whole) {
  const { label, refused, whole: other, peaks, share, v } = planned(rival(setting));
  if (refused) return `Below, ${label}: PyTorch refuses it, ${refused}.`;
  return `Below, ${label} takes ${plain(Number(other.toPrecision(6)))}, ${gain(other - whole)}; its bubble is ${percent(share)}, and rank 0 holds up to ${plain(peaks[0] / v)} micro-batch${peaks[0] === v ? "" : "es"}.`;
}

/** The same sentences as `describe` in torchbook/viz/schedule.py. */
export function describe(setting, cursor) {
  const { stages: p, microbatches: m } = setting;
  const { ops, v, whole, work, share, rule, same, peaks, sent, formula, fraction } = counted(setting);
  const all = moments(ops);
  const at = Math.min(cursor, all.length - 1);
  const told = doing(ops, all[at], p).map((one, rank) => `rank ${rank}: ${tell(one, v)}, holds ${one.held}`).join("; ");
  return (
    `${KINDS[setting.kind].label}, ${p} ranks${v > 1 ? `, ${v} stages on each` : ""}, ${m} micro-batch${m === 1 ? "" : "es"}. A forward takes 1, a backward ` +
    `${plain(setting.backward)}${setting.hop ? `, sending ${plain(setting.hop)}` : ""}; the whole takes ${plain(whole)}, of which each rank works ${plain(work)}. ` +
    `The bubble is ${percent(share)} of the time, ${same ? "as" : "while"} ${formula} = ${fraction} says${same ? "" : ` ${percent(rule)}`}. Activations held at most, by rank: ` +
    `${several(peaks.map(String))}${v > 1 ? ` stages' parts, ${plain(peaks[0] / v)} whole micro-batches on rank 0` : " micro-batches"}. ` +
    `${sent} messages between ranks. ${compare(setting, whole)} At time ${plain(all[at])}, moment ${at + 1} of ${all.length}: ${told}.`
  );
}

/** The pipelining call, to be started by torchrun; it checks its gradients against the whole model in one process. */
export function script(setting) {
  const { stages: p, microbatches: m } = setting;
  const v = virtualOf(setting);
  const { name } = KINDS[setting.kind];
  return `"""torchrun --standalone --nproc-per-node ${p} pipeline.py"""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ${name}

P, V, M = ${p}, ${v}, ${m}  # ranks, stages on each, micro-batches

if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    parts = [nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(P * V)]
    x, y = torch.randn(2 * M, 16), torch.randn(2 * M, 16)

    own = range(rank, P * V, P)  # rank, rank + P, ...
    stages = [PipelineStage(parts[i], i, P * V, torch.device("cpu")) for i in own]
    schedule = ${name}(${v > 1 || setting.kind === "interleaved" ? "stages" : "stages[0]"}, n_microbatches=M, loss_fn=nn.functional.mse_loss)
    losses = []
    if rank == 0:
        schedule.step(x)
    elif rank == P - 1:
        schedule.step(target=y, losses=losses)
    else:
        schedule.step()

    grads = {i: [w.grad.clone() for w in parts[i].parameters()] for i in own}
    for part in parts:
        part.zero_grad()
    loss = nn.functional.mse_loss(nn.Sequential(*parts)(x), y)
    loss.backward()
    for i in own:
        for mine, w in zip(grads[i], parts[i].parameters()):
            torch.testing.assert_close(mine, w.grad)
    if rank == P - 1:
        torch.testing.assert_close(torch.stack(losses).mean(), loss)
        print(f"loss {loss.item():.4f}, gradients as without the pipeline")
    dist.destroy_process_group()
`;
}
