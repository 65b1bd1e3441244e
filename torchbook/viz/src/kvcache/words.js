/** The state in words, and the same as PyTorch. */

import { amount, count, plural, prefixed, several, significant } from "../core/units.js";
import { cachePositions, generation, MODELS, modelOf, paddedPositions, pools, room, summary } from "./model.js";

const sum = (all) => all.reduce((a, b) => a + b, 0);
export const commas = (n) => n.toLocaleString("en-US");
export const letter = (request) => String.fromCharCode(65 + request);

export function nameOf(setting) {
  const model = modelOf(setting);
  return model ? MODELS[model].label : `${setting.layers} layer${plural(setting.layers)} of width ${setting.heads * setting.head_dim}`;
}

export const kindOf = (heads, kv) => (kv === heads ? "multi-head" : kv === 1 ? "multi-query" : "grouped-query");
const sharing = ({ heads, kv_heads: kv }) => `${kindOf(heads, kv)} attention, ${heads} query head${plural(heads)} and ${kv} KV head${plural(kv)}`;
export const product = ({ layers, kv_heads, head_dim, bytes_per_value }) => `2 × ${layers} layer${plural(layers)} × ${kv_heads} KV head${plural(kv_heads)} × ${head_dim} × ${bytes_per_value} B`;

/** The same sentences as `describe` in torchbook/viz/kvcache.py. */
export function describe(setting, step, moment) {
  if (setting.view === "pages") return describePages(setting, moment);
  return setting.view === "memory" ? describeMemory(setting) : describeSteps(setting, step);
}

function describeSteps(setting, step) {
  const [prompt, fresh] = [setting.prompt.length, setting.new_tokens];
  const at = Math.min(step, fresh - 1);
  const runs = [false, true].map((cached) => generation(setting, cached));
  const total = prompt + at;
  const told = at
    ? `decode: without a cache ${total} positions go through the model again, with one only the newest, and the keys and values of ${total - 1} are read`
    : `prefill: ${total} position${plural(total)} go${total === 1 ? "es" : ""} through the model, with a cache or without`;
  const both = (field) => runs.map((run) => sum(run.slice(0, at + 1).map((one) => one[field])));
  const [rows, macs, flops] = ["computed", "macs", "flops"].map(both);
  const { kept } = runs[1][at];
  const { position } = room(setting);
  return (
    `${nameOf(setting)}: ${sharing(setting)}. ${prompt} token${plural(prompt)} of prompt and ${fresh} new token${plural(fresh)} take ${fresh} step${plural(fresh)}. ` +
    `Step ${at + 1} of ${fresh}, ${told}. So far: ${commas(rows[0])} rows of keys and values computed without a cache, ${commas(rows[1])} with one and ` +
    `${commas(both("read")[1])} read from it; ${prefixed(macs[0])} and ${prefixed(macs[1])} multiply-adds of attention; ${prefixed(flops[0], "FLOP")} and ` +
    `${prefixed(flops[1], "FLOP")} of the whole model, ${significant(flops[0] / flops[1])} times as many. The cache holds ${kept} position${plural(kept)} of ` +
    `${product(setting)} = ${amount(position)}: ${amount(position * kept)}.`
  );
}

function describeMemory(setting) {
  const own = room(setting);
  const memory = amount(setting.memory_gb * 1e9);
  const rest =
    own.left < 0
      ? `The weights do not fit into ${memory}.`
      : `Of ${memory} ${amount(own.left)} are left: ${commas(own.fit)} such sequence${plural(own.fit)} fit${own.fit === 1 ? "s" : ""}. With ${setting.heads} KV heads it would be ${commas(room(setting, setting.heads).fit)}, with one ${commas(room(setting, 1).fit)}.`;
  const shared = sharing(setting);
  const short = setting.context && setting.length > setting.context ? ` But it has only ${commas(setting.context)} learned positions.` : "";
  return (
    `${nameOf(setting)}: ${count(own.parameters)} parameters of ${setting.weight_bytes} bytes are ${amount(own.weights)}. ${shared[0].toUpperCase()}${shared.slice(1)}: ` +
    `a position costs ${product(setting)} = ${amount(own.position)}, a sequence of ${commas(setting.length)} tokens ${amount(own.each)}.${short} ${rest}`
  );
}

/** What happened at the beginning of a step of the pool. */
export function events(now, before) {
  const told = now.ended.map((number) => {
    const { length } = before.running.find((one) => one.request === number).pages;
    return `${letter(number)} has ended and returns ${length} page${plural(length)}`;
  });
  told.push(...now.evicted.map((number) => `${letter(number)} gives its pages back and will be computed again`));
  if (now.started.length) told.push(`${several(now.started.map(letter))} start${now.started.length === 1 ? "s" : ""}`);
  return told.length ? ` ${told.join(", ")}.` : "";
}

function describePages(setting, moment) {
  const [paged, whole] = pools(setting);
  const at = Math.min(moment, paged.length - 1);
  const now = paged[at];
  const then = whole[Math.min(at, whole.length - 1)];
  const { capacity, page, requests, reserve } = setting;
  const n = requests.length;
  const tables = now.running.map((one) => `${letter(one.request)} keeps ${one.positions} position${plural(one.positions)} in page${plural(one.pages.length)} ${one.pages.join(", ")}${one.done ? " and is done" : ""}`).join("; ");
  const waits = now.waiting.length ? ` ${several(now.waiting.map(letter))} wait${now.waiting.length === 1 ? "s" : ""}.` : "";
  const [a, b] = [summary(paged), summary(whole)];
  const free = capacity - now.pages;
  return (
    `${n} sequence${plural(n)}, ${capacity} page${plural(capacity)} of ${page} position${plural(page)}. Step ${at + 1} of ${paged.length}.${events(now, paged[at - 1])} Block tables: ${tables}.${waits} ` +
    `Of ${now.held} positions in ${now.pages} held page${plural(now.pages)} ${now.used} are used, ${now.held - now.used} are not; ${free} page${plural(free)} ${free === 1 ? "is" : "are"} free. ` +
    `Reserving ${reserve} positions for each in the same memory holds ${then.held} in this step and uses ${then.used}. The whole run: ${a.steps} steps, at most ${a.most} at once, ` +
    `${significant(100 * a.used)} % of what is held used${a.evicted ? `, ${a.evicted} computed again` : ""}; with reservations ${b.steps} steps, ${b.most} at once, ` +
    `${significant(100 * b.used)} %. One left-padded batch of all would keep ${paddedPositions(requests)} positions, of which ${sum(requests.map(cachePositions))} are tokens.`
  );
}

const DTYPES = { 4: "torch.float32", 2: "torch.bfloat16", 1: "torch.float8_e4m3fn" };

export function script(setting, step, moment) {
  return { steps: stepsScript, memory: memoryScript, pages: pagesScript }[setting.view](setting, setting.view === "pages" ? moment : step);
}

const sizes = (setting) => `LAYERS, HEADS, KV_HEADS, HEAD_DIM = ${setting.layers}, ${setting.heads}, ${setting.kv_heads}, ${setting.head_dim}
HIDDEN, VOCAB = ${setting.hidden}, ${setting.vocab}
WIDTH = HEADS * HEAD_DIM`;

function stepsScript(setting) {
  const gated = setting.family === "llama";
  const totals = [false, true].map((cached) => generation(setting, cached)).map((run) => [sum(run.map((one) => one.computed)), sum(run.map((one) => one.flops)), run.at(-1).kept * room(setting).position]);
  const list = (all) => `(${all.join(", ")})`;
  return `import torch
from torch.nn.functional import ${gated ? "silu" : "gelu"}
from torch.utils.flop_counter import FlopCounterMode

${sizes(setting)}
PROMPT, NEW, KEPT = ${setting.prompt.length}, ${setting.new_tokens}, ${DTYPES[setting.bytes_per_value]}


def empty(*shape):  # on the meta device shapes are computed and nothing is stored
    return torch.empty(shape, dtype=torch.bfloat16, device="meta")


shared = KV_HEADS * HEAD_DIM
shapes = [(WIDTH, WIDTH), (WIDTH, shared), (WIDTH, shared), (WIDTH, WIDTH), (HIDDEN, WIDTH), (WIDTH, HIDDEN)${gated ? ", (WIDTH, HIDDEN)" : ""}]
layers = [[empty(*shape) for shape in shapes] for _ in range(LAYERS)]
head = empty(WIDTH, VOCAB)


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(0, 1)  # (heads, T, HEAD_DIM)


def forward(tokens, cache):
    """A decoder without norms, residuals and masks, in which no matrix is multiplied; the rows of K and V it computes."""
    x, rows = empty(tokens, WIDTH), 0
    for i, (query, key, value, output, down, up${gated ? ", gate" : ""}) in enumerate(layers):
        k, v = split(x @ key, KV_HEADS), split(x @ value, KV_HEADS)
        rows += (k.numel() + v.numel()) // HEAD_DIM
        if cache is not None:
            cache[i] = torch.cat([cache[i], torch.stack([k, v]).to(KEPT)], dim=2)
            k, v = cache[i].to(x.dtype)
        k, v = (one.repeat_interleave(HEADS // KV_HEADS, 0) for one in (k, v))
        scores = split(x @ query, HEADS) @ k.mT
        x = (scores.softmax(-1) @ v).transpose(0, 1).flatten(1) @ output
        x = ${gated ? "silu(x @ gate) * (x @ up) @ down" : "gelu(x @ up) @ down"}
    x @ head
    return rows


totals = []
for cache in (None, [torch.empty(2, KV_HEADS, 0, HEAD_DIM, dtype=KEPT, device="meta") for _ in range(LAYERS)]):
    rows = flops = kept = 0
    for step in range(NEW):
        with FlopCounterMode(display=False) as counter:
            rows += forward(1 if cache and step else PROMPT + step, cache)
        flops += counter.get_total_flops()
        kept = sum(one.nbytes for one in cache or [])
        print(f"{'cache' if cache else 'none':5} step {step + 1}: {rows:,} rows, {flops:,} FLOPs so far, {kept:,} bytes kept")
    totals.append((rows, flops, kept))
assert totals == [${totals.map(list).join(", ")}]
`;
}

function memoryScript(setting) {
  const own = room(setting);
  const gpt = setting.family === "gpt";
  return `import torch

${sizes(setting)}
MEMORY, LENGTH = ${setting.memory_gb * 1e9}, ${setting.length}

with torch.device("meta"):  # shapes only, nothing is stored
    shared = KV_HEADS * HEAD_DIM
    matrices = [(WIDTH, WIDTH), (shared, WIDTH), (shared, WIDTH), (WIDTH, WIDTH)${gpt ? ", (HIDDEN, WIDTH)" : ", (HIDDEN, WIDTH), (HIDDEN, WIDTH)"}, (WIDTH, HIDDEN)]
    block = [torch.empty(shape) for shape in matrices] + ${gpt ? "[torch.empty(rows) for rows, _ in matrices]  # weights, biases\n    block += [torch.empty(WIDTH) for _ in range(4)]  # two layer norms" : "[torch.empty(WIDTH) for _ in range(2)]  # and two norms"}
    rest = [torch.empty(VOCAB, WIDTH)${setting.tied ? "" : " for _ in range(2)"}]${setting.context ? ` + [torch.empty(${setting.context}, WIDTH)]` : ""} + [torch.empty(WIDTH)${gpt ? " for _ in range(2)" : ""}]
    cache = [torch.empty(2, 1, KV_HEADS, LENGTH, HEAD_DIM, dtype=${DTYPES[setting.bytes_per_value]}) for _ in range(LAYERS)]
parameters = LAYERS * sum(one.numel() for one in block) + sum(one.numel() for one in rest)
weights, each = parameters * ${setting.weight_bytes}, sum(one.nbytes for one in cache)
fit = max(0, int((MEMORY - weights) // each))
print(f"{parameters:,} parameters, {weights / 1e9:.2f} GB; {each / 1e9:.3f} GB a sequence; {fit} fit")
assert (parameters, each, fit) == (${own.parameters}, ${own.each}, ${own.fit})
`;
}

function pagesScript(setting, moment) {
  const { requests, page, capacity, head_dim } = setting;
  return `import torch

REQUESTS = [${requests.map((one) => `(${one.join(", ")})`).join(", ")}]  # prompt, new tokens
PAGE, CAPACITY, HEAD_DIM = ${page}, ${capacity}, ${head_dim}

torch.manual_seed(0)
pool = torch.zeros(CAPACITY, PAGE, HEAD_DIM)  # the keys of one head in one layer
truth = [torch.randn(prompt + new, HEAD_DIM) for prompt, new in REQUESTS]
free, waiting, running = list(range(CAPACITY)), list(range(len(REQUESTS))), []
table = {i: [] for i in waiting}  # block tables: the pages of each sequence, in order
length, generated = dict.fromkeys(waiting, 0), dict.fromkeys(waiting, 0)


def write(i, first, last):
    for position in range(first, last):
        if position == len(table[i]) * PAGE:
            table[i].append(free.pop(0))
        pool[table[i][position // PAGE], position % PAGE] = truth[i][position]
    length[i], generated[i] = last, generated[i] + 1


def release(i):
    running.remove(i)
    free.extend(table[i])
    free.sort()
    table[i] = []


step = 0
while waiting or any(generated[i] < REQUESTS[i][1] for i in running):
    for i in [i for i in running if generated[i] == REQUESTS[i][1]]:
        release(i)
    evicted = []
    for i in list(running):
        while i not in evicted and length[i] == len(table[i]) * PAGE and not free:
            evicted.append(running[-1])
            release(running[-1])
        if i not in evicted:
            write(i, length[i], length[i] + 1)
    waiting = evicted[::-1] + waiting
    while not evicted and waiting:
        i = waiting[0]
        known = REQUESTS[i][0] + generated[i]
        if -(-known // PAGE) > len(free):
            break
        running.append(waiting.pop(0))
        write(i, 0, known)
    for i in running:  # attention would read these, gathered through the block table
        assert torch.equal(pool[table[i]].flatten(0, 1)[: length[i]], truth[i][: length[i]])
    step += 1
    if step == ${moment + 1}:
        held, used = sum(map(len, table.values())) * PAGE, sum(length[i] for i in running)
        print({chr(65 + i): table[i] for i in running}, "held", held, "used", used)
print("steps", step)
`;
}
