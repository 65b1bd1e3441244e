/** Style of the scaling figure: compute is plain, what it hides is hatched, what is exposed is solid. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.tbviz .sc{display:grid;grid-template-columns:minmax(0,1fr);gap:.9rem}
.tbviz .sc-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .sc-head{font-size:1.02em}
.tbviz .sc-small{font-size:max(12px,.82em);color:var(--tb-muted);margin:0}
.sc-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.sc-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.sc-fields{display:grid;grid-template-columns:repeat(auto-fill,minmax(11.5rem,1fr));gap:.5rem .8rem;align-items:end;flex:1 1 100%}
.sc-fields .tbviz-field{display:flex}
.sc-fields .tbviz-field>:is(input,select){width:100%}
.sc-fields label{line-height:1.25}
.sc-fields input{font-family:${MONO};font-variant-numeric:tabular-nums}
@container (max-width:519px){.sc-fields{grid-template-columns:repeat(2,minmax(0,1fr))}.sc-fields .sc-wide{grid-column:1/-1}}
.sc-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.sc-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.45rem;min-width:0}
.tbviz .sc-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.tbviz .sc-told{font-size:max(12px,.84em);color:var(--tb-muted)}
.tbviz .sc-table{border-collapse:collapse;width:100%;margin:0;font-size:max(12px,.92em);display:table;color:var(--tb-fg);background:none}
.tbviz .sc-table tr{background:none;border:0}
.tbviz .sc-table :is(th,td){padding:.28rem .5rem;border:0;border-top:1px solid var(--tb-line);text-align:left;background:none;color:inherit;vertical-align:baseline;font-weight:400}
.tbviz .sc-table tbody:first-of-type tr:first-child>*{border-top:0}
.tbviz .sc-table .sc-group th{font-size:max(12px,.82em);font-weight:600;color:var(--tb-muted);padding-top:.55rem}
.tbviz .sc-table :is(th,td):first-child{padding-left:0;width:10.5rem}
.tbviz .sc-table .sc-value{font-weight:650;font-variant-numeric:tabular-nums;white-space:nowrap;width:6.8rem}
.tbviz .sc-table tr.main .sc-value{color:var(--tb-accent)}
.tbviz .sc-table tr.main th{font-weight:650}
.tbviz .sc-table tr.bad .sc-value{color:var(--tb-bad)}
.sc-rule{color:var(--tb-muted);font-size:max(12px,.86em)}
.sc-sum{font-family:${MONO};font-size:max(12px,.88em);overflow-wrap:anywhere}
.tbviz .sc-more{display:block;color:var(--tb-muted);font-size:max(12px,.86em)}
.tbviz tr.bad .sc-more{color:var(--tb-bad)}
@container (max-width:519px){
.tbviz .sc-table,.tbviz .sc-table tbody{display:block}
.tbviz .sc-table tr{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.1rem .6rem;padding:.35rem 0;border-top:1px solid var(--tb-line)}
.tbviz .sc-table tbody:first-of-type tr:first-child{border-top:0}
.tbviz .sc-table :is(th,td),.tbviz .sc-table :is(th,td):first-child{display:block;border:0;padding:0;width:auto}
.tbviz .sc-table .sc-value{text-align:right;width:auto}
.tbviz .sc-table td:last-child{grid-column:1/-1}
}
.sc-pair{display:grid;grid-template-columns:minmax(0,1fr);gap:.9rem}
.tbviz .sc-svg{max-width:none;overflow:visible;display:block}
.sc-svg text{font:12.5px system-ui,sans-serif;fill:var(--tb-fg)}
.sc-svg .sc-muted,.sc-svg .sc-axis{fill:var(--tb-muted)}
.sc-compute{fill:var(--tb-accent-soft);stroke:var(--tb-accent);stroke-width:1.5}
.sc-hidden{stroke:var(--tb-good);stroke-width:1.5;stroke-dasharray:4 2}
.sc-hidden-fill{fill:var(--tb-good-soft)}
.sc-hidden-line{stroke:var(--tb-good);stroke-width:2.5}
.sc-exposed{fill:var(--tb-bad);stroke:var(--tb-bad);stroke-width:1.5}
.sc-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:max(12px,.84em);color:var(--tb-fg);margin-top:.35rem}
.sc-key svg{display:inline-block;vertical-align:-1px;margin-right:.35rem}
.sc-grid{stroke:var(--tb-line);stroke-width:1}
.sc-ideal{stroke:var(--tb-muted);stroke-width:1.5;stroke-dasharray:5 4;fill:none}
.sc-line{stroke:var(--tb-accent);stroke-width:2.8;fill:none;stroke-linejoin:round}
.sc-dot{fill:var(--tb-accent);stroke:var(--tb-bg);stroke-width:2}
.sc-lost{fill:var(--tb-bad-soft);opacity:.75}
.sc-pictures{display:flex;flex-direction:column;gap:.5rem;min-width:0}
.sc-point{cursor:grab;touch-action:none}
.sc-point:active{cursor:grabbing}
.sc-reach{fill:transparent}
.tbviz .sc-point:focus-visible{outline:none}
.sc-point:focus-visible .sc-dot{stroke:var(--tb-fg);stroke-width:3}
.sc-sliders{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.1rem 1.2rem;flex:1 1 100%}
.sc-sliders .tbviz-slider{grid-template-columns:auto minmax(3rem,1fr) minmax(3.4rem,auto)}
@container (max-width:600px){.sc-sliders{grid-template-columns:minmax(0,1fr)}.sc-sliders .tbviz-slider{grid-template-columns:4rem minmax(3rem,1fr) minmax(4.4rem,auto)}}
.tbviz .sc-fast{color:var(--tb-accent)}
.sc-svg .sc-here{font-weight:650;font-size:17px;fill:var(--tb-accent);paint-order:stroke;stroke:var(--tb-bg);stroke-width:4px;stroke-linejoin:round}
.sc-curve{cursor:crosshair;touch-action:pan-y}
.tbviz .sc details>summary{cursor:pointer;min-height:1.6rem}
.tbviz .sc dl{margin:.3rem 0 0;display:grid;gap:.35rem}
.tbviz .sc dt{font-weight:600;font-size:max(12px,.94em);margin:0}
.tbviz .sc dd{margin:0 0 .2rem;font-size:max(12px,.94em)}
`;
