/** Style of the stride figure; each dimension has a hue, and everywhere also its number. */

const MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace";

export const CSS = `
.tbviz-d0{--dim:var(--tb-violet);--dim-soft:var(--tb-violet-soft)}
.tbviz-d1{--dim:var(--tb-accent);--dim-soft:var(--tb-accent-soft)}
.tbviz-d2{--dim:var(--tb-warm);--dim-soft:var(--tb-warm-soft)}
.tbviz-d3{--dim:var(--tb-good);--dim-soft:var(--tb-good-soft)}
.tbviz [class*=tbviz-d][data-dim]{color:var(--dim);font-weight:650}
.tbviz .sx{display:flex;flex-direction:column;gap:.9rem}
.tbviz-stage:has(>.sx-picture){display:flex;flex-direction:column}
.sx-picture{position:relative;flex:1 0 auto;display:flex;flex-direction:column;justify-content:space-between;gap:.4rem;min-height:26rem;min-width:0}
.sx-picture>svg.sx-wires{position:absolute;inset:0;width:100%;height:100%;max-width:none;pointer-events:none;z-index:2;overflow:hidden}
.sx-wires path{fill:none;stroke:var(--tb-accent);stroke-width:2;stroke-linejoin:round}
.sx-wires path.more{stroke-dasharray:4 3}
.sx-wires path.halo{stroke:var(--tb-bg);stroke-width:4;opacity:.8}
.sx-facts,.sx-told{display:flex;flex-wrap:wrap;align-items:baseline;gap:.2rem .8rem;margin:0;padding:0}
.sx-fact{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 .4rem;min-width:0}
.sx-fact span.sx-name{font-size:max(12px,.8em);color:var(--tb-muted);font-weight:400;margin:0}
.sx-fact .sx-value{font-family:${MONO};font-size:max(12px,.95em);white-space:nowrap}
.sx-told .sx-value{white-space:normal}
.sx-told .sx-value>span{display:inline-block;white-space:nowrap}
.sx-value [data-dim]{display:inline-block}
.sx-fact.copied .sx-value{color:var(--tb-warm);font-weight:650}
.sx-fact.kept .sx-value{color:var(--tb-good);font-weight:650}
.sx-tight{display:flex;flex-direction:column;gap:.3rem}
.tbviz .sx-head{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0 0 .25rem;width:fit-content}
.sx-grid,.sx-store{min-width:0;max-width:100%;overflow:auto;padding:6px 4px;margin:0 -4px}
.sx-grid{max-height:19rem}
.sx-store{max-height:15rem}
.sx-grid,.sx-store{align-self:center}
.sx-below{display:flex;flex-direction:column;min-width:0;gap:.1rem}
.sx-below>.sx-told{justify-content:center}
.sx-outer{display:flex;flex-direction:column;gap:.6rem;max-width:100%}
.sx-band{display:flex;flex-wrap:wrap;gap:.4rem 1rem}
.sx-outer.boxed>.sx-band{border-left:3px solid var(--tb-violet);padding-left:.6rem}
.sx-panel{min-width:0;max-width:100%}
.sx-cap{font-size:max(12px,.8em);color:var(--tb-muted);margin:0 0 .1rem}
.sx-rows{display:grid;gap:3px;width:max-content}
.sx-rows>[role=row]{display:grid;grid-template-columns:repeat(var(--n),minmax(2.35rem,max-content));gap:3px var(--between,9px);align-items:center}
.sx-panel{--between:6px}
.sx-grid.roomy{--between:12px}
.sx-rows>[role=row].sx-lead{grid-template-columns:1.2rem repeat(var(--n),minmax(2.35rem,max-content))}
.sx-grid.roomy .sx-rows>[role=row]{grid-template-columns:repeat(var(--n),minmax(3.4rem,max-content))}
.sx-grid.roomy .sx-rows>[role=row].sx-lead{grid-template-columns:1.2rem repeat(var(--n),minmax(3.4rem,max-content))}
.sx-grid.roomy .sx-cell{min-height:2.75rem;font-size:1.05em}
.sx-axis{font-size:max(12px,.74em);line-height:1.25;text-align:center;font-variant-numeric:tabular-nums}
.sx-cell{position:relative;min-height:2.05rem;border-radius:5px;border:1px solid var(--tb-edge);display:flex;align-items:center;justify-content:center;
padding:0 .25rem;font-variant-numeric:tabular-nums;font-size:max(12px,.9em);cursor:pointer;background:color-mix(in oklab,var(--tb-accent-soft),var(--tb-warm-soft) var(--at,0%));user-select:none}
.sx-cell:hover{border-color:var(--tb-fg)}
.sx-cell.off{background:none;border-style:dashed;color:var(--tb-muted)}
.sx-cell.on{border:2.5px solid var(--tb-accent);font-weight:700}
.sx-cell.also{border:2.5px dashed var(--tb-accent);font-weight:700}
.sx-cell.wrote{border:2.5px double var(--tb-warm);font-weight:700}
.sx-cell.wrote::after{content:"✎";position:absolute;top:-.55em;right:-.25em;font-size:max(12px,.8em);color:var(--tb-warm);background:var(--tb-bg);border-radius:50%;line-height:1;padding:1px}
.sx-cell.walked{box-shadow:inset 0 -4px 0 var(--tb-good)}
.sx-cell.step{background:var(--tb-good);color:var(--tb-bg);border-color:var(--tb-good)}
.tbviz .sx-cell:focus-visible{outline-offset:1px;z-index:1}
.sx-grid.dense .sx-rows{gap:2px;width:100%;max-width:max-content}
.sx-grid.dense .sx-rows>[role=row]{gap:2px;grid-template-columns:repeat(var(--n),minmax(1rem,2.3rem))}
.sx-grid.dense .sx-rows>[role=row].sx-lead{grid-template-columns:1.2rem repeat(var(--n),minmax(1rem,2.3rem))}
.sx-grid.dense .sx-cell{min-height:1.5rem;padding:0;border-radius:3px}
.sx-readout{display:flex;flex-direction:column;gap:.35rem;min-height:4.3rem}
.sx-sum{min-height:3em;margin-top:.2rem}
.sx-sum .big{font-family:${MONO};font-size:1.02em;line-height:1.5}
.sx-sum .big>span{display:inline-block;white-space:nowrap}
.sx-sum .small{font-size:max(12px,.9em);color:var(--tb-muted)}
.sx-sum b{font-weight:700}
.sx-memory{display:flex;flex-direction:column;gap:4px}
.sx-line{display:grid;grid-template-columns:repeat(var(--k),minmax(1rem,3.1rem));gap:6px;border-left:3px solid var(--tb-line);padding-left:5px}
.sx-line.hot{border-left-color:var(--tb-good)}
.sx-line .sx-cap{grid-row:1/span 2;margin:0;align-self:start;line-height:1.95rem;text-align:right;padding-right:2px;font-variant-numeric:tabular-nums}
.sx-line .sx-cell{min-height:1.95rem;padding:0}
.sx-slot{position:relative;display:flex;flex-direction:column;align-items:stretch;min-width:0}
.sx-slot small{line-height:1.25;min-height:1.25em;white-space:nowrap;display:flex;justify-content:center;color:var(--tb-fg);font-weight:700;font-variant-numeric:tabular-nums}
.sx-slot small>span{display:none}
.sx-cell.on+small>span{display:inline}
.sx-slot.start small::before{content:"▲"}
.sx-memory.many small{display:none}
.sx-memory.many .start .sx-cell{box-shadow:inset 4px 0 0 var(--tb-fg)}
.sx-memory.many .sx-line{gap:3px}
.sx-times{position:absolute;top:-.5em;right:-.2em;font-size:12px;font-weight:700;line-height:1.1;background:var(--tb-fg);color:var(--tb-bg);border-radius:6px;padding:1px 3px;z-index:1}
.sx-memory.long .sx-line{grid-template-columns:repeat(16,minmax(1rem,2.6rem))}
.sx-memory.many .sx-line{grid-template-columns:1.75rem repeat(16,minmax(1rem,2.6rem))}
.sx-memory.dense{gap:2px}
.sx-memory.dense .sx-line .sx-cell{min-height:1.5rem;border-radius:3px}
.sx-memory.dense .sx-line .sx-cap{line-height:1.5rem}
.dense .sx-n{display:none}
.sx-grid.dense [role=row][aria-hidden] .sx-axis:nth-child(odd){visibility:hidden}
.dense .on .sx-n,.dense .sx-axis+.sx-cell .sx-n{display:block}
.dense .on .sx-n{position:absolute;z-index:1;background:var(--tb-bg);border-radius:3px;padding:0 1px;line-height:1}
.tbviz:has(.sx-memory.dense) .sx-readout{min-height:0}
@container (max-width:559px){
.sx-picture{min-height:27.9rem}
.sx-grid,.sx-store{padding:4px 3px;margin:0 -3px}
.sx-grid{max-height:15rem}
.sx-readout{min-height:7rem;gap:.25rem}
.sx-sum{min-height:4.5em}
.sx-rows>[role=row]{--between:6px}
.sx-panel .sx-rows>[role=row]{--between:3px}
.sx-grid.roomy .sx-rows>[role=row]{--between:10px}
.sx-line{gap:4px}
.sx-memory.many .sx-line{gap:2px}
.sx-grid.roomy .sx-rows>[role=row]{grid-template-columns:repeat(var(--n),minmax(2.8rem,max-content))}
.sx-grid.roomy .sx-rows>[role=row].sx-lead{grid-template-columns:1rem repeat(var(--n),minmax(2.8rem,max-content))}
.sx-grid.roomy .sx-cell{min-height:2.5rem}
.sx-panel .sx-rows>[role=row].sx-lead{grid-template-columns:.9rem repeat(var(--n),minmax(1.9rem,max-content))}
.sx-panel .sx-cell{min-height:1.8rem}
.sx-band{gap:.3rem .6rem}
.sx-memory.many .sx-line .sx-cell{min-height:1.6rem}
.sx-memory.many .sx-line{padding-left:3px}
.sx-memory.many .sx-line .sx-cap{line-height:1.6rem}
.sx-grid.dense .sx-cell,.sx-memory.dense .sx-line .sx-cell{min-height:1.15rem}
.sx-memory.dense .sx-line .sx-cap{line-height:1.15rem}
.sx-grid.dense .sx-cell:not(.on) .sx-n{display:none}
}
.sx-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;background:var(--tb-bg);display:flex;flex-direction:column;gap:.55rem;min-width:0}
.sx-row{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:flex-end}
.sx-row input[type=number]{width:4.6rem}
.sx-row input[type=text]{width:8.5rem}
.sx-ops .tbviz-toolbar{gap:.35rem .9rem}
.sx-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.sx-group{display:inline-flex;flex-wrap:wrap;gap:.25rem;align-items:center}
.sx-group>span{font-size:max(12px,.76em);color:var(--tb-muted);margin-right:.1rem}
.sx-group .tbviz-button{font-family:${MONO};font-size:max(12px,.84em);padding:.15rem .45rem;min-height:1.75rem}
.sx-program{list-style:none;margin:0;padding:0;counter-reset:l;font-family:${MONO};font-size:max(12px,.88em)}
.sx-program li{display:flex;flex-wrap:wrap;gap:.1rem .6rem;align-items:baseline;padding:.12rem 0;margin:0}
.sx-program li code{overflow-wrap:anywhere;font-size:1em}
.sx-program li.bad code{text-decoration:underline wavy var(--tb-bad);text-underline-offset:3px}
.sx-tag{font-family:system-ui,sans-serif;font-size:max(12px,.8em);border:1px solid currentColor;border-radius:99px;padding:0 .5em;color:var(--tb-muted);white-space:nowrap}
.sx-tag.copy{color:var(--tb-warm)}.sx-tag.bad{color:var(--tb-bad)}
.sx-refusal{border:1px solid var(--tb-bad);border-left-width:5px;border-radius:4px;background:var(--tb-bad-soft);color:var(--tb-fg);padding:.35rem .6rem;font-size:max(12px,.92em);line-height:1.35}
.sx-refusal code{display:block;overflow-wrap:anywhere;white-space:pre-wrap;font-size:max(12px,.84em)}
.sx-refusal code.inline{display:inline}
.sx-refusal p+p,.sx-refusal code+p{margin-top:.2rem}
.sx-preview{font-size:max(12px,.88em);overflow-wrap:anywhere}
.sx-target{overflow-wrap:anywhere}
:is(.sx-preview,.sx-target).bad{color:var(--tb-bad)}
.sx-table{border-collapse:collapse;font-size:max(12px,.9em);margin:0;width:auto}
.sx-table th,.sx-table td{padding:.2rem .6rem;border-bottom:1px solid var(--tb-line);text-align:right;font-variant-numeric:tabular-nums;background:none;color:var(--tb-fg)}
.sx-table th:first-child{text-align:left;padding-left:0}
.sx-table thead th{font-weight:600;color:var(--tb-muted)}
.sx-strided{display:grid;gap:.1rem 1.2rem;grid-template-columns:minmax(0,1fr)}
@container (min-width:600px){.sx-strided{grid-template-columns:repeat(2,minmax(0,1fr))}.sx-strided .wide{grid-column:1/-1}}
.sx-note{color:var(--tb-fg)}
`;
