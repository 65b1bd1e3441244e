/** What follows from a figure's contract, its setup.json: defaults, checks, presets. Nothing here draws. */

const has = (all, name) => Object.hasOwn(all, name);
const scientific = (x) => x.toExponential().replace("e+", "e").replace("-", "−");
const brief = (x) => (x >= 1e8 || (x && x < 1e-3) ? scientific(x) : String(x));

/** What is wrong with a number for a field {low, high, whole, value}; empty when nothing is. Null is nothing where the default is null. */
export function wrong({ low, high, whole, value: usual }, value) {
  const free = usual === null;
  if (free && value === null) return "";
  if (Number.isFinite(value) && value >= low && value <= high && (!whole || Number.isInteger(value))) return "";
  return `${whole ? "a whole number" : "a number"} from ${brief(low)} to ${brief(high)}${free ? ", or nothing" : ""}`;
}

/** What may be chosen: [{value, label}], from pairs of value and label, or the name of another part whose keys are the values. */
export function optionsOf(setup, name) {
  const { of } = setup.choices[name];
  if (Array.isArray(of)) return of.map(([value, label]) => ({ value, label }));
  const among = typeof of === "string" ? setup[of] : of;
  return Object.entries(among).map(([value, one]) => ({ value, label: typeof one === "string" ? one : Array.isArray(one) ? one[0] : one.label }));
}

/**
 * @param {object} setup a setup.json
 * @param {{also?: Record<string, (value: *, setting: object) => boolean>, possible?: (setting: object) => boolean,
 *   start?: object, alike?: (name: string, wanted: object, setting: object) => boolean}} [own] `also` are checks of what a link may hold beside
 *   fields and choices; `possible` says whether the values fit each other; `start` are defaults that the contract does
 *   not name; `alike` says when a value is that of a preset.
 * @returns {object} the contract with `names` (of fields and choices), `start` (the defaults), `problem(name, value)`
 *   (what is wrong, or nothing), `isSetting(given)` (can this, from a link, be shown? What is missing is as by default),
 *   `settingOf(preset)`, `presetOf(setting)` and `options(choice)`.
 */
export function contractOf(setup, { also = {}, possible = () => true, start: more = {}, alike = (name, wanted, setting) => wanted[name] === setting[name] } = {}) {
  const { fields = {}, choices = {}, presets = {}, models = {} } = setup;
  const settings = { ...fields, ...choices };
  const names = [...Object.keys(settings), ...Object.keys(more)];
  const start = { ...Object.fromEntries(Object.entries(settings).map(([name, { value }]) => [name, value])), ...more };
  const options = (name) => optionsOf(setup, name);
  const problem = (name, value) => {
    if (has(fields, name)) return wrong(fields[name], value);
    return options(name).some((one) => one.value === value) ? "" : `one of ${options(name).map((one) => one.value).join(", ")}`;
  };
  const isSetting = (given) => {
    if (!given || typeof given !== "object" || Array.isArray(given)) return false;
    const setting = { ...start, ...given };
    const right = ([name, value]) => (has(also, name) ? also[name](value, setting) : has(settings, name) && !problem(name, value));
    return Object.entries(given).every(right) && possible(setting);
  };
  const settingOf = (preset) => ({ ...start, ...models[presets[preset].model]?.shape, ...presets[preset].set });
  const presetOf = (setting) =>
    Object.keys(presets).find((preset) => {
      const wanted = settingOf(preset);
      return names.every((name) => alike(name, wanted, setting));
    });
  return { ...setup, names, start, problem, isSetting, settingOf, presetOf, options };
}
