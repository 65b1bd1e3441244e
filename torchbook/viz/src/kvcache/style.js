/** Style of the cache; what is computed, read, kept and unused differs in mark and pattern as well as in hue. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;
const HATCH = "repeating-linear-gradient(135deg,var(--tb-warm) 0 1.5px,var(--tb-warm-soft) 1.5px 4.5px)";

export const CSS = `
.kv{display:grid;grid-template-columns:minmax(0,1fr);gap:.45rem}
.tbviz .kv-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .kv-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.tbviz .kv-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.kv-fields{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:flex-end;flex:1 1 100%}
.kv-fields .tbviz-field:has(input){width:8.4rem}
.kv-sliders{display:grid;grid-template-columns:repeat(auto-fill,minmax(16rem,1fr));gap:.1rem 1.4rem;flex:1 1 100%}
.kv-sliders .tbviz-slider{grid-template-columns:8.6rem minmax(3rem,1fr) 2.2rem}
.kv-sliders .tbviz-slider>label{font-size:max(12px,.88em)}
.kv-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.kv-box{border:1px solid var(--tb-line);border-radius:8px;padding:.5rem .7rem;display:flex;flex-direction:column;gap:.4rem;min-width:0}
.tbviz .kv-head{min-height:1.45em}
.kv-good{color:var(--tb-good)}
.kv-bad{color:var(--tb-bad)}
.kv-main{min-height:352px;display:grid;grid-template-columns:minmax(0,1fr);align-content:space-evenly}
@container (max-width:520px){.kv-main{min-height:408px}.tbviz .kv-head{min-height:2.9em}}
.kv-pair{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
@container (min-width:540px){.kv-pair{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
.tbviz .kv-svg{display:block;max-width:none;cursor:pointer;user-select:none}
.kv-svg text{font:12px system-ui,sans-serif;fill:var(--tb-fg);pointer-events:none}
.kv-svg .kv-way{font-size:13px;font-weight:600;fill:var(--tb-muted)}
.kv-svg .kv-row-name{text-anchor:end;dominant-baseline:central}
.kv-costs{display:grid;gap:.3rem}
.kv-cost{display:grid;grid-template-columns:7.2rem minmax(0,1fr) 5.6rem;gap:.6rem;align-items:center;font-size:max(12px,.88em)}
.kv-cost b{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.kv-track{height:.8rem;border-radius:3px;background:var(--tb-fill);border:1px solid var(--tb-line);overflow:hidden}
.kv-track>i{display:block;height:100%;background:var(--tb-warm)}
.kv-cost+.kv-cost .kv-track>i{background:var(--tb-accent)}
.kv-svg .quiet{fill:var(--tb-muted)}
.kv-svg .on{font-weight:700}
.kv-lost{fill:var(--tb-warm-soft);stroke:var(--tb-warm);stroke-width:1}
.kv-kept{fill:var(--tb-accent);stroke:var(--tb-accent);stroke-width:1}
.kv-read{fill:var(--tb-good-soft);stroke:var(--tb-good);stroke-width:1}
.kv-dot{fill:var(--tb-good)}
.kv-cross{stroke:var(--tb-warm);stroke-width:1.3;fill:none}
.kv-tick{stroke:var(--tb-bg);stroke-width:1.6;fill:none}
.kv-later{fill:none;stroke:var(--tb-line);stroke-width:1}
.kv-row{fill:none;stroke:var(--tb-fg);stroke-width:1.8}
.kv-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:max(12px,.84em)}
.tbviz .kv-key svg{display:inline-block;vertical-align:-2px;margin-right:.35rem}
.kv-scroll{overflow-x:auto;max-width:100%;min-width:0;padding-bottom:2px}
.tbviz .kv-table{border-collapse:collapse;margin:0;width:100%;font-size:max(12px,.9em);display:table;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums}
.tbviz .kv-table tr{background:none;border:0}
.tbviz .kv-table :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.22rem .4rem;text-align:right;background:none;color:inherit;font-weight:400;vertical-align:top}
.tbviz .kv-table :is(td,th):first-child{text-align:left;padding-left:0}
.tbviz .kv-table thead th{color:var(--tb-muted);font-size:max(12px,.94em)}
.tbviz .kv-table tr.on>*{font-weight:650;background:var(--tb-fill)}
.tbviz .kv-tables :is(th,td){text-align:left}
.tbviz .kv-tables :is(th,td):nth-child(3){text-align:right;padding-right:1.2rem}
.kv-table td{white-space:nowrap}
.tbviz .kv-table .kv-pages{font-family:${MONO};white-space:normal}
.kv-table b{font-weight:650;display:block;white-space:nowrap}
.kv-table span{color:var(--tb-muted);font-size:max(12px,.9em);display:block;white-space:normal}
.tbviz .kv-formula{font-family:${MONO};font-size:max(12px,.88em);overflow-wrap:anywhere}
.kv-shelves{display:grid;gap:.55rem}
.tbviz .kv-shelf{display:grid;gap:.2rem;padding:.3rem .5rem .45rem;margin:0;width:100%;text-align:left;font:inherit;color:inherit;background:none;border:1px solid var(--tb-line);border-radius:8px;cursor:pointer;touch-action:manipulation}
.tbviz .kv-shelf[aria-pressed=true]{border-color:var(--tb-accent);box-shadow:0 0 0 1px var(--tb-accent)}
.kv-shelf-head{display:flex;justify-content:space-between;gap:.6rem;font-size:max(12px,.9em)}
.kv-shelves:has(>:nth-child(4)) .kv-meter{height:2.2rem}
.kv-meter{height:3.4rem;border:1px dashed var(--tb-edge);border-radius:4px;overflow:hidden;display:flex;background:var(--tb-bg)}
.kv-meter>i{display:block;height:100%;flex:none}
.kv-meter>.w{background:var(--tb-accent)}
.kv-meter>.c{background:repeating-linear-gradient(90deg,var(--tb-good-soft) 0 calc(var(--slot) - 1px),var(--tb-good) calc(var(--slot) - 1px) var(--slot))}
.kv-meter>.c.many{background:var(--tb-good)}
.kv-meter.over{border:2px dashed var(--tb-bad)}
.kv-meter.over>.w{background:var(--tb-bad)}
@media (prefers-reduced-motion:no-preference){.kv-meter>i,.kv-track>i{transition:width .4s}.kv-pool>li.fresh{animation:kv-in .38s}@keyframes kv-in{from{transform:translateY(-10px);opacity:0}}}
.kv-sample{display:inline-block;width:1.4em;height:.9em;border:1px solid var(--tb-edge);border-radius:2px;vertical-align:-.08em;margin-right:.35rem}
.kv-sample.w{background:var(--tb-accent)}
.kv-sample.c{background:var(--tb-good-soft);border-color:var(--tb-good)}
.kv-sample.used{background:var(--tb-accent)}
.kv-sample.spare{background:${HATCH}}
.kv-sample.free{border-style:dashed;border-color:var(--tb-muted)}
.tbviz :is(.kv-pool,.kv-reserved){display:flex;flex-wrap:wrap;gap:.35rem;list-style:none;margin:0;padding:2px;max-height:12.5rem;overflow-y:auto}
.tbviz .kv-reserved{max-height:6rem}
.tbviz .kv-reserved>li{margin:0;display:flex;gap:.3rem;align-items:center;font-size:max(12px,.82em);border:1px solid var(--tb-edge);border-radius:5px;padding:.15rem .3rem}
.tbviz .kv-reserved>li.free{border-style:dashed}
.kv-reserved b{width:1em}
.tbviz .kv-pool>li{margin:0;padding:.15rem .3rem .3rem;border:1px solid var(--tb-edge);border-radius:5px;font-size:max(12px,.82em);display:flex;flex-direction:column;gap:.15rem;min-width:3.4rem}
.tbviz .kv-pool>li.free{border-style:dashed;border-color:var(--tb-muted);color:var(--tb-muted)}
.tbviz .kv-pool>li.fresh{box-shadow:0 0 0 1.5px var(--tb-fg)}
.kv-pool b{font-weight:700}
.kv-top{display:flex;justify-content:space-between;gap:.4rem}
.kv-slots{display:flex;gap:2px}
.kv-slots>i{width:.76rem;height:1.2rem;border:1px solid var(--tb-edge);border-radius:2px;display:block}
.kv-slots>.used{background:var(--tb-accent);border-color:var(--tb-accent)}
.kv-slots>.spare{background:${HATCH}}
.free .kv-slots>i{border-style:dashed;border-color:var(--tb-muted)}
`;
