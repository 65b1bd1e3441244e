/** Style of the living model: attention is read (blue), the stream is kept (green), what may come is written (orange). */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.lm{display:grid;grid-template-columns:minmax(0,1fr) 11rem;gap:.5rem 1.2rem;align-items:start}
@container (max-width:640px){.lm{grid-template-columns:minmax(0,1fr);gap:.4rem}}
.lm-picture{display:grid;grid-template-columns:auto minmax(0,1fr) auto;align-items:start;min-width:0}
.lm-strip{overflow-x:auto;max-width:100%;padding:0 2px;cursor:pointer;user-select:none;touch-action:pan-x pan-y}
.tbviz .lm svg{max-width:none;display:block;margin:0 auto}
.lm text{font:12.5px system-ui,sans-serif;fill:var(--tb-muted)}
.lm .lm-head{font-size:12px;text-anchor:end}
.lm .lm-char{font:14px ${MONO};fill:var(--tb-fg);text-anchor:middle}
.lm .lm-char.later{fill:var(--tb-muted)}
.lm .lm-char.here{font-weight:700}
.tbviz .lm-strip:focus-visible{outline-offset:-3px}
.lm-cell{fill:var(--tb-accent);shape-rendering:crispEdges}
.lm-track{fill:var(--tb-fill)}
.lm-later{stroke:var(--tb-line);stroke-width:1}
.lm-frame{fill:none;stroke:var(--tb-fg);stroke-width:1.6;rx:3}
.lm-size{fill:var(--tb-good)}
.lm .lm-number{font-variant-numeric:tabular-nums;fill:var(--tb-fg)}
.tbviz .lm-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0 0 .2rem}
.tbviz .lm-list{list-style:none;margin:0;padding:0;display:grid;gap:.22rem;min-height:10.6rem;align-content:start}
.tbviz .lm-list li{margin:0;display:grid;grid-template-columns:1.4rem minmax(0,1fr) 2.6rem;gap:.4rem;align-items:center;height:1.5rem;font-variant-numeric:tabular-nums;font-size:max(12px,.92em)}
.lm-guess{font:max(13px,1em)/1.3rem ${MONO};height:1.4rem;overflow:hidden;text-align:center;border:1px solid var(--tb-edge);border-radius:4px}
.lm-meter{height:.8rem;background:var(--tb-fill);border-radius:3px;overflow:hidden}
.lm-meter i{display:block;height:100%;background:var(--tb-warm)}
.lm-out :is(.lm-guess,.lm-meter){border:1px dashed var(--tb-edge)}
.lm-out .lm-meter{background:none}
.lm-out .lm-meter i{background:none}
.lm-out{color:var(--tb-muted)}
.lm-chance{text-align:right}
@container (max-width:640px){.tbviz .lm-list{grid-template-columns:1fr 1fr;grid-template-rows:repeat(3,auto);grid-auto-flow:column;gap:.1rem 1rem;min-height:4.4rem}.tbviz .lm-list li{height:1.4rem}}
.tbviz .lm-told{min-height:2.9em}
@container (max-width:640px){.tbviz .lm-told{min-height:4.3em}}
.lm-read{color:var(--tb-accent);font-weight:700}
.lm-next{min-width:0}
.lm-write{color:var(--tb-warm);font-weight:700}
.lm-kept{color:var(--tb-good);font-weight:700}
.lm-text{grid-column:1/-1}
.tbviz .tbviz-bar .tbviz-button.lm-act{min-width:13.4rem!important}
.tbviz .lm-text textarea{font:max(13px,.95em)/1.35 ${MONO};width:100%;resize:none;color:var(--tb-fg);background:var(--tb-bg);border:1px solid var(--tb-edge);border-radius:6px;padding:.3rem .5rem;margin:0;display:block}
.lm-keep::before{content:"☐ ";content:"☐ " / ""}
.lm-keep[aria-pressed=true]::before{content:"☑ ";content:"☑ " / ""}
.lm-heat{flex:0 1 15rem}
@container (min-width:641px) and (max-width:979px){.lm-heat{margin-right:calc(100% - 15rem)}}
.tbviz .lm-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.lm-line{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center}
.tbviz .lm-status{min-height:1.45em;color:var(--tb-muted)}
@container (max-width:640px){.tbviz .lm-status{min-height:2.9em}}
.lm-status b{color:var(--tb-fg)}
.lm-times{display:grid;gap:.4rem}
.tbviz .lm-chart{max-width:100%;height:auto;display:block}
.lm-chart text{font:12.5px system-ui,sans-serif;fill:var(--tb-fg)}
.lm-axis{stroke:var(--tb-edge);fill:none}
.lm-with{stroke:var(--tb-good);fill:none;stroke-width:2.5}
.lm-without{stroke:var(--tb-warm);fill:none;stroke-width:2.5}
@media (prefers-reduced-motion:no-preference){.lm-frame{transition:transform .2s}.lm-cell{transition:fill-opacity .2s}.lm-size{transition:width .2s}}
.tbviz .lm-busy *{transition:none}
@media (pointer:coarse){.tbviz .lm-text textarea{min-height:44px}}
`;
