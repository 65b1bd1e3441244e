/** Style of the timeline; a lane is told by its place and name, a wait by its hatching. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.pl{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .pl-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .pl-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.pl-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.pl-chips .tbviz-button,.pl-source .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.pl-source{flex:none}
@container (max-width:700px){.pl-source{flex:1 1 100%}}
.tbviz .pl-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.pl-sliders{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:.1rem 1.4rem;flex:1 1 100%}
.pl-sliders .tbviz-slider{grid-template-columns:8.2rem minmax(3rem,1fr) 4.2rem}
.pl-sliders .tbviz-slider>label{font-size:max(12px,.88em)}
.pl-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:flex-end;flex:1 1 100%}
.pl-bar .tbviz-field{max-width:100%}
.pl-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.45rem;min-width:0}
.tbviz .pl-head{font-size:1.02em}
.tbviz .pl-way{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em);}
.tbviz .pl-svg{max-width:none;display:block;overflow:visible;touch-action:pan-y;cursor:pointer}
.pl-svg text{font:12px system-ui,sans-serif;fill:var(--tb-fg);pointer-events:none}
.pl-svg .pl-lane{font-size:12px;fill:var(--tb-muted)}
.pl-svg .pl-said{fill:var(--tb-bad);font-weight:600;paint-order:stroke;stroke:var(--tb-bg);stroke-width:5px;stroke-linejoin:round}
.pl-svg .pl-tick{fill:var(--tb-muted)}
.pl-rail{stroke:var(--tb-line);stroke-width:1}
.pl-load{fill:var(--tb-accent-soft);stroke:var(--tb-accent)}
.pl-copy{fill:var(--tb-violet-soft);stroke:var(--tb-violet)}
.pl-step{fill:var(--tb-good-soft);stroke:var(--tb-good)}
.pl-wait{stroke:var(--tb-bad)}
.pl-wait-line{stroke:var(--tb-bad);stroke-width:1.6}
.pl-ready{stroke:var(--tb-accent);stroke-width:2;stroke-dasharray:1.5 2.5}
.pl-on{stroke:var(--tb-fg);stroke-width:2.5}
.pl-thread{stroke:var(--tb-fg);stroke-width:1.2;fill:none;stroke-dasharray:4 3}
.pl-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:max(12px,.84em)}
.pl-key>span{display:inline-flex;align-items:center}
.pl-key svg{display:inline-block;vertical-align:-1px;margin-right:.35rem}
.pl-pair{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
@container (min-width:640px){.pl-pair{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
.pl-bars{display:grid;grid-template-columns:auto minmax(0,1fr) auto;gap:.25rem .6rem;align-items:center;font-size:max(12px,.9em)}
.pl-track{height:.85rem;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:3px;overflow:hidden}
.pl-track>i{display:block;height:100%;background:var(--tb-accent)}
.pl-track.most>i{background:var(--tb-bad)}
.pl-bars b{font-weight:650}
.pl-value{font-variant-numeric:tabular-nums;text-align:right}
.tbviz .pl-formula{font-family:${MONO};font-size:max(12px,.88em);overflow-wrap:anywhere}
.pl-two{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:.1rem 1.4rem;flex:1 1 22rem}
.pl-two .tbviz-slider{grid-template-columns:auto minmax(3rem,1fr) 4rem}
.tbviz .pl-brief{color:var(--tb-muted)}
@container (max-width:560px){.pl-two{grid-template-columns:minmax(0,1fr)}.pl-two .tbviz-slider{grid-template-columns:6.4rem minmax(3rem,1fr) 4rem}.tbviz :is(.pl-head,.pl-either){min-height:2.9em}}
`;
