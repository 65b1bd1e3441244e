/** Style of the diagnosis; the lane that sets the pace is bordered, what waits or cannot be is hatched. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.tbviz [role=toolbar][aria-label=Presets]::before{content:"or an example:";align-self:center;font-size:max(12px,.86em);color:var(--tb-muted)}
@container (max-width:520px){.tbviz [role=toolbar][aria-label=Presets]::before{content:"or:"}}
.tbviz .bn-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .bn-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.bn-lanes{min-width:0}
.tbviz .bn-svg{max-width:none;display:block;touch-action:pan-y}
.bn-svg text{font:12.5px system-ui,sans-serif;fill:var(--tb-fg);pointer-events:none}
.bn-svg .bn-size{font-weight:600;font-variant-numeric:tabular-nums;paint-order:stroke;stroke:var(--tb-bg);stroke-width:3px;stroke-linejoin:round}
.bn-svg .bn-aside{font-size:12px;letter-spacing:-.02em}
.bn-svg .bn-none{fill:var(--tb-muted);paint-order:stroke;stroke:var(--tb-fill);stroke-width:5px;stroke-linejoin:round}
.bn-svg .bn-tick{fill:var(--tb-muted);font-size:12px}
.bn-axis{stroke:var(--tb-edge);fill:none}
.bn-svg .bn-slowest{font-weight:700}
.bn-svg .bn-what{font-size:20px;fill:var(--tb-muted)}
.bn-lane{fill:var(--tb-fill)}
.bn-lane.bn-slow{stroke:var(--tb-fg);stroke-width:1.5}
.bn-loader{fill:var(--tb-accent-soft);stroke:var(--tb-accent);stroke-width:1.3}
.bn-copy{fill:var(--tb-violet-soft);stroke:var(--tb-violet);stroke-width:1.3}
.bn-step{fill:var(--tb-good-soft);stroke:var(--tb-good);stroke-width:1.3}
.bn-idle{fill:none;stroke:var(--tb-good);stroke-dasharray:4 3}
.bn-wait{stroke:none}
.bn-wait-line{stroke:var(--tb-muted);stroke-width:1.6}
.bn-clash{stroke:var(--tb-bad);stroke-width:2}
.bn-clash-line{stroke:var(--tb-bad);stroke-width:4}
.bn-gap{fill:none;stroke:var(--tb-muted);stroke-dasharray:5 4}
.bn-period{fill:none;stroke:var(--tb-fg);stroke-width:1.3}
.bn-grip{--tb-grip:var(--tb-fg)}
.bn-fields{display:grid;grid-template-columns:minmax(0,1fr);gap:.45rem .8rem;align-items:end;flex:1 1 100%}
@container (min-width:420px){.bn-fields{grid-template-columns:repeat(2,minmax(0,1fr))}}
@container (min-width:700px){.bn-fields{grid-template-columns:repeat(3,minmax(0,1fr))}}
.bn-fields .tbviz-field{display:flex}
.bn-fields .tbviz-field>:is(input,select){width:100%}
.bn-fields input{font-family:${MONO};font-variant-numeric:tabular-nums}
.bn-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.bn-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.45rem;min-width:0}
.tbviz .bn-path{list-style:none;margin:0;padding:0;display:grid;gap:.4rem}
.tbviz .bn-path li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 .7rem;padding-left:.7rem;border-left:3px solid var(--tb-line);margin:0}
.tbviz .bn-path li.last{border-left-color:var(--tb-accent)}
.bn-sum{grid-column:1;font-family:${MONO};font-size:max(12px,.84em);color:var(--tb-muted)}
.bn-answer{grid-row:1;grid-column:2;font-weight:650}
.bn-cause{font-weight:650}
@container (max-width:930px){.tbviz .bn-found{min-height:2.9em}}
@container (max-width:560px){.tbviz .bn-found{min-height:4.35em}}
.tbviz .bn-verdict ol{margin:0;padding-left:1.3rem}
.tbviz .bn-verdict li{margin:.2rem 0}
.bn-verdict{border-color:var(--tb-accent)}
`;
