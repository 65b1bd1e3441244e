/** Style of the tiles; what is loaded, computed, kept and skipped differs in line and pattern as well as in hue. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.ti{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .ti-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .ti-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.ti-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.ti-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .ti-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.ti-sizes{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:flex-end;flex:1 1 100%}
.ti-sizes input[type=number]{width:5.6rem}
.ti-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.ti-player{display:flex;flex-wrap:wrap;gap:.4rem .8rem;align-items:center}
.ti-player .tbviz-slider{flex:1 1 11rem;grid-template-columns:auto minmax(4rem,1fr) 5.6rem}
.ti-player output{white-space:nowrap}
.ti-main{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
@container (min-width:720px){.ti-main{grid-template-columns:minmax(0,1fr) minmax(0,1.2fr)}}
.ti-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.tbviz .ti-svg{display:block;max-width:100%;height:auto;cursor:pointer}
.ti-svg text{font:12px system-ui,sans-serif;fill:var(--tb-fg)}
.ti-svg .ti-label{font-weight:600}
.ti-svg .ti-id{fill:var(--tb-muted);font-size:12px}
.ti-frame{fill:none;stroke:var(--tb-edge);stroke-width:1.2}
.ti-line{stroke:var(--tb-line);stroke-width:1}
.ti-a{fill:var(--tb-accent-soft);stroke:var(--tb-accent);stroke-width:2.2}
.ti-b{fill:var(--tb-violet-soft);stroke:var(--tb-violet);stroke-width:2.2}
.ti-c{fill:var(--tb-warm-soft);stroke:var(--tb-warm);stroke-width:2.2}
.ti-done{fill:var(--tb-good-soft);stroke:var(--tb-good);stroke-width:.8}
.ti-held{fill:none;stroke:var(--tb-fg);stroke-width:1.1;stroke-dasharray:2 2}
.ti-skip{stroke:var(--tb-muted);stroke-width:.8}
.ti-skip-line{stroke:var(--tb-muted);stroke-width:1}
.ti-masked{fill:var(--tb-muted)}
.ti-strip{fill:none;stroke:var(--tb-edge);stroke-width:1}
.ti-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:max(12px,.84em)}
.ti-key svg{display:inline-block;vertical-align:-1px;margin-right:.35rem}
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
