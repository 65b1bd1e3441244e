/** Style of the heads; a weight is darkness and a number, what is masked is hatched. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.at{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .at-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .at-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.tbviz .at-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.at-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.at-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.at-scroll{position:relative;overflow:auto;max-width:100%;min-width:0;padding:4px}
.at-all{display:flex;flex-wrap:wrap;gap:.8rem;align-items:flex-start}
.at-all>.at-box{flex:0 1 auto}
.at-all>.at-box:last-child{flex:1 1 22rem}
.at{--at-thumb:60px;--at-arcs:150px;gap:.7rem}
@container (max-width:520px){.at{--at-thumb:44px;--at-arcs:112px;gap:.45rem}}
.at-strip{overflow-x:auto;max-width:100%;padding:2px 0;cursor:pointer;user-select:none}
.at-inner{margin:0 auto;padding-bottom:.3rem}
.tbviz .at-arcs{display:block;max-width:none;height:var(--at-arcs)}
.at-arc{fill:none;stroke:var(--tb-accent);stroke-linecap:round}
.at-drop{stroke:var(--tb-warm);stroke-width:4;stroke-linecap:round}
.at-text{display:flex;white-space:pre;font:13px/1.6 ${MONO}}
.at-token{flex:none;text-align:center;border-radius:3px;overflow:hidden}
.at-token.on{background:var(--tb-warm-soft);color:var(--tb-warm);font-weight:700}
.at-token.key{background:var(--tb-accent-soft);color:var(--tb-accent);font-weight:700}
.at-token.off{color:var(--tb-muted)}
.at-pair{display:flex;gap:.5rem 1rem;align-items:flex-start;justify-content:center}
.at-pair>.at-scroll{flex:none;max-width:min(100% - 120px,calc(6 * var(--at-thumb) + 28px));max-height:calc(3 * var(--at-thumb) + 2.4rem)}
.at-large{flex:0 1 calc(3 * var(--at-thumb) + 30px);min-width:0;padding-top:4px}
.tbviz .at-label{font-size:12px;line-height:1.1rem;color:var(--tb-muted);white-space:nowrap}
.at-column{grid-column:2/-1}
.at-layer{grid-area:2/1/span var(--at-layers)/2;writing-mode:vertical-rl;line-height:1.1rem}
.at-aside{flex:0 0 8.6rem;padding-top:4px;display:flex;flex-direction:column;gap:1.1rem}
.tbviz .at-scale{display:flex;flex-wrap:wrap;gap:.35rem 1rem;font-size:12px;color:var(--tb-muted);line-height:1.3}
.at-scale>span{display:inline-flex;align-items:center;gap:.35rem;white-space:nowrap}
.at-dark{flex:none;outline:1px solid var(--tb-line)}
.tbviz .at-scale .at-swatch{margin:0;outline:1px solid var(--tb-line)}
.tbviz .at-next-list{list-style:none;margin:.15rem 0 0;padding:0;display:grid;gap:.3rem}
.tbviz .at-next-list li{margin:0;display:grid;grid-template-columns:1.6rem minmax(1rem,1fr) 2.2rem;gap:.35rem;align-items:center;font-size:max(12px,.92em);font-variant-numeric:tabular-nums}
.at-guess{font-family:${MONO};text-align:center;white-space:pre;overflow:hidden;border:1px solid var(--tb-line);border-radius:3px}
@container (max-width:520px){.at-pair{flex-wrap:wrap;gap:.3rem .5rem}.at-pair>.at-scroll{max-width:calc(100% - 100px)}.at-large{flex:1 1 0}.at-aside{flex:1 0 100%;padding:0;gap:.4rem}.tbviz .at-next-list{grid-template-columns:repeat(3,1fr);margin:0}.tbviz .at-next-list li{grid-template-columns:1fr 1.3fr;gap:.1rem .25rem}.at-next-list .at-meter{grid-area:2/1/3/3;height:.4rem}}
.tbviz .at-chain{list-style:none;margin:0;padding:.5rem 0 0;border-top:1px solid var(--tb-line);display:grid;grid-template-columns:minmax(0,1.5fr) 5rem minmax(0,1.25fr) minmax(0,1.25fr);gap:.4rem 1.5rem}
.tbviz .at-chain li{margin:0;position:relative;display:grid;grid-template-rows:auto 3.3rem auto;align-content:start;gap:.15rem;min-width:0}
.tbviz .at-key{display:flex;flex-wrap:wrap;gap:0 .9rem;font-size:max(12px,.82em);color:var(--tb-muted);padding-top:.3rem}
.at-swatch{width:.75rem;height:.75rem;display:inline-block!important;vertical-align:-1px;margin-right:.3rem}
.at-chain li+li::before{content:"→";position:absolute;left:-1.2rem;top:2.1rem;color:var(--tb-muted)}
.at-chain b{font-size:1.06em;font-variant-numeric:tabular-nums;grid-row:3}
.at-chain .at-scaled b{grid-row:2;align-self:center}
.at-vectors{display:grid;grid-template-columns:auto minmax(0,1fr);grid-auto-rows:1fr;gap:.1rem .4rem;align-items:center}
.tbviz .at-name{font:12px/1.1 ${MONO};white-space:pre;color:var(--tb-muted)}
.tbviz .at-asks{color:var(--tb-warm);font-weight:700}
.tbviz .at-found{color:var(--tb-accent);font-weight:700}
.tbviz .at-vector{width:100%;height:.85rem;border:1px solid var(--tb-line);border-radius:2px;display:block}
.at-plus{fill:var(--tb-accent)}
.at-minus{fill:var(--tb-violet)}
.at-bars{display:flex;align-items:flex-end;gap:1px;height:100%;border-bottom:1px solid var(--tb-edge);cursor:pointer}
.at-bars i{flex:1 1 0;min-width:0;height:max(1px,calc(var(--w) * 100%));background:var(--tb-edge)}
.at-bars i.on{background:var(--tb-accent);outline:1px solid var(--tb-accent)}
.at-bars i.later{height:100%;background:repeating-linear-gradient(135deg,transparent 0 3px,var(--tb-line) 3px 4px)}
.at-bars i.later.on{outline:2px solid var(--tb-accent)}
@container (max-width:520px){.at-w{display:none}.tbviz .at-chain{grid-template-columns:minmax(0,1.2fr) minmax(0,1fr);gap:.3rem 1.3rem;padding-top:.3rem}.tbviz .at-chain li{grid-template-rows:auto 2.9rem;grid-template-columns:minmax(0,1fr) auto}.at-chain .at-title{grid-column:1/-1}.at-chain b{grid-row:2!important;grid-column:2;align-self:center}.at-chain .at-scaled b{grid-column:1}.at-chain li:nth-child(3)::before{content:none}.tbviz .at-vector{height:.7rem}}
.at-pick{flex:1 1 12rem}
.at-pick label{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.tbviz .at-pick select{width:100%}
.at-heads{display:grid;gap:4px;width:fit-content}
.tbviz .at-head{box-sizing:border-box;width:var(--at-thumb);height:var(--at-thumb);padding:3px;margin:0;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:5px;cursor:pointer;touch-action:manipulation}
.tbviz .at-head svg{width:100%;height:100%;display:block}
.tbviz .at-head[aria-selected=true]{border-color:var(--tb-fg);outline:2px solid var(--tb-fg)}
.tbviz .at-heads:focus-visible{outline:none}
.tbviz .at-heads:focus-visible>[aria-selected=true]{outline:3px solid var(--tb-accent);outline-offset:1px}
.at-cell{fill:var(--tb-accent);shape-rendering:crispEdges}
.at-edge{fill:none;stroke:var(--tb-edge);vector-effect:non-scaling-stroke}
.at-line{stroke:var(--tb-muted);stroke-width:.7}
.at-row{fill:none;stroke:var(--tb-fg);stroke-width:2;vector-effect:non-scaling-stroke}
.at-here{fill:none;stroke:var(--tb-warm);stroke-width:3;vector-effect:non-scaling-stroke}
.at-band{fill:none}
.at-band.tbviz-lit{fill:var(--tb-warm);fill-opacity:.22}
.tbviz .at-svg{display:block;width:100%;aspect-ratio:1;cursor:pointer;overflow:visible}
@media (prefers-reduced-motion:no-preference){.at-row,.at-here{transition:transform .36s}}
.tbviz .at-told{min-height:1.45em}
@container (max-width:520px){.tbviz .at-told{min-height:2.9em}}
.tbviz .at-weights{display:flex;flex-wrap:wrap;gap:.2rem;list-style:none;margin:0;padding:0;font:max(12px,.9em)/1.25 ${MONO}}
.tbviz .at-weights li{margin:0;display:grid;justify-items:center;min-width:2.1rem;border:1px solid var(--tb-line);border-radius:4px;padding:1px 3px;white-space:pre}
.tbviz .at-weights .on{outline:2px solid var(--tb-warm)}
.tbviz .at-weights .off{border-style:dashed;color:var(--tb-muted)}
.at-weights small{font:max(12px,.8em)/1.3 system-ui,sans-serif;font-variant-numeric:tabular-nums}
.tbviz .at-lines{margin:0;display:grid;grid-template-columns:minmax(0,max-content) auto minmax(2.4rem,1fr);gap:.2rem .7rem;font-size:max(12px,.92em);font-variant-numeric:tabular-nums;align-items:center}
.at-lines dt{font-weight:400;margin:0}
.at-lines dd{margin:0;text-align:right}
.at-meter{height:.7rem;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:3px;overflow:hidden}
.at-meter i{display:block;height:100%;background:var(--tb-accent)}
.at-tall{max-height:26rem}
@container (max-width:700px){.at-tall{max-height:13rem}}
.tbviz .at-table{border-collapse:collapse;margin:0;width:100%;font-size:max(12px,.88em);display:table;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums}
.tbviz .at-table tr{background:none;border:0}
.tbviz .at-table :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.12rem .45rem;text-align:right;background:none;color:inherit;font-weight:400}
.tbviz .at-table th[scope=row]{text-align:left;white-space:nowrap}
.tbviz .at-table thead th{color:var(--tb-muted)}
.tbviz .at-table thead th:first-child{text-align:left}
.tbviz .at-table tr.on>*{background:var(--tb-fill);font-weight:650}
`;
