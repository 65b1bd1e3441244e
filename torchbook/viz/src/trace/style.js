/** Style of the trace; a phase has a hue and a pattern, and its name stands in the words and the key. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.tr{display:grid;grid-template-columns:minmax(0,1fr);gap:.7rem}
.tbviz .tr-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tr-said{height:2.9em;overflow:hidden}
.tr-legend{display:flex;flex-wrap:wrap;gap:.1rem .7rem}
.tr-legend>span{display:inline-flex;gap:.35rem;align-items:center;white-space:nowrap}
.tr-of{color:var(--hue)}
.tr-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:flex-end}
.tr-bar .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem}
.tr-search{flex:1 1 14rem}
.tr-search input{width:100%}
.tbviz .tr-found{font-size:max(12px,.86em);color:var(--tb-muted);flex:1 1 12rem;align-self:center}
.tr-key .tbviz-button{display:inline-flex;align-items:center;gap:.4rem}
.tr-key svg{flex:none}
.tr-chart{position:relative;border:1px solid var(--tb-line);border-radius:8px;background:var(--tb-bg);overflow:hidden auto;touch-action:pan-y;min-width:0;cursor:grab;max-height:26rem}
.tr-head{position:sticky;top:0;z-index:1;background:var(--tb-bg)}
@container (max-width:559px){.tr-chart{max-height:24rem}.tr-said{height:4.3em}}
.tr-chart:active{cursor:grabbing}
.tr-chart svg{display:block;max-width:none!important;user-select:none;-webkit-user-select:none}
.tr-chart text{font:12px system-ui,sans-serif;fill:var(--tb-fg)}
.tr-chart .tr-tick{fill:var(--tb-muted);font-size:12px}
.tr-chart .tr-lane{paint-order:stroke;stroke:var(--tb-bg);stroke-width:4px;stroke-linejoin:round;font-weight:600;fill:var(--tb-muted);font-size:12px}
.tr-chart .tr-kind{paint-order:stroke;stroke:var(--tb-bg);stroke-width:4px;stroke-linejoin:round;fill:var(--tb-muted)}
.tr-chart .tr-name{pointer-events:none;font-size:12px}
.tr-grid{stroke:var(--tb-line);stroke-width:1}
.tr-step{stroke:var(--tb-muted);stroke-width:1.2;stroke-dasharray:3 4}
.tr-ev{stroke:var(--tb-edge);stroke-width:.7}
.tr-p0{--hue:var(--tb-good);--soft:var(--tb-good-soft)}
.tr-p1{--hue:var(--tb-accent);--soft:var(--tb-accent-soft)}
.tr-p2{--hue:var(--tb-warm);--soft:var(--tb-warm-soft)}
.tr-p3{--hue:var(--tb-violet);--soft:var(--tb-violet-soft)}
.tr-p4{--hue:var(--tb-muted);--soft:var(--tb-fill)}
.tr-soft{fill:var(--soft)}
.tr-mark{stroke:var(--hue);fill:none;stroke-width:1.1;opacity:.34}
.tr-dot{fill:var(--hue);opacity:.34}
.tr-thin{fill:var(--hue);opacity:.62}
.tr-dim{opacity:.2}
.tr-hit{stroke:var(--tb-fg);stroke-width:1.6}
.tr-on{stroke:var(--tb-fg);stroke-width:3;fill:none;pointer-events:none}
.tr-linked{stroke:var(--tb-fg);stroke-width:1.6;stroke-dasharray:4 3;fill:none;pointer-events:none}
.tr-window{fill:var(--tb-fg);fill-opacity:.1;stroke:var(--tb-fg);stroke-width:1.5}
.tr-away{fill:var(--tb-bg);opacity:.6}
.tr-tip{position:absolute;pointer-events:none;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-edge);border-radius:6px;padding:.15rem .45rem;font-size:max(12px,.82em);max-width:min(22rem,90%);overflow-wrap:anywhere;z-index:2}
.tbviz .tr-table{border-collapse:collapse;width:100%;margin:0;font-size:max(12px,.88em);display:table;color:var(--tb-fg);background:none}
.tbviz .tr-table tr{background:none;border:0}
.tbviz .tr-table :is(th,td){padding:.15rem .45rem;border:0;border-top:1px solid var(--tb-line);text-align:right;background:none;color:inherit;font-variant-numeric:tabular-nums;font-weight:400;vertical-align:middle;white-space:nowrap}
.tbviz .tr-table thead th{border-top:0;font-size:max(12px,.92em)}
.tbviz .tr-table :is(th,td):first-child{text-align:left;padding-left:0;white-space:normal;width:100%}
.tr-sort{font-size:1em!important;padding:.1rem .4rem!important;min-height:1.6rem!important}
.tr-op{font-family:${MONO};font-size:max(12px,.9em)!important;text-align:left;overflow-wrap:anywhere;min-height:1.6rem!important;padding:.1rem .45rem!important}
.tr-share{position:relative;min-width:4.6rem}
.tr-share i{position:absolute;left:.2rem;bottom:.1rem;height:3px;background:var(--tb-accent);border-radius:2px}
.tr-scroll{min-width:0}
@container (max-width:559px){
.tbviz .tr-table,.tbviz .tr-table tbody,.tbviz .tr-table thead{display:block}
.tbviz .tr-table tr{display:grid;grid-template-columns:3.7rem 5.7rem 3.3rem minmax(0,1fr);border-top:1px solid var(--tb-line);padding:.25rem 0}
.tbviz .tr-table :is(th,td){display:block;border:0;padding:.05rem .2rem;text-align:left}
.tbviz .tr-table :is(th,td):first-child{grid-column:1/-1;width:auto}
.tbviz .tr-table thead tr{border:0;grid-template-columns:repeat(5,auto);justify-content:start}
.tbviz .tr-table thead th:first-child{grid-column:auto}
.tr-share{min-width:0}
.tbviz .tr-table td::before{content:attr(data-title) " ";color:var(--tb-muted);font-size:max(12px,.84em)}
.tbviz .tr-table .tr-share::before{content:""}
.tbviz .tr-table thead th:nth-child(4){display:none}
}
.tbviz .tr details>summary{cursor:pointer;min-height:1.6rem}
.tbviz .tr ul{margin:.2rem 0 0;padding-left:1.2rem}
`;
