/** Style of the roofline figure, on top of that of the calculators. */

export const CSS = `
.rl-roof{fill:none;stroke:var(--tb-muted);stroke-width:1.8;stroke-linejoin:round}
.rl-roof.rl-here{stroke:var(--tb-accent);stroke-width:3}
.rl-ridge{stroke:var(--tb-edge);stroke-width:1.2;stroke-dasharray:2 3}
.rl-plot .rl-zone{fill:var(--tb-fg);font-weight:600;paint-order:stroke;stroke:var(--tb-bg);stroke-width:4px}
.rl-at{stroke:var(--tb-warm);stroke-width:1.5;stroke-dasharray:3 3}
.rl-dot{fill:var(--tb-warm);stroke:var(--tb-bg);stroke-width:1.5}
.rl-now{fill:var(--tb-warm);stroke:var(--tb-fg);stroke-width:1.8}
.rl-other{fill:var(--tb-bg);stroke:var(--tb-warm);stroke-width:2}
.rl-way{stroke:var(--tb-warm);stroke-width:1.6;fill:none}
.rl-plot .rl-cross{fill:var(--tb-violet);font-weight:700}
.rl-lead{stroke:var(--tb-violet);stroke-width:1;fill:none}
.rl-point{stroke:var(--tb-violet);stroke-width:2.4;fill:none}
.sc-svg .rl-halo{paint-order:stroke;stroke:var(--tb-bg);stroke-width:4px;stroke-linejoin:round}
.rl-labels text{transition:none}
.rl-field{position:relative}
.rl-plot text{pointer-events:none}
.rl-grip{position:absolute;left:0;top:0;width:44px;height:44px;--tb-grip:var(--tb-warm)}
.rl-grip.fixed{pointer-events:none}
.rl-grip.fixed>svg{display:none}
.rl-key{display:flex;flex-wrap:wrap;gap:.35rem;margin-top:.4rem}
.rl-pick{flex:1 1 auto}
.tbviz .rl-over{margin-top:.4rem}
@container (max-width:520px){.rl-key{display:grid;grid-template-columns:repeat(var(--many,3),minmax(0,1fr))}.rl-pick>svg{display:none}}
.tbviz .rl-pick{font-size:max(12px,.86em);font-weight:400;padding:.2rem .25rem;display:inline-flex;align-items:center;justify-content:center;gap:.4rem;white-space:nowrap}
.rl-pick>svg{flex:none}
.rl-dose{color:var(--tb-warm)}
.rl-told{min-height:1.5em}
@container (max-width:520px){.rl-told{min-height:2.9em}}
.rl-pick[aria-pressed=true] .rl-roof{stroke:var(--tb-on-accent)}
.tbviz .rl-list{margin:0;padding-left:1.1rem;font-size:max(12px,.92em)}
`;
