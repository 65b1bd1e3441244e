/** Style of the stride figure; each dimension has a hue, and everywhere also its number. */

/** A storage of many lines: small cells, whose places are counted from the number of their line. */
const dense = (of) => `${of}{gap:.25rem}
${of} .sx-line{gap:2px;grid-template-columns:2.9rem repeat(8,minmax(1.5rem,2.6rem))}
${of} .sx-line .sx-cap{grid-column:1;grid-row:1/span 2;align-self:start}
${of} .sx-line .sx-cell{min-height:1.5rem;border-radius:3px}
${of} small{display:none}
${of} .start .sx-cell::before{content:"▲";position:absolute;bottom:-.7em;font-size:12px;z-index:1}`;

export const CSS = `
.tbviz-d0{--dim:var(--tb-violet);--dim-soft:var(--tb-violet-soft)}
.tbviz-d1{--dim:var(--tb-accent);--dim-soft:var(--tb-accent-soft)}
.tbviz-d2{--dim:var(--tb-warm);--dim-soft:var(--tb-warm-soft)}
.tbviz-d3{--dim:var(--tb-good);--dim-soft:var(--tb-good-soft)}
.tbviz [class*=tbviz-d][data-dim]{color:var(--dim);font-weight:650}
.tbviz .sx{position:relative;display:flex;flex-direction:column;gap:.9rem}
.sx>*{position:relative;z-index:1}
.sx>svg.sx-wires{position:absolute;inset:0;width:100%;height:100%;max-width:none;pointer-events:none;z-index:0;overflow:hidden}
.sx-wires path{fill:none;stroke:var(--tb-accent);stroke-width:2;opacity:.75}
.sx-wires path.more{stroke-dasharray:4 3}
.sx-facts{display:flex;flex-wrap:wrap;gap:.35rem;margin:0;padding:0}
.sx-facts>div{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 .4rem;background:var(--tb-fill);border-radius:7px;padding:.1rem .5rem;min-width:0}
.sx-facts span.sx-name{font-size:max(12px,.76em);color:var(--tb-muted);font-weight:400;margin:0}
.sx-facts .sx-value{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:max(12px,.95em);white-space:nowrap}
.sx-facts .new{box-shadow:inset 3px 0 0 var(--tb-warm)}
.sx-facts .was{font-size:max(12px,.78em);color:var(--tb-warm)}
.sx>.sx-alert:empty{margin-top:-.9rem}
.sx-tight{display:flex;flex-direction:column;gap:.3rem}
.sx h3.sx-head,.tbviz .sx-head{font:inherit;width:fit-content;background:var(--tb-bg);position:relative;font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0 0 .25rem;padding:0;border:0;letter-spacing:.01em}
.sx-grid{min-width:0}
.sx-outer{display:flex;flex-direction:column;gap:.75rem;max-width:100%}
.sx-band{display:flex;flex-wrap:wrap;gap:.6rem 1rem}
.sx-outer.boxed>.sx-band{border-left:3px solid var(--tb-violet);padding-left:.6rem}
.sx-panel{min-width:0;max-width:100%}
.sx-cap{font-size:max(12px,.8em);color:var(--tb-muted);margin:0 0 .15rem}
.sx-scroll{overflow-x:auto;max-width:100%;padding:8px 4px 6px}
.sx-rows{display:grid;gap:3px;width:max-content}
.sx-rows>[role=row]{display:grid;grid-auto-flow:column;grid-auto-columns:minmax(2.35rem,max-content);gap:3px;align-items:center}
.sx-rows>[role=row].sx-lead{grid-template-columns:1.5rem}
.sx-axis{font-size:max(12px,.74em);text-align:center;font-variant-numeric:tabular-nums}
.sx-cell{position:relative;min-width:2.35rem;min-height:2.05rem;border-radius:5px;border:1px solid var(--tb-edge);display:flex;align-items:center;justify-content:center;
padding:0 .25rem;font-variant-numeric:tabular-nums;font-size:max(12px,.9em);cursor:pointer;background:color-mix(in oklab,var(--tb-accent-soft),var(--tb-warm-soft) var(--at,0%));user-select:none}
.sx-cell.off{background:none;border-style:dashed;color:var(--tb-muted)}
.sx-cell.on{border:2.5px solid var(--tb-accent);font-weight:700}
.sx-cell.also{border:2.5px dashed var(--tb-accent);font-weight:700}
.sx-cell.wrote{border:2.5px double var(--tb-warm);font-weight:700}
.sx-cell.wrote::after{content:"✎";position:absolute;top:-.55em;right:-.25em;font-size:max(12px,.8em);color:var(--tb-warm);background:var(--tb-bg);border-radius:50%;line-height:1;padding:1px}
.sx-cell.walked{box-shadow:inset 0 -4px 0 var(--tb-good)}
.sx-cell.step{background:var(--tb-good);color:var(--tb-bg);border-color:var(--tb-good)}
.tbviz .sx-cell:focus-visible{outline-offset:1px;z-index:2}
.sx-sum{background:var(--tb-bg);border:1px solid var(--tb-line);border-left:4px solid var(--tb-accent);border-radius:0 7px 7px 0;padding:.45rem .7rem;min-height:3.6rem}
.sx-sum .big{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:1em;line-height:1.5}
.sx-sum .big>span{display:inline-block;white-space:nowrap}
.sx-sum .small{font-size:max(12px,.82em);color:var(--tb-muted)}
.sx-sum .small>span{display:inline-block;white-space:nowrap}
.sx-sum b{font-weight:700}
.sx-memory{display:flex;flex-direction:column;gap:.45rem;padding:4px;margin:-4px}
.sx-line{display:grid;grid-template-columns:repeat(8,minmax(1.5rem,2.6rem));gap:3px;border-left:3px solid var(--tb-line);padding-left:6px}
.sx-line.hot{border-left-color:var(--tb-good)}
.sx-line .sx-cap{grid-column:1/-1;margin:0}
.sx-line .sx-cell{min-width:1.5rem;min-height:1.95rem;padding:0}
${dense(".sx-memory.dense")}
.sx-grid.dense .sx-cell{min-height:1.6rem}
.sx-slot{display:flex;flex-direction:column;align-items:stretch}
.sx-slot small{font-size:max(12px,.68em);line-height:1.35;text-align:center;color:var(--tb-muted);font-variant-numeric:tabular-nums}
.sx-slot.start small{color:var(--tb-fg);font-weight:700}
.sx-slot.start small::before{content:"▲"}
.sx-times{position:absolute;top:-.5em;right:-.3em;font-size:max(12px,.68em);font-weight:700;line-height:1.1;background:var(--tb-fg);color:var(--tb-bg);border-radius:6px;padding:1px 3px;z-index:1}
@container (max-width:480px){${dense(".sx-memory.many")}.sx-sum{min-height:0}}
@container (min-width:600px){.sx-memory.dense .sx-line{grid-template-columns:2.9rem repeat(16,minmax(1.4rem,2.6rem))}.sx-line{grid-template-columns:repeat(16,minmax(1.5rem,2.6rem))}}
.sx-main{display:grid;grid-template-columns:minmax(0,1fr);gap:.9rem 1.4rem;align-items:start}
@container (min-width:980px){.sx-main{grid-template-columns:minmax(0,1.2fr) minmax(0,1fr)}}
.sx-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;background:var(--tb-bg);display:flex;flex-direction:column;gap:.55rem;min-width:0}
.sx-row{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:flex-end}
.sx-row input[type=number]{width:4.6rem}
.sx-row input[type=text]{width:8.5rem}
.sx-ops .tbviz-toolbar{gap:.35rem .9rem}
.sx-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.sx-group{display:inline-flex;flex-wrap:wrap;gap:.25rem;align-items:center}
.sx-group>span{font-size:max(12px,.76em);color:var(--tb-muted);margin-right:.1rem}
.sx-group .tbviz-button{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:max(12px,.84em);padding:.15rem .45rem;min-height:1.75rem}
.sx-program{list-style:none;margin:0;padding:0;counter-reset:l;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:max(12px,.88em)}
.sx-program li{display:flex;flex-wrap:wrap;gap:.1rem .6rem;align-items:baseline;padding:.12rem 0;margin:0}
.sx-program li code{overflow-wrap:anywhere;font-size:1em}
.sx-program li.bad code{text-decoration:underline wavy var(--tb-bad);text-underline-offset:3px}
.sx-tag{font-family:system-ui,sans-serif;font-size:max(12px,.8em);border:1px solid currentColor;border-radius:99px;padding:0 .5em;color:var(--tb-muted);white-space:nowrap}
.sx-tag.copy{color:var(--tb-warm)}.sx-tag.bad{color:var(--tb-bad)}
.sx-refusal{border:1px solid var(--tb-bad);border-left-width:5px;border-radius:4px;background:var(--tb-bad-soft);color:var(--tb-fg);padding:.5rem .7rem}
.sx-refusal code{display:block;overflow-wrap:anywhere;white-space:pre-wrap}
.sx-refusal code.inline{display:inline}
.sx-refusal p+p,.sx-refusal code+p{margin-top:.35rem}
.sx-preview{font-size:max(12px,.88em);overflow-wrap:anywhere}
.sx-preview.bad{color:var(--tb-bad)}
.sx-table{border-collapse:collapse;font-size:max(12px,.9em);margin:0;width:auto}
.sx-table th,.sx-table td{padding:.2rem .6rem;border-bottom:1px solid var(--tb-line);text-align:right;font-variant-numeric:tabular-nums;background:none;color:var(--tb-fg)}
.sx-table th:first-child{text-align:left;padding-left:0}
.sx-table thead th{font-weight:600;color:var(--tb-muted)}
.sx-strided{display:grid;gap:.1rem 1.2rem;grid-template-columns:minmax(0,1fr)}
@container (min-width:600px){.sx-strided{grid-template-columns:repeat(2,minmax(0,1fr))}.sx-strided .wide{grid-column:1/-1}}
.sx-note{color:var(--tb-fg)}
`;
