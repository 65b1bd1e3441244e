/** Style of the tiles; what is loaded, computed, kept and skipped differs in line and pattern as well as in hue. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.ti{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .ti-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .ti-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.tbviz .ti-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.ti-sizes{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:flex-end;flex:1 1 100%}
.ti-sizes .tbviz-field{width:7.4rem}
.ti-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.tbviz .ti-head{min-height:1.45em}
@container (max-width:520px){.tbviz .ti-head{min-height:2.9em}}
.ti-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.tbviz .ti-svg{display:block;max-width:none;user-select:none}
.ti-svg text{font:13px system-ui,sans-serif;fill:var(--tb-fg);pointer-events:none}
.ti-svg .ti-label{font-weight:600;fill:var(--tb-muted)}
.ti-svg .ti-id{fill:var(--tb-muted);font-size:12px;text-anchor:middle;dominant-baseline:central}
.ti-svg .ti-part{fill:var(--tb-fg);font-weight:650}
.ti-field{fill:transparent;cursor:pointer}
.ti-frame{fill:none;stroke:var(--tb-edge);stroke-width:1.2;pointer-events:none}
.ti-line{stroke:var(--tb-line);stroke-width:1}
.ti-chip{fill:var(--tb-fill);stroke:var(--tb-line)}
.ti-cells{stroke:var(--tb-bg);stroke-width:1.2;fill:none}
.ti-a{fill:var(--tb-accent-soft);stroke:var(--tb-accent);stroke-width:2.2}
.ti-b{fill:var(--tb-violet-soft);stroke:var(--tb-violet);stroke-width:2.2}
.ti-c{fill:var(--tb-warm-soft);stroke:var(--tb-warm);stroke-width:2.2}
.ti-sum{fill:var(--tb-warm);fill-opacity:.55}
.ti-svg .ti-score{fill:var(--tb-fg)}
.ti-svg tspan.ti-part{font-weight:650}
.ti-line-of{fill:none;stroke:var(--tb-fg);stroke-width:1.6;pointer-events:none}
.ti-empty{fill:var(--tb-bg);stroke:var(--tb-warm);stroke-width:1.6}
.ti-kept{fill:var(--tb-good);fill-opacity:.65}
.ti-old{fill-opacity:.35}
.ti-new{fill:var(--tb-warm);fill-opacity:.6;stroke:var(--tb-bg);stroke-width:1}
.ti-done{fill:var(--tb-good-soft);stroke:var(--tb-good);stroke-width:.8}
.ti-now{stroke-width:2.4}
.ti-held{fill:none;stroke:var(--tb-fg);stroke-width:1.1;stroke-dasharray:2 2}
.ti-skip{stroke:var(--tb-muted);stroke-width:.8}
.ti-skip-line{stroke:var(--tb-muted);stroke-width:1}
.ti-masked{fill:var(--tb-muted);pointer-events:none}
.ti-strip{fill:none;stroke:var(--tb-edge);stroke-width:1}
.ti-key{display:flex;flex-wrap:wrap;gap:.1rem .8rem;min-height:1.5em;margin-top:.35rem;font-size:max(12px,.84em)}
@container (max-width:520px){.ti-key{min-height:3em}}
.tbviz .ti-key svg{display:inline-block;vertical-align:-1px;margin-right:.35rem}
.ti-scroll{overflow-x:auto;max-width:100%;min-width:0}
.ti-product{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem .7rem}
.tbviz .ti-grid{border-collapse:collapse;margin:0;width:auto;font:max(12px,.84em) ${MONO};font-variant-numeric:tabular-nums;display:table;background:none;color:var(--tb-fg)}
.tbviz .ti-grid caption{text-align:left;font:600 max(12px,.95em) system-ui,sans-serif;color:var(--tb-muted);padding:0 0 .15rem;caption-side:top;white-space:nowrap}
.tbviz .ti-grid tr{background:none;border:0}
.tbviz .ti-grid :is(td,th){border:1px solid var(--tb-line);padding:.12rem .4rem;text-align:right;background:none;color:inherit;font-weight:400;white-space:nowrap}
.tbviz .ti-grid th{color:var(--tb-muted)}
.tbviz .ti-grid :is(tr.on>*,.on){background:var(--tb-fill);font-weight:650}
.tbviz .ti-grid .out{color:var(--tb-muted)}
.tbviz .ti-lines{width:100%;border-collapse:collapse;margin:0;font-size:max(12px,.9em);display:table;background:none;color:var(--tb-fg)}
.tbviz .ti-lines tr{background:none;border:0}
.tbviz .ti-lines :is(td,th){border:0;border-top:1px solid var(--tb-line);padding:.25rem .5rem .25rem 0;text-align:left;vertical-align:baseline;background:none;color:inherit;font-weight:400}
.tbviz .ti-lines th{font-weight:650;width:2.4rem;font-family:${MONO}}
.ti-sum{display:block;color:var(--tb-muted);font:max(12px,.88em) ${MONO};overflow-wrap:anywhere}
.ti-value{font:max(12px,.92em) ${MONO};font-weight:650;overflow-wrap:anywhere}
.ti-bars{display:grid;grid-template-columns:auto minmax(0,1fr) auto;gap:.25rem .6rem;align-items:center;font-size:max(12px,.9em)}
.ti-track{height:.85rem;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:3px;overflow:hidden}
.ti-track>i{display:block;height:100%;background:var(--tb-accent)}
.ti-amount{font-variant-numeric:tabular-nums;text-align:right}
`;
