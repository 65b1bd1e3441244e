/** Style of the ring; what a chunk holds is written in it, its hue only repeats that. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.ri{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .ri-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .ri-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.tbviz .ri-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.ri-sliders{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:.1rem 1.4rem;flex:1 1 100%}
.ri-sliders .tbviz-slider{grid-template-columns:8.6rem minmax(3rem,1fr) 5rem}
.ri-sliders .tbviz-slider>label{font-size:max(12px,.88em)}
.ri-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.ri-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.tbviz .ri-head{min-height:1.45em}
@container (min-width:720px){.ri-pair{grid-template-columns:minmax(0,1fr) minmax(0,1fr)!important}}
.ri-pair{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
.tbviz .ri-svg{display:block;max-width:none;overflow:visible;user-select:none}
.ri-svg text{font:13px system-ui,sans-serif;fill:var(--tb-fg);text-anchor:middle;dominant-baseline:central;pointer-events:none}
.ri-node{fill:var(--tb-fill);stroke:var(--tb-edge);stroke-width:1.2}
.ri-slice{fill:var(--tb-accent);fill-opacity:.45}
.ri-slice.some{fill-opacity:.75}
.ri-slice.all{fill:var(--tb-good);fill-opacity:.85}
.ri-ray{fill:none;stroke:var(--tb-bg)}
.ri-svg .ri-count{font-size:12px;font-weight:650;paint-order:stroke;stroke:var(--tb-bg);stroke-width:3px;stroke-linejoin:round}
.ri-over{pointer-events:none}
.ri-hub{fill:var(--tb-fg);stroke:var(--tb-bg);stroke-width:1.5}
.ri-svg .ri-rank{font-size:12px;font-weight:650;fill:var(--tb-bg)}
.tbviz .ri-goal{min-height:1.45em}
@container (max-width:620px){.tbviz .ri-goal{min-height:2.9em}}
.ri-arc{fill:none;stroke:var(--tb-edge);stroke-width:1.4}
.ri-tip{fill:var(--tb-edge)}
.ri-carried{fill:var(--tb-accent);stroke:var(--tb-fg);stroke-width:2.4;stroke-linejoin:round}
.ri-parcel.all .ri-carried{fill:var(--tb-good)}
.ri-parcel:hover .ri-carried{stroke-width:3.6}
.ri-svg .ri-big{font-size:26px;font-weight:700;fill:var(--tb-accent)}
.ri-svg .ri-mid{fill:var(--tb-muted)}
@media (prefers-reduced-motion:no-preference){.ri-slice{transition:transform .35s}}
@media (forced-colors:active){.ri-slice{fill:Highlight}.ri-slice.all{fill:LinkText}}
.ri-scroll{overflow-x:auto;max-width:100%;min-width:0;padding-bottom:2px}
.tbviz .ri-grid{border-collapse:separate;border-spacing:3px;margin:0;width:100%;font-size:max(12px,.9em);font-variant-numeric:tabular-nums;display:table;background:none;color:var(--tb-fg)}
.tbviz .ri-grid tr{background:none;border:0}
.tbviz .ri-grid :is(td,th){border:1px solid transparent;padding:.15rem .3rem;text-align:center;background:none;color:inherit;font-weight:400;white-space:nowrap}
.tbviz .ri-grid th{color:var(--tb-muted);font-size:max(12px,.92em)}
.tbviz .ri-grid td{border-color:var(--tb-line);border-radius:5px}
.tbviz .ri-grid td.some{background:var(--tb-accent-soft)}
.tbviz .ri-grid td.all{background:var(--tb-good-soft)}
.tbviz .ri-grid td.got{outline:2.5px solid var(--tb-fg);outline-offset:-1px}
.tbviz .ri-grid td.sent{border:1.5px dashed var(--tb-edge)}
.tbviz .ri-grid .ri-corner{border:0}
@container (max-width:460px){.ri-long{display:none}}
.ri-nums{display:block;font:max(12px,.95em) ${MONO}}
.ri-who{display:block;font-size:max(12px,.84em)}
.ri-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:max(12px,.84em)}
.ri-key i{display:inline-block;width:1.3em;height:.95em;border:1px solid var(--tb-line);border-radius:3px;vertical-align:-.1em;margin-right:.35rem}
.ri-key i.some{background:var(--tb-accent-soft)}
.ri-key i.all{background:var(--tb-good-soft)}
.ri-key i.got{outline:2px solid var(--tb-fg);outline-offset:-1px}
.ri-key i.sent{border:1.5px dashed var(--tb-edge)}
.ri-bars{display:grid;grid-template-columns:auto minmax(0,1fr) auto;gap:.25rem .6rem;align-items:center;font-size:max(12px,.9em)}
.ri-track{height:.85rem;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:3px;overflow:hidden;display:flex}
.ri-track>i{display:block;height:100%;background:var(--tb-accent)}
.ri-track>i.late{background:repeating-linear-gradient(135deg,var(--tb-warm) 0 2px,var(--tb-warm-soft) 2px 5px)}
.ri-value{font-variant-numeric:tabular-nums;text-align:right}
.tbviz .ri-grid.many{border-spacing:1.5px;font-size:max(12px,.82em)}
.tbviz .ri-grid.many :is(td,th){padding:0 .1rem;line-height:1.2}
.many .ri-who{display:none}
.ri-links{display:grid;grid-template-columns:repeat(auto-fill,minmax(7.4rem,1fr));gap:.2rem .9rem;font-size:max(12px,.88em);font-variant-numeric:tabular-nums}
.ri-links span{display:flex;white-space:nowrap;justify-content:space-between;gap:.4rem;border-bottom:1px solid var(--tb-line)}
.tbviz .ri-formula{font-family:${MONO};font-size:max(12px,.88em);overflow-wrap:anywhere}
.tbviz .ri-costs{border-collapse:collapse;margin:0;width:100%;font-size:max(12px,.88em);display:table;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums}
.tbviz .ri-costs tr{background:none;border:0}
.tbviz .ri-costs :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.2rem .35rem;text-align:right;background:none;color:inherit;font-weight:400;vertical-align:baseline}
.tbviz .ri-costs :is(td,th):first-child{text-align:left;padding-left:0}
.ri-costs td{white-space:nowrap}
.tbviz .ri-costs thead th{color:var(--tb-muted);font-size:max(12px,.94em)}
`;
