/** Style of the microscope; what a colour says is also said by words, a struck value or a dash. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.mi-main{display:grid;grid-template-columns:minmax(0,1fr) auto;grid-template-areas:"grid fit" "flow flow" "lines lines";gap:.5rem .6rem;align-items:center}
.mi-lines{grid-area:lines;display:flex;flex-direction:column;flex-wrap:nowrap!important;gap:.25rem!important}
.tbviz .mi-line{font:max(12px,.9em)/1.3 ${MONO};text-align:left;min-height:40px;width:100%}
.tbviz .mi-line.ran{background:var(--tb-accent-soft);border-color:var(--tb-accent);color:var(--tb-fg)}
.tbviz .mi-line.refused{background:var(--tb-bad-soft);border:2px solid var(--tb-bad);color:var(--tb-fg)}
.tbviz .mi-line.next{border:2px solid var(--tb-accent)}
.tbviz .mi-line.next::before{content:"▸ ";content:"▸ " / "";color:var(--tb-accent)}
.tbviz .mi-line.left{border-style:dashed;color:var(--tb-muted);text-decoration:line-through}
.tbviz .mi-grid{grid-area:grid;border-collapse:separate;border-spacing:3px;margin:0;width:100%;table-layout:fixed;display:table;background:none;color:var(--tb-fg);font-size:max(12px,.9em);font-variant-numeric:tabular-nums}
.tbviz .mi-grid tr{background:none;border:0}
.tbviz .mi-grid :is(td,th){background:none;border:0;padding:0;text-align:center;vertical-align:middle;font-weight:400;color:inherit}
.tbviz .mi-grid th{color:var(--tb-muted);font-size:12px;overflow-wrap:anywhere}
.tbviz .mi-grid thead th{font:600 13px ${MONO};color:var(--tb-fg)}
.tbviz .mi-grid thead small{display:block;font:400 12px/1.2 system-ui,sans-serif;color:var(--tb-muted)}
.tbviz .mi-grid tr>:first-child{width:72px;text-align:left}
.tbviz .mi-cell{border:1.5px solid var(--tb-line);border-radius:6px;height:46px;color:var(--tb-muted);line-height:1.2;text-align:center;vertical-align:middle}
.mi-cell b{display:block;font:500 max(12px,.95em)/1.25 ${MONO};white-space:nowrap}
.mi-cell s{display:block;font:12px/1.2 ${MONO};white-space:nowrap;color:var(--tb-muted)}
.tbviz .mi-grid td.mi-cell{border:1.5px solid var(--tb-line);color:var(--tb-muted)}
.tbviz :is(.mi-cell,.mi-grid td.mi-cell).absent{border-style:dashed}
.tbviz :is(.mi-cell,.mi-grid td.mi-cell).read{border-color:var(--tb-accent);color:var(--tb-accent)}
.tbviz :is(.mi-cell,.mi-grid td.mi-cell).new{border-color:var(--tb-warm);background:var(--tb-warm-soft);color:var(--tb-warm)}
.mi-cell.new b{font-weight:700}
.mi-cell.new s{color:var(--tb-warm)}
.mi-flow{grid-area:flow;display:grid;grid-template-columns:auto minmax(34px,1fr) minmax(0,9rem) minmax(34px,1fr) minmax(0,5.4rem);gap:.3rem;align-items:center}
.mi-flow .mi-cell{display:flex;flex-direction:column;justify-content:center;height:58px;padding:0 .25rem;font-size:max(12px,.9em)}
.mi-name{font-size:12px;color:var(--tb-muted)}
.mi-ends{font:13px ${MONO}}
.mi-edge{padding-top:1.05rem;display:flex;flex-direction:column;align-items:center;font-size:12px;color:var(--tb-muted);min-width:0}
.mi-arrow{width:100%;max-width:44px;height:14px;fill:none;stroke:var(--tb-edge);stroke-width:1.6}
.mi-edge:is(.none,.freed) .mi-arrow path:not(.tip){stroke-dasharray:3 3}
.mi-edge>span{min-height:1.05rem;line-height:1.05rem}
.mi-edge.on{color:var(--tb-accent)}
.mi-edge.on .mi-arrow{stroke:var(--tb-accent);stroke-width:2.2}
.mi-edge.new{color:var(--tb-warm)}
.mi-edge.new .mi-arrow{stroke:var(--tb-warm)}
.tbviz .mi-fit{grid-area:fit;display:block;max-width:none;user-select:none}
.mi-fit text{font:12px system-ui,sans-serif;fill:var(--tb-muted)}
.mi-axis{fill:none;stroke:var(--tb-line)}
.mi-fit .mi-fitted{fill:none;stroke:var(--tb-fg);stroke-width:2.4}
.mi-fit .mi-fitted.new{stroke:var(--tb-warm)}
.mi-fit .mi-fitted.old{stroke:var(--tb-edge);stroke-width:1.6;stroke-dasharray:4 4}
.mi-error{stroke:var(--tb-bad);stroke-width:1.4;stroke-dasharray:2 2}
.mi-pred{fill:var(--tb-bg);stroke:var(--tb-accent);stroke-width:2}
.mi-ride{fill:var(--tb-fg)}
.mi-count{color:var(--tb-muted);font-size:max(12px,.9em)}
.tbviz .mi-head{min-height:5.6em}
.tbviz .mi-head.refused{color:var(--tb-bad)}
.tbviz .mi-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.mi-settings{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(17rem,100%),1fr));gap:.4rem 1.4rem;align-items:end}
@container (min-width:660px){
.mi-main{grid-template-columns:minmax(13rem,14.5rem) minmax(0,1fr) auto;grid-template-areas:"lines grid fit" "lines flow flow";gap:.4rem 1rem}
.mi-lines{align-self:stretch;justify-content:space-between}
.tbviz .mi-line{flex:1 1 auto}
.tbviz .mi-head{min-height:2.9em}
.tbviz .mi-grid td.mi-cell{height:70px}
.mi-flow .mi-cell{height:68px}
}
@media (prefers-reduced-motion:no-preference){.mi-cell.new{animation:mi-glow .7s ease-out}@keyframes mi-glow{from{box-shadow:0 0 0 5px var(--tb-warm)}to{box-shadow:0 0 0 0 transparent}}}
@media (forced-colors:active){.mi-cell.new{border-width:3px!important}}
`;
