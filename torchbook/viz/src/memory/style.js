/** Style of the memory figure, on top of that of the calculators. */

export const CSS = `
.mb-part{fill:var(--tb-accent-soft);stroke:var(--tb-accent);stroke-width:1.3}
.mb-fits{fill:var(--tb-good-soft);stroke:var(--tb-good);stroke-width:1.6}
.mb-over{fill:var(--tb-bad);stroke:var(--tb-bad);stroke-width:1.6}
.mb-card{stroke:var(--tb-fg);stroke-width:1.8;stroke-dasharray:5 3;fill:none}
.sc-svg .mb-size{font-variant-numeric:tabular-nums;paint-order:stroke;stroke:var(--tb-bg);stroke-width:5px;stroke-linejoin:round}
.mb-groups{display:flex;flex-direction:column;gap:.7rem;flex:1 1 100%;min-width:0}
.mb-groups fieldset{border:0;border-top:1px solid var(--tb-line);margin:0;padding:.35rem 0 0;min-width:0}
.mb-groups legend{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);padding:0 .5rem 0 0;float:none;width:auto;margin:0}
.mb-cards{display:flex;flex-wrap:wrap;gap:.35rem;align-items:center}
.mb-list{list-style:none;margin:0;padding:0;display:grid;gap:.3rem}
.mb-list li{display:flex;flex-wrap:wrap;gap:.25rem .6rem;align-items:center;margin:0}
.mb-list .tbviz-button{font-size:max(12px,.88em);text-align:left}
.mb-list span{font-size:max(12px,.9em)}
.tbviz .mb-list b{font-variant-numeric:tabular-nums}
`;
