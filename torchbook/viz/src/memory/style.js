/** Style of the memory figure, on top of that of the calculators; parts are told by order, name and colour. */

const FILL = { weights: "accent", copies: "accent", gradients: "warm", optimizer: "violet", master: "violet", gathered: "accent", activations: "good", logits: "good", cache: "good" };
const PALE = ["copies", "master", "gathered", "logits"];

export const CSS = `
.tbviz .mb-svg{overflow:hidden}
.mb-room{fill:var(--tb-fill);stroke:var(--tb-edge);stroke-width:1}
.mb-part{stroke:var(--tb-bg);stroke-width:1.5}
${Object.entries(FILL).map(([name, hue]) => `.mb-${name}{fill:var(--tb-${hue}${PALE.includes(name) ? "-soft" : ""});background:var(--tb-${hue}${PALE.includes(name) ? "-soft" : ""})}`).join("\n")}
${PALE.map((name) => `.mb-part.mb-${name}{stroke:var(--tb-${FILL[name]})}.mb-key .mb-${name}{box-shadow:inset 0 0 0 1.5px var(--tb-${FILL[name]})}`).join("\n")}
.mb-over{stroke:var(--tb-bad);stroke-width:2}
.mb-hatch{stroke:var(--tb-bad);stroke-width:3}
.mb-gone{fill:none;stroke:var(--tb-muted);stroke-width:1.5;stroke-dasharray:5 4}
.mb-card{stroke:var(--tb-fg);stroke-width:2.5;fill:none}
.sc-svg :is(.mb-limit,.mb-total){font-weight:650;font-size:13.5px}
.sc-svg .mb-less{fill:var(--tb-muted)}
.sc-svg .mb-total{fill:var(--tb-good)}
.sc-svg.mb-bad .mb-total{fill:var(--tb-bad)}
.tbviz .mb-key{list-style:none;margin:.3rem 0 0;padding:0;display:flex;flex-wrap:wrap;align-content:flex-start;gap:.1rem 1.2rem;font-size:max(12px,.86em);min-height:2.9rem}
.tbviz .mb-key li{display:flex;gap:.4rem;align-items:baseline;margin:0;line-height:1.35;min-width:0}
.mb-key span{white-space:nowrap}
.mb-key b{font-weight:600;font-variant-numeric:tabular-nums;white-space:nowrap}
.mb-key i{flex:none;width:.8rem;height:.8rem;border-radius:2px;align-self:center}
@container (max-width:600px){.tbviz .mb-key{min-height:5.4rem}}
.tbviz .mb-first{border-color:var(--tb-accent);box-shadow:0 0 0 2px var(--tb-accent-soft)}
.tbviz .mb-told{min-height:1.45em}
.mb-told .bad{color:var(--tb-bad)}
.mb-told .good{color:var(--tb-good)}
@container (max-width:560px){.tbviz .mb-told{min-height:2.9em}}
.mb-ways{flex:1 1 100%}
.tbviz .mb-ways .tbviz-button{font-size:max(12px,.86em);padding:.2rem .35rem}
@container (max-width:560px){.tbviz-bar>.mb-ways.tbviz-toolbar{display:grid;grid-template:repeat(3,minmax(1.9rem,auto))/repeat(2,minmax(0,1fr));overflow:visible}}
@media (pointer:coarse){.tbviz-bar>.mb-ways.tbviz-toolbar{grid-template-rows:repeat(3,minmax(44px,auto))!important}}
.mb-groups{display:flex;flex-direction:column;gap:.7rem;flex:1 1 100%;min-width:0}
.mb-groups fieldset{border:0;border-top:1px solid var(--tb-line);margin:0;padding:.35rem 0 0;min-width:0}
.mb-groups legend{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);padding:0 .5rem 0 0;float:none;width:auto;margin:0}
.mb-cards{display:flex;flex-wrap:wrap;gap:.35rem;align-items:center}
.mb-list{list-style:none;margin:0;padding:0;display:grid;gap:.3rem}
.mb-list li{display:flex;flex-wrap:wrap;gap:.25rem .6rem;align-items:center;margin:0}
.mb-list .tbviz-button{font-size:max(12px,.88em);text-align:left}
.mb-list span{font-size:max(12px,.9em)}
.tbviz .mb-list b{font-variant-numeric:tabular-nums}
@media (forced-colors:active){.mb-key i,.mb-part{forced-color-adjust:none}}
`;
