/** Style of the scaling figure: compute is plain, what it hides is hatched, what is exposed is solid. */

export const CSS = `
.tbviz .sc{display:grid;grid-template-columns:minmax(0,1fr);gap:.9rem}
.sc-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.sc-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .sc-told{font-size:max(12px,.84em);color:var(--tb-muted)}
.sc-pair{display:grid;grid-template-columns:minmax(0,1fr);gap:.9rem}
.sc-compute{fill:var(--tb-accent-soft);stroke:var(--tb-accent);stroke-width:1.5}
.sc-hidden{stroke:var(--tb-good);stroke-width:1.5;stroke-dasharray:4 2}
.sc-hidden-fill{fill:var(--tb-good-soft)}
.sc-hidden-line{stroke:var(--tb-good);stroke-width:2.5}
.sc-exposed{fill:var(--tb-bad);stroke:var(--tb-bad);stroke-width:1.5}
.sc-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:max(12px,.84em);color:var(--tb-fg);margin-top:.35rem}
.sc-key svg{display:inline-block;vertical-align:-1px;margin-right:.35rem}
.sc-ideal{stroke:var(--tb-muted);stroke-width:1.5;stroke-dasharray:5 4;fill:none}
.sc-line{stroke:var(--tb-accent);stroke-width:2.8;fill:none;stroke-linejoin:round}
.sc-svg .sc-named{fill:var(--tb-fg);font-size:max(12px,.84em);paint-order:stroke;stroke:var(--tb-bg);stroke-width:3px;stroke-linejoin:round}
.sc-key{min-height:1.3em;font-variant-numeric:tabular-nums}
.sc-lost{fill:var(--tb-bad-soft);opacity:.75}
.sc-pictures{display:flex;flex-direction:column;gap:.5rem;min-width:0}
.sc-sliders{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1.1fr) minmax(0,1.4fr);gap:.1rem .8rem;flex:1 1 100%}
.sc-sliders .tbviz-slider{grid-template-columns:auto minmax(1.5rem,1fr) minmax(3.4rem,auto)}.sc-sliders output{white-space:nowrap}
@container (max-width:600px){.sc-sliders{grid-template-columns:minmax(0,1fr)}.sc-sliders .tbviz-slider{grid-template-columns:4rem minmax(3rem,1fr) minmax(4.4rem,auto)}}
.tbviz .sc-fast{color:var(--tb-accent)}
.sc-curve .sc-here{font-size:17px;fill:var(--tb-accent)}
.sc-curve{cursor:crosshair;touch-action:pan-y}
.tbviz .sc details>summary{cursor:pointer;min-height:1.6rem}
.tbviz .sc dl{margin:.3rem 0 0;display:grid;gap:.35rem}
.tbviz .sc dt{font-weight:600;font-size:max(12px,.94em);margin:0}
.tbviz .sc dd{margin:0 0 .2rem;font-size:max(12px,.94em)}
`;
