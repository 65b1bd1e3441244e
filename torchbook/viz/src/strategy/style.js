/** Style of the strategy figure, on top of that of the calculators. */

const WIRES = { tp: "violet", cp: "warm", shard: "accent", replicate: "warm", pp: "good" };
const PARTS = { parameters: "accent", gradients: "warm", optimizer: "violet", gathered: "accent-soft", activations: "good", logits: "good-soft" };

export const CSS = `
.st-groups{display:flex;flex-direction:column;gap:.7rem;flex:1 1 100%;min-width:0}
.st-groups fieldset{border:0;border-top:1px solid var(--tb-line);margin:0;padding:.35rem 0 0;min-width:0}
.st-groups legend{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);padding:0 .5rem 0 0;float:none;width:auto;margin:0}
.tbviz .st-walk{margin:0;padding:0;list-style:none;display:grid;gap:.5rem;counter-reset:st}
.tbviz .st-walk li{counter-increment:st;display:grid;grid-template-columns:1.6rem minmax(0,1fr) auto;gap:.05rem .6rem;margin:0;align-items:baseline}
.st-walk li::before{content:counter(st);grid-row:1/3;color:var(--tb-muted);font-variant-numeric:tabular-nums;text-align:center;border:1px solid var(--tb-line);border-radius:99px;font-size:max(12px,.82em)}
.st-question{font-weight:600}
.st-yes,.st-no{padding:0 .5rem;border-radius:99px;font-size:max(12px,.9em);font-variant-numeric:tabular-nums}
.st-yes{background:var(--tb-good-soft);color:var(--tb-good)}
.st-no{background:var(--tb-warm-soft);color:var(--tb-warm)}
.st-told{grid-column:2/-1;font-size:max(12px,.85em);color:var(--tb-muted)}
.tbviz .st-board{border-collapse:collapse;width:100%;margin:0;font-size:max(12px,.9em);display:table;background:none;color:var(--tb-fg)}
.tbviz .st-board tr{background:none;border:0}
.tbviz .st-board :is(th,td){padding:.35rem .5rem;border:0;border-top:1px solid var(--tb-line);text-align:left;vertical-align:top;background:none;color:inherit;font-weight:400;font-variant-numeric:tabular-nums}
.tbviz .st-board :is(th,td):first-child{padding-left:0}
.tbviz .st-board thead th{border-top:0;font-size:max(12px,.86em);color:var(--tb-muted);font-weight:600}
.tbviz tr.bad td:nth-child(2) b{color:var(--tb-bad)}
.st-degrees{display:block;font-size:max(12px,.85em);color:var(--tb-muted);margin-top:.15rem}
.st-one{white-space:nowrap}
.tbviz .st-about{font-size:max(12px,.92em)}
.st-part{color:var(--tb-muted);font-size:max(12px,.88em);white-space:nowrap}
.st-stage{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:6px 16px;min-width:0}
.st-field{cursor:default}
.st-node{fill:none;stroke:var(--tb-line)}
.st-chip{fill:var(--tb-bg);stroke:var(--tb-edge)}
.st-not .st-chip{stroke:var(--tb-bad);stroke-width:1.8}
.st-box{fill:oklch(.62 .15 var(--hue)/.08)}
.st-fine .st-box{fill:oklch(.62 .15 var(--hue)/.22)}
.st-slice{fill:oklch(.62 .15 var(--hue)/.42)}
.st-kept{fill:oklch(.56 .16 var(--hue));fill:light-dark(oklch(.56 .16 var(--hue)),oklch(.68 .14 var(--hue)))}
:is(.st-chip,.st-box,.st-slice,.st-kept){rx:1.5px}
.st-step{fill:var(--tb-line)}
.st-layers{stroke:var(--tb-bg);stroke-opacity:.5;fill:none;pointer-events:none}
.st-seen{fill:var(--tb-fg)}
.st-idle .st-chip{fill:none;stroke:var(--tb-edge);stroke-dasharray:4 3}
.st-idle :is(.st-box,.st-slice,.st-kept,.st-layers,.st-step,.st-seen){opacity:0}
.st-wires{pointer-events:none}
.st-wire{fill:none;stroke-width:2.5;stroke-linecap:round}
.st-far{stroke-width:1.2;stroke-opacity:.6}
.st-hub{fill:var(--tb-fg);stroke:var(--tb-bg);stroke-width:1.5}
${Object.entries(WIRES).map(([dim, hue]) => `.st-wire-${dim}{stroke:var(--tb-${hue});color:var(--tb-${hue})}[data-wire=${dim}] .st-chip{stroke:var(--tb-${hue});stroke-width:2.5}`).join("\n")}
.st-who{display:inline-block;margin-right:.8rem;font-weight:600}
.tbviz .st-key i{display:inline-block;width:1.6rem;height:.7rem;border-radius:2px;margin-right:.35rem}
.tbviz .st-key span{margin-right:1rem;white-space:nowrap}
.tbviz .st-key .st-marks{display:block;white-space:normal}
.st-hues{background:linear-gradient(90deg in oklch,oklch(.56 .16 195),oklch(.56 .16 340))}
.st-pale{opacity:.45}
.st-striped{background:repeating-linear-gradient(180deg,var(--tb-edge) 0 2px,transparent 2px 4px)}
.st-splits{font-size:12px;font-weight:400;color:var(--tb-muted);white-space:nowrap;line-height:1.1}
.st-tokens{background:var(--tb-fg)}
.tbviz .st-key{grid-column:1/-1;min-height:40px;line-height:20px}
.st-stack{overflow:visible}
.st-room{fill:var(--tb-fill);stroke:var(--tb-edge);stroke-width:1.5}
.st-spare{fill:var(--tb-line);fill-opacity:.6}
.st-piece{stroke:var(--tb-bg);stroke-width:1}
${Object.entries(PARTS).map(([part, hue]) => `.st-${part}{fill:var(--tb-${hue})}`).join("")}
:is(.st-gathered,.st-logits).st-piece{stroke-width:1.5}
.st-gathered.st-piece{stroke:var(--tb-accent)}
.st-logits.st-piece{stroke:var(--tb-good)}
.st-over{stroke:var(--tb-bad);stroke-width:2}
.st-hatch{stroke:var(--tb-bad);stroke-width:5}
.st-soft{fill:var(--tb-bad-soft);fill-opacity:.8}
.st-whole{fill:none;stroke:var(--tb-muted);stroke-width:1.5;stroke-dasharray:5 4}
.st-lead{fill:none;stroke:var(--tb-edge)}
.sc-svg :is(.st-unsplit,.st-reserve,.st-free){fill:var(--tb-muted)}
.st-limit{stroke:var(--tb-fg);stroke-width:2.5;fill:none}
.st-torn{fill:none;stroke:var(--tb-bg);stroke-width:5}
.sc-svg .st-size{font-weight:650}
.sc-svg :is(.st-named,.st-total){font-weight:650}
.sc-svg .st-total{font-size:15px;fill:var(--tb-good)}
.sc-svg.st-not .st-total,.sc-svg .st-excess{fill:var(--tb-bad);font-weight:650}
.st-ways{display:flex;flex-wrap:wrap;gap:4px;flex:1 1 100%}
.st-ways [role=option]{flex:1 1 auto;position:relative;cursor:pointer;border:1px solid var(--tb-edge);border-radius:6px;padding:.25rem .2rem .3rem;display:grid;gap:.2rem;align-content:center;min-height:44px;text-align:center;font-size:max(12px,.92em);min-width:0}
.st-ways [role=option]:hover{background:var(--tb-fill)}
.st-ways [aria-selected=true]{background:var(--tb-accent-soft);border-color:var(--tb-accent);box-shadow:inset 0 0 0 1px var(--tb-accent);font-weight:650}
.st-ways [aria-disabled]{border-style:dashed;border-color:var(--tb-line);color:var(--tb-muted);cursor:default}
.st-ways [aria-disabled] .st-mini{visibility:hidden}
.st-name{white-space:nowrap}
.st-ways .st-best::after{content:"✓";position:absolute;top:-8px;right:-3px;width:17px;height:17px;border-radius:50%;background:var(--tb-good);color:var(--tb-bg);font:700 12px/17px system-ui,sans-serif}
.st-mini{height:5px;border-radius:3px;overflow:hidden;background:linear-gradient(90deg,var(--tb-line) calc(66% - 1px),var(--tb-fg) calc(66% - 1px) 66%,transparent 66%);position:relative}
.st-mini i{display:block;height:100%;background:var(--tb-good)}
.st-not .st-mini i{background:var(--tb-bad)}
.st-not .st-name{color:var(--tb-bad)}
@media (prefers-reduced-motion:no-preference){.st-mini i{transition:width .38s}}
.tbviz-bar>.tbviz-slider{flex:1 1 18rem;grid-template-columns:auto minmax(5rem,1fr) 3.4rem}
.tbviz-bar>.tbviz-slider>output{text-align:left;font-weight:650}
.tbviz .st-told-one{min-height:1.45em}
@container (max-width:560px){.st-part{white-space:normal}.tbviz .st-told-one{min-height:2.9em}.tbviz .st-key{min-height:72px;line-height:18px}.st-splits{display:none}.st-ways{flex-wrap:nowrap;gap:2px}.st-ways [role=option]{padding:.2rem 0;font-size:12px;min-width:40px}.st-ways [role=option] .st-mini{margin:0 4px}}
@media (forced-colors:active){.st-cluster,.st-stack,.st-mini,.st-key i{forced-color-adjust:none}}
.tbviz .st-good{color:var(--tb-good)}
.tbviz .st-bad{color:var(--tb-bad)}
.tbviz .st-list{margin:.4rem 0 0;padding-left:1.1rem;font-size:max(12px,.92em);display:grid;gap:.25rem}
.tbviz .sc details>summary,.tbviz summary{cursor:pointer;min-height:1.6rem}
@container (max-width:639px){
.tbviz .st-walk li{grid-template-columns:1.6rem minmax(0,1fr)}
.st-walk li::before{grid-row:1/4}
.st-yes,.st-no{grid-column:2;justify-self:start}
.st-told{grid-column:2}
.tbviz .st-board,.tbviz .st-board tbody{display:block}
.tbviz .st-board thead{display:none}
.tbviz .st-board tr{display:grid;grid-template-columns:repeat(3,minmax(0,auto));gap:.2rem .6rem;padding:.45rem 0;border-top:1px solid var(--tb-line)}
.tbviz .st-board :is(th,td){display:block;border:0;padding:0;width:auto}
.tbviz .st-board th,.tbviz .st-board td:nth-child(2){grid-column:1/-1;width:auto}
.st-board td:not(:nth-child(2))::before{content:attr(data-of);display:block;font-size:max(12px,.82em);color:var(--tb-muted)}
}
@media (forced-colors:active){.st-bar i,.st-key i,.st-cluster{forced-color-adjust:none}}
`;
