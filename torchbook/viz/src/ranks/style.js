/** Style of the four programs: blue waits, green has returned, red is refused, dashed is removed. */

export const CSS = `
.rk{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:.5rem}
.rk-rank{display:flex;flex-direction:column;gap:.3rem;background:var(--tb-fill);border-radius:8px;padding:.45rem;min-width:0;text-align:center}
.rk-name{font-weight:650;font-size:max(12px,.9em)}
.rk-rank>.tbviz-toolbar{flex-direction:column;flex-wrap:nowrap;gap:4px;min-height:284px}
.tbviz .rk-call{font-size:12px;min-height:44px;height:44px;padding:0 2px;line-height:1.2;width:100%;transition:background .35s,border-color .35s}
.tbviz .rk-done{background:var(--tb-good-soft);border-color:var(--tb-good);color:var(--tb-good)}
.tbviz .rk-in{background:var(--tb-accent-soft);border:2px solid var(--tb-accent);color:var(--tb-accent)}
.tbviz .rk-bad{background:var(--tb-bad-soft);border:2px solid var(--tb-bad);color:var(--tb-bad)}
.tbviz .rk-off{border-style:dashed;background:none;color:var(--tb-muted);text-decoration:line-through}
.tbviz .rk-does{font-size:12px;min-height:2.8em;line-height:1.4}
.tbviz .rk-held{font-size:12px;display:flex;flex-wrap:wrap;justify-content:center;gap:0 .5rem;min-height:2.6em;font-variant-numeric:tabular-nums}
.rk-red{color:var(--tb-bad)}.rk-blue{color:var(--tb-accent)}.rk-green{color:var(--tb-good)}
.tbviz .rk-head{min-height:1.45em}
.tbviz .rk-small{font-size:max(12px,.86em);color:var(--tb-muted)}
.tbviz .rk-table{border-collapse:collapse;margin:0;font-size:max(12px,.88em);display:table;background:none;color:var(--tb-fg)}
.tbviz .rk-table tr{background:none}
.tbviz .rk-table :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.2rem .5rem .2rem 0;text-align:left;background:none;color:inherit;font-weight:400}
.rk-wide{overflow-x:auto;min-width:0}
@container (max-width:560px){.rk{gap:4px}.rk-rank{padding:3px}.rk-call b{display:block}.tbviz .rk-call{height:48px}.rk-rank>.tbviz-toolbar{min-height:308px}}
`;
