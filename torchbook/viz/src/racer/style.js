/** Style of the racer; each optimizer has a hue, and everywhere also its dash, its shape or its name. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.rx{display:flex;flex-direction:column;gap:.8rem}
.rx-sgd{--hue:var(--tb-accent)}.rx-momentum{--hue:var(--tb-warm)}.rx-nesterov{--hue:var(--tb-violet)}.rx-adam{--hue:var(--tb-good)}.rx-adamw{--hue:var(--tb-bad)}
.tbviz .rx-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .rx-says{height:2.9em;overflow:hidden;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2}
.rx-legend{display:flex;flex-wrap:wrap;gap:.1rem .8rem;margin-top:.35rem;min-height:1.5em;align-content:flex-start;line-height:1.5}
.rx-lead{color:var(--tb-muted);font-size:max(12px,.92em);white-space:nowrap;font-variant-numeric:tabular-nums}
.rx-who{display:inline-flex;gap:.35rem;align-items:center;white-space:nowrap}
.rx-who b{color:var(--hue);min-width:4.6em;font-variant-numeric:tabular-nums}
.rx-steps{align-items:center}
.rx-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:flex-end}
.rx-bar input{width:5.2rem}
.rx-bar .tbviz-field{max-width:11.5rem}
.tbviz .rx-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.rx-about-box{display:flex;flex-direction:column;gap:.15rem}
.tbviz .rx-formula{font-family:${MONO};font-size:max(12px,.88em);overflow-wrap:anywhere}
.rx-f{color:var(--tb-muted)}
.tbviz .rx-about{font-size:max(12px,.88em);color:var(--tb-muted)}
.rx-main{display:grid;grid-template-columns:minmax(0,1fr);gap:.6rem;align-items:start}
.rx-curve{display:flex;flex-direction:column;gap:.2rem;min-width:0}
@container (min-width:560px){.rx-main{grid-template-columns:minmax(0,2.1fr) minmax(0,1fr);align-items:stretch}.rx-curve .rx-plot{flex:1 1 11rem;position:relative}.rx-curve .rx-plot>svg{position:absolute;inset:0}}
@container (max-width:779px){.rx-legend{min-height:3.1em}}
@container (max-width:559px){.rx-player{flex-basis:15rem}.tbviz .rx-says{height:4.3em;-webkit-line-clamp:3}.rx-legend{display:grid;grid-template-columns:auto auto;justify-content:space-between;gap:0 .3rem;font-size:max(12px,.92em)}.rx-legend{min-height:4.5em}.rx-lead{grid-column:1/-1}.rx-who{gap:.2rem}.rx-who b{min-width:0}}
@container (max-width:345px){.rx-legend{font-size:12px}.rx-legend .rx-sample{width:24px}}
.rx-seen-box,.rx-side{display:flex;flex-direction:column;gap:.6rem;min-width:0}
.rx-frame{position:relative;padding:0 0 20px 38px;min-width:0}
.tbviz .rx-axes{position:absolute;inset:0;width:100%;height:100%;max-width:none;pointer-events:none}
.rx-map{position:relative;aspect-ratio:3/2;border:1px solid var(--tb-line);border-radius:8px;overflow:hidden;min-width:0}
.rx-shade,.tbviz .rx-svg{position:absolute;inset:0;width:100%;height:100%}
.tbviz .rx-svg{cursor:crosshair;max-width:none}
.rx-contour{fill:none;stroke:var(--tb-muted);stroke-width:.8;opacity:.55}
.rx-tick{font:12px system-ui,sans-serif;fill:var(--tb-muted);paint-order:stroke;stroke:var(--tb-bg);stroke-width:3px;stroke-linejoin:round}
.rx-minimum{stroke:var(--tb-fg);stroke-width:2;fill:none}
.rx-point{fill:none;stroke:var(--tb-muted);stroke-width:1.2}
.rx-seen{fill:none;stroke:var(--tb-fg);stroke-width:1.6}
.rx-path{fill:none;stroke:var(--hue);stroke-width:2;stroke-linejoin:round}
.rx-far{fill:none;stroke:var(--hue);stroke-width:.6;opacity:.4}
.rx-dots{fill:none;stroke:var(--hue);stroke-width:5;stroke-linecap:round}
.rx-head{fill:var(--hue);stroke:var(--tb-bg);stroke-width:1.4}
.rx-start{--tb-grip:var(--tb-fg)}
.rx-player{display:flex;gap:.4rem .8rem;align-items:center;flex:1 1 22rem;min-width:0}
.rx-player>.tbviz-button{min-width:4.4rem}
.rx-player .tbviz-slider{flex:1 1 8rem;grid-template-columns:auto minmax(4rem,1fr) 2.2rem}
.tbviz-bar>.tbviz-slider>label{white-space:nowrap}
.tbviz-bar>.tbviz-slider{flex:1 1 13rem;grid-template-columns:auto minmax(4rem,1fr) 3.4rem}
.rx-steps .tbviz-field{flex-direction:row;align-items:center;gap:.4rem}
.rx-box{border:1px solid var(--tb-line);border-radius:8px;padding:.55rem .65rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.rx-plot{height:11rem;min-width:0}
.tbviz .rx-chart{width:100%;height:100%;max-width:none;cursor:ew-resize}
.rx-grid{stroke:var(--tb-line);stroke-width:1}
.rx-now{stroke:var(--tb-fg);stroke-width:1;stroke-dasharray:3 3;opacity:.7}
.rx-plot .rx-path{stroke-width:1.7}
.rx-sample{flex:none;overflow:visible}
.tbviz .rx-table{border-collapse:collapse;width:100%;margin:0;font-size:max(12px,.86em);display:table}
.tbviz .rx-table caption{caption-side:top;text-align:left;color:var(--tb-fg);font-weight:600;padding:0 0 .25rem;font-size:1em}
.tbviz .rx-table tr{background:none;border:0}
.tbviz .rx-table :is(th,td){padding:.22rem .35rem;border:0;border-top:1px solid var(--tb-line);text-align:right;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums;vertical-align:middle}
.tbviz .rx-table thead th{border-top:0;font-weight:600;color:var(--tb-muted);vertical-align:bottom}
.tbviz .rx-table :is(th,td):first-child{text-align:left;padding-left:0}
.tbviz .rx-table tbody th{font-weight:600}
.rx-row{display:inline-flex;flex-wrap:wrap;gap:0 .4rem;align-items:center}
.tbviz .rx-table td.rx-bad{color:var(--tb-bad);font-weight:600;text-align:left}
.rx-out{color:var(--tb-muted);display:block;font-size:max(12px,.86em)}
.rx-pick{display:inline-flex;gap:.45rem;align-items:center}
.rx-box .tbviz-button[aria-pressed=true]{background:var(--tb-fill);color:var(--tb-fg);border-color:var(--tb-fg);box-shadow:inset 0 0 0 1px var(--tb-fg)}
.rx-box .tbviz-button[aria-pressed=false] .rx-sample{opacity:.45}
.rx-cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:.6rem}
.rx-card{background:var(--tb-fill);border-radius:8px;padding:.5rem .6rem;display:grid;grid-template-columns:auto minmax(4rem,1fr);gap:.35rem .7rem;align-items:center;min-width:0}
.tbviz .rx-name{display:flex;gap:.45rem;align-items:center;font-size:max(12px,.92em)}
.rx-slide{width:100%;min-width:0;height:1.6rem;margin:0;accent-color:var(--tb-accent)}
.rx-fields{grid-column:1/-1;display:flex;flex-wrap:wrap;gap:.4rem .5rem;align-items:flex-end}
.rx-fields .tbviz-field{flex:1 1 4rem;max-width:7.5rem}
.rx-fields input{width:100%;font-family:${MONO};padding:.2rem .4rem}
@container (max-width:519px){.tbviz .rx-table{font-size:max(12px,.8em);table-layout:fixed}.tbviz .rx-table :is(th,td){padding:.22rem .1rem}.rx-table th:first-child{width:26%}.tbviz .rx-table thead th{font-size:max(12px,.94em)}.rx-bar>.tbviz-field:first-child{flex:1 1 100%;max-width:none}.rx-bar>.tbviz-field:has(input){flex:1 1 4rem}.tbviz .rx-bar .tbviz-field input{width:100%}.rx-fields .tbviz-field{flex-basis:3.2rem}.rx-fields input{padding:.2rem .25rem}.rx-sample{width:30px}.rx-plot{height:8.5rem}}
@media (forced-colors:active){.rx-path,.rx-head,.rx-far{fill:none;stroke:var(--hue);stroke-width:.6;opacity:.4}
.rx-dots{forced-color-adjust:none}}
`;
