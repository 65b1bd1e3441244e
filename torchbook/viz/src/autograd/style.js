import { CANVAS } from "./canvas.js";

export const STYLE = `${CANVAS}
.tbag-bar{display:flex;flex-wrap:wrap;gap:.35rem .75rem;align-items:center;flex:1 1 100%}
.tbag-bar .tbag-slide{grid-template-columns:minmax(5rem,1fr) minmax(2.8rem,auto)}
.tbag-slide>label{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.tbag-bar .tbag-slide{flex:1 1 14rem;min-width:11rem}
.tbag-main{position:relative;display:grid;grid-template-columns:minmax(0,1fr)}
.tbag-canvas{position:relative}
.tbviz .tbag-program{position:absolute;left:1px;right:1px;top:1px;display:flex;flex-wrap:wrap;gap:0 1.6em;padding:.4rem .6rem .1rem;background:var(--tb-fill);border-radius:8px 8px 0 0;line-height:1.3;pointer-events:none}
.tbviz .tbag-program:empty{display:none}
.tbviz .tbag-program code{font-size:13px;font-weight:600;background:none;border:0;padding:0;color:var(--tb-fg)}
.tbag-canvas .tbgraph{height:25.2rem}
@container (max-width:520px){.tbag-canvas .tbgraph{height:23rem}}
.tbviz .tbag-legend{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:max(12px,.84em);color:var(--tb-muted);margin-top:.25rem;line-height:1.2}
.tbag-legend>span{display:inline-flex;align-items:center;gap:.25rem}
.tbviz .tbag-legend .tbviz-mono{font-size:12px;line-height:inherit}
.tbag-side{position:absolute;right:0;top:0;bottom:0;width:min(21rem,48%);background:var(--tb-bg);border:1px solid var(--tb-line);border-radius:8px;display:flex;flex-direction:column}
@container (max-width:520px){.tbag-side{left:0;top:auto;width:auto;height:56%}}
.tbag-side>.tbviz-button{position:absolute;right:.2rem;top:.2rem;z-index:1;background:var(--tb-bg)}
.tbag-facts{overflow:auto;padding:.6rem .75rem;min-width:0;font-size:max(12px,.92em);display:flex;flex-direction:column;gap:.45rem}
.tbag-facts>.tbag-title{padding-right:3rem}
.tbag-facts>*{flex:none}
.tbviz .tbag-said{height:2.9em;overflow:hidden;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2}
@container (max-width:520px){.tbviz .tbag-said{height:4.3em;-webkit-line-clamp:3}}
.tbag-stopped{border-left:4px solid var(--tb-bad);padding-left:.6rem}
.tbag-value{color:var(--tb-accent);font-weight:600}
.tbag-gradient{color:var(--tb-warm);font-weight:600}
.tbag-kept{color:var(--tb-good);font-weight:600}
.tbag-refused{color:var(--tb-bad);font-weight:600}
.tbviz .tbag-head{margin:.2rem 0 0;font-size:max(12px,.95em);font-weight:600;color:var(--tb-fg)}
.tbviz .tbag-title{margin:0;font-size:1.05em;font-weight:650;overflow-wrap:anywhere;color:var(--tb-fg)}
.tbag-facts dl{margin:0;display:grid;grid-template-columns:auto minmax(0,1fr);gap:.2rem .6rem}
.tbag-facts dt{color:var(--tb-muted);font-weight:400}
.tbag-facts dd{margin:0;overflow-wrap:anywhere}
.tbviz .tbag-number{white-space:pre;overflow-x:auto;display:block;background:var(--tb-fill);border-radius:5px;padding:.2rem .45rem;font-size:max(12px,.86em);line-height:1.35}
.tbviz .tbag-words{white-space:normal;overflow-wrap:anywhere}
.tbag-muted{color:var(--tb-muted)}
.tbag-error{border-left:4px solid var(--tb-bad);background:var(--tb-bad-soft);color:var(--tb-fg);padding:.5rem .7rem;border-radius:0 6px 6px 0;overflow-wrap:anywhere;font-size:max(12px,.92em)}
.tbviz .tbag-code{display:block;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:6px;padding:.4rem .6rem;overflow-x:auto;white-space:pre;flex:1 1 16rem;min-width:0;line-height:1.4}
.tbag-below{display:grid;grid-template-columns:minmax(0,1fr);gap:.5rem;min-width:0}
.tbag-scroll{overflow:auto;max-height:14rem;border:1px solid var(--tb-line);border-radius:8px}
.tbviz .tbag-table{border-collapse:collapse;width:100%;font-size:max(12px,.88em);margin:0;color:var(--tb-fg);background:none;display:table}
.tbviz .tbag-table th,.tbviz .tbag-table td{text-align:left;padding:.22rem .6rem;border:0;border-bottom:1px solid var(--tb-line);vertical-align:top;background:none;color:inherit}
.tbviz .tbag-table tr{background:none}
.tbviz .tbag-table thead th{position:sticky;top:0;background:var(--tb-fill);font-weight:600}
.tbviz .tbag-table tr:last-child td{border-bottom:0}
.tbviz .tbag-table .tbag-now{background:var(--tb-warm-soft)}
.tbag-key{display:flex;flex-wrap:wrap;gap:.3rem 1rem;font-size:max(12px,.84em);color:var(--tb-muted);align-items:center}
.tbag-key svg{display:inline-block;vertical-align:-4px;margin-right:.3rem}
.tbag-box-dash .tbgraph-box{stroke-dasharray:5 4;stroke:var(--tb-edge)}
.tbag-box-dash text{fill:var(--tb-muted)}
.tbgraph-node .tbag-two{font-size:13px}
.tbag-box-sent .tbgraph-box{fill:var(--tb-warm-soft);stroke:var(--tb-warm)}
.tbag-box-sent .tbag-two{fill:var(--tb-warm)}
.tbag-box-kept .tbgraph-box{fill:var(--tb-good-soft);stroke:var(--tb-good)}
.tbag-box-kept .tbag-two{fill:var(--tb-good)}
.tbag-box-now .tbgraph-box{stroke:var(--tb-accent);stroke-width:3.2}
.tbag-box-now:is(.tbag-box-sent) .tbgraph-box{stroke:var(--tb-warm)}
.tbag-box-now:is(.tbag-box-kept) .tbgraph-box{stroke:var(--tb-good)}
.tbag-box-fail .tbgraph-box{fill:var(--tb-bad-soft);stroke:var(--tb-bad);stroke-width:3.2}
.tbag-box-gone .tbgraph-box{stroke-dasharray:1.5 4;stroke-linecap:round;fill:none;stroke:var(--tb-edge)}
.tbag-box-off .tbgraph-box{fill:none;stroke:var(--tb-line)}
:is(.tbag-box-gone,.tbag-box-off) text{fill:var(--tb-muted)}
.tbag-badge rect{fill:var(--tb-good-soft);stroke:none}
.tbag-store{fill:none;stroke:var(--tb-good);stroke-width:1.3}
.tbgraph-node .tbag-badge text{fill:var(--tb-good);font-size:13px;font-weight:600}
.tbag-badge[data-freed] rect{fill:none}
.tbag-badge[data-freed] .tbag-store{stroke:var(--tb-edge);stroke-dasharray:2 2}
.tbgraph-node .tbag-badge[data-freed] text{fill:var(--tb-muted);text-decoration:line-through;font-weight:400}
.tbag-edge-wait{stroke-dasharray:4 4;opacity:.75}
.tbag-edge-gone{stroke-dasharray:1.5 5;stroke-linecap:round;opacity:.55}
.tbag-edge-off{opacity:.4}
.tbag-edge-sent{stroke:var(--tb-warm);stroke-width:2.6}
.tbag-edge-now{stroke:var(--tb-warm);stroke-width:4}
.tbag-tip-sent{fill:var(--tb-warm)}
.tbag-tip-gone{opacity:0}
.tbag-help summary{cursor:pointer;min-height:1.6rem}
.tbag-help ul{margin:.2rem 0 0;padding-left:1.2rem}
`;
