/** The state in words, the numbers of a candidate with their formulas, and the same as PyTorch. */

import { copied, parameters, STATE_BYTES, STATE_8BIT } from "../memory/model.js";
import { amount, count, duration, plain, significant } from "../core/units.js";
import { BUCKET, chunks, computeFlops, describeLayout, fullest, GATHERED, memoryPerGpu, microBatches, namedAs, planOf, ROOM, saved, share, speed, stateOf, STRATEGIES, WHOLE } from "./model.js";

const told = (one) => `${describeLayout(one.layout)}, ${amount(one.memory.total)} on each GPU, which ${one.fits ? "fits" : "does not fit"}; ${amount(one.sent)} sent by each GPU in a step of ${duration(one.step)}, ${duration(one.exposed)} of it waiting; ${speed(one.tokens_per_second)}`;

/** The same sentences as `describe` in torchbook/viz/strategy.py. */
export function describe(given, show = "", plan = planOf(given)) {
  const { nodes } = given;
  const world = given.gpus_per_node * nodes;
  const many = world > 1 ? `${world} GPUs in ${nodes} node${nodes === 1 ? "" : "s"}` : "one GPU";
  let text = `${count(Math.round(parameters(given).total))} parameters on ${many}. ${plan.steps.map((s) => `${s.question} ${s.yes ? "Yes" : "No"}, ${s.compare}.`).join(" ")}`;
  const chosen = plan.candidates[plan.strategy];
  text += chosen ? ` The tree ends at ${STRATEGIES[chosen.name]}: ${told(chosen)}.` : " The tree ends with nothing that fits.";
  if (plan.fastest !== "none" && plan.fastest !== plan.strategy) text += ` By these estimates ${STRATEGIES[plan.fastest]} is faster.`;
  const shown = plan.candidates[show];
  if (shown && show !== plan.strategy) text += ` Shown instead is ${STRATEGIES[show]}: ${told(shown)}.`;
  return text;
}

const ASKED = { fits: "ddp", barely: "zero2", shard: "fsdp", tp: "tp", cp: "cp" };

const unbroken = ({ name }) => SHORT[name].replace("-", "\u2011");

/** Why the tree ends where it does, after the bytes that this takes of a GPU: what was asked before it, and would not do. */
export function reason(given, plan) {
  const [busy] = plan.steps.filter(({ key, yes }) => key === "busy" && yes);
  if (plan.strategy === "single") return ["; nothing need be split"];
  if (plan.strategy === "ddp") return ["; only the batch need be split"];
  if (busy && plan.strategy === "3d") {
    const one = Object.values(plan.candidates).find(({ exposed, step }) => exposed / step === busy.left);
    return [`, where ${unbroken(one)} ${one.wide ? `needs ${plain(one.sequences)} sequences a step, not ${plain(given.global_batch)}` : `waits ${significant(100 * busy.left)} % of a step`}`];
  }
  const before = plan.candidates[plan.steps.filter(({ key, yes }) => ASKED[key] && !yes).map(({ key }) => ASKED[key]).at(-1)];
  return [`, where ${unbroken(before)} takes `, before.memory.total];
}

const whole = (x) => count(Math.round(x));
const gb = (bytesPerSecond) => `${significant(bytesPerSecond / 1e9)} GB/s`;
const HIDES = { forward: "Can hide behind the forward.", backward: "Can hide behind the backward.", first: "Can hide behind the forward of the first micro-batch.", last: "Can hide behind the backward of the last micro-batch.", never: "Nothing hides it." };
const KIND = {
  "all-reduce": ["2(n − 1)/n × bytes", (n) => `2 × ${n - 1}/${n}`],
  "all-gather": ["(n − 1)/n × bytes", (n) => `${n - 1}/${n}`],
  "reduce-scatter": ["(n − 1)/n × bytes", (n) => `${n - 1}/${n}`],
};

function memoryRows(given, one) {
  const { layout, memory } = one;
  const { precision, optimizer, batch, seq } = given;
  const { tp, cp, pp, fsdp } = layout;
  const part = share(given, layout, memory.last);
  const kept = saved(given, layout, memory.last);
  const [w, g] = [WHOLE[precision], GATHERED[precision]];
  const n = whole(part.total);
  const over = fsdp > 1 ? ` ÷ ${fsdp}` : "";
  const of = `parameters of ${tp * pp > 1 ? "this GPU's part" : "the model"} × bytes${over ? " ÷ ranks that shard" : ""}`;
  const s = STATE_BYTES[namedAs(precision, layout)];
  const states = { sgd: ["none", "0 B"], momentum: ["one momentum", `${n} × ${s} B`], adamw: ["two moments", `${n} × 2 × ${s} B`], adamw8: ["two moments of a byte, a scale for each 256", `${n} × 2 × ${STATE_8BIT} B`] }[optimizer];
  const rows = [
    { name: "parameters", value: amount(memory.parameters), rule: of, formula: `${n} × ${w} B${over}` },
    { name: "gradients", value: amount(memory.gradients), rule: of, formula: `${n} × ${w} B${over}` },
    { name: "optimizer states", value: amount(memory.optimizer), rule: states[0], formula: `${states[1]}${over}` },
  ];
  if (fsdp === 1) {
    if (memory.gathered) rows.push({ name: "cast copies", value: amount(memory.gathered), rule: "autocast's bf16 copies", formula: `${whole(copied(given))} × 2 B${tp * pp > 1 ? ` ÷ ${tp * pp}` : ""}` });
  } else if (pp > 1) {
    rows.push({ name: "gathered", value: amount(memory.gathered), rule: "parameters and gradients of the stage, whole", formula: `${n} × (${g} + ${w}) B`, note: "A pipeline gathers its stage once, adds up the gradients of all micro-batches, and reduces them with the last." });
  } else if (layout.reshard) {
    rows.push({ name: "gathered", value: amount(memory.gathered), rule: "(2 root + 3 block) × bytes", formula: `(2 × ${whole(part.root)} + 3 × ${whole(part.block)}) × ${g} B`, note: "Root: embedding, head, final norm; it stays gathered, and its gradients are reduced last. Of the blocks one computes, the next is on its way, and one's gradients are whole." });
  } else {
    rows.push({ name: "gathered", value: amount(memory.gathered), rule: "(all + root + block) × bytes", formula: `(${n} + ${whole(part.root)} + ${whole(part.block)}) × ${g} B`, note: "All parameters whole from forward to backward; gradients of the root and of one block whole." });
  }
  const final = kept.final ? ` + ${amount(kept.final)}` : "";
  const flying = kept.flying === 1 ? "" : `${significant(kept.flying)} × `;
  const each = `${plain(batch)} × ${plain(seq)} tokens${cp > 1 ? ` ÷ ${cp}` : ""}${tp > 1 ? `, over ${tp} GPUs` : ""}.`;
  if (given.checkpoint) rows.push({ name: "activations", value: amount(memory.activations), rule: `${flying ? "in flight × " : ""}blocks × input + one block anew${final ? " + end" : ""}`, formula: `${flying}${part.blocks} × ${amount(kept.start)} + ${amount(kept.block)} − ${amount(kept.start)}${final}`, note: each });
  else rows.push({ name: "activations", value: amount(memory.activations), rule: `${flying ? "in flight × " : ""}blocks × saved in one${final ? " + end" : ""}`, formula: `${flying}${part.blocks} × ${amount(kept.block)}${final}`, note: each });
  if (memory.logits) rows.push({ name: "logits", value: amount(memory.logits), rule: "b·s·V × (logits + log-softmax)", formula: `${plain(batch)} × ${plain(seq)} × ${given.vocab} × ${kept.logits * tp * cp / (batch * seq * given.vocab)} B${cp * tp > 1 ? ` ÷ ${cp * tp}` : ""}` });
  rows.push({ name: "together", value: amount(memory.total), rule: "sum of the parts", formula: [memory.parameters, memory.gradients, memory.optimizer, memory.gathered, memory.activations, memory.logits].filter(Boolean).map(amount).join(" + "), note: `${one.fits ? "Fits in" : "More than"} ${plain(100 * ROOM)} % of ${plain(given.memory_gb)} GB.${pp > 1 ? ` The ${memory.last ? "last" : "first"} stage, the fullest.` : ""}`, main: true, bad: !one.fits });
  return rows;
}

function transferRow(one) {
  const ring = KIND[one.kind];
  const latency = one.latency ? `, ${duration(one.latency)} a round` : "";
  const note = `${one.calls} ${one.kind === "send" ? "messages" : "calls"} among ${one.ranks} GPUs at ${gb(one.bandwidth)}${latency}: ${duration(one.seconds)}. ${HIDES[one.hides]}`;
  if (ring) return { name: `${one.kind}: ${one.what}`, value: amount(one.sent), rule: ring[0], formula: `${ring[1](one.ranks)} × ${amount(one.size)}`, note };
  return { name: `${one.kind}: ${one.what}`, value: amount(one.sent), rule: "messages × bytes", formula: `${one.calls} × ${amount(one.size / one.calls)}`, note };
}

/** Groups of rows {name, value, rule, formula, note} of one candidate: memory, communication, time. */
export function rows(given, one) {
  const { layout, micros } = one;
  const tokens = one.sequences * given.seq;
  const time = [
    { name: "computing", value: duration(one.compute), rule: "tokens × FLOPs of a token ÷ (GPUs × peak × part reached)", formula: `${tokens} × ${computeFlops(given).toExponential(4).replace("e+", "e")} ÷ (${layout.world} × ${plain(given.tflops)}e12 × ${plain(given.utilisation)} ÷ 100) s`, note: `6 FLOPs for each matrix element, causal attention${given.checkpoint ? ", and the forward of the blocks again" : ""}. ${micros} micro-batch${micros === 1 ? "" : "es"}.` },
  ];
  if (layout.pp > 1) {
    const v = chunks(given, layout);
    const blocks = Math.ceil(given.layers / layout.pp);
    time.push({ name: "pipeline bubble", value: duration(one.bubble), rule: "computing × (fullest stage × (1 + (stages − 1) ÷ (micro-batches × chunks)) − 1)", formula: `${one.compute} × (${blocks} × ${layout.pp} ÷ ${given.layers} × (1 + ${layout.pp - 1} ÷ (${micros} × ${v})) − 1) s`, note: `Interleaved 1F1B, ${v} chunk${v === 1 ? "" : "s"} of the model on each GPU.` });
  }
  time.push(
    { name: "waiting", value: duration(one.exposed), rule: "communication − what can hide", formula: `${one.communication} − ${one.hidden} s`, note: "At best: what can hide is taken to hide." },
    { name: "step", value: duration(one.step), rule: `computing${layout.pp > 1 ? " + bubble" : ""} + waiting`, formula: `${one.compute} + ${one.bubble} + ${one.exposed} s`, main: true },
    { name: "throughput", value: speed(one.tokens_per_second), rule: "tokens ÷ step", formula: `${tokens} ÷ ${one.step} tokens/s`, note: one.wide ? `${one.sequences} sequences in a step, more than the ${given.global_batch} wanted.` : `${one.sequences} sequences in a step.` },
  );
  for (const row of time) row.formula = row.formula.replace(/\d+\.\d{5,}(e-?\d+)?/g, (number) => String(Number(Number(number).toPrecision(5))));
  return [
    { title: "Memory of the fullest GPU", rows: memoryRows(given, one) },
    { title: "Sent by each GPU in a step", rows: one.transfers.length ? [...one.transfers.map(transferRow), { name: "together", value: amount(one.sent), rule: "sum", formula: one.transfers.map((t) => amount(t.sent)).join(" + "), main: true }] : [{ name: "nothing", value: "0 B", rule: "no other GPU takes part", formula: "" }] },
    { title: "Time of a step", rows: time },
  ];
}

/** What a strategy is in PyTorch. */
export const ABOUT = {
  single: "No process group. What does not fit here is first a matter of smaller micro-batches, checkpointed blocks and fewer bytes for each parameter: see MemoryBudget.",
  ddp: "DistributedDataParallel: every rank holds everything and sees its own part of the data; one all-reduce averages the gradients. It is for speed: it makes no model fit that did not fit before.",
  zero2: "fully_shard(…, reshard_after_forward=False). Between steps the parameters are sharded as well; the forward gathers them and they stay whole until the backward has passed. At the peak that holds what ZeRO-2 holds, and the shards beside it, and it sends as much: one all-gather of parameters, one reduce-scatter of gradients. ZeroRedundancyOptimizer is ZeRO-1.",
  fsdp: "fully_shard on every block and on the model: ZeRO-3. Every block is gathered in the forward and again in the backward, its gradients are reduced and scattered at once. The computing is data parallel; only state is sharded.",
  hsdp: "fully_shard on a mesh of two dimensions: shards inside a node, where links are fast; replicas over nodes, which only all-reduce shards of gradients. Memory shrinks by the GPUs of a node alone.",
  cp: "Every GPU has a part of the sequence; attention passes keys and values on in a ring. In PyTorch context_parallel, which is experimental. The parameters are sharded over these GPUs too.",
  tp: "parallelize_module: queries, keys, values and the MLP's first matrices by columns, the projections after them by rows; what lies between two blocks is split along the sequence. Two all-reduces (here as all-gather and reduce-scatter) for each block and pass, so only inside a node.",
  "3d": "torch.distributed.pipelining over stages, parallelize_module inside a node, fully_shard over the rest: one mesh, one name for each dimension. A pipeline gathers its stage once in a step and keeps parameters and gradients whole meanwhile. Torchtitan and Megatron-Core are the programs that put this together.",
};

const DTYPE = { fp32: "", mixed: "MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)", bf16: "" };
const OPTIMIZERS = { adamw: "torch.optim.AdamW(model.parameters(), lr=3e-4)", adamw8: "AdamW8bit(model.parameters(), lr=3e-4)", momentum: "torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)", sgd: "torch.optim.SGD(model.parameters(), lr=0.1)" };

function tensorPlan(given) {
  const gpt = given.family === "gpt";
  const wide = gpt ? ["attention.q", "attention.k", "attention.v", "mlp.up"] : ["attention.q", "attention.k", "attention.v", "mlp.gate", "mlp.up"];
  return [
    "whole = {\"input_layouts\": (Shard(1),), \"desired_input_layouts\": (Replicate(),)}",
    "split = {  # of each block; the stream between the layers is split along the sequence",
    '    "norm1": SequenceParallel(),',
    '    "attention": PrepareModuleInput(**whole),',
    ...wide.slice(0, 3).map((name) => `    "${name}": ColwiseParallel(),`),
    '    "attention.proj": RowwiseParallel(output_layouts=Shard(1)),',
    '    "norm2": SequenceParallel(),',
    '    "mlp": PrepareModuleInput(**whole),',
    ...wide.slice(3).map((name) => `    "${name}": ColwiseParallel(),`),
    '    "mlp.down": RowwiseParallel(output_layouts=Shard(1)),',
    "}",
    "ends = {",
    '    "tokens": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),',
    '    "norm": SequenceParallel(),',
    '    "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),',
    "}",
  ];
}

/** The command and the lines that set up one candidate; `model` with its `blocks` is the reader's. */
export function script(given, one) {
  const { layout, micros, name } = one;
  const { nodes, gpus_per_node: node, precision } = given;
  const launch = layout.world === 1 ? "python train.py" : nodes === 1 ? `torchrun --standalone --nproc-per-node=${node} train.py` : `torchrun --nnodes=${nodes} --nproc-per-node=${node} --rdzv-backend=c10d --rdzv-endpoint=HOST:29500 train.py`;
  const lines = [`# ${launch}${nodes > 1 && layout.world > 1 ? "  # on each node" : ""}`, "# `model` is yours: built alike on every rank, its blocks in model.blocks"];
  const cast = precision === "mixed" ? "with torch.autocast(device.type, torch.bfloat16):" : "";
  const build = [];
  const imports = [];
  const uses = (line) => imports.push(line);
  if (precision === "bf16") build.push("model = model.to(torch.bfloat16)");
  if (given.optimizer === "adamw8") uses("from torchao.optim import AdamW8bit");
  const optimizer = `optimizer = ${OPTIMIZERS[given.optimizer]}`;
  const device = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")';
  const pipeline = layout.pp > 1;
  if (name === "single") build.push("model = model.to(device)", optimizer);
  else if (layout.fsdp === 1 && layout.tp === 1) {
    uses("import torch.distributed as dist");
    uses("from torch.nn.parallel import DistributedDataParallel");
    build.unshift("dist.init_process_group()", "if device.type == \"cuda\":", '    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))');
    build.push("model = DistributedDataParallel(model.to(device), gradient_as_bucket_view=True)", optimizer);
  } else {
    uses("from torch.distributed.device_mesh import init_device_mesh");
    const dims = [["pp", layout.pp], ["replicate", layout.replicate], ["shard", layout.shard], ["cp", layout.cp], ["tp", layout.tp]].filter(([dim, n]) => n > 1 || (dim === "shard" && layout.fsdp > 1));
    const names = dims.map(([dim]) => `"${dim}"`).join(", ");
    const tail = dims.length === 1 ? "," : "";
    build.unshift(`mesh = init_device_mesh(device.type, (${dims.map(([, n]) => n).join(", ")}${tail}), mesh_dim_names=(${names}${tail}))`);
    if (layout.tp > 1) {
      uses("from torch.distributed.tensor import Replicate, Shard");
      uses("from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel");
      uses("from torch.distributed.tensor.parallel import SequenceParallel, parallelize_module");
    }
    const policy = layout.fsdp > 1 ? DTYPE[precision] : "";
    if (layout.fsdp > 1) uses(`from torch.distributed.fsdp import ${policy ? "MixedPrecisionPolicy, " : ""}fully_shard`);
    const setup = [];
    if (layout.tp > 1) setup.push(...tensorPlan(given));
    if (layout.cp > 1) setup.push('mesh["shard", "cp"]._flatten("fsdp")  # shards lie over both');
    if (policy) setup.push(`policy = ${policy}`);
    const dim = layout.cp > 1 ? 'mesh["fsdp"]' : layout.replicate > 1 ? 'mesh["replicate", "shard"]' : 'mesh["shard"]';
    const options = `mesh=${dim}${policy ? ", mp_policy=policy" : ""}${layout.reshard ? "" : ", reshard_after_forward=False"}`;
    const wrap = [];
    if (layout.tp > 1) wrap.push("for block in model.blocks:", '    parallelize_module(block, mesh["tp"], split)', ...(pipeline ? ['here = {name: how for name, how in ends.items() if getattr(model, name, None)}', 'parallelize_module(model, mesh["tp"], here)'] : ['parallelize_module(model, mesh["tp"], ends)']));
    if (layout.fsdp > 1) wrap.push("for block in model.blocks:", `    fully_shard(block, ${options})`, `fully_shard(model, ${options})`);
    if (pipeline) {
      const v = chunks(given, layout);
      const schedule = v > 1 ? "ScheduleInterleaved1F1B" : "Schedule1F1B";
      uses(`from torch.distributed.pipelining import PipelineStage, ${schedule}`);
      build.push(
        ...setup,
        "",
        "def prepare(model):",
        ...wrap.map((line) => `    ${line}`),
        "    return model",
        "",
        `stages, every = [], ${layout.pp * v}`,
        `for i in range(mesh["pp"].get_local_rank(), every, ${layout.pp}):`,
        "    part = prepare(cut(model, i, every).to(device))  # cut is yours: the i-th of `every` parts",
        '    stages.append(PipelineStage(part, i, every, device, group=mesh["pp"].get_group()))',
        `schedule = ${schedule}(${v > 1 ? "stages" : "stages[0]"}, n_microbatches=${micros}, loss_fn=loss_fn)`,
        `optimizer = ${OPTIMIZERS[given.optimizer].replace("model.parameters()", "[p for s in stages for p in s.submod.parameters()]")}`,
      );
    } else build.push("model = model.to(device)", ...setup, ...wrap, optimizer);
  }
  if (layout.cp > 1 && !pipeline) uses("from torch.distributed.tensor.experimental import context_parallel");
  const ddp = name === "ddp" && micros > 1;
  const first = [name === "ddp" && "import os", ddp && "from contextlib import nullcontext"].filter(Boolean);
  lines.push(...first, ...(first.length ? [""] : []), "import torch", ...imports.sort((a, b) => (a.split(" ")[1] < b.split(" ")[1] ? -1 : 1)), "", device, ...build, "");
  if (pipeline) {
    lines.push("# a step: inputs to the first stage, targets to the last", "first, last = stages[0].is_first, stages[-1].is_last", ...(cast && layout.fsdp === 1 ? [cast] : []), `${cast && layout.fsdp === 1 ? "    " : ""}schedule.step(*([ids] if first else []), **({"target": targets} if last else {}))`, "optimizer.step()", "optimizer.zero_grad()");
  } else {
    lines.push(`for i, (ids, targets) in enumerate(batches):  # ${micros} micro-batch${micros === 1 ? "" : "es"} of ${plain(given.batch)} × ${plain(given.seq)} tokens for a step`);
    const indent = "    ";
    let pad = indent;
    if (micros > 1) lines.push(`${indent}done = (i + 1) % ${micros} == 0`);
    if (ddp) {
      lines.push(`${indent}with nullcontext() if done else model.no_sync():`);
      pad += indent;
    }
    if (layout.cp > 1) {
      lines.push(`${pad}with context_parallel(mesh["cp"], buffers=[ids, targets], buffer_seq_dims=[1, 1]):`);
      pad += indent;
    }
    if (cast && layout.fsdp === 1) {
      lines.push(`${pad}${cast}`, `${pad}    loss = loss_fn(model(ids), targets)${micros > 1 ? ` / ${micros}` : ""}`);
    } else lines.push(`${pad}loss = loss_fn(model(ids), targets)${micros > 1 ? ` / ${micros}` : ""}`);
    lines.push(`${pad}loss.backward()`);
    const end = micros > 1 ? [`${indent}if done:`, `${indent}    optimizer.step()`, `${indent}    optimizer.zero_grad()`] : [`${indent}optimizer.step()`, `${indent}optimizer.zero_grad()`];
    lines.push(...end);
  }
  return `${lines.join("\n")}\n`;
}

export const SHORT = { single: "One GPU", ddp: "DDP", zero2: "ZeRO-2", fsdp: "FSDP", hsdp: "HSDP", cp: "Context", tp: "Tensor", "3d": "3D" };
/** What a way splits over the GPUs, each of the first ones also what the way before it does. */
export const SPLITS = { single: "nothing", ddp: "the batch", zero2: "states too", fsdp: "weights too", hsdp: "in each node", cp: "sequence too", tp: "matrices too", "3d": "layers too" };
export { BUCKET, fullest, memoryPerGpu, microBatches, stateOf };
