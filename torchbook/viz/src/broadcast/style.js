/** Style of the broadcasting figure; each operand has a hue, and everywhere also its name. */

const MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace";
const HIDDEN = "position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden"; // but for screen readers

export const CSS = `
.bx-a{--op:var(--tb-accent);--op-soft:var(--tb-accent-soft)}
.bx-b{--op:var(--tb-warm);--op-soft:var(--tb-warm-soft)}
.bx-c{--op:var(--tb-violet);--op-soft:var(--tb-violet-soft)}
.bx-result{--op:var(--tb-fg);--op-soft:var(--tb-fill)}
.bx{display:flex;flex-direction:column;gap:.9rem;min-width:0}
.bx-row{display:flex;flex-wrap:wrap;gap:.45rem .9rem;align-items:center}
.tbviz .bx-head{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0 0 .25rem}
.bx-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.bx-ops .tbviz-button{font-family:${MONO};font-size:max(12px,.9em)}
.bx-scroll{overflow-x:auto;max-width:100%;padding:3px;margin:-3px}
.tbviz .bx-table{border-collapse:separate;border-spacing:0;margin:0;width:auto;font-size:max(12px,.95em);background:none;color:var(--tb-fg);display:table}
.tbviz .bx-table :is(th,td){border:0;background:none;padding:.22rem .2rem;text-align:center;vertical-align:top;color:var(--tb-fg);font-weight:400;min-width:0;line-height:1.3}
.tbviz .bx-table tbody th{text-align:right;padding-right:.3rem;vertical-align:top}
.tbviz .bx-table tbody th>b{display:inline-block;line-height:2.1rem;font-family:${MONO};font-weight:700;color:var(--op,var(--tb-fg))}
.tbviz .bx-table thead :is(th,td){font-size:max(12px,.78em);color:var(--tb-muted);padding-bottom:0}
.bx-table thead small{display:block;font-size:max(12px,.9em);font-variant-numeric:tabular-nums}
.bx-table td>small{display:block;font-size:max(12px,.72em);line-height:1.2;color:var(--tb-muted);min-height:1.2em}
.tbviz .bx-table select.bx-size,.bx-none,.bx-out{display:inline-flex;align-items:center;justify-content:center;width:2.7rem;height:2.1rem;min-height:0;padding:0;border-radius:7px;
font-family:${MONO};font-size:1.05rem;text-align:center;text-align-last:center;font-variant-numeric:tabular-nums}
.tbviz .bx-table select.bx-size{appearance:none;cursor:pointer;background:var(--op-soft);border:1px solid var(--op);color:var(--tb-fg)}
.tbviz .bx-table select.bx-size:hover{border-width:2px}
.tbviz .bx-table select.bx-size.stretched{border-style:dashed;border-width:2px;background:var(--tb-bg)}
.tbviz .bx-table select.bx-size.bad{border:2px solid var(--tb-bad);background:var(--tb-bad-soft);font-weight:700}
.bx-table option{background:var(--tb-bg);color:var(--tb-fg)}
.bx-none{border:2px dotted var(--tb-line);color:var(--tb-muted)}
.tbviz .bx-table .tbviz-button{width:1.55rem;min-width:0;height:1.55rem;min-height:0;margin:.27rem 0;padding:0;line-height:1;border:1px solid var(--tb-line);border-radius:50%;color:var(--tb-muted)}
.tbviz .bx-table .tbviz-button:hover{color:var(--tb-fg);border-color:var(--tb-edge)}
.tbviz .bx-table .tbviz-button[aria-disabled=true]{opacity:.45}
.tbviz .bx-what :is(th,td){border-top:1px solid var(--tb-line);padding-top:.4rem;padding-bottom:.4rem}
.tbviz .bx-happens{font-size:max(12px,.74em);white-space:nowrap;word-spacing:-.18em;font-variant-numeric:tabular-nums}
.bx-happens>*{display:block}
.bx-happens>span{color:var(--op);font-weight:600}
.bx-bad{color:var(--tb-bad)}
.bx-long{color:var(--tb-muted);white-space:nowrap}
.bx-hidden{${HIDDEN}}
@container (max-width:559px){.bx-long{${HIDDEN}}}
.bx-out{background:var(--tb-fg);color:var(--tb-bg);font-weight:700}
.bx-out.bad{background:none;text-decoration:line-through;color:var(--tb-bad);border:2px solid var(--tb-bad)}
@container (min-width:560px){.tbviz .bx-table :is(th,td){padding-left:.45rem;padding-right:.45rem}.tbviz .bx-table select.bx-size,.bx-none,.bx-out{width:3.4rem}
.tbviz .bx-happens{font-size:max(12px,.84em);word-spacing:normal}}
@container (max-width:559px){.tbviz .bx-table.many select.bx-size,.many :is(.bx-none,.bx-out){width:2.3rem}.tbviz .bx-table.many :is(th,td){padding-left:.1rem;padding-right:.1rem}}
.bx-verdict{display:flex;flex-wrap:wrap;gap:.3rem .7rem;align-items:baseline}
.tbviz .bx-verdict>code{font-size:1.08em}
.bx-verdict>code>span{display:inline-block;white-space:pre-wrap}
.bx-verdict:empty,.bx-alert:empty,.bx-memory:empty{display:none}
.bx-tag{font-size:max(12px,.8em);border:1px solid var(--tb-edge);border-radius:99px;padding:0 .6em;color:var(--tb-muted)}
.bx-refusal{border:1px solid var(--tb-bad);border-left-width:5px;border-radius:4px;background:var(--tb-bad-soft);color:var(--tb-fg);padding:.35rem .6rem;font-size:max(12px,.92em);line-height:1.35}
.tbviz .bx-error{display:block;overflow-wrap:anywhere;white-space:pre-wrap;margin:.15rem 0}
.bx .small{font-size:max(12px,.84em)}
.bx-refusal .small{color:var(--tb-fg)}
.tbviz-stage:has(>.bx-show){display:flex;flex-direction:column}
.bx-show{flex:1 0 auto;display:flex;flex-direction:column;gap:.35rem;min-height:18.6rem;min-width:0}
.tbviz .bx-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.bx-picture{position:relative;flex:1 0 auto;display:flex;flex-direction:column;justify-content:flex-start;min-width:0}
.bx-blocks{display:flex;flex-wrap:wrap;justify-content:space-evenly;align-items:flex-start;gap:.6rem 1.3rem;min-width:0;--cell:3.1rem;--tall:3rem}
.bx-blocks.middling{--cell:2.55rem;--tall:2.45rem}
.bx-blocks.small{--cell:1.9rem;--tall:1.8rem}
.bx-block{min-width:0;max-width:100%;display:flex;flex-direction:column}
.tbviz .bx-block>.bx-head{order:1;margin:.25rem 0 0;font-weight:400;color:var(--tb-muted);line-height:1.5;white-space:nowrap}
.bx-block>.bx-head i{font-style:normal;font-weight:700;font-size:1.15em;color:var(--tb-fg)}
.bx-block>.bx-head b{color:var(--op);font-size:1.15em}
.bx-block>.bx-head>code{color:var(--tb-fg)}
.bx-block>.bx-head>span{display:block}
.bx-blocks.wide .bx-head>span{display:inline}
.bx-block>.bx-head small{font-size:1em}
@container (max-width:559px){.bx-block>.bx-head small{display:none}}
.bx-grid{overflow:auto;max-height:19rem;padding:4px;margin:-4px}
.bx-panels{display:flex;flex-wrap:wrap;gap:.4rem .8rem}
.bx-band{display:flex;flex-wrap:wrap;gap:.4rem .6rem}
.bx-panel small{color:var(--tb-muted);display:block;line-height:1.3}
.bx-rows{display:grid;gap:3px;width:max-content}
.bx-rows>[role=row]{display:grid;grid-auto-flow:column;grid-auto-columns:var(--cell);gap:3px}
.bx-cell{position:relative;height:var(--tall);border-radius:5px;border:1px solid var(--op);background:var(--op-soft);color:var(--tb-fg);display:flex;align-items:center;justify-content:center;
font-size:max(12px,.9em);font-variant-numeric:tabular-nums;cursor:pointer;user-select:none}
.bx-cell:hover{border-color:var(--tb-fg)}
.bx-result .bx-cell{border-color:var(--tb-edge)}
.bx-cell.copy{background:none;border:1px dashed var(--tb-edge);color:var(--tb-muted)}
.bx-cell.bx-ghost{position:absolute;z-index:3;pointer-events:none;border-width:2px}
.bx-ladder{display:grid;gap:.4rem;justify-content:center}
.bx-rung{display:flex;gap:.5rem;align-items:center;justify-content:flex-end;font-family:${MONO};font-size:1.2em;color:var(--op)}
.bx-step{width:3.2rem;height:2.6rem;border-radius:7px;border:1px solid var(--op);background:var(--op-soft);color:var(--tb-fg);display:flex;align-items:center;justify-content:center}
.bx-step.missing{border:1px dashed var(--tb-edge);background:none}
.bx-step.stretched{border-style:dashed;background:none}
.bx-step.bad{border:3px solid var(--tb-bad);background:var(--tb-bad-soft);font-weight:700}
.bx-cell.on,.bx-result .bx-cell.on{border:3px solid var(--op);font-weight:700}
.bx-cell.also,.bx-result .bx-cell.also{border:3px dashed var(--op);font-weight:700;color:var(--tb-fg)}
.tbviz .bx-cell:focus-visible{outline-offset:1px;border-radius:5px;z-index:2}
.bx-sum{display:flex;flex-wrap:wrap;gap:0 .6em;align-items:baseline}
.bx-sum .big{font-family:${MONO};font-size:1.02em;overflow-wrap:anywhere}
.bx-sum .big b[class]{color:var(--op)}
.bx-sum .small{color:var(--tb-muted);overflow-wrap:anywhere}
@container (max-width:559px){.bx-show{min-height:25.6rem}.bx-blocks{--cell:1.85rem;--tall:2.1rem;gap:.5rem 1rem}.bx-blocks.middling{--cell:1.8rem;--tall:2rem}.bx-blocks.small{--cell:1.75rem;--tall:1.7rem}}
.bx-chooser select{min-height:1.9rem}
.bx-memory>[role=list]{display:grid;grid-template-columns:max-content minmax(2.5rem,15rem) max-content;gap:.3rem .6rem;justify-content:start}
.bx-mem{display:grid;grid-template-columns:subgrid;grid-column:1/-1;align-items:center;font-size:max(12px,.88em)}
.bx-mem>b{font-family:${MONO};color:var(--op)}
.bx-bar{display:flex;height:.8rem;min-width:0}
.bx-bar i{display:block;border:1px solid var(--op);min-width:3px}
.bx-bar .own{background:var(--op);border-radius:3px}
.bx-bar .spared{border-style:dashed;border-left:0;opacity:.75;border-radius:0 3px 3px 0}
.bx-main{display:grid;grid-template-columns:minmax(0,1fr);gap:.9rem 2rem;align-items:start}
@container (min-width:980px){.bx-main{grid-template-columns:minmax(20rem,max-content) minmax(0,1fr)}}
@media (pointer:coarse){.tbviz .bx-table .tbviz-button{width:40px;min-width:40px;margin:0;border-radius:8px}.tbviz .bx-table :is(th,td){padding-left:.1rem;padding-right:.1rem}.tbviz .bx-table select.bx-size,.tbviz .bx-table.many select.bx-size{width:40px;min-width:40px}}
@media (prefers-reduced-motion:no-preference){.bx-bar i{transition:width .2s}}
@media (forced-colors:active){.bx-cell.on{outline:2px solid}.bx-bar .own{background:CanvasText}}
`;
