/**
 * A ring all-reduce, message by message, and two other ways; the same arithmetic as in torchbook/viz/ring.py, which tests
 * compare.
 */

import { contractOf } from "../core/contract.js";
import SETUP from "./setup.json";

export const { fields: FIELDS } = SETUP;
export const NAMES = Object.keys(FIELDS);
export const [REDUCE, GATHER] = ["reduce-scatter", "all-gather"];

const range = (n) => Array.from({ length: n }, (_, i) => i);

/** Sizes of the chunks, as torch.tensor_split cuts them. */
export const chunkSizes = (elements, ranks) => range(ranks).map((chunk) => Math.floor(elements / ranks) + (chunk < elements % ranks ? 1 : 0));

/** Where the chunks begin, and where the last one ends. */
export const chunkEnds = (elements, ranks) => chunkSizes(elements, ranks).reduce((ends, size) => [...ends, ends.at(-1) + size], [0]);

export function numbers(ranks, elements, seed) {
  const one = (rank, i) => {
    let x = (seed * 7919 + rank * 1047 + i * 131 + 17) % 65536;
    for (let k = 0; k < 3; k += 1) x = (x * 75 + 74) % 65537;
    return 1 + (x % 9);
  };
  return range(ranks).map((rank) => range(elements).map((i) => one(rank, i)));
}

/** The start and the 2(K−1) steps: {step, phase, messages, vectors, parts}. */
export function ringSteps(values) {
  const ranks = values.length;
  const ends = chunkEnds(values[0].length, ranks);
  const vectors = values.map((one) => [...one]);
  const parts = range(ranks).map((rank) => range(ranks).map(() => [rank]));
  const after = (step, phase, messages) => ({ step, phase, messages, vectors: vectors.map((one) => [...one]), parts: parts.map((one) => [...one]) });
  const done = [after(0, "start", [])];
  for (let step = 0; step < 2 * (ranks - 1); step += 1) {
    const reducing = step < ranks - 1;
    const messages = range(ranks).map((rank) => {
      const chunk = (((rank - step) % ranks) + ranks) % ranks;
      return [{ step: step + 1, source: rank, target: (rank + 1) % ranks, chunk, values: vectors[rank].slice(ends[chunk], ends[chunk + 1]) }, parts[rank][chunk]];
    });
    for (const [{ chunk, target, values: sent }, held] of messages) {
      sent.forEach((x, i) => (vectors[target][ends[chunk] + i] = reducing ? vectors[target][ends[chunk] + i] + x : x));
      parts[target][chunk] = reducing ? [...held, ...parts[target][chunk]] : held;
    }
    done.push(after(step + 1, reducing ? REDUCE : GATHER, messages.map(([message]) => message)));
  }
  return done;
}

export const ringMessages = (values) => ringSteps(values).flatMap((one) => one.messages);

const added = (a, b) => a.map((x, i) => x + b[i]);

/** Everything to rank 0, one after another, and the sum back. */
export function gatherMessages(values) {
  const messages = [];
  let total = values[0];
  for (let rank = 1; rank < values.length; rank += 1) {
    messages.push({ step: messages.length + 1, source: rank, target: 0, chunk: -1, values: values[rank] });
    total = added(total, values[rank]);
  }
  for (let rank = 1; rank < values.length; rank += 1) messages.push({ step: messages.length + 1, source: 0, target: rank, chunk: -1, values: total });
  return messages;
}

/** A binomial tree to rank 0 and back. */
export function treeMessages(values) {
  const ranks = values.length;
  const held = [...values];
  const messages = [];
  let [step, far] = [0, 1];
  for (; far < ranks; far *= 2) {
    step += 1;
    for (let target = 0; target < ranks - far; target += 2 * far) {
      messages.push({ step, source: target + far, target, chunk: -1, values: held[target + far] });
      held[target] = added(held[target], held[target + far]);
    }
  }
  while (far > 1) {
    far /= 2;
    step += 1;
    for (let source = 0; source < ranks - far; source += 2 * far) {
      messages.push({ step, source, target: source + far, chunk: -1, values: held[source] });
      held[source + far] = held[source];
    }
  }
  return messages;
}

/** Elements that each rank has sent to its right neighbour, counted. */
export function perLink(messages, ranks) {
  const sent = Array(ranks).fill(0);
  for (const one of messages) sent[one.source] += one.values.length;
  return sent;
}

export function traffic(messages, ranks) {
  const sent = Array(ranks).fill(0);
  const received = Array(ranks).fill(0);
  const longest = new Map();
  for (const { step, source, target, values } of messages) {
    sent[source] += values.length;
    received[target] += values.length;
    longest.set(step, Math.max(longest.get(step) ?? 0, values.length));
  }
  const sum = (all) => all.reduce((a, b) => a + b, 0);
  return { steps: longest.size, total: sum(sent), busiest: Math.max(...sent, ...received), longest: sum([...longest.values()]) };
}

export const factor = (ranks) => (2 * (ranks - 1)) / ranks;

export function costs(setting) {
  const { ranks, elements } = setting;
  const empty = range(ranks).map(() => Array(elements).fill(0));
  const ways = { ring: ringMessages(empty), gather: gatherMessages(empty), tree: treeMessages(empty) };
  const each = (setting.size_mb * 1e6) / elements;
  return Object.fromEntries(
    Object.entries(ways).map(([name, messages]) => {
      const counted = traffic(messages, ranks);
      const latency = counted.steps * (setting.latency_us * 1e-6);
      const bandwidth = (counted.longest * each) / (setting.bandwidth_gbs * 1e9);
      return [name, { steps: counted.steps, busiest: counted.busiest * each, total: counted.total * each, latency, bandwidth, seconds: latency + bandwidth }];
    }),
  );
}

const isVectors = (values, ranks, elements) => Array.isArray(values) && (values.length === 0 || (values.length === ranks && values.every((one) => Array.isArray(one) && one.length === elements && one.every(Number.isSafeInteger))));

const also = {
  values: (value, { ranks, elements }) => isVectors(value, ranks, elements),
  step: (value, { ranks }) => Number.isInteger(value) && value >= 0 && value <= 2 * (ranks - 1),
};
export const CONTRACT = contractOf(SETUP, { also });
export const { start: START, problem, isSetting: isState, presetOf } = CONTRACT;
