/** Style of the strategy figure, on top of that of the calculators. */

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
.st-stage{display:flex;flex-direction:column;gap:.5rem;min-width:0}
.st-rows{display:flex;flex-direction:column;gap:2px}
.tbviz .tbviz-row{display:block;width:100%;text-align:left;border-color:transparent;padding:.15rem .4rem;background:none;font-weight:400}
.tbviz .tbviz-row[aria-pressed=true]{background:var(--tb-accent-soft);border-color:var(--tb-accent);color:var(--tb-fg)}
.tbviz .tbviz-row[aria-disabled=true]{border-color:transparent}
.st-line{display:grid;grid-template-columns:5.2rem minmax(0,1fr) 4.2rem;gap:.6rem;align-items:center}
.st-name{white-space:nowrap;font-weight:600}
.st-speed{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.st-not :is(.st-name,.st-speed){color:var(--tb-bad)}
.st-not .st-speed{text-decoration:line-through}
.st-bar{position:relative;display:flex;height:1.15rem;border:1px solid var(--tb-edge);border-radius:3px;overflow:hidden;background:var(--tb-bg)}
[aria-disabled=true] .st-bar{border-style:dashed;border-color:var(--tb-line)}
[aria-disabled=true] .st-limit{display:none}
.st-bar i{display:block;height:100%;flex:none}
@media (prefers-reduced-motion:no-preference){.st-bar i{transition:width .38s,left .38s}}
.st-state{background:var(--tb-accent)}
.st-gathered{background:repeating-linear-gradient(45deg,var(--tb-warm) 0 3px,var(--tb-warm-soft) 3px 6px)}
.st-saved{background:var(--tb-good)}
.tbviz .st-bar .st-limit{position:absolute;top:0;width:2px;background:var(--tb-fg)}
.tbviz .st-bar .st-over{position:absolute;top:0;background:repeating-linear-gradient(45deg,var(--tb-bad) 0 4px,var(--tb-bad-soft) 4px 8px)}
.st-box{fill:var(--tb-fill);stroke:var(--tb-edge)}
.st-box.st-idle{fill:none;stroke-dasharray:4 3}
.st-hatch{stroke:var(--tb-warm);stroke-width:3}
.st-kept{fill:var(--tb-accent)}
.st-cluster text{font-variant-numeric:tabular-nums}
.st-cluster .st-caption{font-size:12px;fill:var(--tb-muted)}
.tbviz .st-told-one{min-height:2.9em}
@container (max-width:560px){.st-roomy{display:none}.st-part{white-space:normal}.tbviz .st-told-one{min-height:4.2em}.st-line{grid-template-columns:4.6rem minmax(0,1fr) 3.4rem;gap:.4rem}}
.tbviz .st-good{color:var(--tb-good)}
.tbviz .st-bad{color:var(--tb-bad)}
.st-heads{font-size:12px;color:var(--tb-muted);padding:0 calc(.4rem + 1px) 1px}
.st-over-bars{position:relative;white-space:nowrap}
.st-named{position:absolute;transform:translateX(-50%);color:var(--tb-fg);font-weight:600}
.st-named::after{content:"";position:absolute;left:50%;bottom:-.2rem;width:2px;height:.25rem;margin-left:-1px;background:var(--tb-fg)}
.tbviz .st-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem}
.st-key i{display:inline-block;width:.9rem;height:.7rem;margin-right:.35rem;border-radius:2px;vertical-align:-1px}
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
