import { CANVAS } from "./canvas.js";

export const STYLE = `${CANVAS}
.tbag-bar{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:flex-end}
.tbag-bar .tbag-slide{flex:1 1 14rem;min-width:11rem}
.tbag-main{display:grid;grid-template-columns:minmax(0,1fr);gap:.7rem}
@container (min-width:600px){.tbag-main{grid-template-columns:minmax(0,1.45fr) minmax(14rem,1fr)}.tbag-side{max-height:29rem;overflow:auto}}
.tbag-canvas .tbgraph{height:29rem}
@container (max-width:500px){.tbag-canvas .tbgraph{height:23rem}}
@container (max-width:599px){.tbag-side:not(.tbag-chosen){display:none}}
.tbag-side{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .75rem;min-width:0;font-size:max(12px,.92em);display:flex;flex-direction:column;gap:.45rem}
.tbag-side>*{flex:none}
.tbviz .tbag-head{margin:.2rem 0 0;font-size:max(12px,.95em);font-weight:600;color:var(--tb-fg)}
.tbviz .tbag-title{margin:0;font-size:1.05em;font-weight:650;overflow-wrap:anywhere;color:var(--tb-fg)}
.tbag-side dl{margin:0;display:grid;grid-template-columns:auto minmax(0,1fr);gap:.2rem .6rem}
.tbag-side dt{color:var(--tb-muted);font-weight:400}
.tbag-side dd{margin:0;overflow-wrap:anywhere}
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
.tbag-box-leaf .tbgraph-box{fill:var(--tb-good-soft)}
.tbag-box-sent .tbgraph-box{fill:var(--tb-warm-soft);stroke:var(--tb-warm)}
.tbag-box-sent .tbag-two{fill:var(--tb-warm)}
.tbag-box-now .tbgraph-box{stroke:var(--tb-accent);stroke-width:3.2}
.tbag-box-fail .tbgraph-box{fill:var(--tb-bad-soft);stroke:var(--tb-bad);stroke-width:3.2}
.tbag-box-gone .tbgraph-box{stroke-dasharray:1.5 4;stroke-linecap:round;fill:none;stroke:var(--tb-edge)}
.tbag-box-gone text{fill:var(--tb-muted)}
.tbag-badge rect{fill:var(--tb-violet-soft);stroke:var(--tb-violet);stroke-width:1}
.tbgraph-node .tbag-badge text{fill:var(--tb-violet);font-size:13px;font-weight:600}
.tbag-badge[data-freed] rect{fill:var(--tb-bg);stroke-dasharray:2 2}
.tbgraph-node .tbag-badge[data-freed] text{text-decoration:line-through;font-weight:400}
.tbgraph-node .tbag-mark{fill:var(--tb-accent);font-size:14px;font-weight:700}
.tbag-box-fail .tbag-mark{fill:var(--tb-bad)}
.tbag-edge-wait{stroke-dasharray:4 4;opacity:.75}
.tbag-edge-gone{stroke-dasharray:1.5 5;stroke-linecap:round;opacity:.55}
.tbag-edge-sent{stroke:var(--tb-warm);stroke-width:2.6}
.tbag-edge-now{stroke:var(--tb-warm);stroke-width:4}
.tbag-tip-sent{fill:var(--tb-warm)}
.tbag-tip-gone{opacity:0}
.tbag-help summary{cursor:pointer;min-height:1.6rem}
.tbag-help ul{margin:.2rem 0 0;padding-left:1.2rem}
`;
