/** Style of the roofline figure, on top of that of the calculators. */

export const CSS = `
.rl-roof{fill:none;stroke:var(--tb-muted);stroke-width:1.8;stroke-linejoin:round}
.rl-roof.rl-here{stroke:var(--tb-accent);stroke-width:3}
.rl-at{stroke:var(--tb-warm);stroke-width:1.5;stroke-dasharray:3 3}
.rl-dot{fill:var(--tb-warm);stroke:var(--tb-bg);stroke-width:1.5}
.rl-now{fill:var(--tb-warm);stroke:var(--tb-fg);stroke-width:1.8}
.rl-other{fill:var(--tb-bg);stroke:var(--tb-warm);stroke-width:2}
.rl-way{stroke:var(--tb-warm);stroke-width:1.6;fill:none}
.rl-point{stroke:var(--tb-violet);stroke-width:2.4;fill:none}
.sc-svg .rl-halo{paint-order:stroke;stroke:var(--tb-bg);stroke-width:4px;stroke-linejoin:round}
.tbviz .rl-key{list-style:none;margin:.4rem 0 0;padding:0;display:flex;flex-wrap:wrap;gap:.35rem}
.tbviz .rl-key li{margin:0}
.rl-pick{display:inline-flex;align-items:center;gap:.4rem}
.rl-pick[aria-pressed=true] .rl-roof{stroke:var(--tb-on-accent)}
.tbviz .rl-list{margin:0;padding-left:1.1rem;font-size:max(12px,.92em)}
`;
