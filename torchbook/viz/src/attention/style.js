/** Style of the heads; a weight is darkness and a number, what is masked is hatched. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.at{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .at-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .at-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.at-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.at-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .at-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.at-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.at-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.at-scroll{position:relative;overflow:auto;max-width:100%;min-width:0;padding:4px}
.at-all{display:flex;flex-wrap:wrap;gap:.8rem;align-items:flex-start}
.at-all>.at-box{flex:0 1 auto}
.at-all>.at-box:last-child{flex:1 1 22rem}
.at-heads{display:grid;gap:5px}
.tbviz .at-head{display:flex;flex-direction:column;align-items:center;gap:1px;min-width:2.4rem;padding:2px;margin:0;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:5px;cursor:pointer;font:max(12px,.74em) system-ui,sans-serif;touch-action:manipulation}
.tbviz .at-head svg{width:100%;height:auto;display:block}
.tbviz .at-head[aria-pressed=true]{border-color:var(--tb-fg);outline:2px solid var(--tb-fg);font-weight:700}
.tbviz :is(.at-head,.at-token):focus-visible{outline:3px solid var(--tb-accent);outline-offset:1px}
.at-cell{fill:var(--tb-accent);shape-rendering:crispEdges}
.at-edge{fill:none;stroke:var(--tb-edge);vector-effect:non-scaling-stroke}
.at-line{stroke:var(--tb-muted);stroke-width:.7}
.at-row{fill:none;stroke:var(--tb-fg);stroke-width:2;vector-effect:non-scaling-stroke}
.at-main{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
@container (min-width:700px){.at-main{grid-template-columns:minmax(0,24rem) minmax(0,1fr)}}
.tbviz .at-svg{display:block;width:100%;height:auto;cursor:pointer}
.at-svg text{font:12px ${MONO};fill:var(--tb-fg)}
.at-svg .at-axis{font:12px system-ui,sans-serif;fill:var(--tb-muted)}
.at-svg .on{font-weight:700}
.at-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:max(12px,.84em);align-items:center}
.at-key svg{display:inline-block;vertical-align:-2px;margin-right:.35rem}
.at-strip{display:flex;gap:3px;overflow-x:auto;padding:3px}
.at-strip>*{flex:none}
.tbviz .at-token{display:inline-flex;flex-direction:column;align-items:stretch;min-width:2.15rem;padding:1px 2px 0;margin:0;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:4px;cursor:pointer;font:max(12px,.9em)/1.25 ${MONO};text-align:center;touch-action:manipulation;white-space:pre}
.at-track{height:1.7rem;background:var(--tb-fill);display:flex;align-items:flex-end;border-bottom:1px solid var(--tb-edge)}
.at-track i{display:block;width:100%;background:var(--tb-accent)}
.at-token small{font:max(12px,.8em)/1.3 system-ui,sans-serif;font-variant-numeric:tabular-nums}
.tbviz .at-token.off{border-style:dashed;color:var(--tb-muted)}
.at-token.off .at-track{background:none;border-bottom-style:dashed}
.tbviz .at-token[aria-pressed=true]{outline:2px solid var(--tb-fg);border-color:var(--tb-fg);font-weight:700}
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
