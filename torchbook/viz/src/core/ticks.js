/** Round numbers at which an axis is marked, `most` steps of it or fewer. */
export function ticks(from, to, most) {
  const raw = (to - from) / most;
  const ten = 10 ** Math.floor(Math.log10(raw));
  const unit = [1, 2, 5, 10].map((k) => k * ten).find((k) => k >= raw);
  const found = [];
  for (let k = Math.ceil(from / unit - 1e-9); k * unit <= to * (1 + 1e-9); k += 1) found.push(Number((k * unit).toPrecision(9)));
  return found;
}
