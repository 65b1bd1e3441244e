/** Style of the lanes; a backward is hatched and lettered B, a stage of a rank is lettered a to d. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.tbviz .sd{display:grid;grid-template-columns:minmax(0,1fr);gap:.35rem;position:relative}
.sd-defs{position:absolute}
.tbviz .sd-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .sd-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.sd-chips,.sd-kinds{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.sd-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .sd-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.sd-sliders{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:.1rem 1.4rem;flex:1 1 100%}
.sd-sliders .tbviz-slider{grid-template-columns:8.8rem minmax(3rem,1fr) 3rem}
.sd-sliders .tbviz-slider>label{font-size:max(12px,.88em)}
.sd-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.sd-player{display:flex;gap:.4rem .8rem;align-items:center;flex:1 1 20rem;min-width:0}
.sd-player>.tbviz-toolbar{flex:none;flex-wrap:nowrap}
.sd-player .tbviz-slider{flex:1 1 8rem;min-width:0;grid-template-columns:minmax(3rem,1fr) auto}
.sd-player label{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.tbviz .sd-head{min-height:1.45em}
@container (max-width:700px){.tbviz .sd-head{min-height:2.9em}}
@container (max-width:430px){.tbviz .sd-head{min-height:4.35em}}
.tbviz .sd-share{color:var(--tb-bad)}
.sd-player output{white-space:nowrap}
.sd-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.sd-frame{display:grid;grid-template-columns:auto minmax(0,1fr);row-gap:.5rem}
.sd-many{flex:1 1 13rem}
.sd-many .tbviz-slider{grid-template-columns:auto minmax(3rem,1fr) 1.6rem}
.sd-scroll{overflow-x:auto;min-width:0}
.sd-other{overflow:hidden;min-width:0}
.tbviz .sd-svg{max-width:none;display:block;cursor:pointer;touch-action:pan-x pan-y}
.tbviz .sd-lanes{cursor:default}
.sd-svg text{font:12px system-ui,sans-serif;fill:var(--tb-fg);pointer-events:none}
.sd-svg .sd-lane{fill:var(--tb-muted);font-size:12px}
.sd-svg .sd-tick{fill:var(--tb-muted)}
.sd-rail{stroke:var(--tb-line);stroke-width:1}
.sd-f{fill:color-mix(in srgb,var(--tb-accent) var(--deep,0%),var(--tb-accent-soft));stroke:var(--tb-accent)}
.sd-b{fill:var(--tb-warm-soft);stroke:var(--tb-warm)}
.sd-hatch{fill:color-mix(in srgb,var(--tb-warm) var(--deep,0%),var(--tb-warm-soft))}
.sd-hatch-line{stroke:var(--tb-warm);stroke-width:1;stroke-opacity:.5}
.sd-svg .sd-on-hatch{paint-order:stroke;stroke:var(--tb-warm-soft);stroke-width:4px;stroke-linejoin:round}
.sd-bubble{fill:var(--tb-bad-soft)}
.sd-svg :is(.sd-on,.sd-along){stroke:var(--tb-fg);stroke-width:2.4}
.sd-idle{fill:none;stroke:var(--tb-bad);stroke-dasharray:3 2.5;stroke-width:1.4}
.sd-now{--tb-grip:var(--tb-fg)}
.sd-now>path{stroke:var(--tb-fg);stroke-width:1.6;pointer-events:none}
.sd-now,.sd-now *{transition:none!important}
.sd-svg .sd-name{font-weight:650}
.sd-svg .sd-part{fill:var(--tb-bad)}
.sd-kept{fill:var(--tb-good-soft);stroke:var(--tb-good)}
.tbviz .sd-keeps{color:var(--tb-good)}
.sd-bracket{fill:none;stroke:currentColor;stroke-width:1.6}
.sd-end{stroke:currentColor;stroke-dasharray:2 4}
.sd-less{color:var(--tb-good)}
.sd-more{color:var(--tb-bad)}
.sd-same{color:var(--tb-muted)}
.sd-svg :is(.sd-less,.sd-more,.sd-same) text{fill:currentColor;font-weight:650}
.sd-none{fill:none;stroke:var(--tb-bad);stroke-dasharray:5 4}
.sd-svg .sd-no{fill:var(--tb-bad);paint-order:stroke;stroke:var(--tb-bg);stroke-width:6px}
@media (prefers-reduced-motion:no-preference){.sd-svg:not(.sd-live) .sd-now{transition:transform .3s!important}
.sd-svg:not(.sd-live) :is(.sd-on,.sd-along){transition:stroke 0s .3s,stroke-width 0s .3s}}
.sd-key{display:flex;flex-wrap:wrap;gap:.2rem .8rem;min-height:1.3em;font-size:max(12px,.84em)}
.sd-key>span{display:inline-flex;align-items:center}
.sd-key svg{display:inline-block;vertical-align:-2px;margin-right:.35rem}
.sd-pair{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
@container (min-width:720px){.sd-pair{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
.tbviz .sd-table{border-collapse:collapse;margin:0;width:100%;font-size:max(12px,.88em);display:table;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums}
.tbviz .sd-table tr{background:none;border:0}
.tbviz .sd-table :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.2rem .25rem;text-align:right;background:none;color:inherit;font-weight:400;vertical-align:baseline}
.tbviz .sd-table :is(td,th):first-child{text-align:left;padding-left:0}
.sd-table td:not(.text){white-space:nowrap}
.tbviz .sd-table .text{text-align:left}
.tbviz .sd-table td.wait{color:var(--tb-bad)}
.tbviz .sd-table thead th{color:var(--tb-muted);font-size:max(12px,.94em)}
.tbviz .sd-table tr.on>*{font-weight:650}
.tbviz .sd-formula{font-family:${MONO};font-size:max(12px,.88em);overflow-wrap:anywhere}
.sd-wide{overflow-x:auto;min-width:0}
`;
